"""Guarantees of algorithms that eliminate arms, and of lil'UCB: errors, numbers of pulls, rates.

Sources:
- Bubeck, Wang, Viswanathan 2013, "Multiple identifications in multi-armed bandits" (SAR);
- Karnin, Koren, Somekh 2013, "Almost optimal exploration in multi-armed bandits" (Sequential Halving,
  Exponential-Gap Elimination);
- Even-Dar, Mannor, Mansour 2006, "Action elimination and stopping conditions for the multi-armed bandit and
  reinforcement learning problems" (Median Elimination);
- Jamieson, Malloy, Nowak, Bubeck 2014, "lil' UCB: an optimal exploration algorithm for multi-armed bandits".

Rewards lie in [0, 1]. Means are `(K, …)`, the other arguments `()` or `(…)`, results `(…)`. A function whose name ends
in `_rate` returns the argument of an O: only ratios of it mean something. A log log that is not positive counts as 0.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE, whole_rule
from jaxbandits.theory._bound_shapes import power, quotient
from jaxbandits.theory._checks import as_float, check, check_budget, log_of, number_of_arms
from jaxbandits.theory.complexity import gaps, h2

__all__ = [
    "exp_gap_elimination_pulls_rate",
    "lil_ucb_pulls_rate",
    "median_elimination_pulls",
    "sar_error_bound",
    "sequential_halving_error_bound",
]

# Rounds of Median Elimination that are computed: enough for 2^40 arms.
_MOST_ARMS, _HALVINGS = 2**40, 40


def sar_error_bound(means: ArrayLike, n: ArrayLike, m: ArrayLike = 1) -> jax.Array:
    """Return a bound on the probability that SAR does not return the m best arms (Bubeck et al. 2013, Theorem 1).

    It is 2 K^2 exp(-(n - K) / (8 logbar(K) H2)), logbar(K) = 1/2 + sum_{i=2}^K 1/i, H2 that of the m best arms.

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.
        m: number of arms to return, in [1, K-1].

    Returns:
        Shape `(…)`, in [0, 1].

    Example:
        >>> f"{jb.theory.sar_error_bound([0.7, 0.5, 0.4], 5000):.1e}"
        '1.5e-03'
    """
    check_budget(n)
    arms = number_of_arms(means)
    log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
    rate = quotient(as_float(n) - arms, 8 * log_bar * h2(means, m))
    return jnp.exp(jnp.minimum(jnp.log(2.0 * arms**2) - rate, 0.0))  # Theorem 1


def sequential_halving_error_bound(means: ArrayLike, n: ArrayLike) -> jax.Array:
    """Return a bound on the probability that Sequential Halving misses the best arm (Karnin et al. 2013, Theorem 4.1).

    It is 3 log2(K) exp(-n / (8 H2 log2 K)), for estimates from the rewards of the last round alone. The proof is for K
    a power of 2.

    Args:
        means: arm means, shape `(K, …)`.
        n: budget in pulls.

    Returns:
        Shape `(…)`, in [0, 1]; 1 for budgets that do not give every arm a pull in the first of ceil(log2 K) rounds.

    Example:
        >>> f"{jb.theory.sequential_halving_error_bound([0.7, 0.5, 0.4], 5000):.1e}"
        '1.8e-03'
    """
    check_budget(n)
    arms = number_of_arms(means)
    log_arms = jnp.log2(as_float(arms))
    enough = as_float(n) >= arms * (arms - 1).bit_length()
    rate = quotient(as_float(n), 8 * log_arms * h2(means))
    bound = jnp.exp(jnp.minimum(jnp.log(3 * log_arms) - rate, 0.0))  # Theorem 4.1
    return jnp.where(enough, bound, 1.0)


def median_elimination_pulls(arms: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, b: ArrayLike = 1.0) -> jax.Array:
    """Return the number of pulls that Median Elimination makes, on every instance (Even-Dar et al. 2006, Algorithm 3).

    Round l pulls each remaining arm ceil((4 / eps_l^2) ln(3 / delta_l)) times. Here eps_l = (epsilon/4) (3/4)^(l-1) in
    units of the range, and delta_l = delta 2^-l. It keeps the better half, rounded up, until one arm is left.

    Args:
        arms: K, a whole number from 1 to 2^40.
        epsilon: accuracy, positive.
        delta: probability of error, in (0, 1).
        b: range of the rewards, positive.

    Returns:
        Shape `(…)`, whole numbers as floats, piecewise constant.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.median_elimination_pulls(4, 0.2, 0.1)), 0)
        53440.0
    """
    check("the number of arms", arms, whole_rule(1, _MOST_ARMS))
    check("epsilon", epsilon, POSITIVE)
    check("delta", delta, INSIDE_UNIT)
    check("b", b, POSITIVE)
    left, level = as_float(arms), -log_of(delta)
    accuracy = as_float(epsilon) / as_float(b) / 4
    below = 1 - 4 * float(jnp.finfo(left.dtype).eps)  # rounding may put a whole number above itself
    total = jnp.zeros_like(left + accuracy + level)
    for done in range(_HALVINGS):
        each = jnp.ceil(4 / accuracy**2 * (jnp.log(3.0) + (done + 1) * jnp.log(2.0) + level) * below)
        total = total + jnp.where(left > 1, left * each, 0.0)
        left, accuracy = jnp.ceil(left / 2), accuracy * 0.75
    return total


def exp_gap_elimination_pulls_rate(means: ArrayLike, delta: ArrayLike) -> jax.Array:
    """Return the rate of Exponential-Gap Elimination's pulls (Karnin et al. 2013, Theorem 3.1).

    It is the sum over the arms that are not the best of Delta_i^-2 log((1/delta) log(1/Delta_i)).

    Args:
        means: arm means, shape `(K, …)`.
        delta: probability of error, in (0, 1).

    Returns:
        Shape `(…)`; infinite where the best arm is not unique.

    Example:
        >>> round(float(jb.theory.exp_gap_elimination_pulls_rate([0.7, 0.5, 0.4], 0.05)), 0)
        122.0
    """
    return _rate(means, delta, 1.0)


def lil_ucb_pulls_rate(means: ArrayLike, delta: ArrayLike) -> jax.Array:
    """Return the rate of lil'UCB's pulls, H1 log(1/delta) + H3 (Jamieson et al. 2014, Theorem 2).

    H1 is the sum over the arms that are not the best of Delta_i^-2, H3 of Delta_i^-2 log log(1/Delta_i^2).

    Args:
        means: arm means, shape `(K, …)`.
        delta: probability of error, in (0, 1).

    Returns:
        Shape `(…)`; infinite where the best arm is not unique.

    Example:
        >>> round(float(jb.theory.lil_ucb_pulls_rate([0.7, 0.5, 0.4], 0.05)), 0)
        147.0
    """
    return _rate(means, delta, 2.0)


def _rate(means: ArrayLike, delta: ArrayLike, exponent: float) -> jax.Array:
    """Return the sum over the arms that are not the best of Delta_i^-2 (log(1/delta) + log log(1/Delta_i^exponent))."""
    check("delta", delta, INSIDE_UNIT)
    gap = gaps(means)
    other = as_float(means) < jnp.max(as_float(means), axis=0)
    apart = jnp.where(other, gap, 1.0)
    iterated = jnp.log(jnp.maximum(-exponent * jnp.log(apart), 1.0))
    terms = jnp.where(other, power(apart, -2.0) * (iterated - log_of(delta)), 0.0)
    alone = jnp.min(gap, axis=0) > 0
    return jnp.where(alone, jnp.sum(terms, axis=0), jnp.inf)
