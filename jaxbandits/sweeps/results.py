"""From the engine's rows to a labelled Dataset: criteria and regrets, computed on the host from the returned arms."""

import importlib.metadata
import math
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.algorithms.bases.traits import CRITERIA
from jaxbandits.engine.driver import Rows
from jaxbandits.memory import refuse_what_does_not_fit
from jaxbandits.status import STATUS
from jaxbandits.sweeps.grid import Cell, Grid

__all__ = ["Results", "coordinate"]

_DRAWN = (
    "every returned ratio of expected reward to expected cost is at least that of the m-th best arm that the run drew "
    "minus epsilon; regrets are to the best that the reservoir has"
)
#: Means are float32: what lies within this of a bound, relative to the largest mean, meets it.
_TOLERANCE = 1e-6
#: Bytes of a run in the arrays below, its returned arms apart, with the copy that becomes the Dataset.
_ROW_BYTES = 96


class Results:
    """Arrays of shape `(cells, seeds, checkpoints or 1, …)`, filled as runs finish."""

    def __init__(self, grid: Grid, seeds: int, checkpoints: np.ndarray) -> None:
        self.grid = grid
        self.seeds = seeds
        self.checkpoints = checkpoints
        self.shape = tuple(len(values) for values in grid.dimensions.values())
        size = (len(grid.cells), seeds, max(1, len(checkpoints)))
        self.bandits = max(cell.problem.bandits for cell in grid.cells)
        self.arms = max(cell.problem.arms // cell.problem.bandits for cell in grid.cells)
        self.index = {cell.position: i for i, cell in enumerate(grid.cells)}
        needed = math.prod(size) * (_ROW_BYTES + self.bandits * self.arms)
        refuse_what_does_not_fit("the results alone", needed, "fewer seeds or cells")
        self.written = np.zeros(size, bool)
        self.pulls = np.zeros(size, np.int64)
        self.cost = np.zeros(size, np.float64)
        self.further: dict[str, np.ndarray] = {}  # what only some runs have
        self.steps = np.zeros(size, np.int64)
        self.status = np.zeros(size, np.int8)
        self.correct = np.zeros(size, bool)
        self.simple_regret = np.full(size, np.nan, np.float32)
        self.aggregate_regret = np.full(size, np.nan, np.float32)
        self.recommended = np.zeros((*size, self.bandits, self.arms), bool)

    def add(self, cells: list[Cell], rows: Rows) -> None:
        """Enter rows whose jobs are numbered over `cells` times seeds."""
        local, seed = np.divmod(rows.job, self.seeds)
        cell_index = np.asarray([self.index[cell.position] for cell in cells])[local]
        where = (cell_index, seed, rows.checkpoint if len(self.checkpoints) else np.zeros_like(seed))
        bandits = cells[0].problem.bandits
        recommended = rows.recommended.reshape(len(rows.job), -1, bandits).transpose(0, 2, 1)
        if rows.regret is None:
            simple, aggregate, correct = _score(cells, local, recommended)
        else:
            simple, aggregate, drawn = (np.maximum(regret, 0) for regret in rows.regret)
            epsilon = np.asarray([cell.algorithm.tolerance for cell in cells])
            correct = drawn <= epsilon[local] + _TOLERANCE
        self.written[where] = True
        spent = rows.account
        self.pulls[where] = spent.pulls.to_numpy()
        self.cost[where] = self.pulls[where] if spent.cost is None else spent.cost
        if spent.joint_pulls is not None:
            self.further.setdefault("joint_pulls", np.zeros_like(self.pulls))[where] = spent.joint_pulls.to_numpy()
        if spent.paid is not None:
            self.further.setdefault("paid", np.zeros_like(self.cost))[where] = spent.paid
        if spent.reward is not None:
            self.further.setdefault("reward", np.zeros_like(self.cost))[where] = spent.reward
            budgets = [cell.algorithm.cost_budget for cell in cells]
            available = np.asarray(budgets, np.float64)[local]
            if len(self.checkpoints):
                available = np.minimum(available, self.checkpoints[rows.checkpoint])
            best = np.asarray([cell.problem.best_ratio for cell in cells])[local]
            self.further.setdefault("regret", np.zeros_like(self.cost))[where] = best * available - spent.reward
        self.steps[where] = rows.steps
        self.status[where] = rows.status
        self.correct[where] = correct
        self.simple_regret[where] = simple
        self.aggregate_regret[where] = aggregate
        count = min(self.arms, recommended.shape[2])
        self.recommended[(*where, slice(0, bandits), slice(0, count))] = recommended[..., :count]

    def dataset(self) -> xr.Dataset:
        """The Dataset; a run that ended before a checkpoint keeps its last row there."""
        latest = np.maximum.accumulate(np.where(self.written, np.arange(self.written.shape[2]), 0), axis=2)
        axes = list(self.grid.dimensions)
        last = ["checkpoint"] if len(self.checkpoints) else []

        def variable(values: np.ndarray, extra: tuple[str, ...] = (), **attributes: Any) -> xr.Variable:
            if last:
                values = np.take_along_axis(values, latest.reshape(latest.shape + (1,) * (values.ndim - 3)), axis=2)
            else:
                values = values[:, :, 0]
            values = values.reshape(*self.shape, *values.shape[1:])
            return xr.Variable([*axes, "seed", *last, *extra], values, attributes)

        criterion = _DRAWN if _drawn(self.grid.cells[0]) else CRITERIA[_criterion(self.grid.cells[0])]
        arm_dimensions = ("bandit", "arm") if self.bandits > 1 else ("arm",)
        recommended = self.recommended if self.bandits > 1 else self.recommended[:, :, :, 0]
        variables = {
            "pulls": variable(self.pulls, long_name="pulls of all arms"),
            "cost": variable(self.cost, long_name="expected cost", units=self.grid.cells[0].problem.cost_unit),
            "recommended": variable(recommended, arm_dimensions, long_name="arm returned"),
            "correct": variable(self.correct, long_name="answer is correct", criterion=criterion),
            "simple_regret": variable(self.simple_regret, long_name="m-th best mean minus worst returned mean"),
            "aggregate_regret": variable(
                self.aggregate_regret, long_name="mean of the best m means minus mean of the returned"
            ),
            "steps": variable(self.steps, long_name="decisions"),
            "status": variable(self.status, long_name=STATUS),
        }
        texts = {
            "joint_pulls": "sets of arms pulled at once",
            "paid": "cost of the pulls as it was drawn",
            "reward": "reward collected within the budget",
            "regret": "best ratio times budget, minus the reward collected",
        }
        variables |= {name: variable(values, long_name=texts[name]) for name, values in self.further.items()}
        coordinates: dict[str, Any] = {name: coordinate(values) for name, values in self.grid.dimensions.items()}
        coordinates["seed"] = np.arange(self.seeds)
        if last:
            coordinates["checkpoint"] = self.checkpoints
        if "regret" in self.further:
            for name in {"budget", "checkpoint"} & coordinates.keys():
                coordinates[name] = xr.Variable(name, coordinates[name], {"long_name": "budget (cost)"})
        version = importlib.metadata.version("jaxbandits")
        return xr.Dataset(variables, coordinates, {"jaxbandits_version": version})


def _score(cells: list[Cell], local: np.ndarray, recommended: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simple and aggregate regret and correctness of rows; `recommended` is bool (N, bandits, arms)."""
    arms = recommended.shape[2]
    means = np.full((len(cells), recommended.shape[1], arms), -np.inf)
    for i, cell in enumerate(cells):
        worth = cell.problem.value if _criterion(cell) == "ratio" else cell.problem.mean
        mean = np.asarray(worth, np.float64).reshape(-1, cell.problem.bandits).T
        means[i, :, : mean.shape[1]] = mean
    best = -np.sort(-means, axis=2)
    sums = np.cumsum(np.where(np.isfinite(best), best, 0), axis=2)
    epsilon = np.asarray([cell.algorithm.tolerance for cell in cells])
    slack = _TOLERANCE * np.maximum(1, np.abs(np.where(np.isfinite(means), means, 0)).max(axis=(1, 2)))
    row_means = means[local]
    returned = np.count_nonzero(recommended, axis=2)
    last = (local[:, None], np.arange(recommended.shape[1]), np.maximum(returned - 1, 0))
    threshold, total = best[last], sums[last]
    worst = np.min(row_means, axis=2, where=recommended, initial=np.inf)
    gained = np.sum(row_means, axis=2, where=recommended)
    nothing = (returned == 0).any(axis=1)
    simple = np.where(nothing, np.nan, np.maximum(threshold - worst, 0).max(axis=1))
    aggregate = np.where(nothing, np.nan, np.maximum((total - gained) / np.maximum(returned, 1), 0).mean(axis=1))
    regret = simple if _criterion(cells[0]) in ("epsilon-m", "ratio") else aggregate
    correct = ~nothing & (np.where(nothing, np.inf, regret) <= (epsilon + slack)[local])
    return simple, aggregate, correct


def _criterion(cell: Cell) -> str:
    return cell.algorithm.traits.criterion


def _drawn(cell: Cell) -> bool:
    """Whether the answer is judged by the arms that the run drew."""
    return cell.problem.drawn


def coordinate(values: tuple[Any, ...]) -> np.ndarray | list[str]:
    """The values of an axis as a Dataset has them: whole lists become texts."""
    if all(isinstance(value, bool | int | float | str) for value in values):
        return np.asarray(values)
    return [str(value) for value in values]
