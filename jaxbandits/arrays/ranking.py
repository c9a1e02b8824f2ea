"""Arms in the order of their values: the first, the k-th, the k largest, ranks; ties by a tie order.

Shapes as in `arms.py`: `(K, …)` over arms, `(…)` for one value per run. Ties never depend on the arms' order:
operations that name an arm take a tie order, an int32 per arm drawn once per run (`jaxbandits.random.tie_breaking`).
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT, fast_max
from jaxbandits.arrays.static_int import StaticInt

__all__ = [
    "arg_largest",
    "arg_smallest",
    "exchange",
    "first_place",
    "in_order",
    "kth_and_next_largest",
    "kth_largest",
    "rank",
    "sortable",
    "top_mask",
]

# Up to this number of arms, removing the largest arm k times is faster than searching for a threshold bit by bit
# (measured).
_FEW_ARMS = 64


def first_place(candidates: jax.Array, order: jax.Array) -> jax.Array:
    """Return the first candidate's rank in the tie order.

    `order == place` is the mask of that arm, and `tie_breaking.arm_at` its number.

    Args:
        candidates: bool, shape `(K, …)`, at least one true per run.
        order: int32, shape `(K, …)`, from `tie_order`.

    Returns:
        int32, shape `(…)`.
    """
    return arms.smallest(jnp.where(candidates, order, MAX_COUNT))


def arg_largest(x: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the largest value `(…)` and its arm's rank in the tie order, int32 `(…)`; the first of several."""
    value = arms.largest(x)
    return value, first_place(x == value, order)


def arg_smallest(x: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the smallest value `(…)` and its arm's rank in the tie order, int32 `(…)`; the first of several."""
    value = arms.smallest(x)
    return value, first_place(x == value, order)


def rank(x: jax.Array, order: jax.Array) -> jax.Array:
    """Return each arm's rank from the largest (0) to the smallest (K-1), ties by the order.

    From `(K, …)` to int32 `(K, …)`.
    """

    def count_one(arm: jax.Array | int, ranks: jax.Array) -> jax.Array:
        value = lax.dynamic_index_in_dim(x, arm, 0)
        place = lax.dynamic_index_in_dim(order, arm, 0)
        before = (value > x) | ((value == x) & (place < order))
        return ranks + before.astype(jnp.int32)

    return lax.fori_loop(0, x.shape[0], count_one, jnp.zeros_like(x, jnp.int32))


def top_mask(x: jax.Array, k: jax.Array | int, order: jax.Array, among: jax.Array | None = None) -> jax.Array:
    """Return the mask of the k arms with the largest values, ties by the order.

    Args:
        x: float32 or int32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, at least 0; or `StaticInt`, which compiles to a cheaper program.
        order: int32, shape `(K, …)`.
        among: bool, shape `(K, …)`: the arms considered; None for all.

    Returns:
        bool, shape `(K, …)`, exactly k true per run, or all arms considered where they are fewer.
    """
    if isinstance(k, StaticInt) and k == 1 and among is None:
        _, place = arg_largest(x, order)
        return order == place
    among = jnp.ones(x.shape, bool) if among is None else among
    if x.shape[0] <= _FEW_ARMS:
        return _top_by_removal(x, k, order, among)
    kth = kth_largest(x, fast_max(k, 1), among)
    above, level = among & (x > kth), among & (x == kth)
    missing = jnp.int32(k) - arms.total(above.astype(jnp.int32))
    # The first `missing` of the level arms in the tie order: the order's complement turns first into largest.
    place = jnp.where(level, (MAX_COUNT - order).astype(jnp.uint32), jnp.uint32(0))
    return above | (level & (missing > 0) & (place >= _threshold(place, missing, level)))


def exchange(x: jax.Array, top: jax.Array, order: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Take one step from a mask towards `top_mask`: exchange the worst inside for the best outside, if that is better.

    After a change of one value one step is enough; a full selection takes dozens of passes over the arms.

    Args:
        x: float32, shape `(K, …)`, not NaN.
        top: bool, shape `(K, …)`, neither empty nor full.
        order: int32, shape `(K, …)`.

    Returns:
        The mask, and whether it changed, bool `(…)`.
    """
    low, high = (
        arms.smallest(jnp.where(top, x, arms.highest(x.dtype))),
        arms.largest(jnp.where(top, arms.lowest(x.dtype), x)),
    )
    worst = arms.largest(jnp.where(top & (x == low), order, -1))
    best = first_place(~top & (x == high), order)
    better = (high > low) | ((high == low) & (best < worst))
    return top ^ (better & ((order == worst) | (order == best))), better


def kth_largest(x: jax.Array, k: jax.Array | int, among: jax.Array | None = None) -> jax.Array:
    """Return the k-th largest value.

    Args:
        x: float32 or int32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, from 1 to the number of arms considered.
        among: bool, shape `(K, …)`: the arms considered; None for all.

    Returns:
        The type of `x`, shape `(…)`.
    """
    bits = sortable(x)
    among = jnp.ones(x.shape, bool) if among is None else among
    reached = among & (bits >= _threshold(bits, k, among))
    return arms.smallest(jnp.where(reached, x, arms.highest(x.dtype)))


def kth_and_next_largest(x: jax.Array, k: jax.Array | int, order: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the k-th and (k+1)-th largest values over arms, and the mask of the top k.

    Args:
        x: float32, shape `(K, …)`, not NaN.
        k: int32, shape `(…)`, in [1, K-1]; or `StaticInt`.
        order: int32, shape `(K, …)`, for ties.

    Returns:
        Two arrays of shape `(…)` and a bool mask of shape `(K, …)` with k true per run.
    """
    lowest = arms.lowest(x.dtype)
    if isinstance(k, StaticInt) and k == 1:
        value, place = arg_largest(x, order)
        top = order == place
        return value, arms.largest(jnp.where(top, lowest, x)), top
    top = top_mask(x, k, order)
    return arms.smallest(jnp.where(top, x, arms.highest(x.dtype))), arms.largest(jnp.where(top, lowest, x)), top


def in_order(x: jax.Array) -> jax.Array:
    """Return int32 in the order of numbers, float32, int32 or uint32; of floats, in that of their bits.

    So -0 comes before 0, and a NaN before or after all numbers, by its sign.
    """
    if jnp.issubdtype(x.dtype, jnp.floating):
        bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
        return jnp.where(bits < 0, bits ^ jnp.int32(0x7FFFFFFF), bits)
    if x.dtype == jnp.uint32:
        return lax.bitcast_convert_type(x ^ jnp.uint32(0x80000000), jnp.int32)
    return x.astype(jnp.int32)


def sortable(x: jax.Array) -> jax.Array:
    """Return uint32 in the order of `x`, float32 or int32 and not NaN; zeros of both signs are equal."""
    bits = in_order(jnp.where(x == 0, 0, x) if jnp.issubdtype(x.dtype, jnp.floating) else x)
    return lax.bitcast_convert_type(bits, jnp.uint32) ^ jnp.uint32(0x80000000)


def _top_by_removal(x: jax.Array, k: jax.Array | int, order: jax.Array, among: jax.Array) -> jax.Array:
    """Return `top_mask` by removing the largest arm as often as the largest k requires."""
    wanted = jnp.broadcast_to(jnp.int32(k), x.shape[1:])
    rounds = jnp.max(wanted)

    def take_out(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        i, taken = carry
        value = arms.largest(jnp.where(taken, arms.lowest(x.dtype), x))
        place = first_place(~taken & (x == value), order)
        return i + 1, taken | ((order == place) & (i < wanted))

    return among & lax.while_loop(lambda carry: carry[0] < rounds, take_out, (jnp.int32(0), ~among))[1]


def _threshold(x: jax.Array, k: jax.Array | int, among: jax.Array) -> jax.Array:
    """Return a threshold that k arms of a mask reach, or as few more as ties allow: uint32 `(K, …)` to `(…)`.

    It is computed bit by bit above the smallest value. The number of passes is the number of bits of the values'
    spread, or fewer where k arms are separated earlier.
    """
    low = arms.smallest(jnp.where(among, x, jnp.uint32(0xFFFFFFFF)))
    x = jnp.where(among, x, jnp.uint32(0))
    high = arms.largest(x)
    size = arms.total(among.astype(jnp.int32))
    spread = jnp.max(jnp.where(size > k, high - low, jnp.uint32(0)))
    highest_bit = jnp.uint32(0x80000000) >> lax.clz(spread)

    def unfinished(state: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        bit, _, size = state
        return (bit > 0) & jnp.any(size > k)

    def decide_bit(state: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        bit, value, size = state
        candidate = value + bit
        reached = arms.total((x >= candidate).astype(jnp.int32))
        # The sum may exceed the largest uint32.
        fits = (bit <= high - value) & (reached >= k)
        return bit >> jnp.uint32(1), jnp.where(fits, candidate, value), jnp.where(fits, reached, size)

    return lax.while_loop(unfinished, decide_bit, (highest_bit, low, size))[1]
