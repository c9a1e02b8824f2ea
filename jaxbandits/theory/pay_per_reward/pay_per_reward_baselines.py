"""Costs in pay-per-reward of algorithms that ignore it: union bounds over the arms, and median elimination.

Sabato 2019, "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS, compares its MAB-PPR with
O(W log(K/delta)/epsilon^2). A pull of arm i costs its weight w_i = E[X_i], and W is the sum of the weights. Sample
sizes are not yet rounded up. Arguments are `()` or `(…)`, and so are results.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import as_float, check, log_of

__all__ = [
    "ppr_bernstein_cost",
    "ppr_hoeffding_cost",
    "ppr_median_elimination_cost_bound",
    "ppr_median_of_means_cost",
]

# Rounds of median elimination that are computed: enough for 2^40 arms.
_HALVINGS = 40


def ppr_median_of_means_cost(
    epsilon: ArrayLike,
    delta: ArrayLike,
    arms: ArrayLike,
    weight: ArrayLike,
    factor: ArrayLike = 4.5,
    c3: ArrayLike = 96.0,
) -> jax.Array:
    """Return the cost of pulling all K arms equally often, with medians of means: W factor log(K/delta) C3/epsilon^2.

    Lemma 2.3 with l = C3/epsilon^2, q = factor log(K/delta) for each arm and sigma^2 <= 1. With 9/2 and 96, it is
    MAB-PPR's final round on all arms: every estimate is within epsilon/4 and the chosen arm within epsilon/2 of the
    best. With 9/2 and 24 they are within epsilon/2 and epsilon. For these two choices the bound is proved.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        arms: K, at least 1.
        weight: W, positive.
        factor: batches per unit of logarithm.
        c3: C3, size of a batch times epsilon^2.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.ppr_median_of_means_cost(0.1, 0.1, 1000, 2.0):.2e}"
        '7.96e+05'
    """
    check("the factor", factor, POSITIVE)
    check("c3", c3, POSITIVE)
    log_ratio, epsilon, weight = _union(epsilon, delta, arms, weight)
    return weight * as_float(factor) * as_float(c3) * log_ratio / epsilon**2


def ppr_hoeffding_cost(epsilon: ArrayLike, delta: ArrayLike, arms: ArrayLike, weight: ArrayLike) -> jax.Array:
    """Return the cost W n of n = 2 log(2K/delta)/epsilon^2 pulls of each of K arms, for rewards in [0, 1].

    Hoeffding: 2 exp(-2 n (epsilon/2)^2) = delta/K, so all means are within epsilon/2 with probability 1 - delta, and
    the arm with the largest is epsilon-best.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        arms: K, at least 1.
        weight: W, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.ppr_hoeffding_cost(0.1, 0.1, 1000, 2.0):.2e}"
        '3.96e+03'
    """
    log_ratio, epsilon, weight = _union(epsilon, delta, arms, weight)
    return weight * 2 * (log_ratio + jnp.log(2.0)) / epsilon**2


def ppr_bernstein_cost(
    epsilon: ArrayLike, delta: ArrayLike, arms: ArrayLike, weight: ArrayLike, mean_weight: ArrayLike
) -> jax.Array:
    """Return the cost of pulling each of K arms as often as its own weight requires, for rewards in [0, 1].

    Bernstein with a variance of at most w_i: P(|error| >= epsilon/2) <= 2 exp(-n (epsilon/2)^2 / (2 w_i + epsilon/3)).
    So n_i = (8 w_i/epsilon^2 + 4/(3 epsilon)) log(2K/delta) pulls leave an error of delta/K. The arm with the largest
    mean is then epsilon-best with probability 1 - delta. The cost is sum_i w_i n_i = (8 sum_i w_i^2/epsilon^2 + 4 W/(3
    epsilon)) log(2K/delta). It is an oracle's: n_i needs w_i, or an upper bound on it.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        arms: K, at least 1.
        weight: W, positive.
        mean_weight: sum_i w_i^2 / W, the weight of the arm behind an average unit of reward, in [W/K, max w_i].

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.ppr_bernstein_cost(0.1, 0.1, 1000, 2.0, 1.0):.2e}"
        '1.61e+04'
    """
    check("the mean weight", mean_weight, POSITIVE)
    log_ratio, epsilon, weight = _union(epsilon, delta, arms, weight)
    return weight * (8 * as_float(mean_weight) / epsilon**2 + 4 / (3 * epsilon)) * (log_ratio + jnp.log(2.0))


def ppr_median_elimination_cost_bound(
    epsilon: ArrayLike, delta: ArrayLike, arms: ArrayLike, weight: ArrayLike
) -> jax.Array:
    """Return a bound on the cost of median elimination when pulls are paid by reward, for rewards in [0, 1].

    Even-Dar, Mannor, Mansour 2006: round l pulls each of the ceil(K 2^(1-l)) remaining arms (4/eps_l^2) log(3/delta_l)
    times, eps_l = (epsilon/4)(3/4)^(l-1), delta_l = delta 2^-l, until one is left. It halves the arms, not their
    weight. The heavy arms stay to the end, and nothing better than min(W, arms left) bounds the weight in a round.
    (16/9)^(log2 K) makes this grow like K^0.83 log K, once K is beyond W. Piecewise constant in K.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        arms: K, at least 1; the result is infinite above 2^40.
        weight: W, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> f"{jb.theory.ppr_median_elimination_cost_bound(0.1, 0.1, 1000, 2.0):.2e}"
        '4.90e+07'
    """
    _, epsilon, weight = _union(epsilon, delta, arms, weight)
    arms = as_float(arms)
    total = jnp.zeros_like(epsilon)
    for done in range(_HALVINGS):
        left = jnp.ceil(arms * 0.5**done)
        accuracy = jnp.where(left > 1, epsilon / 4 * 0.75**done, 1.0)
        pulls = 4 / accuracy**2 * (jnp.log(6.0 * 2.0**done) - log_of(delta))
        total = total + jnp.where(left > 1, jnp.minimum(weight, left) * pulls, 0.0)
    return jnp.where(arms <= 2.0**_HALVINGS, total, jnp.inf)


def _union(
    epsilon: ArrayLike, delta: ArrayLike, arms: ArrayLike, weight: ArrayLike
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return log(K/delta), epsilon and W."""
    check("epsilon", epsilon, INSIDE_UNIT)
    check("delta", delta, INSIDE_UNIT)
    check("the number of arms", arms, AT_LEAST_ONE)
    check("the weight W", weight, POSITIVE)
    return jnp.log(as_float(arms)) - log_of(delta), as_float(epsilon), as_float(weight)
