"""Compute moments from the problem that the user of an algorithm did not give."""

import numpy as np

from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["central_moment", "finite_order", "raw_moment"]

# The share of the way from 1 to the tails' index: the pulls of Yu et al. (2018), Theorem 1, are least there, or nearly
# so, for indices from 1.2 to 1.9.
_SHARE_OF_INDEX = 0.85


def finite_order(problem: Problem) -> float:
    """Return an order p of moments that are finite: 2, or one that suits the tails' index where that is at most 2."""
    index = float(np.min(problem.tail_index)) if problem.has_moments else np.inf
    return 2.0 if index > 2 else round(1 + _SHARE_OF_INDEX * (index - 1), 3)


def raw_moment(problem: Problem, p: Numeric, owner: str) -> float:
    """Return the largest E|X|^p over arms (B of Yu et al. 2018).

    Raises:
        UsageError: it is infinite, or the problem's family does not know its moments.
    """
    return _largest(problem, float(p), owner, central=False)


def central_moment(problem: Problem, p: Numeric, owner: str) -> float:
    """Return the largest E|X - mean|^p over arms (C of Yu et al. 2018); errors as for `raw_moment`."""
    return _largest(problem, float(p), owner, central=True)


def _largest(problem: Problem, p: float, owner: str, *, central: bool) -> float:
    what = "moment_c" if central else "moment_b"
    if not problem.has_moments:
        name = problem.name or type(problem).__name__
        if p != 2:
            raise UsageError(f"{owner}: {name} does not know its moments of order {p:g}: give {what}")
        squares = np.asarray(problem.variance, np.float64)
        largest = float(np.max(squares if central else squares + np.asarray(problem.mean, np.float64) ** 2))
        if not np.isfinite(largest):
            raise UsageError(f"{owner}: the variance of {name} is infinite: give a p below 2, and {what} for it")
        return largest
    found = float(np.max(problem.moments(p, central=central)))
    if not np.isfinite(found):
        limit = float(np.min(problem.tail_index))
        raise UsageError(
            f"{owner}: the moment of order p={p:g} is infinite for {problem.name}: p must be below {limit:g}"
        )
    return found
