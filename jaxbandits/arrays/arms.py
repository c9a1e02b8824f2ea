"""Operations over arms: every reduction of the package over its first axis is defined here.

Shapes: an array over arms has shape `(K, …)`, and one value per run has shape `(…)`. The dots are empty for one run
    and `(R,)` for R runs (arms first, runs last), so the same line works for both. The forms below were chosen by
    measurement (experiments/benchmarks/arm_operations.py). `jnp.argmax` does not vectorise on XLA:CPU, but reductions
    over a leading axis do. Flat gathers and scatters touch one element a run, and a masked sum or `where` touches K.
    `platform_lowering.py` chooses between them for each platform; the results are the same, bit for bit.
"""

import functools
import itertools
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.arrays.platform_lowering import lowering

__all__ = [
    "PIECE",
    "any_arm",
    "highest",
    "index",
    "largest",
    "largest_or_nan",
    "lowest",
    "put",
    "reorder",
    "scatter",
    "smallest",
    "smallest_or_nan",
    "take",
    "total",
    "total_of_counts",
]

# XLA:CPU vectorises a reduction over a leading axis only where it unrolls it. That is up to some 29 arms for simple
# operands, up to some 22 for masked ones. Measured: with a mask, pieces of 25 took 5 to 10 times as long as of 20.
# Above 32 it stores the operand and uses windows of 32.
PIECE = 20
# From this number on, stored arms are reduced by tens or twenties: XLA's windows are not vectorised. LUCB takes 0.5 to
# 0.7 of the time (few_lanes.py). Other numbers are left to XLA: padded, UGapE took up to twice as long.
_LEVELS = 512


def index(arms: int, batch: tuple[int, ...]) -> jax.Array:
    """Return arm numbers, int32, shape `(K, 1, …)` broadcasting with `(K, *batch)`; in a kernel of that shape."""
    if lowering().in_kernel:
        return lax.broadcasted_iota(jnp.int32, (arms, *batch), 0)
    return jnp.arange(arms, dtype=jnp.int32).reshape((arms,) + (1,) * len(batch))


def lowest(dtype: jnp.dtype) -> jax.Array:
    """Return the smallest number of a type, `()`; -inf for floats."""
    return jnp.array(-jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min, dtype)


def highest(dtype: jnp.dtype) -> jax.Array:
    """Return the largest number of a type, `()`; inf for floats."""
    return jnp.array(jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max, dtype)


def largest(x: jax.Array) -> jax.Array:
    """Return the largest value over arms: `(K, …)` to `(…)`. Not for NaN."""
    return _reduce(x, lowest(x.dtype), fast_max)


def smallest(x: jax.Array) -> jax.Array:
    """Return the smallest value over arms: `(K, …)` to `(…)`. Not for NaN."""
    return _reduce(x, highest(x.dtype), fast_min)


def largest_or_nan(x: jax.Array) -> jax.Array:
    """Return the largest value over arms, NaN if one is NaN: `(K, …)` to `(…)`."""
    return _reduce(x, lowest(x.dtype), _larger_or_nan)


def smallest_or_nan(x: jax.Array) -> jax.Array:
    """Return the smallest value over arms, NaN if one is NaN: `(K, …)` to `(…)`."""
    return _reduce(x, highest(x.dtype), _smaller_or_nan)


def _larger_or_nan(a: jax.Array, b: jax.Array) -> jax.Array:
    return lax.select((a > b) | (a != a), a, b)


def _smaller_or_nan(a: jax.Array, b: jax.Array) -> jax.Array:
    return lax.select((a < b) | (a != a), a, b)


def total(x: jax.Array) -> jax.Array:
    """Return the sum over arms: `(K, …)` to `(…)`.

    Floats are added one arm after another in a loop. The compiler may reorder the terms of a reduction, and rounding
    would then distinguish a single run from the same run in a batch.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return _reduce(x, jnp.zeros((), x.dtype), lax.add)

    def add_one(arm: jax.Array | int, sums: jax.Array) -> jax.Array:
        return sums + lax.dynamic_index_in_dim(x, arm, 0, keepdims=False)

    return lax.fori_loop(0, x.shape[0], add_one, jnp.zeros_like(x[0]))


def total_of_counts(x: jax.Array) -> jax.Array:
    """Return the sum over arms of counts, int32 not negative, that may pass 2^31: `(K, …)` to float32 `(…)`."""
    # Pieces of 8 bits: the sum of `MOST_ARMS` of them still fits an int32.
    sums = jnp.zeros(x.shape[1:], jnp.float32)
    for shift in (24, 16, 8, 0):
        piece = _reduce((x >> shift) & 0xFF, jnp.int32(0), lax.add).astype(jnp.float32)
        sums = sums + piece * 2.0**shift  # the product is exact, so that contraction changes no bit
    return sums


def any_arm(mask: jax.Array) -> jax.Array:
    """Return whether the mask holds for any arm: bool `(K, …)` to bool `(…)`."""
    return _reduce(mask, jnp.zeros((), bool), lax.bitwise_or)


def take(x: jax.Array, arm: jax.Array) -> jax.Array:
    """Return the entry of one arm per run.

    Args:
        x: shape `(K, …)`.
        arm: int32, shape `(…)`, in [0, K); or with more leading axes, for several arms of each run.

    Returns:
        The shape of `arm`.
    """
    if x.shape[0] > lowering().masked_take:
        return _gathered(x, arm)
    return _selected(x, arm) if jnp.issubdtype(x.dtype, jnp.floating) else _by_mask(x, arm)


def put(x: jax.Array, arm: jax.Array, value: jax.Array) -> jax.Array:
    """Return `x` of shape `(K, …)` with one arm's entry per run replaced by `value` of shape `(…)`.

    `arm` is as in `take`.
    """
    value = jnp.broadcast_to(value, x.shape[1:]).astype(x.dtype)
    if x.shape[0] <= lowering().masked_put:
        return jnp.where(index(x.shape[0], x.shape[1:]) == arm, value, x)
    flat = x.reshape(-1).at[_flat(arm, x.shape[1:])].set(value, mode="clip", unique_indices=True)
    return flat.reshape(x.shape)


def scatter(x: jax.Array, arm: jax.Array, values: jax.Array) -> jax.Array:
    """Return `x` of shape `(K, …)` with entries of several arms per run replaced.

    Args:
        x: shape `(K, …)`.
        arm: int32, shape `(P, …)`, different for each entry of a run; K for an entry to leave out.
        values: shape `(P, …)`.
    """
    if x.shape[0] <= lowering().masked_take:
        hits = arm[:, None] == index(x.shape[0], x.shape[1:])
        return jnp.where(any_arm(hits), _only(hits, values[:, None].astype(x.dtype)), x)
    outside = x.shape[0] * math.prod(x.shape[1:])
    place = jnp.where(arm < x.shape[0], _flat(arm, x.shape[1:]), outside)
    return x.reshape(-1).at[place].set(values.astype(x.dtype), mode="drop").reshape(x.shape)


def reorder(x: jax.Array, order: jax.Array) -> jax.Array:
    """Return the entries of arms in another order.

    Args:
        x: shape `(K, …)`, or `(K, N, …)`.
        order: int32 `(K, …)`, the arm of each new position.
    """
    x = jnp.asarray(x)
    between = tuple(range(1, 1 + x.ndim - order.ndim))
    return jnp.take_along_axis(x, jnp.expand_dims(order, between), axis=0, mode="clip")


def _reduce(x: jax.Array, start: jax.Array, operation: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array:
    """Reduce the first axis; on CPU in pieces of nearly the same size, at most `PIECE` each, up to some arms."""
    count = x.shape[0]
    if lowering().in_kernel:
        return _NAMED[operation](x, axis=0)
    if count >= _LEVELS and lowering().chunked:
        x = _in_levels(x, start, operation)
    if count > lowering().reduced_in_pieces:
        return lax.reduce(x, start, operation, (0,))
    number = max(1, -(-count // PIECE))
    ends = [count * i // number for i in range(number + 1)]
    pieces = [lax.reduce(x[i:j], start, operation, (0,)) for i, j in itertools.pairwise(ends)]
    return functools.reduce(operation, pieces)


def _in_levels(x: jax.Array, start: jax.Array, operation: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array:
    """Reduce some 20 arms to one, as long as their number is divisible; barriers keep XLA from uniting the levels."""
    for size in range(PIECE, PIECE // 2 - 1, -1):
        if x.shape[0] > PIECE and x.shape[0] % size == 0:
            stored = lax.optimization_barrier(x).reshape(size, x.shape[0] // size, *x.shape[1:])
            return _in_levels(lax.reduce(stored, start, operation, (0,)), start, operation)
    return x


#: Reductions by name. Among zeros of both signs either may be the largest, as in any order of a reduction.
_NAMED: dict[Callable[..., jax.Array], Callable[..., jax.Array]] = {
    fast_max: jnp.max,
    fast_min: jnp.min,
    _larger_or_nan: jnp.max,
    _smaller_or_nan: jnp.min,
    lax.bitwise_or: jnp.any,
    lax.add: lambda x, axis: jnp.sum(x, axis=axis, dtype=x.dtype),
}


def _gathered(x: jax.Array, arm: jax.Array) -> jax.Array:
    """Return the entries of `take` by a gather."""
    return x.reshape(-1).at[_flat(arm, x.shape[1:])].get(mode="clip")


def _by_mask(x: jax.Array, arm: jax.Array) -> jax.Array:
    """Return the entries of `take` by a mask over all arms."""
    several = x.reshape(x.shape[:1] + (1,) * (arm.ndim + 1 - x.ndim) + x.shape[1:])
    return _only(index(x.shape[0], arm.shape) == arm, several)


_selected = jax.custom_jvp(_by_mask)  # the bits that it moves have no derivative


@_selected.defjvp
def _selected_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (x, arm), (dx, _) = primals, tangents
    return _selected(x, arm), _gathered(dx, arm)


def _only(hits: jax.Array, x: jax.Array) -> jax.Array:
    """Return the one entry of the first axis that is hit, or zero, bit for bit.

    A sum of floats would lose the sign of a zero.
    """
    if x.dtype == bool:
        return any_arm(hits & x)
    words = lax.bitcast_convert_type(x, jnp.dtype(f"uint{8 * x.dtype.itemsize}"))
    return lax.bitcast_convert_type(_reduce(jnp.where(hits, words, 0), jnp.zeros((), words.dtype), lax.add), x.dtype)


def _flat(arm: jax.Array, batch: tuple[int, ...]) -> jax.Array:
    """Return positions in a flattened `(K, *batch)` array."""
    runs = math.prod(batch)
    return arm.astype(jnp.int32) * jnp.int32(runs) + jnp.arange(runs, dtype=jnp.int32).reshape(batch)
