"""Guarantees of races: numbers of pulls that they exceed with probability at most delta.

Kaufmann, Kalyanakrishnan 2013, "Information complexity in bandit subset selection"; the bounds are derived here. Races
are those of the package. They compare arms at geometrically growing numbers of pulls: n_1 = ceil(l_1) pulls of every
remaining arm and n_(r+1) = ceil(growth n_r). The intervals have the level l_r = ln(c K r (r+1) / delta) at the r-th
comparison, and all hold with probability 1 - delta.

Means are `(K, …)`, the other arguments `()` or `(…)`, results `(…)`.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.checks import ABOVE_ONE, INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, UNIT
from jaxbandits.theory._bound_shapes import power
from jaxbandits.theory._checks import as_float, check, log_of
from jaxbandits.theory.complexity import gaps

__all__ = ["bernstein_race_pulls_bound", "hoeffding_race_pulls_bound"]

# Steps towards a fixed point; each comes closer by a factor of 3 or more.
_STEPS = 20


def hoeffding_race_pulls_bound(
    means: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    growth: ArrayLike = 1.3,
) -> jax.Array:
    """Return the number of pulls that the race with Hoeffding's intervals exceeds with probability at most delta.

    Derived here. The radius at n pulls is w = b sqrt(l_r / (2n)), c = 2. All arms leave at the latest when 2w <
    epsilon. To see this, take the empirical best arms that complete the m. Any other arm has an upper
    bound at most 2w above the lower bound of each of them.

    With epsilon = 0 and intervals that hold, only bad arms are discarded and good ones accepted. So an arm leaves at
    the first comparison with 4w < Delta. If it is not among the empirical best, the last of these has a mean of at
    least mu_(m) - w, and the arm's upper bound is below mu_k + 2w. (With epsilon > 0 a good arm may be discarded for
    one within epsilon of it, that one later for another, and so on: nothing is proved here by gaps.) An arm that stays
    at n pulls has n <= a l_r, a = 8 b^2/Delta^2 or 2 b^2/epsilon^2. It leaves at the next comparison, growth n + 1 at
    most, or at the first one.

    Args:
        means: arm means, shape `(K, …)`.
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].
        b: range of the rewards, positive.
        growth: pulls at a comparison over those at the last, above 1.

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.hoeffding_race_pulls_bound([0.7, 0.5, 0.4], 0.1, 0.05)), 0)
        9097.0
    """
    gap, epsilon, b = _checked(means, epsilon, delta, m, b, growth)
    by_gap, by_epsilon = 8 * power(gap / b, -2.0), 2 * power(epsilon / b, -2.0)
    return _race(by_gap, by_epsilon, epsilon, 2.0, delta, growth)


def bernstein_race_pulls_bound(
    means: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike = 1,
    b: ArrayLike = 1.0,
    growth: ArrayLike = 1.3,
) -> jax.Array:
    """Return the number of pulls that the race with Bernstein's intervals exceeds with probability at most delta.

    Intervals are empirical Bernstein ones. Derived as `hoeffding_race_pulls_bound`, with c = 3 and the radius w =
    sqrt(2 V x) + 3 b x, x = l_r/n. Here V = mean (b - mean) changes by at most b w within an interval that holds. So w
    <= sqrt(2 (v + b w) x) + 3 b x with v = mu (b
    - mu), and w <= 2 sqrt(2 v x) + 7 b x. With the largest v of any arm, 4w < Delta follows from n > a l_r, a = 4
    (sqrt(8 v) + sqrt(8 v + 7 b Delta))^2 / Delta^2. 2w < epsilon follows from the same with 2 epsilon in place of
    Delta.

    Args:
        means: arm means, shape `(K, …)`, in [0, b].
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].
        b: range of the rewards, positive.
        growth: pulls at a comparison over those at the last, above 1.

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.bernstein_race_pulls_bound([0.7, 0.5, 0.4], 0.1, 0.05)), 0)
        51548.0
    """
    gap, epsilon, b = _checked(means, epsilon, delta, m, b, growth)
    mu = as_float(means) / b
    check("the means", mu, UNIT)
    spread = 8 * jnp.max(mu * (1 - mu), axis=0)

    def looks(distance: jax.Array) -> jax.Array:
        apart = distance > 0
        distance = jnp.where(apart, distance, 1.0)
        root = jnp.sqrt(jnp.where(spread > 0, spread, 1.0)) * (spread > 0)
        return jnp.where(apart, 4 * ((root + jnp.sqrt(spread + 7 * distance)) / distance) ** 2, jnp.inf)

    return _race(looks(gap / b), looks(2 * epsilon / b), epsilon, 3.0, delta, growth)


def _checked(
    means: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, m: ArrayLike, b: ArrayLike, growth: ArrayLike
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return gaps, epsilon and b."""
    check("epsilon", epsilon, NOT_NEGATIVE)
    check("delta", delta, INSIDE_UNIT)
    check("b", b, POSITIVE)
    check("growth", growth, ABOVE_ONE)
    return gaps(means, m), as_float(epsilon), as_float(b)


def _race(
    by_gap: jax.Array, by_epsilon: jax.Array, epsilon: jax.Array, sides: float, delta: ArrayLike, growth: ArrayLike
) -> jax.Array:
    """Return the pulls of arms that stay at n pulls only if n <= a l_r.

    a is given for each arm by its gap, `(K, …)`, or by epsilon.
    """
    arms, growth = by_gap.shape[0], as_float(growth)
    a = jnp.where(epsilon > 0, by_epsilon, by_gap)
    finite = jnp.isfinite(a)
    # The barrier: without it XLA hoists a number that all arms share out of the steps, one operation at a time, and
    # complains.
    a = lax.optimization_barrier(jnp.where(finite, a, 1.0))
    level = jnp.log(sides * arms) - log_of(delta)

    def stays(n: jax.Array) -> jax.Array:
        look = 1 + jnp.log(jnp.maximum(n, 1.0)) / jnp.log(growth)  # n_r is at least growth^(r-1)
        return a * (level + jnp.log(look) + jnp.log(look + 1))

    n = a * level
    for _ in range(_STEPS):
        n = stays(n)
    first = level + jnp.log(2.0) + 1
    pulls = jnp.maximum(growth * n + 1, first)
    return jnp.sum(jnp.where(finite, pulls, jnp.inf), axis=0)
