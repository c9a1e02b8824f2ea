"""Guarantees of KL-LUCB, whose complexity is in Chernoff informations.

Kaufmann, Kalyanakrishnan 2013, "Information complexity in bandit subset selection"; the constants are derived here,
after the arguments of that paper and of `baseline_bounds.lucb_pulls_bound`. Rewards lie in [0, 1].
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.checks import ABOVE_ONE, AT_LEAST_ONE, INSIDE_UNIT, NOT_NEGATIVE, UNIT
from jaxbandits.statistics.exponential_families import BERNOULLI
from jaxbandits.theory._bound_shapes import largest_solution, power
from jaxbandits.theory._checks import as_float, check, log_of
from jaxbandits.theory.complexity import gaps
from jaxbandits.theory.divergences import kl_bernoulli

__all__ = ["chernoff_information", "kl_lucb_pulls_bound"]

# Steps of a search between the m-th mean and the next, each of which keeps two thirds; how close to its ends it goes.
_SECTIONS, _LEAST = 40, 1e-3
_NEWTON_STEPS = 8


def chernoff_information(p: ArrayLike, q: ArrayLike) -> jax.Array:
    """Return the Chernoff information of Bernoulli laws, d*(p, q) = kl(z, p) = kl(z, q) at the z where these are equal.

    kl(z, p) - kl(z, q) is linear in z, as in every exponential family: -kl(p, q) at z = p and kl(q, p) at z = q, so
    z = p + (q - p) kl(p, q) / (kl(p, q) + kl(q, p)).

    Args:
        p: mean of the first law, in [0, 1], shape `(…)`.
        q: mean of the second law, in [0, 1], broadcasting with p.

    Returns:
        Shape `(…)`, at least 0; infinite for 0 and 1.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.chernoff_information(0.7, 0.5)), 4)
        0.0213
    """
    check("p", p, UNIT)
    check("q", q, UNIT)
    return _chernoff(*jnp.broadcast_arrays(as_float(p), as_float(q)))


def _chernoff(p: jax.Array, q: jax.Array) -> jax.Array:
    apart, far = p != q, (jnp.minimum(p, q) == 0) & (jnp.maximum(p, q) == 1)
    usual = apart & ~far
    p, q = jnp.where(usual, p, 0.25), jnp.where(usual, q, 0.75)
    # A mean of 0 or 1 is infinitely far from the other law, and z is that mean.
    p_ends, q_ends = p * (1 - p) == 0, q * (1 - q) == 0
    inside = ~(p_ends | q_ends)
    first, second = jnp.where(inside, p, 0.25), jnp.where(inside, q, 0.75)
    there, back = kl_bernoulli(first, second), kl_bernoulli(second, first)
    share = jnp.where(inside, there / (there + back), jnp.where(p_ends, 0.0, 1.0))
    # Of the two equal divergences, the one with the longer way has the better digits.
    to_q = share < 0.5
    end, way = jnp.where(to_q, q, p), (q - p) * jnp.where(to_q, 1 - share, -share)
    found = BERNOULLI.divergence(p + (q - p) * share, way, end, 1 - end)
    return jnp.where(usual, found, jnp.where(apart, jnp.inf, 0.0))


def kl_lucb_pulls_bound(
    means: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    m: ArrayLike = 1,
    k1: ArrayLike = 405.5,
    alpha: ArrayLike = 1.1,
) -> jax.Array:
    """Return the number of pulls that KL-LUCB exceeds with probability at most delta.

    The exploration rate is that of Kaufmann and Kalyanakrishnan 2013: b(t) = x + log x with x = log(k1 K t^alpha/delta)
    in round t. The intervals {q: N kl(mean, q) <= b(t)} all hold with probability 1 - delta if k1 > 2e + 1 +
    e/(alpha-1) + (e+1)/(alpha-1)^2.

    Let c lie between the m-th and the next mean. In a round that does not stop, c lies in the interval of u or of l.
    Were both above c, m + 1 arms would be; both below, K - m + 1. u above and l below is against their order, and l
    above u stops. That arm k has a point of kl at most b(t)/N_k from c and from its mean. So N_k <= b(t) / d*(mu_k, c),
    the paper's complexity.

    And one of u, l has a Hoeffding interval of half-width w = sqrt(b(t) / (2 N)) >= epsilon/4 with c in it. Suppose
    that the interval with c is shorter than epsilon/2. Then the other one lies on one side of c: it reaches by more
    than epsilon/2 from its mean away from c, and c is nearer than that. With c halfway, w >= Delta/4 as well, and N <=
    8 b(t) / max(Delta, epsilon)^2. Either way a round gives a pull to an arm with N_k <= b(t)/D_k. So rounds number at
    most the largest r <= sum_k b(r)/D_k. The smaller of the two bounds is returned, with the best c in the first.

    Args:
        means: arm means, shape `(K, …)`, in [0, 1].
        epsilon: accuracy, at least 0.
        delta: probability of error, in (0, 1).
        m: number of arms to return, in [1, K-1].
        k1: of the exploration rate, at least 1.
        alpha: of the exploration rate, above 1.

    Returns:
        Shape `(…)`; infinite if epsilon = 0 and the m best arms are not unique.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.kl_lucb_pulls_bound([0.7, 0.5, 0.4], 0.1, 0.05)), 0)
        19726.0
    """
    check("means", means, UNIT)
    check("epsilon", epsilon, NOT_NEGATIVE)
    check("delta", delta, INSIDE_UNIT)
    check("k1", k1, AT_LEAST_ONE)
    check("alpha", alpha, ABOVE_ONE)
    mu, gap = as_float(means), gaps(means, m)
    informed = _informed_rounds(mu, gap, as_float(m))
    simple = 8 * jnp.sum(power(jnp.maximum(gap, as_float(epsilon)), -2.0), axis=0)
    slope = jnp.minimum(informed, simple)
    level = jnp.log(mu.shape[0] * as_float(k1)) - log_of(delta)
    return mu.shape[0] + 2 * _largest_rounds(slope, level, as_float(alpha))


def _informed_rounds(mu: jax.Array, gap: jax.Array, m: jax.Array) -> jax.Array:
    """Return the sum of 1 / d*(mu_k, c) over the arms, minimised over c; infinite for a tie.

    c lies between the m-th mean and the next.
    """
    rank = jnp.argsort(jnp.argsort(-mu, axis=0), axis=0)
    upper = jnp.sum(jnp.where(rank == m - 1, mu, 0.0), axis=0)
    lower = jnp.sum(jnp.where(rank == m, mu, 0.0), axis=0)
    apart = jnp.min(gap, axis=0) > 0
    # Where the border is a tie, other means, so that no derivative is infinite.
    mu = jnp.where(apart, mu, jnp.where(rank < m, 0.75, 0.25))
    upper, lower = jnp.where(apart, upper, 0.75), jnp.where(apart, lower, 0.25)

    def rounds(share: jax.Array, mu: jax.Array, upper: jax.Array, lower: jax.Array) -> jax.Array:
        return jnp.sum(1 / _chernoff(*jnp.broadcast_arrays(mu, lower + (upper - lower) * share)), axis=0)

    fixed = jax.tree.map(lax.stop_gradient, (mu, upper, lower))

    def shorter(_: jax.Array | int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        first, second = low + (high - low) / 3, high - (high - low) / 3
        left = rounds(first, *fixed) < rounds(second, *fixed)
        return jnp.where(left, low, first), jnp.where(left, second, high)

    low, high = lax.fori_loop(0, _SECTIONS, shorter, (jnp.full_like(upper, _LEAST), jnp.full_like(upper, 1 - _LEAST)))
    # At the minimum, the sum does not change with c.
    return jnp.where(apart, rounds(lax.stop_gradient((low + high) / 2), mu, upper, lower), jnp.inf)


def _largest_rounds(slope: jax.Array, level: jax.Array, alpha: jax.Array) -> jax.Array:
    """Return the largest r with r <= slope (x + log x), x = level + alpha log r."""
    finite = jnp.isfinite(slope)
    slope = jnp.where(finite, slope, 1.0)

    def closer(r: jax.Array, slope: jax.Array, level: jax.Array, alpha: jax.Array) -> jax.Array:
        x = level + alpha * jnp.log(r)
        return r - (r - slope * (x + jnp.log(x))) / (1 - slope * alpha / r * (1 + 1 / x))

    # As log x <= x/e, this is not below the root, and on a convex function Newton's method then descends to it.
    fixed = jax.tree.map(lax.stop_gradient, (slope, level, alpha))
    root = largest_solution(jnp.zeros_like(slope), fixed[0] * (1 + 1 / jnp.e), fixed[1], fixed[2])
    for _ in range(_NEWTON_STEPS):
        root = closer(root, *fixed)
    return jnp.where(finite, closer(lax.stop_gradient(root), slope, level, alpha), jnp.inf)
