"""Check the rewards of a problem for algorithms that need rewards in [0, b] or [0, 1]."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import understates
from jaxbandits.errors import UsageError, warn
from jaxbandits.problems.base import Problem

__all__ = ["check_range", "check_unit_rewards", "warn_beyond_proof", "with_range_from_zero"]

A = TypeVar("A", bound=Any)

#: Rules that take any rewards, by the criterion that they share with one that does not.
_ANY_REWARDS = {
    "epsilon-m": "successive-elimination or successive-rejects",
    "above-threshold": "apt, which takes a budget",
    "one-above-threshold": "apgai-b, which takes a budget",
}
#: Such a rule for several arms.
_ANY_REWARDS_SEVERAL = "sar, which takes a budget"


def with_range_from_zero(algorithm: A, problem: Problem) -> A:
    """Set `b` to the largest reward if the problem's rewards do not begin at 0; else return the algorithm unchanged.

    Args:
        algorithm: an algorithm with a field `b`, None for the problem's range.
        problem: the problem.

    Raises:
        UsageError: the rewards may be negative.
    """
    lowest = problem.lowest_reward
    if lowest < 0:
        name = type(algorithm).__name__
        raise UsageError(f"{name} needs rewards in [0, b]; those of {problem.name} may be negative")
    if algorithm.b is None and lowest > 0:
        return dataclasses.replace(algorithm, b=lowest + float(np.max(np.asarray(problem.reward_range))))
    return algorithm


def check_range(algorithm: Any, problem: Problem) -> None:
    """Check that the range of the rewards is known, or their variance bounded as if it were.

    Args:
        algorithm: an algorithm with a field `b`, None for the problem's range.
        problem: the problem.

    Raises:
        UsageError: it is neither; the message names rules that answer the same question without it.
    """
    if algorithm.b is not None or problem.bounded:
        return
    criterion = algorithm.traits.criterion
    others = _ANY_REWARDS.get(criterion) if isinstance(criterion, str) and problem.bandits == 1 else None
    if others and criterion == "epsilon-m" and vars(algorithm).get("m", 1) != 1:
        others = _ANY_REWARDS_SEVERAL
    own = REGISTRY.name_of(type(algorithm))
    if others and own is not None and own in others:
        others = "another estimator"
    raise UsageError(
        f"{type(algorithm).__name__} needs rewards in an interval, or sub-Gaussian, and {problem.name} has heavier "
        f"tails: give b{f', or use {others}' if others else ''}"
    )


def check_unit_rewards(name: str, problem: Problem) -> None:
    """Check that all rewards of a problem lie in [0, 1], as far as is known.

    Args:
        name: the name of the algorithm.
        problem: the problem.

    Raises:
        UsageError: other rewards are possible.
    """
    lowest = problem.lowest_reward if problem.in_interval else -1.0
    if lowest < 0 or lowest + float(np.max(np.asarray(problem.reward_range))) > 1 + 1e-6:
        raise UsageError(f"{name} needs rewards in [0, 1]; those of {problem.name} are not known to lie there")


def warn_beyond_proof(algorithm: Any, problem: Problem) -> None:
    """Warn where rewards have a larger range than the proof of an algorithm allows."""
    most = algorithm.traits.proof_range
    if most == np.inf or not algorithm.proved:
        return
    b = float(np.max(np.asarray(problem.reward_range))) if problem.bounded else np.inf
    if understates(most, b):
        but = f"not of {b:g}" if b < np.inf else "not without one"
        warn(f"{type(algorithm).__name__}: delta is proved for rewards of range {most:g}, {but}")
