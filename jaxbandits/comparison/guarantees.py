"""The theorems about the algorithms that `compare` runs, evaluated on its problem."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits.algorithms.inherited_claims import claims
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import Theorem, understates
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.problems.base import Problem

__all__ = ["holds_without_replacement", "number", "theorem_on", "value"]

#: Rules whose proof, with their default settings, is a union over numbers of pulls of Hoeffding's or Chernoff's bound.
#: These bounds hold for sums without replacement (Hoeffding 1963, Theorem 4).
_BY_UNION = ("lucb", "ugape-c", "successive-elimination", "hoeffding-race", "kl-race", "union-bound")
#: Fields on which the proof does not depend.
_FREE = ("epsilon", "delta", "m", "b", "growth")


def number(formula: Callable[..., jax.Array], *arguments: Any) -> np.ndarray:
    """Evaluate a formula of `theory` for numbers, which it checks, in one program in place of dozens of small ones."""
    with kept_programs():
        return np.asarray(jax.jit(lambda: formula(*arguments))())


def value(theorem: Theorem | None) -> float | None:
    """Return the number that a theorem yields."""
    return None if theorem is None else float(number(theorem.formula, *theorem.arguments))


def theorem_on(problem: Problem, algorithm: Rule, *, delta: float, epsilon: float, m: int) -> Theorem | None:
    """Return what is proved of an algorithm on a problem; None without a theorem.

    Args:
        problem: the problem.
        algorithm: a suitable algorithm, with hyperparameters of its own or those that it takes from the problem.
        delta: the allowed probability of error.
        epsilon: the tolerance.
        m: the number of arms returned.
    """
    if problem.bandits > 1 or problem.drawn or problem.finite or problem.common_random_numbers:
        return None
    algorithm = algorithm.resolved(problem)
    found = None
    if problem.sub_gaussian and claims(algorithm, "theorem"):
        b = float(problem.reward_range)
        own = algorithm.given("b") or b
        # None holds where the rule takes the rewards for smaller than they are, or Bernstein's for unbounded ones.
        if understates(own, b) or (algorithm.given("variance") and not problem.in_interval):
            return None
        means, variances = np.asarray(problem.mean), np.asarray(problem.variance)
        found = algorithm.theorem(means, variances, float(own), delta=delta, epsilon=epsilon, m=m)
    if found is None and claims(algorithm, "theorem_of_moments"):
        return algorithm.theorem_of_moments(problem)
    return found


def holds_without_replacement(algorithm: Rule) -> bool:
    """Return whether the proof of an algorithm's confidence covers finite populations, of which cells are read once.

    Intervals by betting and Serfling's know the population (`jaxbandits/algorithms/betting_intervals.py`).
    """
    if algorithm.bets:
        return True
    fields = [field for field in dataclasses.fields(algorithm) if field.name not in _FREE]
    usual = all(vars(algorithm)[field.name] == field.default for field in fields)
    return usual and REGISTRY.name_of(type(algorithm)) in _BY_UNION
