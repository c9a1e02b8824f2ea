"""Guarantees where tails are heavy: numbers of pulls, error bounds; differentiable in every number.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI. Arms have a p-th
raw moment of at most B and a p-th central moment of at most C, 1 < p <= 2. Means are `(K, …)`, the other arguments `()`
or `(…)`, results `(…)`. Powers are computed by logarithms: (1 / delta)^(1 / (p - 1)) soon exceeds the range of floats.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE
from jaxbandits.theory._bound_shapes import exponential, power, times
from jaxbandits.theory._checks import as_float, check, check_budget, check_moment_order, log_of, number_of_arms
from jaxbandits.theory.complexity import gaps

__all__ = [
    "h2_p",
    "se_ea_pulls_bound",
    "se_tea_pulls_bound",
    "sr_ea_error_bound",
    "sr_tea_error_bound",
    "sr_tea_threshold",
]

# The smallest gap, a difference of means, must not be below itself through rounding.
_ROUNDING = 1e-5
# The logarithm of 10,000, of which exp(-x) is 0 in every floating type.
_NO_FLOAT = 9.2


def se_ea_pulls_bound(means: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Return the pulls of SE-delta with empirical means, exceeded with probability at most delta (Theorem 1).

    Args:
        means: arm means, shape `(K, …)`, with a unique best arm.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.se_ea_pulls_bound([2.0, 1.0], 0.05, 2.0, 1.0):.2e}"
        '2.56e+03'
    """
    _check(delta, p, moment_c)
    p, c = (as_float(x) for x in (p, moment_c))
    scale = (2 * p + 1) * jnp.log(2.0) + jnp.log(number_of_arms(means) * c) - log_of(delta)
    return _pulls(means, p, scale)


def se_tea_pulls_bound(means: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_b: ArrayLike) -> jax.Array:
    """Return the pulls of SE-delta with truncated means, exceeded with probability at most delta (Theorem 1).

    Args:
        means: arm means, shape `(K, …)`, with a unique best arm.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_b: B, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.se_tea_pulls_bound([2.0, 1.0], 0.05, 2.0, 5.0):.2e}"
        '1.75e+04'
    """
    _check(delta, p, moment_b)
    p, b = (as_float(x) for x in (p, moment_b))
    return times(jnp.log(2.0 * number_of_arms(means)) - log_of(delta), _pulls(means, p, p * jnp.log(20.0) + jnp.log(b)))


def h2_p(means: ArrayLike, p: ArrayLike) -> jax.Array:
    """Return max_k k^(p-1) gap_(k)^-p over the gaps in increasing order, first that of the second arm (section 4).

    Args:
        means: arm means, shape `(K, …)`.
        p: order of the moment, in (1, 2].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.h2_p([0.7, 0.5, 0.4], 2.0)), 1)
        50.0
    """
    check_moment_order(p, most=2)
    apart, log_gap = _log_gaps(means)
    rank = jnp.arange(1.0, number_of_arms(means) + 1).reshape((-1,) + (1,) * (log_gap.ndim - 1))
    terms = (as_float(p) - 1) * jnp.log(rank) - as_float(p) * jnp.sort(log_gap, axis=0)
    return jnp.where(apart.all(axis=0), exponential(jnp.max(terms, axis=0)), jnp.inf)


def sr_ea_error_bound(means: ArrayLike, budget: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Return a bound on the error of SR-T with empirical means (Theorem 2).

    It is 2^(p+1) C K (K-1) H_2^p (Kbar / (T-K))^(p-1).

    Args:
        means: arm means, shape `(K, …)`, with a unique best arm.
        budget: T, above K.
        p: order of the moment, in (1, 2].
        moment_c: C, positive.

    Returns:
        A probability, capped at 1; 1 for budgets that do not exceed K.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.sr_ea_error_bound([2.0, 1.0], 1000, 2.0, 1.0):.2g}"
        '0.048'
    """
    spare, arms, harmonic = _spare(means, budget)
    _check(0.5, p, moment_c)
    p, c = as_float(p), as_float(moment_c)
    hardness = h2_p(means, p)
    says = (spare > 0) & jnp.isfinite(spare) & jnp.isfinite(hardness)
    share = harmonic / jnp.where(says, spare, 1.0)
    bound = 2 ** (p + 1) * c * arms * (arms - 1) * jnp.where(says, hardness, 1.0) * share ** (p - 1)
    return jnp.where(says, jnp.minimum(bound, 1.0), jnp.where(jnp.isfinite(spare), 1.0, 0.0))


def sr_tea_error_bound(
    means: ArrayLike, budget: ArrayLike, p: ArrayLike, moment_b: ArrayLike, gap: ArrayLike
) -> jax.Array:
    """Return a bound on the error of SR-T with truncated means (Theorem 2).

    It is 2 K (K-1) exp(-(T-K) B1 gap^(p/(p-1)) / (Kbar K)) with B1 = (p-1) / (4 (2^p 3 B p^p)^(1/(p-1))).

    Args:
        means: arm means, shape `(K, …)`.
        budget: T, above K.
        p: order of the moment, in (1, 2].
        moment_b: B, positive.
        gap: the gap that the threshold is made for, positive.

    Returns:
        A probability, capped at 1. It is 1 for budgets that do not exceed K, and where the gap exceeds the smallest
        one: the theorem says nothing of this case.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.sr_tea_error_bound([2.0, 1.0], 1000, 2.0, 5.0, 1.0):.2g}"
        '1'
    """
    spare, arms, harmonic = _spare(means, budget)
    _check(0.5, p, moment_b)
    check("the gap", gap, POSITIVE)
    p, b, gap = (as_float(x) for x in (p, moment_b, gap))
    reached = gap <= jnp.min(gaps(means), axis=0) * (1 + _ROUNDING)
    log_rate = jnp.log((p - 1) / 4) + (p * jnp.log(gap) - jnp.log(3 * b) - p * jnp.log(2 * p)) / (p - 1)
    log_exponent = jnp.log(jnp.where(spare > 0, spare, 1.0)) + log_rate - jnp.log(harmonic * arms)
    holds = reached & (spare > 0)
    says = holds & (log_exponent <= _NO_FLOAT)
    exponent = jnp.exp(jnp.where(says, log_exponent, 0.0))
    bound = jnp.exp(jnp.minimum(jnp.log(2.0 * arms * (arms - 1)) - exponent, 0.0))
    return jnp.where(says, bound, jnp.where(holds, 0.0, 1.0))


def sr_tea_threshold(p: ArrayLike, moment_b: ArrayLike, gap: ArrayLike) -> jax.Array:
    """Return B = (3 B p / gap)^(1/(p-1)), the size above which SR-T with truncated means drops a reward (section 4).

    Args:
        p: order of the moment, in (1, 2].
        moment_b: B, positive.
        gap: positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.sr_tea_threshold(2.0, 5.0, 1.0)), 2)
        30.0
    """
    _check(0.5, p, moment_b)
    check("the gap", gap, POSITIVE)
    p, b, gap = (as_float(x) for x in (p, moment_b, gap))
    return power(3 * b * p / gap, 1 / (p - 1))


def _check(delta: ArrayLike, p: ArrayLike, moment: ArrayLike) -> None:
    check("delta", delta, INSIDE_UNIT)
    check_moment_order(p, most=2)
    check("the moment", moment, POSITIVE)


def _log_gaps(means: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """Return whether arms have a gap, and its logarithm, both `(K, …)`; 0 for a gap of 0."""
    gap = gaps(means)
    return gap > 0, jnp.log(jnp.where(gap > 0, gap, 1.0))


def _pulls(means: ArrayLike, p: jax.Array, log_scale: jax.Array) -> jax.Array:
    """Return the sum over arms of (scale / gap^p)^(1/(p-1)); infinite where the best arm is not unique."""
    apart, log_gap = _log_gaps(means)
    terms = exponential((log_scale - p * log_gap) / (p - 1))
    return jnp.sum(jnp.where(apart, terms, jnp.inf), axis=0)


def _spare(means: ArrayLike, budget: ArrayLike) -> tuple[jax.Array, int, float]:
    """Return T - K, K and Kbar = sum_{i=1}^K 1/i."""
    check_budget(budget)
    arms = number_of_arms(means)
    return as_float(budget) - arms, arms, sum(1 / i for i in range(1, arms + 1))
