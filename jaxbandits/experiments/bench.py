"""What every experiment needs: sweeps that report where they are and how long they took."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.report.gallery import Exhibit, exhibit
from jaxbandits.report.summaries import summary

__all__ = ["Bench", "Stage", "runs_of", "seconds_of", "stacked"]

_SECONDS = "wall_seconds"


class Stage(NamedTuple):
    """Where an experiment is, for a progress display."""

    experiment: str
    doing: str
    number: int  #: of this sweep, from 1
    sweeps: int  #: of the experiment
    runs: int  #: finished in this sweep
    pulls: float  #: made in this sweep
    finished: Exhibit | None = None  #: the figure that was finished just now


class Bench:
    """Runs the sweeps of one experiment.

    Args:
        experiment: its name.
        sweeps: how many there will be.
        on_progress: called now and then.
    """

    def __init__(self, experiment: str, sweeps: int, on_progress: Callable[[Stage], None] | None) -> None:
        self.experiment = experiment
        self.sweeps = sweeps
        self.number = 0
        self._called = 0.0
        self._on_progress = on_progress

    def sweep(
        self, algorithm: Any, problem: jb.Problem | jb.problems.ProblemFamily, seeds: int, **options: Any
    ) -> xr.Dataset:
        """`jaxbandits.sweep`, reported; the wall time is kept with the Dataset."""
        self.number += 1
        doing = type(algorithm).__name__

        def report(progress: jb.Progress) -> None:
            if self._on_progress is not None:
                self._on_progress(
                    Stage(self.experiment, doing, self.number, self.sweeps, progress.runs, progress.pulls)
                )

        report(jb.Progress(runs=0, pulls=0.0))  # before compilation, which takes longest
        began = time.perf_counter()
        ds = jb.sweep(algorithm, problem, seeds, on_progress=report, **options)
        ds.attrs[_SECONDS] = time.perf_counter() - began
        return ds

    def call(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """A public function that runs sweeps of its own, reported as one."""
        self.number += 1
        if self._on_progress is not None:
            self._on_progress(Stage(self.experiment, function.__name__, self.number, self.sweeps, 0, 0.0))
        began = time.perf_counter()
        found = function(*args, **options)
        self._called += time.perf_counter() - began
        return found

    def seconds(self) -> float:
        """What the calls took since this was asked last."""
        seconds, self._called = self._called, 0.0
        return seconds

    def exhibit(self, out: Path, name: str, picture: Figure, numbers: Any, **caption: Any) -> Exhibit:
        """`jaxbandits.report.gallery.exhibit`, reported."""
        shown = exhibit(out, name, picture, numbers, **caption)
        if self._on_progress is not None:
            self._on_progress(Stage(self.experiment, "drawing", self.number, self.sweeps, 0, 0.0, finished=shown))
        return shown


def stacked(dimension: str, runs: dict[str, xr.Dataset]) -> xr.Dataset:
    """The summaries of Datasets of runs, one along `dimension` for each label."""
    known = xr.concat([summary(ds).drop_attrs() for ds in runs.values()], dimension, join="exact")
    return known.assign_coords({dimension: list(runs)})


def runs_of(*datasets: xr.Dataset) -> int:
    """Runs in Datasets of runs."""
    return sum(ds["pulls"].size for ds in datasets)


def seconds_of(*datasets: xr.Dataset) -> float:
    """What the Datasets of a bench took, compilation included."""
    return float(sum(ds.attrs[_SECONDS] for ds in datasets))
