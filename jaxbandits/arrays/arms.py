"""Operations over arms: every reduction of the package over its first axis goes through here.

Shapes: an array over arms has shape `(K, …)`, what a run has once has shape `(…)`; `…` is empty for one run and
`(R,)` for R runs (arms first, runs last), so the same line serves both. The forms below were chosen by measurement
(experiments/benchmarks/arm_operations.py): `jnp.argmax` does not vectorise on XLA:CPU while reductions over a leading
axis do, and flat gathers and scatters touch one element a run where a masked sum or `where` touches K.

Ties never depend on the arms' order: operations that name an arm take a tie order, an int32 per arm drawn once per run
(`jaxbandits.random.ties`).
"""

import functools
import itertools
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT, larger, smaller

__all__ = [
    "any_arm",
    "arg_largest",
    "arg_largest_of_known",
    "arg_smallest",
    "exchange",
    "first_place",
    "index",
    "kth_and_next_largest",
    "kth_largest",
    "largest",
    "put",
    "rank",
    "scatter",
    "smallest",
    "take",
    "top_mask",
    "total",
    "total_of_counts",
]

# Up to this many arms, taking out the largest arm k times is faster than searching for a threshold bit by bit
# (measured).
_FEW_ARMS = 64
# XLA:CPU makes vectors of a reduction over a leading axis only where it unrolls it: up to some 29 arms for simple
# operands, up to some 22 for masked ones (measured: with a mask, pieces of 25 took 5 to 10 times as long as of 20).
# Above 32 it stores the operand and uses windows of 32.
_PIECE = 20
_PIECES = 128
# From so many arms on, looking at them a block after another is faster (measured: 256 slower, 512 faster).
_BLOCKED = 512
# Up to this many arms, writing all of them in vectors is faster than one element a run (measured).
_VERY_FEW_ARMS = 16


def index(arms: int, batch: tuple[int, ...]) -> jax.Array:
    """Arm numbers, int32, shape `(K, 1, …)` broadcasting with `(K, *batch)`."""
    return jnp.arange(arms, dtype=jnp.int32).reshape((arms,) + (1,) * len(batch))


def largest(x: jax.Array) -> jax.Array:
    """Largest value over arms: `(K, …)` to `(…)`. Not for NaN."""
    return _reduce(x, _lowest(x.dtype), larger)


def smallest(x: jax.Array) -> jax.Array:
    """Smallest value over arms: `(K, …)` to `(…)`. Not for NaN."""
    return _reduce(x, _highest(x.dtype), smaller)


def total(x: jax.Array) -> jax.Array:
    """Sum over arms: `(K, …)` to `(…)`.

    Floats are added one arm after another in a loop: the compiler orders the terms of a reduction as it likes, and
    rounding would then tell a run on its own from the same run in a batch.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return _reduce(x, jnp.zeros((), x.dtype), lax.add)

    def add_one(arm: jax.Array | int, sums: jax.Array) -> jax.Array:
        return sums + lax.dynamic_index_in_dim(x, arm, 0, keepdims=False)

    return lax.fori_loop(0, x.shape[0], add_one, jnp.zeros_like(x[0]))


def total_of_counts(x: jax.Array) -> jax.Array:
    """Sum over arms of counts, int32 not negative, that may pass 2^31: `(K, …)` to float32 `(…)`."""
    # Pieces of 8 bits: `MOST_ARMS` of them still make an int32.
    sums = jnp.zeros(x.shape[1:], jnp.float32)
    for shift in (24, 16, 8, 0):
        piece = _reduce((x >> shift) & 0xFF, jnp.int32(0), lax.add).astype(jnp.float32)
        sums = sums + piece * 2.0**shift  # a product that is exact, so that contraction changes no bit
    return sums


def any_arm(mask: jax.Array) -> jax.Array:
    """Whether the mask holds for any arm: bool `(K, …)` to bool `(…)`."""
    return _reduce(mask, jnp.zeros((), bool), lax.bitwise_or)


def first_place(candidates: jax.Array, order: jax.Array) -> jax.Array:
    """The first candidate's place in the tie order: `order == place` is that arm's mask, `ties.arm_at` its number.

    Args:
        candidates: bool, shape `(K, …)`, at least one true per run.
        order: int32, shape `(K, …)`, from `tie_order`.

    Returns:
        int32, shape `(…)`.
    """
    return _reduce(jnp.where(candidates, order, MAX_COUNT), jnp.int32(MAX_COUNT), smaller)


def arg_largest(x: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The largest value `(…)` and its arm's place in the tie order, int32 `(…)`; the first of several."""
    value = largest(x)
    return value, first_place(x == value, order)


def arg_largest_of_known(
    block: Callable[[jax.Array | int, int], tuple[jax.Array, jax.Array]],
    known: jax.Array,
    count: int,
    *,
    at_once: bool = False,
) -> tuple[jax.Array, jax.Array]:
    """`arg_largest` of the arms below `known`; of many arms a block at a time on CPU.

    What is read of a block and computed from it then stays in the nearer caches, and blocks beyond every run's `known`
    are left out.

    Args:
        block: from the number of the first arm and a static number of arms to their values, float32 `(k, …)`, not NaN,
            and their tie order, int32 `(k, …)`.
        known: int32 `(…)`, at least 1 (else any arm's place is returned).
        count: number of arms K.
        at_once: whether `block` must be asked for all arms.
    """
    number = 1 if at_once or count < _BLOCKED else -(-count // _PIECES)
    size = -(-count // number)

    def best(first: jax.Array | int, size: int) -> tuple[jax.Array, jax.Array]:
        x, order = block(first, size)
        return arg_largest(jnp.where(first + index(size, known.shape) < known, x, -jnp.inf), order)

    def merge(i: jax.Array | int, found: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        value, place = best(smaller(i * size, count - size), size)  # the last block may repeat some arms
        better = (value > found[0]) | ((value == found[0]) & (place < found[1]))
        return jnp.where(better, value, found[0]), jnp.where(better, place, found[1])

    def by_blocks() -> tuple[jax.Array, jax.Array]:
        return lax.fori_loop(1, -(-jnp.max(known) // size), merge, best(0, size))

    return best(0, count) if number == 1 else lax.platform_dependent(cpu=by_blocks, default=lambda: best(0, count))


def arg_smallest(x: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The smallest value `(…)` and its arm's place in the tie order, int32 `(…)`; the first of several."""
    value = smallest(x)
    return value, first_place(x == value, order)


def take(x: jax.Array, arm: jax.Array) -> jax.Array:
    """The entry of one arm per run.

    Args:
        x: shape `(K, …)`.
        arm: int32, shape `(…)`, in [0, K); or with more axes in front, for several arms of each run.

    Returns:
        The shape of `arm`.
    """
    return x.reshape(-1).at[_flat(arm, x.shape[1:])].get(mode="clip")


def put(x: jax.Array, arm: jax.Array, value: jax.Array) -> jax.Array:
    """`x` of shape `(K, …)` with one arm's entry per run replaced by `value` of shape `(…)`; `arm` as in `take`."""
    value = jnp.broadcast_to(value, x.shape[1:]).astype(x.dtype)
    if x.shape[0] <= _VERY_FEW_ARMS:
        return jnp.where(index(x.shape[0], x.shape[1:]) == arm, value, x)
    flat = x.reshape(-1).at[_flat(arm, x.shape[1:])].set(value, mode="clip", unique_indices=True)
    return flat.reshape(x.shape)


def scatter(x: jax.Array, arm: jax.Array, values: jax.Array) -> jax.Array:
    """`x` of shape `(K, …)` with entries of several arms per run replaced.

    Args:
        x: shape `(K, …)`.
        arm: int32, shape `(P, …)`, different for each entry of a run; K for an entry to leave out.
        values: shape `(P, …)`.
    """
    outside = x.shape[0] * math.prod(x.shape[1:])
    place = jnp.where(arm < x.shape[0], _flat(arm, x.shape[1:]), outside)
    return x.reshape(-1).at[place].set(values.astype(x.dtype), mode="drop").reshape(x.shape)


def rank(x: jax.Array, order: jax.Array) -> jax.Array:
    """Rank of each arm from the largest (0) to the smallest (K-1), ties by the order: `(K, …)` to int32 `(K, …)`."""

    def count_one(arm: jax.Array | int, ranks: jax.Array) -> jax.Array:
        value = lax.dynamic_index_in_dim(x, arm, 0)
        place = lax.dynamic_index_in_dim(order, arm, 0)
        before = (value > x) | ((value == x) & (place < order))
        return ranks + before.astype(jnp.int32)

    return lax.fori_loop(0, x.shape[0], count_one, jnp.zeros_like(x, jnp.int32))


def top_mask(x: jax.Array, k: jax.Array | int, order: jax.Array, among: jax.Array | None = None) -> jax.Array:
    """The k arms with the largest values, ties by the order.

    Args:
        x: float32 or int32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, at least 0; or `Known`, which makes a cheaper program.
        order: int32, shape `(K, …)`.
        among: bool, shape `(K, …)`: the arms looked at; None for all.

    Returns:
        bool, shape `(K, …)`, exactly k true per run, or all arms looked at where they are fewer.
    """
    if isinstance(k, Known) and k == 1 and among is None:
        _, place = arg_largest(x, order)
        return order == place
    among = jnp.ones(x.shape, bool) if among is None else among
    if x.shape[0] <= _FEW_ARMS:
        return _top_by_removal(x, k, order, among)
    kth = kth_largest(x, larger(k, 1), among)
    above, level = among & (x > kth), among & (x == kth)
    missing = jnp.int32(k) - total(above.astype(jnp.int32))
    # The first `missing` of the level arms in the tie order: the order's complement turns first into largest.
    place = jnp.where(level, (MAX_COUNT - order).astype(jnp.uint32), jnp.uint32(0))
    return above | (level & (missing > 0) & (place >= _threshold(place, missing, level)))


def exchange(x: jax.Array, top: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """One step from a mask towards `top_mask`: the worst inside for the best outside, if that is better.

    After a change of one value one step is enough; a selection from scratch takes dozens of passes over the arms.

    Args:
        x: float32, shape `(K, …)`, not NaN.
        top: bool, shape `(K, …)`, neither empty nor full.
        order: int32, shape `(K, …)`.

    Returns:
        The mask, and whether it changed, bool `(…)`.
    """
    low, high = smallest(jnp.where(top, x, _highest(x.dtype))), largest(jnp.where(top, _lowest(x.dtype), x))
    worst = largest(jnp.where(top & (x == low), order, -1))
    best = first_place(~top & (x == high), order)
    better = (high > low) | ((high == low) & (best < worst))
    return top ^ (better & ((order == worst) | (order == best))), better


def kth_largest(x: jax.Array, k: jax.Array | int, among: jax.Array | None = None) -> jax.Array:
    """The k-th largest value.

    Args:
        x: float32 or int32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, from 1 to the number of arms looked at.
        among: bool, shape `(K, …)`: the arms looked at; None for all.

    Returns:
        The type of `x`, shape `(…)`.
    """
    bits = _sortable(x)
    among = jnp.ones(x.shape, bool) if among is None else among
    reached = among & (bits >= _threshold(bits, k, among))
    return smallest(jnp.where(reached, x, _highest(x.dtype)))


def kth_and_next_largest(x: jax.Array, k: jax.Array | int, order: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The k-th and (k+1)-th largest values over arms, and which arms are the top k.

    Args:
        x: float32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, in [1, K-1]; or `Known`.
        order: int32, shape `(K, …)`, for ties.

    Returns:
        Two arrays of shape `(…)` and a bool mask of shape `(K, …)` with k true per run.
    """
    lowest = _lowest(x.dtype)
    if isinstance(k, Known) and k == 1:
        value, place = arg_largest(x, order)
        top = order == place
        return value, largest(jnp.where(top, lowest, x)), top
    top = top_mask(x, k, order)
    return smallest(jnp.where(top, x, _highest(x.dtype))), largest(jnp.where(top, lowest, x)), top


def _reduce(x: jax.Array, start: jax.Array, operation: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array:
    """Reduce the first axis; up to `_PIECES` arms in pieces of the same size, or nearly, of at most `_PIECE` each."""
    count = x.shape[0]
    if count > _PIECES:
        return lax.reduce(x, start, operation, (0,))
    number = max(1, -(-count // _PIECE))
    ends = [count * i // number for i in range(number + 1)]
    pieces = [lax.reduce(x[i:j], start, operation, (0,)) for i, j in itertools.pairwise(ends)]
    return functools.reduce(operation, pieces)


def _flat(arm: jax.Array, batch: tuple[int, ...]) -> jax.Array:
    """Positions in a flattened `(K, *batch)` array."""
    runs = math.prod(batch)
    return arm.astype(jnp.int32) * jnp.int32(runs) + jnp.arange(runs, dtype=jnp.int32).reshape(batch)


def _lowest(dtype: jnp.dtype) -> jax.Array:
    return jnp.array(-jnp.inf if jnp.issubdtype(dtype, jnp.floating) else -MAX_COUNT - 1, dtype)


def _highest(dtype: jnp.dtype) -> jax.Array:
    return jnp.array(jnp.inf if jnp.issubdtype(dtype, jnp.floating) else MAX_COUNT, dtype)


def _sortable(x: jax.Array) -> jax.Array:
    """uint32 in the order of `x` (float32 or int32)."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        # -0 and +0 are equal as floats and would differ as bits.
        bits = lax.bitcast_convert_type(jnp.where(x == 0, 0, x).astype(jnp.float32), jnp.int32)
        bits = jnp.where(bits < 0, bits ^ jnp.int32(0x7FFFFFFF), bits)
    else:
        bits = x.astype(jnp.int32)
    return lax.bitcast_convert_type(bits, jnp.uint32) ^ jnp.uint32(0x80000000)


def _top_by_removal(x: jax.Array, k: jax.Array | int, order: jax.Array, among: jax.Array) -> jax.Array:
    """`top_mask` by taking out the largest arm as often as the largest k asks for."""
    wanted = jnp.broadcast_to(jnp.int32(k), x.shape[1:])
    rounds = jnp.max(wanted)

    def take_out(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        i, taken = carry
        value = largest(jnp.where(taken, _lowest(x.dtype), x))
        place = first_place(~taken & (x == value), order)
        return i + 1, taken | ((order == place) & (i < wanted))

    return among & lax.while_loop(lambda carry: carry[0] < rounds, take_out, (jnp.int32(0), ~among))[1]


def _threshold(x: jax.Array, k: jax.Array | int, among: jax.Array) -> jax.Array:
    """A threshold that k arms of a mask reach, or as few more as ties allow: uint32 `(K, …)` to `(…)`.

    It is found bit by bit above the smallest value: as many passes as the spread of the values has bits, fewer where k
    arms stand apart earlier.
    """
    low = _reduce(jnp.where(among, x, jnp.uint32(0xFFFFFFFF)), jnp.uint32(0xFFFFFFFF), smaller)
    x = jnp.where(among, x, jnp.uint32(0))
    high = _reduce(x, jnp.uint32(0), larger)
    size = total(among.astype(jnp.int32))
    spread = jnp.max(jnp.where(size > k, high - low, jnp.uint32(0)))
    highest_bit = jnp.uint32(0x80000000) >> lax.clz(spread)

    def unfinished(state: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        bit, _, size = state
        return (bit > 0) & jnp.any(size > k)

    def decide_bit(state: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        bit, value, size = state
        candidate = value + bit
        reached = total((x >= candidate).astype(jnp.int32))
        # The sum may pass the largest number there is.
        fits = (bit <= high - value) & (reached >= k)
        return bit >> jnp.uint32(1), jnp.where(fits, candidate, value), jnp.where(fits, reached, size)

    return lax.while_loop(unfinished, decide_bit, (highest_bit, low, size))[1]
