"""The theorems about the algorithms that `compare` runs, evaluated on its problem."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import Theorem
from jaxbandits.problems.base import Problem

__all__ = ["guarantee", "holds_without_replacement", "number", "value"]

#: Rules whose proof, with their default settings, is a union over numbers of pulls of Hoeffding's or Chernoff's bound.
#: These bounds hold for sums without replacement (Hoeffding 1963, Theorem 4).
_BY_UNION = ("lucb", "ugape-c", "successive-elimination", "hoeffding-race", "kl-race", "union-bound")
#: Fields on which the proof does not depend.
_FREE = ("epsilon", "delta", "m", "b", "growth")


def number(formula: Callable[..., jax.Array], *arguments: Any) -> np.ndarray:
    """Evaluate a formula of `theory` for numbers, which it checks, in one program in place of dozens of small ones."""
    return np.asarray(jax.jit(lambda: formula(*arguments))())


def value(theorem: Theorem | None) -> float | None:
    """Return the number that a theorem yields."""
    return None if theorem is None else float(number(theorem.formula, *theorem.arguments))


def guarantee(problem: Problem, algorithm: Rule, *, delta: float, epsilon: float, m: int) -> tuple[float | None, str]:
    """Return the bound of a theorem for this algorithm on this problem, and its source; None without one."""
    if problem.bandits > 1 or not problem.sub_gaussian:
        return None, ""
    means, variances, b = np.asarray(problem.mean), np.asarray(problem.variance), float(problem.reward_range)
    found = algorithm.theorem(means, variances, b, delta=delta, epsilon=epsilon, m=m)
    return value(found), "" if found is None else found.source


def holds_without_replacement(algorithm: Rule) -> bool:
    """Return whether the proof of an algorithm's confidence covers finite populations, of which cells are read once.

    Intervals by betting and Serfling's know the population (`jaxbandits/algorithms/betting_intervals.py`).
    """
    if algorithm.bets:
        return True
    fields = [field for field in dataclasses.fields(algorithm) if field.name not in _FREE]
    usual = all(vars(algorithm)[field.name] == field.default for field in fields)
    return usual and REGISTRY.name_of(type(algorithm)) in _BY_UNION
