"""Guarantees of MAB-PPR, where a pull costs its expected reward: sample sizes and costs.

Sabato 2019, "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS. Arm i has the weight w_i
= E[X_i], its variance is at most w_i <= 1, and a pull of it costs w_i. W is the sum of the weights. V bounds Var(sum of
X_i over A) / (sum of w_i over A) for every set A of arms that are pulled together (1 if independent).

Sample sizes are as the paper has them, before they are rounded up: rounding up q batches of l multiplies a cost by at
most (1 + 1/q)(1 + 1/l). Arguments are `()` or `(…)`, and so are results; all is differentiable in every number.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, INSIDE_UNIT, POSITIVE
from jaxbandits.errors import UsageError, check_text
from jaxbandits.theory._bound_shapes import exponential, quotient
from jaxbandits.theory._checks import as_float, check, log_of
from jaxbandits.theory.pay_per_reward.pay_per_reward_baselines import (
    ppr_bernstein_cost,
    ppr_hoeffding_cost,
    ppr_median_of_means_cost,
)
from jaxbandits.theory.pay_per_reward.pay_per_reward_constants import PPRConstants, check_constants

__all__ = [
    "PPRRound",
    "ppr_cost_bound",
    "ppr_cost_rate",
    "ppr_crossing_arms",
    "ppr_round",
]


class PPRRound(NamedTuple):
    """Accuracy, error and sample sizes of one round; sample sizes before they are rounded up.

    Attributes:
        epsilon: eps_t, by how much the best weight left may fall.
        delta: delta_t, probability that the round goes wrong.
        q1: batches that order the arms.
        l1: l_t, pulls of an arm in each of these.
        q2: batches that decide how many arms to remove.
        l2: pulls of an arm in each of these.
        q3: batches of the final round, if this is it.
        l3: pulls of an arm in each of these.

    Example:
        >>> first = jb.theory.ppr_round(1, 0.1, 0.1, 1.0, jb.theory.PPR_PRACTICAL)
        >>> round(float(first.epsilon), 4), round(float(first.delta), 3)
        (0.005, 0.05)
    """

    epsilon: jax.Array
    delta: jax.Array
    q1: jax.Array
    l1: jax.Array
    q2: jax.Array
    l2: jax.Array
    q3: jax.Array
    l3: jax.Array


def ppr_round(
    t: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, correlation: ArrayLike, constants: PPRConstants
) -> PPRRound:
    """Return accuracy, error and sample sizes of MAB-PPR's round t (Algorithm 1, lines 1, 4, 8, 17, 20).

    Args:
        t: number of the round, from 1.
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        correlation: V, at least 1.
        constants: of the algorithm.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> first = jb.theory.ppr_round(1, 0.1, 0.1, 1.0, jb.theory.PPR_PRACTICAL)
        >>> round(float(first.q1), 2)
        5.08
    """
    _check(epsilon, delta, correlation)
    check("t", t, AT_LEAST_ONE)
    check_constants(constants)
    t, epsilon, v = (as_float(x) for x in (t, epsilon, correlation))
    c = jax.tree.map(as_float, constants)
    epsilon_t = (1 - c.rho) * c.rho ** (t - 1) * epsilon / 2
    # Of late rounds 1 / epsilon_t^2 and its slopes exceed the range of floats long before their logarithms do.
    log_accuracy = -(jnp.log1p(-c.rho) + (t - 1) * jnp.log(c.rho) + jnp.log(epsilon / 2))
    log_inverse = t * jnp.log(2.0) - log_of(delta)  # log(1/delta_t), delta_t = delta 2^-t
    return PPRRound(
        epsilon=epsilon_t,
        delta=jnp.exp(-log_inverse),
        q1=c.cq * (jnp.log(c.cq_prime) + log_inverse),
        l1=c.c1 * jnp.maximum(exponential(2 * log_accuracy), v * exponential(log_accuracy)),
        q2=c.factor * (jnp.log(12.0) + log_inverse),
        l2=c.c2 * v / epsilon,
        q3=c.factor * (jnp.log(c.n_final) + log_inverse),
        l3=c.c3 / epsilon**2,
    )


def ppr_cost_bound(
    epsilon: ArrayLike, delta: ArrayLike, correlation: ArrayLike, constants: PPRConstants, phi_l: ArrayLike
) -> jax.Array:
    """Return a bound on MAB-PPR's cost per unit of W (proof of Theorem 5.6, with the sums over rounds in closed form).

    W_t <= (1 - phi_L)^(t-1) W in round t, so the rounds cost at most sum_t (1 - phi_L)^(t-1) (q1 l_t + q2 l2). The
    round before the final one may end with few arms instead of little weight (event E2). So the final one in round t
    costs at most (1 - phi_L)^(t-2) q3 l3; its largest value over real t >= 2 is added.

    It holds with probability 1 - delta if the constants and phi_L are valid (`ppr_conditions`). For other constants it
    is only a formula: what the algorithm costs if every round removes the share phi_L of the weight.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        correlation: V, at least 1.
        constants: of the algorithm.
        phi_l: share of the weight that a round removes at least, in (0, 1).

    Returns:
        Shape `(…)`; infinite unless rho > sqrt(1 - phi_L).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> found = jb.theory.ppr_constants(0.1, 0.1)
        >>> f"{jb.theory.ppr_cost_bound(0.1, 0.1, 1.0, found.constants, found.proof.phi_l):.1e}"
        '3.7e+10'
    """
    first = ppr_round(1, epsilon, delta, correlation, constants)
    check("phi_l", phi_l, INSIDE_UNIT)
    v, left = as_float(correlation), 1 - as_float(phi_l)
    cq, c1, factor, rho = (as_float(x) for x in (constants.cq, constants.c1, constants.factor, constants.rho))
    log2 = jnp.log(2.0)
    finite = left < rho**2
    steep = jnp.where(finite, left / rho**2, 0.5)  # ratio of (1 - phi_L)^(t-1) / eps_t^2 from round to round
    flat = jnp.where(finite, left / rho, 0.5)  # and of (1 - phi_L)^(t-1) / eps_t
    # l_t = C1 V/eps_t as long as eps_t > 1/V, then C1/eps_t^2.
    early = jnp.maximum(jnp.ceil(jnp.log(v * first.epsilon) / -jnp.log(rho)), 0.0)
    growth = cq * log2
    linear = _sum(flat, first.q1, growth, 0.0) - _sum(flat, first.q1, growth, early)
    quadratic = _sum(steep, first.q1, growth, early)
    ordering = c1 * (v / first.epsilon * linear + quadratic / first.epsilon**2)
    choice = first.l2 * _sum(left, first.q2, factor * log2, 0.0)
    second = first.q3 + factor * log2
    later = jnp.maximum(-1 / jnp.log(left) - second / (factor * log2), 0.0)  # t - 2 at the largest value
    final = first.l3 * left**later * (second + later * factor * log2)
    return jnp.where(finite, ordering + choice + final, jnp.inf)


def ppr_cost_rate(epsilon: ArrayLike, delta: ArrayLike, correlation: ArrayLike, weight: ArrayLike) -> jax.Array:
    """Return the rate of MAB-PPR's cost, W log(1/delta) max(1/epsilon^2, V/epsilon) (Theorem 3.1, no constant).

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        correlation: V, at least 1.
        weight: W, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.ppr_cost_rate(0.1, 0.1, 1.0, 2.0)), 0)
        461.0
    """
    _check(epsilon, delta, correlation)
    check("the weight W", weight, POSITIVE)
    epsilon, v, weight = (as_float(x) for x in (epsilon, correlation, weight))
    return -weight * log_of(delta) * jnp.maximum(1 / epsilon**2, v / epsilon)


def ppr_crossing_arms(
    epsilon: ArrayLike,
    delta: ArrayLike,
    correlation: ArrayLike,
    constants: PPRConstants,
    phi_l: ArrayLike,
    rival: Literal["median-of-means", "hoeffding", "bernstein"] = "hoeffding",
    mean_weight: ArrayLike = 1.0,
) -> jax.Array:
    """Return the logarithm of the number of arms above which a union bound costs more than `ppr_cost_bound`.

    The union bounds grow with log K and MAB-PPR's cost does not, so MAB-PPR is the cheaper from K = exp(result) on;
    for valid constants the result is in the millions. W cancels.

    Args:
        epsilon: accuracy, in (0, 1).
        delta: probability of error, in (0, 1).
        correlation: V, at least 1.
        constants: of MAB-PPR.
        phi_l: as in `ppr_cost_bound`, which says what that is for constants that are not valid.
        rival: whose cost is compared: `ppr_median_of_means_cost` (with the factor and C3 of the constants: their final
            round on all arms), `ppr_hoeffding_cost` or `ppr_bernstein_cost`.
        mean_weight: of `ppr_bernstein_cost`; the others do not depend on it.

    Returns:
        Shape `(…)`, log K; negative where the union bound costs more at any K; infinite where `ppr_cost_bound` is.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> found = jb.theory.ppr_constants(0.1, 0.1)
        >>> f"{jb.theory.ppr_crossing_arms(0.1, 0.1, 1.0, found.constants, found.proof.phi_l):.1e}"
        '1.8e+08'
    """
    _check(epsilon, delta, correlation)
    check_constants(constants)
    costs = {
        "median-of-means": lambda: ppr_median_of_means_cost(epsilon, delta, 1.0, 1.0, constants.factor, constants.c3),
        "hoeffding": lambda: ppr_hoeffding_cost(epsilon, delta, 1.0, 1.0),
        "bernstein": lambda: ppr_bernstein_cost(epsilon, delta, 1.0, 1.0, mean_weight),
    }
    check_text("rival", rival)
    if rival not in costs:
        raise UsageError(f"rival must be one of {', '.join(map(repr, costs))}, got {rival!r}")
    # A union bound costs unit * (log K + offset) with offset = log(1/delta) or log(2/delta).
    offset = (0.0 if rival == "median-of-means" else jnp.log(2.0)) - log_of(delta)
    unit = costs[rival]() / offset
    return quotient(ppr_cost_bound(epsilon, delta, correlation, constants, phi_l), unit) - offset


def _check(epsilon: ArrayLike, delta: ArrayLike, correlation: ArrayLike) -> None:
    check("epsilon", epsilon, INSIDE_UNIT)
    check("delta", delta, INSIDE_UNIT)
    check("V", correlation, AT_LEAST_ONE)


def _sum(ratio: jax.Array, first: jax.Array, growth: jax.Array, start: ArrayLike) -> jax.Array:
    """Return the sum over s >= start of ratio^s (first + growth s)."""
    spare = 1 - ratio
    return ratio**start * ((first + growth * start) / spare + growth * ratio / spare**2)
