"""From the engine's rows to completed runs: the metrics of each, at every point of its curve."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.engine.driver import LogRows
from jaxbandits.errors import UsageError
from jaxbandits.status import OUTSIDE, STALLED, fault_of
from jaxbandits.storage.layout import FinishedRuns, Layout
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.metrics import CellTable, MetricSpec, RunTable

__all__ = ["RunAssembler", "refuse_faults", "stalled_names"]


class _Rows(NamedTuple):
    key: np.ndarray  # int64 (N,): cell and seed
    checkpoint: np.ndarray
    ended: np.ndarray
    values: dict[str, np.ndarray]  # (N,) or (N, bandits, K)


class RunAssembler:
    """Collects rows of compatible cells until their run has ended."""

    def __init__(self, layout: Layout, metrics: dict[str, MetricSpec], cells: list[Cell], places: np.ndarray) -> None:
        """Start without rows.

        Args:
            layout: the layout of the results.
            metrics: the table of metrics.
            cells: C compatible cells.
            places: int64 `(C,)`: the number of each in the grid.
        """
        self._layout, self._metrics, self._cells, self._places = layout, metrics, CellTable(cells), places
        self._waiting: list[_Rows] = []

    def add(self, rows: LogRows) -> FinishedRuns:
        """Add rows, and return the runs that have ended with them."""
        seen = RunTable(rows, self._cells, self._layout.checkpoints)
        values = {name: metric.function(seen) for name, metric in self._metrics.items()}
        there = {name: self._fitted(name, value) for name, value in values.items() if value is not None}
        cell, seed = self._places[rows.cell], rows.seed.astype(np.int64)
        if not len(self._layout.checkpoints):  # every row is a run
            return FinishedRuns(cell, seed, {name: value[:, None] for name, value in there.items()})
        return self._of_curves(_Rows((cell << 32) | seed, rows.checkpoint, rows.ended, there))

    def _fitted(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return values with the layout's type and number of arms."""
        variable, arms = self._layout.variables[name], self._layout.of_arms(name)
        if values.shape[1:] == arms:
            return np.asarray(values, variable.dtype)
        full = np.full((len(values), *arms), variable.empty, variable.dtype)
        bandits, width = values.shape[1], min(arms[1], values.shape[2])
        full[:, :bandits, :width] = values[..., :width]
        return full

    def _of_curves(self, rows: _Rows) -> FinishedRuns:
        """Return runs whose last row is there; a run that ended before a checkpoint repeats its last row."""
        parts = [*self._waiting, rows]
        rows = _Rows(
            np.concatenate([part.key for part in parts]),
            np.concatenate([part.checkpoint for part in parts]),
            np.concatenate([part.ended for part in parts]),
            {name: np.concatenate([part.values[name] for part in parts]) for name in rows.values},
        )
        over = np.isin(rows.key, rows.key[rows.ended])
        self._waiting = [_chosen(rows, ~over)] if not over.all() else []
        done = _chosen(rows, over)
        key, run = np.unique(done.key, return_inverse=True)
        latest = np.zeros((len(key), self._layout.points), np.int64)
        latest[run, done.checkpoint] = np.arange(len(run)) + 1
        # The engine logs the rows of a run in order, so that the latest one has the largest number.
        latest = np.maximum.accumulate(latest, axis=1) - 1
        return FinishedRuns(key >> 32, key & 0xFFFFFFFF, {name: value[latest] for name, value in done.values.items()})


def refuse_faults(rows: LogRows, cells: list[Cell], dimensions: Mapping[str, Any]) -> None:
    """Refuse runs in which a user's own algorithm broke the protocol.

    Raises:
        UsageError: the fault of the first such run, with its seed and cell.
    """
    faults = np.flatnonzero(rows.status >= OUTSIDE)
    if faults.size:
        first = faults[np.argmin(rows.seed[faults])]
        cell = cells[rows.cell[first]]
        values = [
            f"{name}={list(known)[i]}" for (name, known), i in zip(dimensions.items(), cell.position, strict=True)
        ]
        fault = fault_of(int(rows.status[first]), type(cell.algorithm).__name__, cell.problem.arms)
        raise UsageError(f"{fault} (the run with seed {rows.seed[first]}{''.join(f', {value}' for value in values)})")


def stalled_names(rows: LogRows, cells: list[Cell]) -> list[str]:
    """Return the name of the algorithm of each run that was truncated since it pulled no more."""
    return [type(cells[cell].algorithm).__name__ for cell in rows.cell[rows.ended & (rows.status == STALLED)]]


def _chosen(rows: _Rows, which: np.ndarray) -> _Rows:
    return _Rows(
        rows.key[which], rows.checkpoint[which], rows.ended[which], {n: v[which] for n, v in rows.values.items()}
    )
