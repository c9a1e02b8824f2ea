"""A block of steps as one kernel: the state of some lanes is loaded once, stays on chip, and is stored once.

A separate step moves all of a lane's state through memory. Here the unchanged step of an algorithm is traced into a
Pallas kernel. It uses the forms `chip` (`arrays/platform_lowering.py`) and the operations that kernel compilers support
(`pallas_lowering.py`). Triton compiles the kernel for a GPU, and Mosaic for a TPU. On CPU it is interpreted, as XLA
operations with the bits of the plain loop.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jax.tree_util import PyTreeDef

from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine.on_chip.pallas_lowering import lower_for_pallas

__all__ = ["NAME", "loop_of_kernels", "tile", "whole_kernels"]

#: The name of the kernel in compiled programs.
NAME = "steps_on_chip"
#: Lane-arms of a kernel on a GPU, its fewest lanes, and words of its largest array that a warp holds (by Triton's
#: compiled code: with more, registers are spilled; experiments/benchmarks/compiled.py).
_LANE_ARMS, _FEWEST_LANES, _WORDS_OF_A_WARP = 1024, 4, 256
#: Lanes of a kernel on a TPU: those of a vector register. Each arm then has one register, and reductions over arms
#: move no data between lanes.
_VECTOR = (8, 128)
#: Bytes that a kernel may hold: the registers of a GPU's multiprocessor, and the compiler's share of a TPU's VMEM.
_REGISTERS, _VMEM = 2**18, 2**24
#: Lanes of an interpreted kernel.
_INTERPRETED = (16,)


def whole_kernels(lanes: int, platform: str, arms: int) -> int:
    """Return the number of lanes, rounded up to a multiple of the lanes of one kernel.

    Args:
        lanes: the requested number of lanes of a device.
        platform: JAX's name of the platform.
        arms: arms per run.
    """
    width = math.prod(tile(platform, arms))
    return -(-lanes // width) * width


def tile(platform: str, arms: int) -> tuple[int, ...]:
    """Return the shape in which one kernel holds its lanes; arguments as for `whole_kernels`."""
    if platform in ("cpu", "tpu"):
        return _VECTOR if platform == "tpu" else _INTERPRETED
    return (max(_FEWEST_LANES, _LANE_ARMS // pl.next_power_of_2(arms)),)


#: Pytrees of arrays: those that are only read, and those that change.
Fixed = TypeVar("Fixed")
Lanes = TypeVar("Lanes")


class _Packed(NamedTuple):
    """A pytree of arrays `(…, R)` as kernels take it: no truth values, and lanes by tiles `(…, R / T, *tile)`."""

    structure: PyTreeDef
    types: list[np.dtype]

    @classmethod
    def of(cls, tree: object, lanes: int, shape: tuple[int, ...]) -> tuple["_Packed", list[jax.Array]]:
        leaves, structure = jax.tree.flatten(tree)
        wide = [jnp.broadcast_to(leaf, (lanes,)) if jnp.ndim(leaf) == 0 else leaf for leaf in leaves]
        packed = [leaf.reshape(*leaf.shape[:-1], -1, *shape[1:]) for leaf in wide]
        packed = [leaf.astype(jnp.int32) if leaf.dtype == bool else leaf for leaf in packed]
        return cls(structure, [leaf.dtype for leaf in wide]), packed

    def tree(self, leaves: Sequence[jax.Array]) -> Any:
        """Return the tree of packed leaves, with truth values again; lanes stay in tiles."""
        typed = [leaf != 0 if dtype.kind == "b" else leaf for leaf, dtype in zip(leaves, self.types, strict=True)]
        return jax.tree.unflatten(self.structure, typed)


def _check_room(read: int, changed: int, shape: tuple[int, ...]) -> None:
    """Check that a kernel's state fits on the chip: otherwise Mosaic may search for room for minutes.

    Args:
        read: words that a lane reads.
        changed: words that a lane changes.
        shape: the shape of a tile.

    Raises:
        ValueError: the state does not fit.
    """
    # A TPU has a window for input and one for output, each twice: one copy is used, the other is moved.
    words, room = (read + changed, _REGISTERS) if len(shape) == 1 else (2 * (read + 2 * changed), _VMEM)
    if (held := 4 * words * math.prod(shape)) > room:
        raise ValueError(f"the state of {math.prod(shape)} lanes takes {held:,} bytes on the chip, which has {room:,}")


def loop_of_kernels(
    steps: Callable[[Fixed, Lanes], Lanes],
    fixed: Fixed,
    lanes: Lanes,
    blocks: jax.Array | int,
    shape: tuple[int, ...],
    *,
    interpret: bool,
) -> Lanes:
    """Apply `steps` to the lanes `blocks` times, each time as kernels for the lanes of one tile.

    Args:
        steps: from pytrees of arrays, `fixed` and `lanes`, to new `lanes`, lane by lane.
        fixed: the arrays that are only read; leaves `(…, R)` or `()`.
        lanes: the arrays that change; leaves `(…, R)`.
        blocks: int32 `()`: how many times.
        shape: the shape of a tile, by `tile`; R is a multiple of its size.
        interpret: whether kernels are interpreted.

    Raises:
        ValueError: the state of a tile of lanes does not fit on the chip.
        Exception: the kernel compiler does not support an operation.
    """
    count = jax.tree.leaves(lanes)[0].shape[-1]
    (reads, read), (changes, changed) = _Packed.of(fixed, count, shape), _Packed.of(lanes, count, shape)
    if not interpret:
        _check_room(sum(leaf.size for leaf in read) // count, sum(leaf.size for leaf in changed) // count, shape)

    def kernel(*refs: Any) -> None:
        values = [ref[...] for ref in refs[: len(read) + len(changed)]]
        with override_lowering("chip"):
            new = lower_for_pallas(steps, reads.tree(values[: len(read)]), changes.tree(values[len(read) :]))
        for ref, value in zip(refs[len(values) :], jax.tree.leaves(new), strict=True):
            ref[...] = value.astype(ref.dtype)

    def spec(leaf: jax.Array) -> pl.BlockSpec:
        front, rest = leaf.shape[: -len(shape)], (0,) * (len(shape) - 1)
        return pl.BlockSpec((*front, *shape), lambda i: (*(0 for _ in front), i, *rest))

    words = max(math.prod(leaf.shape[:-1]) for leaf in (*read, *changed)) * shape[-1]
    warps = min(max(pl.next_power_of_2(words) // _WORDS_OF_A_WARP, 4), 16)
    call = pl.pallas_call(
        kernel,
        out_shape=[jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in changed],
        grid=(count // math.prod(shape),),
        in_specs=[spec(leaf) for leaf in (*read, *changed)],
        out_specs=[spec(leaf) for leaf in changed],
        input_output_aliases={len(read) + i: i for i in range(len(changed))},
        interpret=interpret,
        compiler_params=None if interpret or len(shape) > 1 else triton.CompilerParams(num_warps=warps),
        name=NAME,
    )
    packed = lax.fori_loop(0, blocks, lambda _, leaves: list(call(*read, *leaves)), changed)
    like = jax.tree.leaves(lanes)
    return changes.tree([leaf.reshape(old.shape) for leaf, old in zip(packed, like, strict=True)])
