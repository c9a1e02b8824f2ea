"""Theory of infinitely many arms under a budget: numbers of arms, rates of regret.

Li and Xia 2017, "Infinitely many-armed bandits with budget constraints", AAAI: RCB-I and RCB-AIR. The ratio of expected
reward to expected cost of a new arm is beta-regular: P(ratio > rho* - e) is of order e^beta, where rho* is the best
ratio. Rewards and costs lie in [0, 1], expected costs in [lambda, 1].

A function whose name ends in `_rate` returns the argument of an O or Omega. The paper leaves its constant open, and
only ratios of it mean something. Logarithms in rates count as 1 where they are smaller. Arguments are `()` or `(…)`,
and so are results. Rates are differentiable in every number, but not in beta at 1, where the case changes.
"""

from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.checks import AT_LEAST_ONE, POSITIVE
from jaxbandits.errors import UsageError
from jaxbandits.theory._bound_shapes import rate_log
from jaxbandits.theory._checks import as_float, check

__all__ = [
    "budgeted_regret_lower_bound_rate",
    "lower_bound_exponent",
    "rcb_air_regret_rate",
    "rcb_i_regret_rate",
    "rcb_i_regret_rate_for_arms",
    "regret_exponent",
    "reservoir_arms",
    "reservoir_arms_exponent",
]

# Rounding in float64 may put a power that is a whole number a little above it; relative.
_ROUNDING = 1e-12


@overload
def reservoir_arms(budget: float, beta: float) -> int: ...
@overload
def reservoir_arms(budget: ArrayLike, beta: ArrayLike) -> int | np.ndarray: ...
def reservoir_arms(budget: ArrayLike, beta: ArrayLike) -> int | np.ndarray:
    """Return the number of arms that RCB-I draws, at least 2.

    It is ceil(B^(beta/2)) below beta = 1, ceil(B^(beta/(1+beta))) otherwise: the order of equation (5) with the factor
    1. Computed by NumPy in float64, for values known before a run. A power at most 1e-12 of itself above a whole number
    counts as that number.

    Args:
        budget: B, positive, in units of cost.
        beta: regularity, positive.

    Returns:
        An int, or int64 of shape `(…)` if budget or beta has one.

    Raises:
        UsageError: a value outside its range, or 2^53 arms or more.

    Example:
        >>> jb.theory.reservoir_arms(10_000, 1.0)
        100
    """
    check("the budget", budget, POSITIVE)
    check("beta", beta, POSITIVE)
    b, beta = np.asarray(budget, np.float64), np.asarray(beta, np.float64)
    power = b ** np.where(beta < 1, beta / 2, beta / (1 + beta))  # eq. (5)
    if (power >= 2.0**53).any():
        raise UsageError(f"budget and beta must give fewer than 2^53 arms, got {power.max():.3g}")
    count = np.maximum(np.ceil(power * (1 - _ROUNDING)), 2).astype(np.int64)
    return count if count.ndim else int(count)


def reservoir_arms_exponent(beta: ArrayLike) -> jax.Array:
    """Return the power of the budget in the number of arms (eq. 5): beta/2 below beta = 1, beta/(1+beta) otherwise.

    RCB-AIR draws an arm in round t if it has fewer than t to this power (Algorithm 3).

    Args:
        beta: regularity, positive.

    Returns:
        Of the floating type of beta.

    Raises:
        UsageError: beta outside its range.

    Example:
        >>> round(float(jb.theory.reservoir_arms_exponent(1.0)), 2)
        0.5
    """
    check("beta", beta, POSITIVE)
    beta = jnp.asarray(beta, jnp.result_type(beta, float))  # an algorithm's float32 stays one under `jax.enable_x64`
    return jnp.where(beta < 1, beta / 2, beta / (1 + beta))


def regret_exponent(beta: ArrayLike) -> jax.Array:
    """Return max(1/2, beta/(1+beta)): the power of the budget in the regret of RCB-I and RCB-AIR (Theorems 1 and 3).

    Args:
        beta: regularity, positive.

    Raises:
        UsageError: beta outside its range.

    Example:
        >>> round(float(jb.theory.regret_exponent(0.5)), 2)
        0.5
    """
    return jnp.maximum(0.5, lower_bound_exponent(beta))


def lower_bound_exponent(beta: ArrayLike) -> jax.Array:
    """Return beta/(1+beta): no algorithm's regret has a smaller power of the budget (Theorem 2).

    Below beta = 1 it is less than `regret_exponent`, and which of the two is attainable is open (section 6 of the
    paper).

    Args:
        beta: regularity, positive.

    Raises:
        UsageError: beta outside its range.

    Example:
        >>> round(float(jb.theory.lower_bound_exponent(1.0)), 2)
        0.5
    """
    check("beta", beta, POSITIVE)
    beta = as_float(beta)
    return beta / (1 + beta)


def rcb_i_regret_rate(budget: ArrayLike, beta: ArrayLike) -> jax.Array:
    """Return the rate of RCB-I's regret (Theorem 1), with the number of arms of `reservoir_arms`.

    B^(1/2) log B below beta = 1, B^(1/2) (log B)^2 at 1, B^(beta/(1+beta)) log B above.

    Args:
        budget: B, positive, in units of cost.
        beta: regularity, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.rcb_i_regret_rate(10_000, 2.0)), 0)
        4275.0
    """
    check("the budget", budget, POSITIVE)
    exponent = regret_exponent(beta)
    b, beta = as_float(budget), as_float(beta)
    return b**exponent * _log_factor(b, beta)  # Theorem 1


def rcb_i_regret_rate_for_arms(budget: ArrayLike, beta: ArrayLike, arms: ArrayLike) -> jax.Array:
    """Return the rate of RCB-I's regret with K arms: the cost of distinguishing them and the loss from few (step S3).

    The cost is K B^((1-beta)/2) log B below beta = 1, K (log B)^2 at 1, K log B above; the loss is B K^(-1/beta) log K.

    That is the sum as printed. Its steps give a little less in two places. In the first term (S2-1), the expectation of
    min(log B / Delta, B Delta) with P(Delta < e) ~ e^beta has its bend at Delta = (log B / B)^(1/2). Below beta = 1 it
    is of order B^((1-beta)/2) (log B)^((1+beta)/2), less than the log B printed. In the second (eq. 21), N given Delta
    is binomial with K - 1 trials of probability p ~ Delta^beta. So E[2^-N] = (1 - p/2)^(K-1), and E[Delta 2^-N] is of
    order K^(-1-1/beta), without the log K printed. Both together would leave (log B)^((1+beta)/2) of Theorem 1's log B
    below beta = 1.

    Args:
        budget: B, positive, in units of cost.
        beta: regularity, positive.
        arms: K, at least 1.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.rcb_i_regret_rate_for_arms(10_000, 2.0, 50)), 0)
        5993.0
    """
    check("the budget", budget, POSITIVE)
    check("beta", beta, POSITIVE)
    check("the number of arms", arms, AT_LEAST_ONE)
    b, beta, k = as_float(budget), as_float(beta), as_float(arms)
    exploring = k * b ** (jnp.maximum(1 - beta, 0.0) / 2) * _log_factor(b, beta)
    return exploring + b * k ** (-1 / beta) * rate_log(k)  # S3


def rcb_air_regret_rate(budget: ArrayLike, beta: ArrayLike) -> jax.Array:
    """Return the rate of RCB-AIR's regret (Theorem 3).

    It is (log B)^2 B^(1/2) below beta = 1, (log B)^2 B^(beta/(1+beta)) otherwise. Equation (27) prints the two cases
    the other way round. That cannot be: above beta = 1, (log B)^2 B^(1/2) falls below the lower bound of Theorem 2.

    Args:
        budget: B, positive, in units of cost.
        beta: regularity, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.rcb_air_regret_rate(10_000, 2.0)), 0)
        39375.0
    """
    check("the budget", budget, POSITIVE)
    b = as_float(budget)
    return b ** regret_exponent(beta) * rate_log(b) ** 2  # eq. (27), cases put right


def budgeted_regret_lower_bound_rate(budget: ArrayLike, beta: ArrayLike) -> jax.Array:
    """Return the rate B^(beta/(1+beta)): a lower bound of all regrets where rewards and costs are 0 or 1 (Theorem 2).

    Args:
        budget: B, positive, in units of cost.
        beta: regularity, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.budgeted_regret_lower_bound_rate(10_000, 1.0)), 2)
        100.0
    """
    check("the budget", budget, POSITIVE)
    return as_float(budget) ** lower_bound_exponent(beta)


def _log_factor(budget: jax.Array, beta: jax.Array) -> jax.Array:
    """Return log B, squared at beta = 1."""
    return jnp.where(beta == 1, rate_log(budget) ** 2, rate_log(budget))
