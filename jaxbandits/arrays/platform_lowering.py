"""The forms of operations for the platform that a program is compiled for: the only place where they are chosen.

All forms give the same bits: they differ in exact selections or moves, and no sum of floats is reordered. The engine
declares the platform for which it traces (`tracing_for`); elsewhere the form is that of JAX's default backend. The
choice is part of the key of every JAX cache, so that no program of one form is taken for one of another.
"""

import contextlib
import dataclasses

import jax

from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["Forms", "lowering", "mask_every_take", "override_lowering", "reduce_in_one_piece", "tracing_for"]


@dataclasses.dataclass(frozen=True)
class Forms:
    """The form of each operation.

    Attributes:
        chunked: whether work is split to suit XLA:CPU. Reductions use vectors of arms, branches skip what no run
            needs, and blocks of rows stay in a cache; a few lanes are refilled at a time. Elsewhere it is in one
            piece, since each piece would be a kernel.
        masked_put: largest number of arms for which `arms.put` writes all of them by `where`. For more it writes one
            element a run by a scatter, which is a separate kernel, or worse.
        masked_take: largest number of arms for which `arms.take` and `arms.scatter` read all of them, instead of a
            gather or a scatter; exact, since all words but one are zero.
        max_unrolled_rows: largest number of rows of runs in a decision that is unrolled arm by arm
            (`compilers/unroll_arms.py`). From 251 on LLVM assumes that any of them may alias the output, and does not
            vectorise: 4 to 6 times as slow.
        reduced_in_pieces: largest number of arms of which `arms` reduces a few at a time (`arrays/arms.py`).
        compared_arms: largest number of arms that are ordered by comparing each pair of them; more are sorted. Of 50
            arms of 32,768 runs XLA takes minutes to compile the comparisons for a GPU (H100, JAX 0.11.2).
        in_kernel: whether the traced code becomes part of a kernel that keeps arrays on chip: its compilers support
            reductions by their names only, and no array of one axis.
    """

    chunked: bool
    masked_put: int
    masked_take: int
    max_unrolled_rows: int
    reduced_in_pieces: int = 0
    compared_arms: int = 64
    in_kernel: bool = False


#: On CPU by measurement (experiments/benchmarks/arm_operations.py, compiler_forms.py); for the others by their
#: compiled code (experiments/benchmarks/compiled.py): on TPU a gather or a scatter takes some 9 cycles an element.
#: `chip` is not a platform, but a kernel on any of them (engine/on_chip/pallas_loop.py). `llvm` is a function of
#: machine code on CPU (engine/llvm/), where arms are looked up in memory, and a masked put becomes a store.
FORMS = {
    "cpu": Forms(chunked=True, masked_put=16, masked_take=16, max_unrolled_rows=240, reduced_in_pieces=128),
    "gpu": Forms(chunked=False, masked_put=1024, masked_take=0, max_unrolled_rows=0, compared_arms=24),
    "tpu": Forms(chunked=False, masked_put=1024, masked_take=1024, max_unrolled_rows=0),
    "llvm": Forms(chunked=False, masked_put=2**23, masked_take=0, max_unrolled_rows=0),
    "chip": Forms(chunked=False, masked_put=2**23, masked_take=2**23, max_unrolled_rows=0, in_kernel=True),
}
_chosen = jax.make_user_context(None)


def lowering() -> Forms:
    """Return the forms of what is being traced."""
    return _chosen.value or FORMS.get(jax.default_backend(), FORMS["gpu"])


def tracing_for(platform: str) -> contextlib.AbstractContextManager[None]:
    """Trace for a platform, by JAX's name, inside a `with` block, unless other forms are forced."""
    return _chosen(_chosen.value or FORMS.get(platform, FORMS["gpu"]))


def override_lowering(platform: str) -> contextlib.AbstractContextManager[None]:
    """Force the forms of `cpu`, `gpu`, `tpu`, `llvm` or `chip` inside a `with` block, on any platform."""
    return _chosen(FORMS[platform])


def mask_every_take() -> contextlib.AbstractContextManager[None]:
    """Let `arms.take` and `arms.put` read all arms inside a `with` block, however many: no gather, no scatter."""
    return _chosen(dataclasses.replace(lowering(), masked_take=MAX_COUNT, masked_put=MAX_COUNT))


def reduce_in_one_piece() -> contextlib.AbstractContextManager[None]:
    """Let reductions over arms read all of them at once inside a `with` block, however many."""
    return _chosen(dataclasses.replace(lowering(), reduced_in_pieces=0))
