"""The table of the metrics of every run: a line each, from which the Dataset's variables follow.

The engine logs the costs, the end and the answer of each run. Answers are judged here, on the host, in double
precision, at no cost to the device. A user's own metrics are computed on the device (`engine/metric.py`) and are in
the same table.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.algorithms.traits import answers_of
from jaxbandits.engine.driver import LogRows
from jaxbandits.engine.metric import Metric, MetricKind, Metrics
from jaxbandits.engine.protocol_checks import is_registered
from jaxbandits.status import STATUS
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.success import Judge, Judgement, criterion

__all__ = ["METRICS", "CellTable", "MetricSpec", "RunTable", "table"]


class CellTable:
    """C compatible cells, and what metrics need of each: computed once, for all the parts in which rows come."""

    def __init__(self, cells: list[Cell]) -> None:
        """Store the cells."""
        self.cells = cells

    @functools.cached_property
    def judge(self) -> Judge:
        """Return the judge of their answers."""
        return Judge(self.cells)

    @functools.cached_property
    def cost_budget(self) -> np.ndarray:
        """Return the budgets of cost, float64 `(C,)`."""
        return np.asarray([cell.algorithm.cost_budget for cell in self.cells], np.float64)

    @functools.cached_property
    def best_ratio(self) -> np.ndarray:
        """Return the best ratios of expected reward to expected cost, float64 `(C,)`."""
        return np.asarray([cell.problem.best_ratio for cell in self.cells])


class RunTable:
    """N finished rows of compatible cells: the argument of the metrics."""

    def __init__(self, rows: LogRows, of_cells: CellTable, checkpoints: np.ndarray) -> None:
        """Store rows with the number of each one's cell.

        Args:
            rows: N rows.
            of_cells: the cells.
            checkpoints: `(Q,)`, points of a curve; empty without one.
        """
        self.rows, self.cells, self.checkpoints = rows, of_cells.cells, checkpoints
        self._of_cells = of_cells
        #: bool `(N, bandits, K)`
        self.recommended = self.of_arms(rows.recommended)

    def of_arms(self, values: np.ndarray) -> np.ndarray:
        """Return values of all arms on one axis, `(N, bandits K)`, as `(N, bandits, K)`."""
        return values.reshape(len(values), -1, self.cells[0].problem.bandits).transpose(0, 2, 1)

    @functools.cached_property
    def judgement(self) -> Judgement:
        """Judge the answers."""
        return self._of_cells.judge.judgement(self.rows, self.recommended)

    @property
    def wrong_size(self) -> np.ndarray | None:
        """Return which answers differ in size from the declared one, bool `(N,)`; None for the package's algorithms."""
        first = self.cells[0].algorithm
        return None if is_registered(first) or answers_of(first) is None else self.judgement.wrong_size

    @property
    def pulls(self) -> np.ndarray:
        """Return the pulls of all arms, int64 `(N,)`."""
        return self.rows.account.pulls.to_numpy()

    @property
    def joint_pulls(self) -> np.ndarray | None:
        """Return the number of sets of arms pulled at once, int64 `(N,)`."""
        joint = self.rows.account.joint_pulls
        return None if joint is None else joint.to_numpy()

    @property
    def told(self) -> np.ndarray | None:
        """Return how many rewards arrived in runs on a platform, int64 `(N,)`; None for others."""
        return None if self.rows.journey is None else self.rows.journey.told.to_numpy()

    @property
    def elapsed(self) -> np.ndarray | None:
        """Return the time of runs on a platform, int64 `(N,)`; None for others."""
        return None if self.rows.journey is None else self.rows.journey.elapsed.to_numpy()

    @property
    def waits(self) -> np.ndarray | None:
        """Return how often runs on a platform waited for all their rewards, int32 `(N,)`; None for single pulls."""
        waits = None if self.rows.journey is None else self.rows.journey.waits
        return None if waits is None else np.asarray(waits)

    @property
    def reward_regret(self) -> np.ndarray | None:
        """Return the best ratio times the budget, minus the reward collected, float64 `(N,)`."""
        collected = self.rows.account.reward
        if collected is None:
            return None
        available = self._of_cells.cost_budget[self.rows.cell]
        if len(self.checkpoints):
            available = np.minimum(available, self.checkpoints[self.rows.checkpoint])
        return np.asarray(self._of_cells.best_ratio[self.rows.cell] * available - collected)


def _nothing(cell: Cell) -> dict[str, str]:
    del cell
    return {}


class MetricSpec(NamedTuple):
    """A line of the table."""

    dtype: Any
    unit: str  # "" for none; {cost} for the unit of the problem's costs
    long_name: str
    function: Callable[[RunTable], Any]  # to values `(N,)`, or None where the metric does not apply
    per_arm: bool = False  # values `(N, bandits, K)`
    empty: Any = 0  # the value where there is none
    about: Callable[[Cell], dict[str, str]] = _nothing


METRICS: dict[str, MetricSpec] = {
    "pulls": MetricSpec(np.int64, "pulls", "pulls of all arms", lambda seen: seen.pulls),
    "cost": MetricSpec(
        np.float64, "{cost}", "expected cost",
        lambda seen: seen.pulls if seen.rows.account.cost is None else seen.rows.account.cost,
    ),
    "recommended": MetricSpec(np.bool_, "", "arm returned", lambda seen: seen.recommended, per_arm=True),
    "correct": MetricSpec(
        np.bool_, "", "answer is correct", lambda seen: seen.judgement.correct,
        about=lambda cell: {"criterion": criterion(cell), "answers": str(cell.algorithm.traits.answers)},
    ),
    "wrong_size": MetricSpec(
        np.bool_, "", "answer has another number of arms than declared", lambda seen: seen.wrong_size
    ),
    "simple_regret": MetricSpec(
        np.float32, "", "m-th best mean minus worst returned mean", lambda seen: seen.judgement.simple, empty=np.nan
    ),
    "aggregate_regret": MetricSpec(
        np.float32, "", "mean of the best m means minus mean of the returned", lambda seen: seen.judgement.aggregate,
        empty=np.nan,
    ),
    "steps": MetricSpec(np.int64, "steps", "decisions", lambda seen: seen.rows.steps),
    "status": MetricSpec(np.int8, "", STATUS, lambda seen: seen.rows.status),
    "joint_pulls": MetricSpec(
        np.float64, "pulls", "sets of arms pulled at once", lambda seen: seen.joint_pulls, empty=np.nan
    ),
    "evaluations": MetricSpec(
        np.float64, "cells", "cells of the matrix that were read", lambda seen: seen.rows.evaluations, empty=np.nan
    ),
    "told": MetricSpec(
        np.float64, "pulls", "pulls whose rewards arrived before the run ended", lambda seen: seen.told, empty=np.nan
    ),
    "elapsed": MetricSpec(
        np.float64, "pulls", "time of the run, in pulls that the platform had time for", lambda seen: seen.elapsed,
        empty=np.nan,
    ),
    "waits": MetricSpec(
        np.float64, "times", "times that the run waited for all its rewards", lambda seen: seen.waits, empty=np.nan
    ),
    "paid": MetricSpec(
        np.float64, "{cost}", "cost of the pulls as it was drawn", lambda seen: seen.rows.account.paid, empty=np.nan
    ),
    "reward": MetricSpec(
        np.float64, "rewards", "reward collected within the budget", lambda seen: seen.rows.account.reward,
        empty=np.nan,
    ),
    "regret": MetricSpec(
        np.float64, "rewards", "best ratio times budget, minus the reward collected", lambda seen: seen.reward_regret,
        empty=np.nan,
    ),
}  # fmt: skip


def table(own: Metrics, kinds: dict[str, MetricKind]) -> dict[str, MetricSpec]:
    """Return the table with a user's metrics; `kinds` are the dtypes and shapes of their values."""

    def line(name: str, metric: Metric) -> MetricSpec:
        dtype, per_arm = kinds[name]
        # A fraction of an arm that a smaller problem lacks is not known; a count of it is 0.
        empty = np.nan if per_arm and dtype.kind == "f" else 0

        def values(seen: RunTable) -> np.ndarray:
            return seen.of_arms(seen.rows.own[name]) if per_arm else seen.rows.own[name]

        return MetricSpec(dtype, metric.unit, metric.long_name or name.replace("_", " "), values, per_arm, empty)

    return METRICS | {name: line(name, metric) for name, metric in own}
