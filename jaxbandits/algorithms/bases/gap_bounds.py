"""Gaps and complexities inside a run, from true or estimated means; arms first, bandits next, runs last.

The same quantities for plotting and theory, with their sources, are in `jaxbandits.theory`; these take a tie order and
padded arms.
"""

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import larger, rounded
from jaxbandits.problems.base import per_bandit
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["bernstein_complexity", "gap_upper_bound", "gaps", "spread_lower_bound"]


def gaps(mean: jax.Array, m: jax.Array | int, order: jax.Array, mask: jax.Array | None, bandits: int) -> jax.Array:
    """|m-th largest mean of the other arms - mean| (Gabillon et al. 2012, section 2), `(K, …)`; +inf for padded arms.

    Args:
        mean: float32 `(K, …)`.
        m: int32 `(…)` or `Known`.
        order: int32 `(K, …)`, tie order.
        mask: bool `(K, …)` or None.
        bandits: number of bandits on the axis of arms.
    """
    values = mean if mask is None else jnp.where(mask, mean, -jnp.inf)
    values = per_bandit(values, bandits)
    kth, following, top = ranking.kth_and_next_largest(values, m, per_bandit(order, bandits))
    distance = jnp.abs(jnp.where(top, following, kth) - values).reshape(mean.shape)
    return distance if mask is None else jnp.where(mask, distance, jnp.inf)


def gap_upper_bound(gap: jax.Array, known: ArmStatistics) -> jax.Array:
    """UCB of a gap, gap + sqrt(1/(2T)) (Gabillon et al. 2011, section 5.1)."""
    return gap + rounded(jnp.float32(0.5**0.5) * known.inverse_root)


def spread_lower_bound(known: ArmStatistics) -> jax.Array:
    """LCB of a standard deviation, max(0, s - sqrt(2/(T-1))) (Gabillon et al. 2011, section 5.1)."""
    error = jnp.sqrt(2 / larger(known.pulls - 1, 1).astype(jnp.float32))
    return larger(jnp.sqrt(known.variance()) - error, jnp.float32(0))


def bernstein_complexity(spread: jax.Array, distance: jax.Array, b: jax.Array, constant: float) -> jax.Array:
    """Sum over arms of (sigma + sqrt(sigma^2 + constant b D))^2 / D^2, `(…)`; arms with D = inf add nothing.

    The constant is 16/3 in GapE-V (Gabillon et al. 2011, eq. 5) and 13/3 in UGapE-V (from the radius of
    `confidence.bernstein_radius`).
    """
    finite = jnp.isfinite(distance)
    safe = jnp.where(finite, distance, 1)
    root = spread + jnp.sqrt(rounded(spread * spread) + rounded(constant * b * safe))
    ratio = root / safe
    return arms.total(jnp.where(finite, rounded(ratio * ratio), 0))
