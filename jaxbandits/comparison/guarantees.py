"""What theorems promise for the algorithms that `compare` runs, on the problem at hand."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.problems.base import Problem

__all__ = ["guarantee", "lower_bound", "number"]


def number(formula: Callable[..., jax.Array], *arguments: Any) -> np.ndarray:
    """What a formula of `theory` gives for numbers, which it checks: one program in place of dozens of small ones."""
    return np.asarray(jax.jit(lambda: formula(*arguments))())


def guarantee(
    problem: Problem, algorithm: BuiltIn, *, delta: float, epsilon: float, m: int
) -> tuple[float | None, str]:
    """The bound that a theorem gives for this algorithm on this problem, and which theorem; None without one."""
    if problem.bandits > 1 or not problem.sub_gaussian:
        return None, ""
    means, variances, b = np.asarray(problem.mean), np.asarray(problem.variance), float(problem.reward_range)
    found = algorithm.theorem(means, variances, b, delta=delta, epsilon=epsilon, m=m)
    return (None, "") if found is None else (float(number(found.formula, *found.arguments)), found.source)


def lower_bound(problem: Problem, delta: float, epsilon: float, m: int) -> float | None:
    """Pulls that no algorithm with this confidence gets below on average; None for families without a theorem."""
    if problem.bandits > 1 or problem.bound_law is None:
        return None
    return float(number(theory.pulls_lower_bound, np.asarray(problem.mean), delta, m, epsilon, *problem.bound_law))
