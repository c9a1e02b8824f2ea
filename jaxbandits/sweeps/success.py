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

__all__ = ["Judge", "Judgement", "criterion", "judge_means", "within"]

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


class Judge:
    """Judges answers to compatible cells; rows come in many parts, and what is known of a cell is looked up once."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        """Look up what is known of C cells, and of the problems that they share."""
        kind = cells[0].algorithm.traits.criterion
        self._ratio, self._together = kind == "ratio", kind in ("aggregate", "exact")
        self._epsilon = np.asarray([tolerance_of(cell.algorithm) for cell in cells])
        declared = [answers_of(cell.algorithm) for cell in cells]
        self._declared = None if None in declared else np.asarray(declared)
        self._problems = list({id(cell.problem): cell.problem for cell in cells}.values())
        places = {id(problem): place for place, problem in enumerate(self._problems)}
        self._problem = np.asarray([places[id(cell.problem)] for cell in cells])
        self._given = not self._ratio and all(problem.mean_is for problem in self._problems)
        self._values: np.ndarray | None = None

    def judgement(self, rows: LogRows, recommended: np.ndarray) -> Judgement:
        """Judge the answers of N finished rows, bool `(N, bandits, K)`."""
        epsilon = self._epsilon[rows.cell]
        if rows.regret is not None:
            simple, aggregate, beyond = (np.maximum(one, 0) for one in rows.regret)
            correct = beyond <= epsilon
        else:
            if self._values is None:
                self._values = _values(self._problems, recommended.shape[2], ratio=self._ratio)
            simple, aggregate, correct = judge_means(
                self._values, self._problem[rows.cell], recommended, epsilon, together=self._together, given=self._given
            )
        correct = correct if rows.correct is None else rows.correct
        wrong_size = np.zeros(len(correct), bool)
        if self._declared is not None:
            returned = np.count_nonzero(recommended, axis=2)
            wrong_size = (returned != self._declared[rows.cell][:, None]).any(axis=1)
        return Judgement(simple, aggregate, correct & ~wrong_size, wrong_size)


def judge_means(
    means: np.ndarray,
    problem: np.ndarray,
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
        means: float64 `(P, bandits, K)`, -inf for arms that do not exist.
        problem: int `(N,)`, which of the P problems an answer is for.
        recommended: bool `(N, bandits, K)`.
        epsilon: `(N,)` or `()`, the largest shortfall of a correct answer.
        together: whether the mean of the returned arms is judged, in place of the worst of them.
        given: whether the means are as a user gave them, not computed from other parameters.

    Returns:
        float64 `(N,)`, float64 `(N,)`, bool `(N,)`.
    """
    used, problem = np.unique(problem, return_inverse=True)
    means = means[used]
    order = np.argsort(-means, axis=2, kind="stable")
    best = np.take_along_axis(means, order, axis=2)
    number = np.count_nonzero(recommended, axis=2)
    # The returned arms of every bandit of every row, best first; the j-th of them is compared with the j-th best arm.
    row, bandit, place = np.nonzero(np.take_along_axis(recommended, order[problem], axis=2))
    answer = row * number.shape[1] + bandit
    first = np.cumsum(number.ravel()) - number.ravel()
    wanted, had = (best[problem[row], bandit, rank] for rank in (np.arange(len(row)) - first[answer], place))
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
    one = np.zeros(len(answers), np.int64)
    return judge_means(means[None], one, answers, epsilon, given=bool(problem.mean_is))[2]


def _values(problems: Sequence[Problem], arms: int, *, ratio: bool) -> np.ndarray:
    """Return the means, or ratios of reward to cost, of P problems, float64 `(P, bandits, arms)`.

    They are -inf where there is no arm.
    """
    values = np.full((len(problems), problems[0].bandits, arms), -np.inf)
    for filled, problem in zip(values, problems, strict=True):
        worth = problem.value if ratio else problem.mean
        one = np.asarray(worth, np.float64).reshape(-1, problem.bandits).T
        filled[:, : one.shape[1]] = one
    return values
