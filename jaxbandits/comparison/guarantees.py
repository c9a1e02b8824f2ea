"""What theorems promise for the algorithms that `compare` runs, on the problem at hand."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms import LUCB, UCBE, BuiltIn, UGapEb, UGapEc
from jaxbandits.problems import Bernoulli, Beta, Gaussian, Problem, TwoPoint

__all__ = ["BOUNDED", "guarantee", "lower_bound", "number"]

#: Families whose rewards lie in an interval.
BOUNDED = (Bernoulli, Beta, TwoPoint)


def number(formula: Callable[..., jax.Array], *arguments: Any) -> np.ndarray:
    """What a formula of `theory` gives for numbers, which it checks: one program in place of dozens of small ones."""
    return np.asarray(jax.jit(lambda: formula(*arguments))())


def guarantee(
    problem: Problem, algorithm: BuiltIn, *, delta: float, epsilon: float, m: int
) -> tuple[float | None, str]:
    """The bound that a theorem gives for this algorithm on this problem, and which theorem; None without one."""
    if problem.bandits > 1 or not isinstance(problem, (*BOUNDED, Gaussian)):
        return None, ""
    means, variances, b = np.asarray(problem.mean), np.asarray(problem.variance), float(problem.reward_range)
    match algorithm:
        case UGapEc(variance=True):
            return float(
                number(theory.ugape_c_variance_pulls_bound, means, variances, epsilon, delta, m, b)
            ), "derived, empirical Bernstein"
        case UGapEc():
            return float(number(theory.ugape_c_pulls_bound, means, epsilon, delta, m, b)), "UGapE, Theorem 2"
        case LUCB():  # the theorem's rewards lie in [0, 1]
            bound = number(theory.lucb_pulls_bound, means / b, epsilon / b, delta, m)
            return float(bound), "derived, after the LUCB paper"
        case UGapEb(adaptive=False, last=False):
            return float(number(theory.ugape_b_error_bound, means, algorithm.budget, epsilon, m, b)), "UGapE, Theorem 1"
        case UCBE():
            return float(number(theory.ucb_e_error_bound, means / b, algorithm.budget)), "UCB-E, Theorem 1"
    return None, ""


def lower_bound(problem: Problem, delta: float, epsilon: float, m: int) -> float | None:
    """Pulls that no algorithm with this confidence gets below on average; None for families without a theorem."""
    if problem.bandits > 1:
        return None
    means = np.asarray(problem.mean)
    if isinstance(problem, Bernoulli):
        return float(number(theory.pulls_lower_bound, means, delta, m, epsilon))
    if isinstance(problem, Gaussian) and np.ptp(np.asarray(problem.sd)) == 0:
        return float(number(theory.pulls_lower_bound, means, delta, m, epsilon, "gaussian", float(problem.sd[0])))
    return None
