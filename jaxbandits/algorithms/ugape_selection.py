"""Which arm UGapE pulls and which it returns, by the radii of its confidence intervals (SELECT-ARM, Figure 2).

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25; empirical Bernstein radii (UGapE-V) and several bandits as in their appendix B.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.largest_arms import is_largest, largest_of_others
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.known import Known

__all__ = ["Selection", "bernstein_radius", "select_arm"]


class Selection(NamedTuple):
    """What SELECT-ARM finds."""

    chosen: jax.Array  # bool (K,): J(t), of every bandit
    worst: jax.Array  # float32 (): B_J(t), the largest of the bandits'
    arm: jax.Array  # int (): I(t)


def select_arm(arms: Arms, radius: jax.Array, m: Numeric) -> Selection:
    """Return SELECT-ARM's choices by the radii beta, float32 `(K,)`, of which a larger one is one of fewer pulls."""
    mean, radius = arms.per_bandit(arms.mean), arms.per_bandit(radius)
    upper, lower = mean + radius, mean - radius
    index = largest_of_others(upper, m) - lower  # B_k(t), eq. 3
    chosen = is_largest(-index, m)  # J(t)
    worst = jnp.max(jnp.where(chosen, index, -jnp.inf), axis=0)  # B_J(t)
    u = is_largest(jnp.where(chosen, -jnp.inf, upper), Known(1))
    l = is_largest(jnp.where(chosen, -lower, -jnp.inf), Known(1))  # noqa: E741 - as in the paper
    pulled = jnp.where((u | l) & (worst == jnp.max(worst)), radius, -jnp.inf)
    return Selection(chosen.reshape(-1), jnp.max(worst), jnp.argmax(pulled))


def bernstein_radius(a: jax.Array, b: jax.Array, arms: Arms) -> jax.Array:
    """Return sqrt(2 a s^2 / T) + 7 a b / (3 (T - 1)), float32 `(K,)` (Maurer and Pontil 2009, Theorem 4).

    s^2 is the unbiased variance. It holds for one arm and one count with probability at least 1 - 4 exp(-a), for
    rewards in [0, b].
    """
    return jnp.sqrt(2 * a * arms.variance / arms.pulls) + 7 * a * b / (3 * (arms.pulls - 1))
