"""What theory promises where tails are heavy: radii, numbers of pulls, error bounds; differentiable in every number.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI. Arms have a p-th
raw moment of at most B and a p-th central moment of at most C, 1 < p <= 2. Means are `(K, …)`, the other arguments `()`
or `(…)`, results `(…)`.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import as_float, check, check_budget, check_moment_order
from jaxbandits.theory.complexity import gaps

__all__ = [
    "catoni_radius",
    "empirical_mean_radius",
    "h2_p",
    "median_of_means_radius",
    "se_ea_pulls_bound",
    "se_tea_pulls_bound",
    "sr_ea_error_bound",
    "sr_tea_error_bound",
    "sr_tea_threshold",
    "truncated_mean_radius",
]


def empirical_mean_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Radius around the mean of s rewards that holds with probability 1 - delta (Lemma 1, EA).

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, above 1; above 2 the lemma's second form, with C_p = (8 (p-1) max(1, 2^(p-3)))^p.
        moment_c: C, bound of E|X - mean|^p, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_c)
    s, delta, p, c = (as_float(x) for x in (s, delta, p, moment_c))
    light = (2 * c / (s ** (p - 1) * delta)) ** (1 / p)  # 1 < p <= 2
    factor = 8 * (p - 1) * jnp.maximum(1.0, 2 ** (p - 3))  # C_p^(1/p)
    return jnp.where(p <= 2, light, factor * (c / (s ** (p / 2) * delta)) ** (1 / p))


def truncated_mean_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_b: ArrayLike) -> jax.Array:
    """Radius around the truncated mean of s rewards that holds with probability 1 - delta (Lemma 1, TEA).

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, above 1; the rate of orders above 2 is that of 2.
        moment_b: B, bound of E|X|^p, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_b)
    s, delta, p, b = (as_float(x) for x in (s, delta, p, moment_b))
    rate = jnp.minimum((p - 1) / p, 0.5)
    return 5 * b ** (1 / p) * (jnp.log(2 / delta) / s) ** rate


def median_of_means_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Radius around the median of the means of 8 ln(2/delta) batches that holds with probability 1 - delta.

    (12 C / N^(p-1))^(1/p) with N = s / (8 ln(2/delta)) rewards in a batch, infinite below one: Bubeck, Cesa-Bianchi,
    Lugosi (2013), "Bandits with heavy tails", IEEE Trans. Inf. Theory 59, proof of Lemma 2.

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, bound of E|X - mean|^p, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_c, most=2)
    s, delta, p, c = (as_float(x) for x in (s, delta, p, moment_c))
    size = s / (8 * jnp.log(2 / delta))
    return jnp.where(size >= 1, (12 * c / jnp.maximum(size, 1.0) ** (p - 1)) ** (1 / p), jnp.inf)


def catoni_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Radius around Catoni's estimate from s rewards that holds with probability 1 - delta.

    Derived at `jaxbandits.statistics.robust_means.Catoni`; near sqrt(2 C ln(2/delta) / s) for p = 2. Infinite below
    (p / (p-1))^2 ln(2/delta) rewards.

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, bound of E|X - mean|^p, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_c, most=2)
    s, delta, p, c = (as_float(x) for x in (s, delta, p, moment_c))
    level = jnp.log(2 / delta)
    alpha = (p * level / ((p - 1) * s * c * 2 ** (2 - p))) ** (1 / p)
    least = level * p / ((p - 1) * s)
    enough = least < (p - 1) / p
    least = jnp.where(enough, least, (p - 1) / p)
    u = least
    for _ in range(40):  # Newton's method for the smallest root of u = least + u^p / p
        u = u + (least + u**p / p - u) / jnp.maximum(1 - u ** (p - 1), 1e-3)
    return jnp.where(enough, u / alpha, jnp.inf)


def se_ea_pulls_bound(means: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Pulls of SE-delta with empirical means, exceeded with probability at most delta (Theorem 1).

    Args:
        means: arm means, shape `(K, …)`, the best one alone.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_c, most=2)
    delta, p, c = (as_float(x) for x in (delta, p, moment_c))
    arms = jnp.shape(means)[0]
    terms = 2 ** (2 * p + 1) * arms * c / (gaps(means) ** p * delta)
    return jnp.sum(terms ** (1 / (p - 1)), axis=0)


def se_tea_pulls_bound(means: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_b: ArrayLike) -> jax.Array:
    """Pulls of SE-delta with truncated means, exceeded with probability at most delta (Theorem 1).

    Args:
        means: arm means, shape `(K, …)`, the best one alone.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_b: B, positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(delta, p, moment_b, most=2)
    delta, p, b = (as_float(x) for x in (delta, p, moment_b))
    terms = (20**p * b / gaps(means) ** p) ** (1 / (p - 1))
    return jnp.sum(terms, axis=0) * jnp.log(2 * jnp.shape(means)[0] / delta)


def h2_p(means: ArrayLike, p: ArrayLike) -> jax.Array:
    """max_k k^(p-1) gap_(k)^-p over the gaps in increasing order, the first of which is the second's (section 4).

    Args:
        means: arm means, shape `(K, …)`.
        p: order of the moment, in (1, 2].

    Raises:
        UsageError: a value outside its range.
    """
    check_moment_order(p, most=2)
    ordered = jnp.sort(gaps(means), axis=0)
    p = as_float(p)
    rank = jnp.arange(1, ordered.shape[0] + 1).reshape((-1,) + (1,) * (ordered.ndim - 1))
    return jnp.max(rank ** (p - 1) * ordered**-p, axis=0)


def sr_ea_error_bound(means: ArrayLike, budget: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Bound on the error of SR-T with empirical means, 2^(p+1) C K (K-1) H_2^p (Kbar / (T-K))^(p-1) (Theorem 2).

    Args:
        means: arm means, shape `(K, …)`, the best one alone.
        budget: T, above K.
        p: order of the moment, in (1, 2].
        moment_c: C, positive.

    Returns:
        A probability, capped at 1; 1 for budgets that do not exceed K.

    Raises:
        UsageError: a value outside its range.
    """
    spare, arms, harmonic = _spare(means, budget)
    _check(0.5, p, moment_c, most=2)
    p, c = as_float(p), as_float(moment_c)
    bound = 2 ** (p + 1) * c * arms * (arms - 1) * h2_p(means, p) * (harmonic / jnp.maximum(spare, 1e-9)) ** (p - 1)
    return jnp.where(spare > 0, jnp.minimum(bound, 1.0), 1.0)


def sr_tea_error_bound(
    means: ArrayLike, budget: ArrayLike, p: ArrayLike, moment_b: ArrayLike, gap: ArrayLike
) -> jax.Array:
    """Bound on the error of SR-T with truncated means (Theorem 2).

    2 K (K-1) exp(-(T-K) B1 gap^(p/(p-1)) / (Kbar K)) with B1 = (p-1) / (4 (2^p 3 B p^p)^(1/(p-1))).

    Args:
        means: arm means, shape `(K, …)`.
        budget: T, above K.
        p: order of the moment, in (1, 2].
        moment_b: B, positive.
        gap: the gap that the threshold is made for, positive, at most the smallest.

    Returns:
        A probability, capped at 1; 1 for budgets that do not exceed K.

    Raises:
        UsageError: a value outside its range.
    """
    spare, arms, harmonic = _spare(means, budget)
    _check(0.5, p, moment_b, most=2)
    check("the gap", gap, POSITIVE)
    p, b, gap = (as_float(x) for x in (p, moment_b, gap))
    rate = (p - 1) / (4 * (2**p * 3 * b * p**p) ** (1 / (p - 1)))
    bound = 2 * arms * (arms - 1) * jnp.exp(-spare * rate * gap ** (p / (p - 1)) / (harmonic * arms))
    return jnp.where(spare > 0, jnp.minimum(bound, 1.0), 1.0)


def sr_tea_threshold(p: ArrayLike, moment_b: ArrayLike, gap: ArrayLike) -> jax.Array:
    """B = (3 B p / gap)^(1/(p-1)), the size above which SR-T with truncated means drops a reward (section 4).

    Args:
        p: order of the moment, in (1, 2].
        moment_b: B, positive.
        gap: positive.

    Raises:
        UsageError: a value outside its range.
    """
    _check(0.5, p, moment_b, most=2)
    check("the gap", gap, POSITIVE)
    p, b, gap = (as_float(x) for x in (p, moment_b, gap))
    return (3 * b * p / gap) ** (1 / (p - 1))


def _check(delta: ArrayLike, p: ArrayLike, moment: ArrayLike, most: float = float("inf")) -> None:
    check("delta", delta, INSIDE_UNIT)
    check_moment_order(p, most)
    check("the moment", moment, POSITIVE)


def _spare(means: ArrayLike, budget: ArrayLike) -> tuple[jax.Array, int, float]:
    """T - K, K and Kbar = sum_{i=1}^K 1/i."""
    check_budget(budget)
    arms = jnp.shape(means)[0]
    return as_float(budget) - arms, arms, sum(1 / i for i in range(1, arms + 1))
