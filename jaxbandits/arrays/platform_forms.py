"""How operations are written for the platform that a program is compiled for: the one place where that is chosen.

All forms give the same bits: what differs is exact, a selection or a move, and no sum of floats is reordered. The
engine says for which platform it traces (`traced_for`); what is traced elsewhere has the form of JAX's default backend.
The choice is part of the key of every JAX cache, so that no program of one form is taken for one of another.
"""

import contextlib
import dataclasses

import jax

from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["Forms", "forced", "forms", "looking_at_all", "traced_for"]


@dataclasses.dataclass(frozen=True)
class Forms:
    """The form of each operation.

    Attributes:
        in_pieces: whether work is taken apart to suit XLA:CPU: reductions in vectors of arms, branches around what no
            run asks for, blocks of rows that stay in a cache, a few lanes refilled at a time; in one piece elsewhere,
            where each piece is a kernel of its own.
        masked_put: up to so many arms `arms.put` writes all of them by `where`, in place of one element a run by a
            scatter, which is a kernel of its own, or worse.
        masked_take: up to so many arms `arms.take`, and `arms.scatter`, look at all of them, in place of a gather or a
            scatter; exact, since all words but one are zero.
        by_rows: a decision that reads so many rows of runs at most is written out arm by arm (`arrays/written_out.py`).
            From 251 on LLVM takes them all for possible aliases of what is written, and makes no vectors: 4 to 6 times
            as slow.
        in_kernel: whether what is traced becomes part of a kernel that keeps arrays on chip: its compilers know
            reductions by their names only, and no array of one axis.
    """

    in_pieces: bool
    masked_put: int
    masked_take: int
    by_rows: int
    in_kernel: bool = False


#: On CPU by measurement (experiments/benchmarks/arm_operations.py, compiler_forms.py); for the others by what compilers
#: make for them (experiments/benchmarks/compiled.py): on TPU a gather or a scatter takes some 9 cycles an element.
#: `chip` is no platform, but a kernel on any of them (engine/kernel_loop.py).
FORMS = {
    "cpu": Forms(in_pieces=True, masked_put=16, masked_take=16, by_rows=240),
    "gpu": Forms(in_pieces=False, masked_put=1024, masked_take=0, by_rows=0),
    "tpu": Forms(in_pieces=False, masked_put=1024, masked_take=1024, by_rows=0),
    "chip": Forms(in_pieces=False, masked_put=2**23, masked_take=2**23, by_rows=0, in_kernel=True),
}
_chosen = jax.make_user_context(None)


def forms() -> Forms:
    """The forms of what is being traced."""
    return _chosen.value or FORMS.get(jax.default_backend(), FORMS["gpu"])


def traced_for(platform: str) -> contextlib.AbstractContextManager[None]:
    """A `with` block in which is traced for a platform, JAX's word; other forms stay where they are forced."""
    return _chosen(_chosen.value or FORMS.get(platform, FORMS["gpu"]))


def forced(platform: str) -> contextlib.AbstractContextManager[None]:
    """A `with` block with the forms of `cpu`, `gpu`, `tpu` or `chip`, wherever its programs run."""
    return _chosen(FORMS[platform])


def looking_at_all() -> contextlib.AbstractContextManager[None]:
    """A `with` block in which `arms.take` and `arms.put` look at all arms, however many: no gather, no scatter."""
    return _chosen(dataclasses.replace(forms(), masked_take=MAX_COUNT, masked_put=MAX_COUNT))
