"""Draws from the posterior given that the leader is not the best arm, at a cost that does not grow as that gets rare.

"The leader l is not the best arm" is the union of the events A_j, arm j above it. Karp, Luby and Madras (1989),
"Monte-Carlo approximation algorithms for enumeration problems": draw j with a probability proportional to P(A_j), then
all means given A_j, and accept them with the probability 1 / (number of arms above the leader). Accepted means have the
posterior's law given the union.

Here the means given A_j also come by rejection. Both arms' laws f are tilted by exp(strength t) and exp(-strength t),
where t is the statistic of their exponential family. This moves both means to the pooled one, x; the tilted laws are g.
On A_j, f / g is at most C_j = exp(-cost - ...), reached where the two means are equal. So j is drawn proportionally to
C_j and means by g. On A_j they are accepted with probability exp(-strength advantage) / (number of arms above). P(A_j)
need not be known. That is exact but for rounding of log C_j in float32, some 10^-6 of it.

For normal rewards of unknown variances Student's law is not such a family: there are no tilts.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import log1pmx
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.posteriors import Observed

__all__ = ["Tilts", "advantage", "tilts"]


class Tilts(NamedTuple):
    """The tilts of every arm and the leader; `(K,)` each, the leader's entry means nothing."""

    mean: jax.Array  # x, in units of the range of Bernoulli rewards
    strength: jax.Array  # at least 0; 0 where the arm is not behind the leader
    log_weight: jax.Array  # log C_j; -inf where an arm has no posterior


def tilts(family: str, known: Observed, width: jax.Array, leader: jax.Array) -> Tilts:
    """Return the tilts of every arm with the leader.

    Args:
        family: "bernoulli", "gaussian", "poisson" or "exponential"; arguments as for `posterior_draws`.
        known: what is known of the arms.
        width: `()`.
        leader: int32 `()`.
    """
    mean, size = _laws(family, known, width)
    top, weight = mean[leader], size[leader]
    way, whole = jnp.maximum(top - mean, 0.0), 1 / (size + weight)
    by_leader, by_other = way * (size * whole), way * (weight * whole)
    pooled = mean + by_other
    law = FAMILIES[family]
    cost = weight * law.divergence_by(top, -by_leader) + size * law.divergence_by(mean, by_other)
    strength, log_weight = weight * by_leader, -cost
    if family == "poisson":
        strength = strength / pooled
    if family == "bernoulli":
        own, shared, n = (top, mean), (pooled, pooled), (weight, size)
        log_weight = log_weight + sum(
            _beside(m * k, x * k) + _beside((1 - m) * k, (1 - x) * k) for m, x, k in zip(own, shared, n, strict=True)
        )
    behind = way > 0
    proper = jnp.isfinite(log_weight) if family != "exponential" else (mean > 0) & (top > 0)
    log_weight = jnp.where(proper, jnp.where(behind, log_weight, 0.0), -jnp.inf)
    return Tilts(pooled, jnp.where(behind, strength, 0.0), log_weight)


def advantage(family: str, leader: jax.Array, other: jax.Array) -> jax.Array:
    """Return how far means are above the leader's in the family's statistic, float32; both as they are drawn."""
    if family == "exponential":
        return 1 / leader - 1 / other
    if family == "bernoulli":
        tiny = 1e-30
        ratio = (
            jnp.maximum(other, tiny) / jnp.maximum(leader, tiny),
            jnp.maximum(1 - leader, tiny) / jnp.maximum(1 - other, tiny),
        )
        return jnp.log(ratio[0]) + jnp.log(ratio[1])
    return other - leader


def _laws(family: str, known: Observed, width: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return means and sizes of the arms' posteriors, `(K,)`: the costs of tilts are sizes times divergences."""
    pulls = jnp.maximum(known.pulls, 1).astype(jnp.float32)
    if family == "gaussian":
        root = known.inverse_root * (width / 2)
        return known.mean, 1 / (root * root)
    total = known.total.astype(jnp.float32)
    if family == "bernoulli":
        successes = jnp.maximum(total * (1 / width), 0.0)
        a, b = 1 + successes, jnp.maximum(1 + (pulls - successes), 1.0)
        return a / (a + b), a + b
    return (total + 0.5 if family == "poisson" else total) / pulls, pulls


def _beside(before: jax.Array, after: jax.Array) -> jax.Array:
    """Return log Gamma(after) - log Gamma(before) without z log z - z of both, z = after and before."""
    return 0.5 * jnp.log(before / after) + (_remainder(after) - _remainder(before))


def _remainder(z: jax.Array) -> jax.Array:
    """Return log Gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), z > 0, within 10^-5."""
    found = jnp.zeros_like(z)
    for _ in range(2):  # the remainder of z is that of z + 1, plus (z + 1/2) log(1 + 1/z) - 1
        inverse = 1 / z
        found = found + (0.5 * inverse - (z + 0.5) * log1pmx(inverse, 1 + inverse))
        z = z + 1
    inverse = 1 / z
    square = inverse * inverse
    return found + inverse * (jnp.float32(1 / 12) - square * (1 / 360 - square * (1 / 1260)))
