"""Arms at the bottom of an order that weigh no more together than a limit (Sabato 2019, Algorithm 1)."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.batch_medians import middle_sums
from jaxbandits.algorithms.bases.joint_state import JointState
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT

__all__ = ["lightest", "prefix_sums"]


def prefix_sums(sums: jax.Array, among: jax.Array, number: jax.Array) -> jax.Array:
    """The sum of every batch over some arms, `(Q, …)` (line 12)."""

    def add(batch: jax.Array | int, totals: jax.Array) -> jax.Array:
        there = lax.dynamic_index_in_dim(sums, batch, 0, keepdims=False)
        return lax.dynamic_update_index_in_dim(totals, arms.total(jnp.where(among, there, 0)), batch, 0)

    return lax.fori_loop(0, jnp.max(number), add, jnp.zeros((sums.shape[0], *sums.shape[2:]), sums.dtype))


def lightest(state: JointState, sums: jax.Array, number: jax.Array, limit: jax.Array) -> jax.Array:
    """A_N: the longest prefix of the arms, smallest estimate first, whose median sum is within the limit (line 16).

    Rewards are not negative, so the sums of the batches grow with the prefix, and with them their median: its end is
    found by halving, first the range of the estimates, then the tie order of those that share an estimate.

    Args:
        state: the state, with the estimates.
        sums: `(Q, K, …)`, the second batch.
        number: int32 `(…)`.
        limit: float32 `(…)`: twice the sum that a prefix may have; the whole set has more.

    Returns:
        bool `(K, …)`.
    """
    bits, active, order = _order_bits(state.values), state.active, state.fresh_order
    Ends = tuple[jax.Array, jax.Array]

    def halve(ends: Ends, prefix_to: Callable[[jax.Array], jax.Array]) -> Ends:
        low, high = ends
        middle = (low & high) + ((low ^ high) >> 1)  # their mean, which cannot overflow
        fits = middle_sums(prefix_sums(sums, prefix_to(middle), number), number).astype(jnp.float32) <= limit
        return jnp.where(fits, middle, low), jnp.where(fits, high, middle)

    # All estimates up to `low` fit, those up to `high` do not.
    first = arms.smallest(jnp.where(active, bits, MAX_COUNT)) - 1
    last = arms.largest(jnp.where(active, bits, -1))
    low, high = lax.while_loop(
        lambda ends: jnp.any(ends[0] + 1 < ends[1]),
        lambda ends: halve(ends, lambda middle: active & (bits <= middle)),
        (first, last),
    )
    below, level = active & (bits <= low), active & (bits == high)

    def undecided(ends: Ends) -> jax.Array:
        between = level & (order > ends[0]) & (order <= ends[1])
        return jnp.any(arms.total(between.astype(jnp.int32)) > 1)

    before, _ = lax.while_loop(
        undecided,
        lambda ends: halve(ends, lambda middle: below | (level & (order <= middle))),
        (jnp.full_like(number, -1), jnp.full_like(number, MAX_COUNT)),
    )
    return below | (level & (order <= before))


def _order_bits(values: jax.Array) -> jax.Array:
    """int32, not negative, in the order of values that are not negative."""
    if not jnp.issubdtype(values.dtype, jnp.floating):
        return values
    return lax.bitcast_convert_type(jnp.where(values > 0, values, 0), jnp.int32)
