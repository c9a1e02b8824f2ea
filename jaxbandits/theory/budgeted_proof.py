"""Steps of the proofs that bound the regret under a budget: how long it lasts, how exactly an arm must be known.

Li and Xia 2017, "Infinitely many-armed bandits with budget constraints", AAAI. Rewards and costs lie in [0, 1],
expected costs in [lambda, 1]. Arguments are `()` or `(…)`, and so are results.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import as_float, check

__all__ = [
    "EXPLORATION_WINDOW_START",
    "best_reward_bracket",
    "pseudo_stopping_time",
    "rcb_accuracy",
    "rcb_enough_pulls",
]

#: Theorems 1 and 3 of Li and Xia require 2 log(4 (log2 t + 1)) <= E_t <= log t, that is 16 (log2 t + 1)^2 <= t. It is
#: false for every t below this one and true from it on (there the left side grows by less than 1/4 a round).
EXPLORATION_WINDOW_START = 2391


def pseudo_stopping_time(budget: ArrayLike, lam: ArrayLike) -> jax.Array:
    """Return tau_B = floor(2B / lambda), a number of rounds that the budget hardly ever lasts (section 4).

    This many pulls cost some 2B or more in expectation. That B pays for them has a probability near exp(-lambda B) at
    most (Hoeffding); the paper adds O(B exp(-lambda B / 2)) to the regret for it.

    Args:
        budget: B, positive, in units of cost.
        lam: lambda, the least expected cost of an arm, in (0, 1).

    Returns:
        Whole numbers, piecewise constant.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.pseudo_stopping_time(100, 0.2)), 0)
        1000.0
    """
    check("the budget", budget, POSITIVE)
    check("lam", lam, INSIDE_UNIT)
    rounds = 2 * as_float(budget) / as_float(lam)
    return jnp.floor(rounds * (1 + 4 * float(jnp.finfo(rounds.dtype).eps)))  # 2 * 0.3 / 0.1 may be just below 6


def rcb_accuracy(lam: ArrayLike) -> jax.Array:
    """Return eta(lambda) = lambda^2 / (3 + 2 lambda): reward and cost must be known to this share of an arm's gap.

    Then its ratio is known to half the gap Delta: (u_r + eta Delta) / (u_c - eta Delta) <= rho + Delta / 2 (eq. 11).

    Args:
        lam: lambda, the least expected cost of an arm, in (0, 1).

    Raises:
        UsageError: lambda outside its range.

    Example:
        >>> round(float(jb.theory.rcb_accuracy(0.2)), 4)
        0.0118
    """
    check("lam", lam, INSIDE_UNIT)
    lam = as_float(lam)
    return lam**2 / (3 + 2 * lam)


def rcb_enough_pulls(budget: ArrayLike, lam: ArrayLike, gap: ArrayLike) -> jax.Array:
    """Return L_k = ceil(2 log tau_B / (eta^2 Delta_k^2)): after this many pulls RCB is sure enough of a bad arm (S1-1).

    With E_t <= log t the radius of reward and cost is then at most eta Delta_k / 2, half of what `rcb_accuracy`
    requires.

    Args:
        budget: B, positive, in units of cost.
        lam: lambda, the least expected cost of an arm, in (0, 1).
        gap: Delta_k = rho* - rho_k, positive.

    Returns:
        Whole numbers, piecewise constant.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.rcb_enough_pulls(100, 0.2, 0.5)), 0)
        399269.0
    """
    check("the gap", gap, POSITIVE)
    rounds = jnp.maximum(pseudo_stopping_time(budget, lam), 1.0)
    return jnp.ceil(2 * jnp.log(rounds) / (rcb_accuracy(lam) * as_float(gap)) ** 2)


def best_reward_bracket(budget: ArrayLike, rho: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """Return the bracket [rho* B - 1, rho* (B + 1)] of R*, the largest expected reward of a budget.

    Pulls up to the one that overshoots the budget cost more than B and at most B + 1. So whatever is pulled, their
    expected rewards add up to at most rho* times that (Wald). An arm with the best ratio attains it, and only the last
    reward, at most 1, is not counted.

    Args:
        budget: B, positive, in units of cost.
        rho: rho*, the best ratio, positive.

    Returns:
        Lower and upper end; rho* B lies between.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> low, high = jb.theory.best_reward_bracket(100, 2.0)
        >>> float(low), float(high)
        (199.0, 202.0)
    """
    check("the budget", budget, POSITIVE)
    check("rho", rho, POSITIVE)
    b, rho = as_float(budget), as_float(rho)
    return rho * b - 1, rho * (b + 1)
