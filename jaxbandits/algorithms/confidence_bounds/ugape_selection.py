"""Select the arm that UGapE pulls and the arms that it returns, by its confidence intervals (SELECT-ARM, Figure 2).

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25; empirical Bernstein radii (UGapE-V) and several bandits as in their appendix B.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import is_largest, largest_of_others, two_largest, value_at
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["Selection", "bernstein_radius", "select_arm", "select_by_bounds"]


class Selection(NamedTuple):
    """The result of SELECT-ARM."""

    worst: jax.Array  # float32 (): B_J(t), the largest of the bandits'
    chosen: jax.Array  # bool (K,): J(t), of every bandit
    arm: jax.Array  # int (): I(t)


def select_arm(arms: Arms, radius: jax.Array, m: Numeric) -> Selection:
    """Return SELECT-ARM's choices by the radii beta, float32 `(K,)`."""
    mean, radius = arms.per_bandit(arms.mean), arms.per_bandit(radius)
    upper, lower = mean + radius, mean - radius
    return _select(arms, lower, upper, radius, m)


def select_by_bounds(arms: Arms, lower: jax.Array, upper: jax.Array, m: Numeric) -> Selection:
    """Return SELECT-ARM's choices by intervals, float32 `(K,)`; half their length is beta."""
    return _select(arms, arms.per_bandit(lower), arms.per_bandit(upper), arms.per_bandit((upper - lower) / 2), m)


def _select(arms: Arms, lower: jax.Array, upper: jax.Array, radius: jax.Array, m: Numeric) -> Selection:
    """Return SELECT-ARM's choices by the intervals and their radii, float32 `(K / M, M)`, or `(K,)` for one bandit."""
    index = largest_of_others(upper, m) - lower  # B_k(t), eq. 3
    chosen = is_largest(-index, m)  # J(t)
    if isinstance(m, StaticInt) and m == 1:
        worst, l = -jnp.max(-index, axis=0), jnp.argmax(-index, axis=0)  # noqa: E741 - as in the paper
        (_, first), (_, second) = two_largest(upper)
        u = jnp.where(l == first, second, first)  # the largest upper bound of the other arms
    else:
        worst = jnp.max(jnp.where(chosen, index, -jnp.inf), axis=0)  # B_J(t)
        l = jnp.argmin(jnp.where(chosen, lower, jnp.inf), axis=0)  # noqa: E741
        u = jnp.argmax(jnp.where(chosen, -jnp.inf, upper), axis=0)
    beta_l, beta_u = value_at(radius, l), value_at(radius, u)
    pulled = jnp.where((beta_u > beta_l) | ((beta_u == beta_l) & (u < l)), u, l)
    if arms.bandits > 1:  # the bandit with the largest B_J(t)
        bandit = jnp.argmax(worst)
        pulled = pulled[bandit] * arms.bandits + bandit
    return Selection(jnp.max(worst), chosen.reshape(-1), pulled)


def bernstein_radius(a: jax.Array, b: jax.Array, arms: Arms) -> jax.Array:
    """Return sqrt(2 a s^2 / T) + 7 a b / (3 (T - 1)), float32 `(K,)` (Maurer and Pontil 2009, Theorem 4).

    s^2 is the unbiased variance. It holds for one arm and one count with probability at least 1 - 4 exp(-a), for
    rewards in [0, b].
    """
    return jnp.sqrt(arms.variance) * jnp.sqrt(2 * a / arms.pulls) + 7 / 3 * a * b / (arms.pulls - 1)
