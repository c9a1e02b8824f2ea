"""Binds an algorithm to a problem before the runs.

`accept` checks what a user passed as an algorithm. `bind` fills in what the algorithm takes from the problem, and gives
the problem the number of arms that the algorithm chooses. The other functions return properties of an algorithm that
are needed before its runs.
"""

import dataclasses
from collections.abc import Hashable
from typing import Any

import jax

from jaxbandits.algorithms.arm_values import by_arm
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.protocol_checks import check_kind
from jaxbandits.engine.rule_checks import why_unpaddable
from jaxbandits.engine.stacked_algorithms import as_stacked
from jaxbandits.errors import UsageError
from jaxbandits.jax_process import check_jax
from jaxbandits.problems.base import Problem

__all__ = [
    "accept",
    "bind",
    "likely_pulls",
    "may_be_padded",
    "most_pulls",
    "program_key",
    "why_not_anytime",
    "with_values",
]


def accept(algorithm: Any) -> Rule:
    """Return what a user passed as an algorithm, which may have axes.

    Raises:
        UsageError: it is not an algorithm, but a name, a class, a function or a problem; or JAX cannot run here.
    """
    check_jax()
    check_kind(algorithm)
    accepted: Rule = algorithm
    return accepted


def bind(algorithm: Rule, problem: Problem) -> tuple[Rule, Problem]:
    """Return the algorithm with what it takes from the problem, and the problem with the arms that it explores.

    Raises:
        UsageError: the two do not fit.
    """
    if problem.drawn and any(by_arm(algorithm)):
        raise UsageError(
            f"{type(algorithm).__name__} has values of arms, and {problem.name} draws other arms for each run"
        )
    if problem.history is not None and not algorithm.takes_counts:
        raise UsageError(f"{type(algorithm).__name__} cannot start from counts: it must see each reward, or choose all")
    explored = algorithm.explored(problem)
    algorithm.check(explored.arms // explored.bandits, explored.bandits)
    return algorithm.resolved(explored), explored


def with_values(algorithm: Rule, changes: dict[str, Any]) -> Rule:
    """Return the algorithm with other values of some parameters."""
    return dataclasses.replace(algorithm, **changes) if changes else algorithm


def program_key(algorithm: Rule) -> Hashable:
    """Return what must be equal for two algorithms to share a program."""
    return jax.tree.structure(algorithm), classes(algorithm)


def most_pulls(algorithm: Rule) -> int:
    """Return the pulls after which a run is truncated by default: 10^9, or no limit where sums are drawn."""
    return NO_LIMIT if algorithm.traits.in_batches else 10**9


def likely_pulls(algorithm: Rule, usual: float) -> float:
    """Return roughly how many pulls a run makes: its budget, or the usual number."""
    budget = algorithm.given("budget")
    return usual if budget is None else float(budget)


def may_be_padded(algorithm: Rule, problem: Problem, count: int, numbers: tuple[int, ...]) -> bool:
    """Return whether a program may be padded to `count` arms; this traces the algorithm, also for these numbers."""
    try:
        return why_unpaddable(as_stacked(algorithm), problem.padded(count), numbers) is None
    except Exception:  # what is wrong with no more arms than there are, the check before the runs says
        return False


def why_not_anytime(algorithm: Rule) -> str:
    """Return why an algorithm cannot be evaluated before it ends."""
    if algorithm.given("budget") is not None:
        return "must know its budget: use budget=jb.axis([…]) in place of checkpoints"
    if algorithm.traits.in_batches:
        return "pulls in large batches, and cannot be evaluated in between"
    return "cannot be evaluated before it ends, by its traits"
