"""Completed runs in memory, and their layout."""

from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.memory import check_fits_in_memory
from jaxbandits.storage.layout import FinishedRuns, Layout, Variable, dataset_of
from jaxbandits.sweeps.grid import Grid, cell_hashes
from jaxbandits.sweeps.metrics import MetricSpec

__all__ = ["Results", "coordinate", "layout_of"]


def layout_of(
    grid: Grid, first_seed: int, seeds: int, checkpoints: np.ndarray, metrics: dict[str, MetricSpec], hashes: np.ndarray
) -> Layout:
    """Return the layout of a grid's results.

    Args:
        grid: the grid, with the algorithms as they are run.
        first_seed: the first seed of every cell.
        seeds: runs of every cell.
        checkpoints: `(Q,)`, empty without curves.
        metrics: the metrics by name.
        hashes: uint32 `(2, C)`, a hash of each cell, as the user gave it.
    """
    return Layout(
        dimensions={name: coordinate(values) for name, values in grid.dimensions.items()},
        cells=cell_hashes(hashes),
        first_seed=first_seed,
        seeds=seeds,
        checkpoints=checkpoints,
        bandits=max(cell.problem.bandits for cell in grid.cells),
        arms=max(cell.problem.arms // cell.problem.bandits for cell in grid.cells),
        variables={name: _variable(metric, grid) for name, metric in metrics.items()},
    )


def _variable(metric: MetricSpec, grid: Grid) -> Variable:
    cell = grid.cells[0]
    about = {"long_name": metric.long_name, **metric.about(cell)}
    if metric.unit:
        about["units"] = metric.unit.format(cost=cell.problem.cost_unit)
    return Variable(metric.dtype, metric.per_arm, metric.empty, about)


class Results:
    """Arrays of shape `(cells, seeds, checkpoints or 1, …)`, a metric each, filled as runs finish."""

    def __init__(self, layout: Layout) -> None:
        """Start without a run.

        Args:
            layout: the layout of the results.
        """
        self._layout = layout
        check_fits_in_memory("the results alone", layout.runs * layout.bytes_of_a_run, "fewer seeds or cells")
        self._found: dict[str, np.ndarray] = {}

    def add(self, runs: FinishedRuns) -> None:
        """Add runs."""
        for name, values in runs.values.items():
            if name not in self._found:
                self._found[name] = self._layout.blank(name, self._layout.seeds)
            self._found[name][runs.cell, runs.seed - self._layout.first_seed] = values

    def dataset(self) -> xr.Dataset:
        """Return the runs added so far as a Dataset."""
        return dataset_of(self._layout, self._found, self._layout.first_seed)


def coordinate(values: tuple[Any, ...]) -> np.ndarray | list[str]:
    """Return the values of an axis as a Dataset has them: whole lists become texts."""
    if all(isinstance(value, bool | int | float | str) for value in values):
        return np.asarray(values)
    return [str(value) for value in values]
