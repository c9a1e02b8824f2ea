"""Guesses how long the runs of cells are, before one has ended: only the order of jobs and the lanes depend on it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.grid import Cell

__all__ = ["rough_lengths"]

#: The smallest gap or accuracy that is distinguished.
_SMALLEST = 1e-4


def rough_lengths(cells: Sequence[Cell], max_pulls: int) -> np.ndarray:
    """Return guesses of the pulls of a run of each cell, float64 `(C,)`, up to a common factor.

    A budget is taken as it is. Otherwise the guess is the complexity of UGapE, the sum over the arms of
    1 / max((gap + epsilon) / 2, epsilon)^2, times 1 + log(1 / delta); without known means it is the number of arms.

    Args:
        cells: C cells whose algorithms are of one class.
        max_pulls: most pulls of a run.
    """
    return np.asarray([min(_length(cell.algorithm, cell.problem), float(max_pulls)) for cell in cells])


def _length(algorithm: Rule, problem: Problem) -> float:
    for name in ("budget", algorithm.traits.spends):
        if name is not None and (budget := _number(algorithm.given(name))) is not None:
            return budget
    delta = _number(algorithm.given("delta"))
    return _complexity(algorithm, problem) * (1.0 if delta is None else 1.0 + np.log(1.0 / max(delta, 1e-30)))


def _complexity(algorithm: Rule, problem: Problem) -> float:
    """Return the complexity of UGapE (eq. 6 of the paper), or the number of arms where it is not known."""
    if problem.drawn or not problem.mean_is or problem.bandits > 1:
        return float(problem.arms)
    means = np.sort(np.asarray(vars(problem)[problem.mean_is], np.float64))[::-1]
    if problem.mask is not None:
        means = means[: int(np.count_nonzero(problem.mask))]
    m = int(_number(algorithm.given("m")) or 1)
    if not 0 < m < means.size or not np.isfinite(means).all():
        return float(problem.arms)
    gaps = np.append(means[:m] - means[m], means[m - 1] - means[m:])
    epsilon = max(_number(algorithm.given("epsilon")) or 0.0, _SMALLEST)
    return float(np.sum(np.maximum((gaps + epsilon) / 2, epsilon) ** -2.0))


def _number(value: Any) -> float | None:
    """Return a parameter that is one number; None for others."""
    if value is None or isinstance(value, str) or np.shape(value) != ():
        return None
    return float(value)
