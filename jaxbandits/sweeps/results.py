"""From the engine's rows to a labelled Dataset."""

import importlib.metadata
import math
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.checks import refuse_what_does_not_fit
from jaxbandits.engine.driver import Rows
from jaxbandits.sweeps.grid import Cell, Grid
from jaxbandits.sweeps.metrics import Measured, Seen

__all__ = ["Results", "coordinate"]

#: Bytes of a run in the arrays below, its returned arms apart, with the copy that becomes the Dataset.
_ROW_BYTES = 96


class Results:
    """Arrays of shape `(cells, seeds, checkpoints or 1, …)`, a metric each, filled as runs finish."""

    def __init__(self, grid: Grid, seeds: int, checkpoints: np.ndarray, metrics: dict[str, Measured]) -> None:
        self.grid = grid
        self.seeds = seeds
        self.checkpoints = checkpoints
        self.metrics = metrics
        self.shape = tuple(len(values) for values in grid.dimensions.values())
        self.size = (len(grid.cells), seeds, max(1, len(checkpoints)))
        self.bandits = max(cell.problem.bandits for cell in grid.cells)
        self.arms = max(cell.problem.arms // cell.problem.bandits for cell in grid.cells)
        self.index = {cell.position: i for i, cell in enumerate(grid.cells)}
        needed = math.prod(self.size) * (_ROW_BYTES + self.bandits * self.arms)
        refuse_what_does_not_fit("the results alone", needed, "fewer seeds or cells")
        self.written = np.zeros(self.size, bool)
        self.found: dict[str, np.ndarray] = {}

    def add(self, cells: list[Cell], rows: Rows) -> None:
        """Enter rows whose jobs are numbered over `cells` times seeds."""
        local, seed = np.divmod(rows.job, self.seeds)
        cell_index = np.asarray([self.index[cell.position] for cell in cells])[local]
        where = (cell_index, seed, rows.checkpoint if len(self.checkpoints) else np.zeros_like(seed))
        self.written[where] = True
        seen = Seen(rows, cells, local, self.checkpoints)
        for name, metric in self.metrics.items():
            values = metric.function(seen)
            if values is None:
                continue
            if name not in self.found:
                arms = (self.bandits, self.arms) if metric.per_arm else ()
                self.found[name] = np.full((*self.size, *arms), metric.empty, metric.dtype)
            if metric.per_arm:
                bandits, arms = values.shape[1], min(self.arms, values.shape[2])
                self.found[name][(*where, slice(0, bandits), slice(0, arms))] = values[..., :arms]
            else:
                self.found[name][where] = values

    def dataset(self) -> xr.Dataset:
        """The Dataset; a run that ended before a checkpoint keeps its last row there."""
        coordinates: dict[str, Any] = {name: coordinate(values) for name, values in self.grid.dimensions.items()}
        coordinates["seed"] = np.arange(self.seeds)
        if len(self.checkpoints):
            coordinates["checkpoint"] = self.checkpoints
        if "regret" in self.found:
            for name in {"budget", "checkpoint"} & coordinates.keys():
                coordinates[name] = xr.Variable(name, coordinates[name], {"long_name": "budget (cost)"})
        variables = {name: self._variable(name) for name in self.metrics if name in self.found}
        version = importlib.metadata.version("jaxbandits")
        return xr.Dataset(variables, coordinates, {"jaxbandits_version": version})

    def _variable(self, name: str) -> xr.Variable:
        values, metric, cell = self.found[name], self.metrics[name], self.grid.cells[0]
        last = []
        if len(self.checkpoints):
            latest = np.maximum.accumulate(np.where(self.written, np.arange(self.written.shape[2]), 0), axis=2)
            values = np.take_along_axis(values, latest.reshape(latest.shape + (1,) * (values.ndim - 3)), axis=2)
            last = ["checkpoint"]
        else:
            values = values[:, :, 0]
        if metric.per_arm and self.bandits == 1:
            values = values[..., 0, :]
        arms = ("bandit", "arm")[-1 if self.bandits == 1 else 0 :] if metric.per_arm else ()
        about = {"long_name": metric.long_name, **metric.about(cell)}
        if metric.unit:
            about["units"] = metric.unit.format(cost=cell.problem.cost_unit)
        values = values.reshape(*self.shape, *values.shape[1:])
        return xr.Variable([*self.grid.dimensions, "seed", *last, *arms], values, about)


def coordinate(values: tuple[Any, ...]) -> np.ndarray | list[str]:
    """The values of an axis as a Dataset has them: whole lists become texts."""
    if all(isinstance(value, bool | int | float | str) for value in values):
        return np.asarray(values)
    return [str(value) for value in values]
