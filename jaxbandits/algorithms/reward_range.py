"""Algorithms whose bounds are those of rewards in [0, b]: what they ask of a problem."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["with_range_from_zero"]

A = TypeVar("A", bound=Any)


def with_range_from_zero(algorithm: A, problem: Problem) -> A:
    """The algorithm, with a `b` where the problem's range of rewards does not begin at 0: the end of that range.

    Args:
        algorithm: has a field `b`, None for the problem's range.
        problem: the problem.

    Raises:
        UsageError: rewards that may be negative.
    """
    lowest = problem.lowest_reward
    if lowest < 0:
        name = type(algorithm).__name__
        raise UsageError(f"{name} needs rewards in [0, b]; those of {problem.name} may be negative")
    if algorithm.b is None and lowest > 0:
        return dataclasses.replace(algorithm, b=lowest + float(np.max(np.asarray(problem.reward_range))))
    return algorithm
