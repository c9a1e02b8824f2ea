"""Correctness and regret of answers, from the returned arms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.algorithms.set_criteria import SET_CRITERIA
from jaxbandits.algorithms.traits import CRITERIA, answers_of, tolerance_of
from jaxbandits.arrays.numerics import ROUNDING
from jaxbandits.engine.driver import LogRows
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.grid import Cell

__all__ = ["Judgement", "criterion", "judge", "judge_means", "within"]

_DRAWN = (
    "every returned ratio of expected reward to expected cost is at least that of the m-th best arm that the run drew "
    "minus epsilon; regrets are to the best that the reservoir has"
)


class Judgement(NamedTuple):
    """The judgement of N answers."""

    simple: np.ndarray  # float64 (N,): simple regret, NaN where nothing is returned
    aggregate: np.ndarray  # float64 (N,): aggregate regret, NaN where nothing is returned
    correct: np.ndarray  # bool (N,)
    wrong_size: np.ndarray  # bool (N,): the number of returned arms differs from the declared one


def criterion(cell: Cell) -> str:
    """Return the criterion in words; an answer over drawn arms is judged by the arms that the run drew."""
    own = cell.algorithm.traits.criterion
    if callable(own):
        return str(own.__doc__ or "the algorithm's own criterion").strip().splitlines()[0]
    return _DRAWN if cell.problem.drawn and own not in SET_CRITERIA else CRITERIA[own]


def judge(cells: Sequence[Cell], rows: LogRows, recommended: np.ndarray) -> Judgement:
    """Judge the answers of finished rows.

    Args:
        cells: compatible cells.
        rows: N rows.
        recommended: bool `(N, bandits, K)`.
    """
    own, epsilon = rows.correct, np.asarray([tolerance_of(cell.algorithm) for cell in cells])
    if rows.regret is not None:
        simple, aggregate, beyond = (np.maximum(one, 0) for one in rows.regret)
        correct = beyond <= epsilon[rows.cell]
    else:
        kind = cells[0].algorithm.traits.criterion
        means = _values(cells, recommended.shape[2], ratio=kind == "ratio")
        together = kind in ("aggregate", "exact")
        given = kind != "ratio" and all(cell.problem.mean_is for cell in cells)
        simple, aggregate, correct = judge_means(
            means, rows.cell, recommended, epsilon[rows.cell], together=together, given=given
        )
    correct = correct if own is None else own
    declared = [answers_of(cell.algorithm) for cell in cells]
    wrong_size = np.zeros(len(correct), bool)
    if None not in declared:
        returned = np.count_nonzero(recommended, axis=2)
        wrong_size = (returned != np.asarray(declared)[rows.cell][:, None]).any(axis=1)
    return Judgement(simple, aggregate, correct & ~wrong_size, wrong_size)


def judge_means(
    means: np.ndarray,
    cell: np.ndarray,
    recommended: np.ndarray,
    epsilon: np.ndarray | float,
    *,
    together: bool = False,
    given: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return simple regret, aggregate regret, NaN where nothing is returned, and whether they are within epsilon.

    Means are float32. Comparing two allows an error of a few spacings, `ROUNDING` of the larger one: both may be
    rounded. With epsilon = 0, means that a user gave are equal or not, and nothing is allowed.

    Args:
        means: float64 `(C, bandits, K)`, -inf for arms that do not exist.
        cell: int `(N,)`, which of the C cells an answer is for.
        recommended: bool `(N, bandits, K)`.
        epsilon: `(N,)` or `()`, the largest shortfall of a correct answer.
        together: whether the mean of the returned arms is judged, in place of the worst of them.
        given: whether the means are as a user gave them, not computed from other parameters.

    Returns:
        float64 `(N,)`, float64 `(N,)`, bool `(N,)`.
    """
    order = np.argsort(-means, axis=2, kind="stable")
    best = np.take_along_axis(means, order, axis=2)
    number = np.count_nonzero(recommended, axis=2)
    # The returned arms of every bandit of every row, best first; the j-th of them is compared with the j-th best arm.
    row, bandit, place = np.nonzero(np.take_along_axis(recommended, order[cell], axis=2))
    answer = row * number.shape[1] + bandit
    first = np.cumsum(number.ravel()) - number.ravel()
    wanted, had = (best[cell[row], bandit, rank] for rank in (np.arange(len(row)) - first[answer], place))
    lost = wanted - had
    rounding = np.where(given & (np.broadcast_to(epsilon, len(number))[row] == 0), 0.0, ROUNDING)
    beyond = np.maximum(lost - rounding * np.maximum(np.abs(wanted), np.abs(had)), 0)
    some, share = number.ravel() > 0, np.maximum(number, 1)

    def summed(terms: np.ndarray) -> np.ndarray:
        return (np.bincount(answer, terms, number.size).reshape(number.shape) / share).mean(axis=1)

    def of_last(terms: np.ndarray, otherwise: float) -> np.ndarray:
        found = np.full(number.size, otherwise)
        found[some] = terms[(first + number.ravel() - 1)[some]]
        return found.reshape(number.shape).max(axis=1)

    nothing = (number == 0).any(axis=1)
    simple, aggregate = (np.where(nothing, np.nan, x) for x in (of_last(lost, 0.0), summed(lost)))
    missed = summed(beyond) if together else of_last(beyond, 0.0)
    return simple, aggregate, ~nothing & (missed <= epsilon)


def within(problem: Problem, recommended: xr.DataArray, epsilon: float) -> np.ndarray:
    """Return whether every returned mean is at least the m-th best minus epsilon, bool `(N,)`.

    Args:
        problem: a problem with given arms.
        recommended: the answers of N runs, with a dimension `seed`.
        epsilon: the largest shortfall of a correct answer.
    """
    means = np.asarray(problem.mean, np.float64).reshape(-1, problem.bandits).T
    answers = recommended.to_numpy().reshape(recommended.sizes["seed"], *means.shape)
    cell, given = np.zeros(len(answers), np.int64), bool(problem.mean_is)
    return judge_means(means[None], cell, answers, epsilon, given=given)[2]


def _values(cells: Sequence[Cell], arms: int, *, ratio: bool) -> np.ndarray:
    """Return the means, or ratios of reward to cost, of C cells, float64 `(C, bandits, arms)`.

    They are -inf where there is no arm.
    """
    values = np.full((len(cells), cells[0].problem.bandits, arms), -np.inf)
    for filled, cell in zip(values, cells, strict=True):
        worth = cell.problem.value if ratio else cell.problem.mean
        one = np.asarray(worth, np.float64).reshape(-1, cell.problem.bandits).T
        filled[:, : one.shape[1]] = one
    return values
