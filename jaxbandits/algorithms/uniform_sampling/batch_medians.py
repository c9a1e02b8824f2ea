"""Medians of the sums of batches, and the longest prefix of arms whose median stays within a limit; for one run."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["lightest", "twice_median", "weights"]


def twice_median(sums: jax.Array, number: jax.Array) -> jax.Array:
    """Return twice the median over batches: the sum of the two middle values, or twice the middle one.

    For a few batches, comparisons of all pairs are faster than a sort.

    Args:
        sums: int32 or float32 `(Q, …)`, by batch; int32 below 2^30.
        number: int32 `()`: the number of batches, at least 1.

    Returns:
        The type of `sums`, `(…)`.
    """

    def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
        value = sums[batch]

        def count(other: jax.Array | int, rank: jax.Array) -> jax.Array:
            return rank + ((sums[other] < value) | ((sums[other] == value) & (other < batch)))

        rank = lax.fori_loop(0, number, count, jnp.zeros(value.shape, jnp.int32))
        lower, upper = jnp.where(rank == (number - 1) // 2, value, 0), jnp.where(rank == number // 2, value, 0)
        return total + lower + upper

    return lax.fori_loop(0, number, add, jnp.zeros_like(sums[0]))


def weights(sums: jax.Array, among: jax.Array, number: jax.Array) -> jax.Array:
    """Return the sum of every batch over some arms, `(Q,)` (Sabato 2019, Algorithm 1, line 12)."""

    def add(batch: jax.Array | int, totals: jax.Array) -> jax.Array:
        return totals.at[batch].set(jnp.sum(jnp.where(among, sums[batch], 0)))

    return lax.fori_loop(0, number, add, jnp.zeros(len(sums), sums.dtype))


Ends = tuple[jax.Array, jax.Array]


def lightest(
    estimates: jax.Array, active: jax.Array, ties: jax.Array, sums: jax.Array, number: jax.Array, limit: jax.Array
) -> jax.Array:
    """Return A_N: the longest prefix of the arms, smallest estimate first, whose median sum is within the limit.

    Rewards are not negative, so the sums of the batches and their median grow with the prefix. A bisection finds the
    end of the prefix: first over the range of the estimates, then over the tie numbers of arms that share an estimate.

    Args:
        estimates: int32 or float32 `(K,)`, not negative.
        active: bool `(K,)`: the arms in the prefixes.
        ties: int32 `(K,)`: of equal estimates the one with the larger number comes first.
        sums: `(Q, K)`, the second batches.
        number: int32 `()`, the number of batches.
        limit: float32 `()`: twice the sum that a prefix may have; the whole set has more.

    Returns:
        bool `(K,)`.
    """
    bits, order = _order_bits(estimates), MAX_COUNT - ties

    def halve(ends: Ends, prefix_to: Callable[[jax.Array], jax.Array]) -> Ends:
        low, high = ends
        middle = (low & high) + ((low ^ high) >> 1)  # their mean, which cannot overflow
        fits = twice_median(weights(sums, prefix_to(middle), number), number) <= limit
        return jnp.where(fits, middle, low), jnp.where(fits, high, middle)

    # All estimates up to `low` fit, those up to `high` do not.
    first, last = jnp.min(jnp.where(active, bits, MAX_COUNT)) - 1, jnp.max(jnp.where(active, bits, -1))
    low, high = lax.while_loop(
        lambda ends: ends[0] + 1 < ends[1],
        lambda ends: halve(ends, lambda middle: active & (bits <= middle)),
        (first, last),
    )
    below, level = active & (bits <= low), active & (bits == high)
    before, _ = lax.while_loop(
        lambda ends: jnp.sum(level & (order > ends[0]) & (order <= ends[1])) > 1,
        lambda ends: halve(ends, lambda middle: below | (level & (order <= middle))),
        (jnp.int32(-1), jnp.int32(MAX_COUNT)),
    )
    return below | (level & (order <= before))


def _order_bits(values: jax.Array) -> jax.Array:
    """Map values that are not negative to int32 numbers in the same order, not negative."""
    if not jnp.issubdtype(values.dtype, jnp.floating):
        return values
    return lax.bitcast_convert_type(jnp.where(values > 0, values, 0), jnp.int32)
