"""Completed runs in memory, and their layout."""

from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.memory import check_fits_in_memory
from jaxbandits.report.run_statistics import TRUTH
from jaxbandits.storage.layout import FinishedRuns, Layout, Variable, add_text, dataset_of
from jaxbandits.sweeps.entries import Entries, names_at
from jaxbandits.sweeps.grid import NONE, Cell, Grid, cell_hashes
from jaxbandits.sweeps.metrics import MetricSpec

__all__ = ["Results", "coordinate", "layout_of"]


def layout_of(
    grid: Grid,
    algorithms: Entries,
    problems: Entries,
    seeds: tuple[int, int],
    checkpoints: np.ndarray,
    metrics: dict[str, MetricSpec],
    hashes: np.ndarray,
) -> Layout:
    """Return the layout of a grid's results.

    Args:
        grid: the grid, with the algorithms as they are run.
        algorithms: the algorithms of the sweep.
        problems: its problems.
        seeds: the first seed of every cell, and how many.
        checkpoints: `(Q,)`, empty without curves.
        metrics: the metrics by name.
        hashes: uint32 `(2, C)`, a hash of each cell, as the user gave it.
    """
    cells = grid.distinct_cells
    named = [(cell, *names_at(algorithms, problems, cell.position)) for cell in cells]
    return Layout(
        dimensions={name: coordinate(values) for name, values in grid.dimensions.items()},
        cells=tuple("" if first == NONE else cell for first, cell in zip(grid.first, cell_hashes(hashes), strict=True)),
        first_seed=seeds[0],
        seeds=seeds[1],
        checkpoints=checkpoints,
        bandits=max(cell.problem.bandits for cell in cells),
        arms=max(_arms(cell) for cell in cells),
        variables={name: _variable(metric, named) for name, metric in metrics.items()},
    )


def _arms(cell: Cell) -> int:
    """Return the number of arms of each bandit."""
    return cell.problem.arms // cell.problem.bandits


def _variable(metric: MetricSpec, named: list[tuple[Cell, str, str]]) -> Variable:
    """Return a variable with its attributes: of an algorithm or of a problem, where there are several."""
    about: dict[str, Any] = {"long_name": metric.long_name}
    if metric.dtype == np.bool_:  # they become fractions where a cell has no runs
        about |= TRUTH
    for cell, algorithm, _ in named:
        for key, text in metric.about(cell).items():
            add_text(about, key, algorithm, text)
        if not algorithm:
            break
    for cell, _, problem in named:
        if metric.unit:
            add_text(about, "units", problem, metric.unit.format(cost=cell.problem.cost_unit))
        if metric.per_arm and problem:
            add_text(about, "arms", problem, str(_arms(cell)))
        if not problem:
            break
    return Variable(metric.dtype, metric.per_arm, metric.empty, about)


class Results:
    """Arrays of shape `(cells, seeds, checkpoints or 1, …)`, a metric each, filled as runs finish."""

    def __init__(self, layout: Layout, first: np.ndarray) -> None:
        """Start without a run.

        Args:
            layout: the layout of the results.
            first: int64 `(C,)`: the cell that has the runs of each; `NONE` of one that is not run.
        """
        self._layout, self._first = layout, first
        runs = len(layout.cells) * layout.seeds
        check_fits_in_memory("the results alone", runs * layout.bytes_of_a_run, "fewer seeds or cells")
        self._found: dict[str, np.ndarray] = {}

    def add(self, runs: FinishedRuns) -> None:
        """Add runs."""
        for name, values in runs.values.items():
            if name not in self._found:
                self._found[name] = self._layout.blank(name, self._layout.seeds)
            self._found[name][runs.cell, runs.seed - self._layout.first_seed] = values

    def dataset(self) -> xr.Dataset:
        """Return the runs added so far as a Dataset."""
        repeated = np.flatnonzero((self._first != np.arange(len(self._first))) & (self._first != NONE))
        for values in self._found.values():
            values[repeated] = values[self._first[repeated]]
        return dataset_of(self._layout, self._found, self._layout.first_seed)


def coordinate(values: tuple[Any, ...]) -> np.ndarray | list[str]:
    """Return the values of an axis as a Dataset has them: whole lists become texts."""
    if all(isinstance(value, bool | int | float | str) for value in values):
        return np.asarray(values)
    return [str(value) for value in values]
