"""Run a figure's sweeps and write what it shows; report where that is and how long it took."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr
from matplotlib.figure import Figure

import jaxbandits as jb
from jaxbandits.report.axis_labels import declared
from jaxbandits.report.gallery import Exhibit, exhibit
from jaxbandits.report.summaries import summary

__all__ = ["Bench", "Stage", "count_runs", "count_seconds", "stack_summaries", "with_meanings"]

_SECONDS = "wall_seconds"


class Stage(NamedTuple):
    """The progress of `reproduce`, for a display."""

    figure: str
    number: int  #: of this figure, from 1
    figures: int  #: that are made
    doing: str
    runs: int = 0  #: finished in this sweep
    pulls: float = 0.0  #: made in this sweep
    finished: Exhibit | None = None  #: the picture that was finished just now


class Bench:
    """Runs the sweeps of figures, one figure after another.

    Args:
        out: the folder for pictures and numbers.
        scale: the key of every figure's `SIZES`.
        figures: how many there will be.
        on_progress: called now and then.
    """

    def __init__(
        self, out: Path, scale: str, figures: int = 1, on_progress: Callable[[Stage], None] | None = None
    ) -> None:
        self.scale = scale
        self.exhibits: list[Exhibit] = []
        self._out = out
        self._figure, self._number, self._figures = "", 0, figures
        self._on_progress = on_progress
        self._called = 0.0
        self._shared: dict[object, object] = {}

    def begin(self, figure: str) -> None:
        """Go on to the next figure."""
        self._figure, self._number = figure, self._number + 1

    def sweep(
        self, algorithm: object, problem: jb.Problem | jb.problems.ProblemFamily, seeds: int, **options: Any
    ) -> xr.Dataset:
        """Call `jaxbandits.sweep`, report its progress and keep its wall time with the Dataset."""
        doing = type(algorithm).__name__
        self._report(doing)  # before compilation, which takes longest
        began = time.perf_counter()
        ds = jb.sweep(algorithm, problem, seeds, on_progress=lambda p: self._report(doing, p.runs, p.pulls), **options)
        ds.attrs[_SECONDS] = time.perf_counter() - began
        return ds

    def sweep_each(
        self,
        algorithms: Mapping[str, object],
        problem: jb.Problem | jb.problems.ProblemFamily,
        seeds: int,
        **options: object,
    ) -> dict[str, xr.Dataset]:
        """Sweep each algorithm, by label."""
        return {label: self.sweep(algorithm, problem, seeds, **options) for label, algorithm in algorithms.items()}

    def call(self, function: Callable[..., object], *args: object, **options: object) -> Any:
        """Call a public function that runs sweeps itself; the next exhibit has its wall time."""
        self._report(function.__name__)
        began = time.perf_counter()
        found = function(*args, **options)
        self._called += time.perf_counter() - began
        return found

    def run_once(self, run: Callable[["Bench", Any], object], size: object) -> Any:
        """Return what `run` returns for a size; figures that need the same share one result."""
        if (run, size) not in self._shared:
            self._shared[run, size] = run(self, size)
        return self._shared[run, size]

    def exhibit(
        self,
        name: str,
        picture: Figure,
        numbers: object,
        runs: Iterable[xr.Dataset] | int,
        *notes: str,
        finding: str,
        alt: str,
        share: float = 1.0,
        **caption: str,
    ) -> None:
        """Write a picture and its numbers, and add them to `exhibits`.

        Args:
            name: the stem of the files.
            picture: the picture.
            numbers: a tidy DataFrame.
            runs: the Datasets of runs behind it, or the number of runs of the calls before.
            *notes: what differs from the paper, and what the numbers cannot say.
            finding: what it shows.
            alt: the picture in words, without the finding.
            share: how much of the runs the picture shows, where others show the rest.
            **caption: `drawn` and `settings` of `Exhibit`.
        """
        if isinstance(runs, int):
            count, seconds, self._called = runs, self._called, 0.0
        else:
            datasets = list(runs)
            count, seconds = count_runs(*datasets), count_seconds(*datasets)
        shown = exhibit(
            self._out, name, picture, numbers, runs=round(share * count), seconds=share * seconds, finding=finding,
            alt=f"{alt} {finding}.", notes=notes, **caption,
        )  # fmt: skip
        self.exhibits.append(shown)
        self._report("drawing", finished=shown)

    def _report(self, doing: str, runs: int = 0, pulls: float = 0.0, finished: Exhibit | None = None) -> None:
        if self._on_progress is not None:
            self._on_progress(Stage(self._figure, self._number, self._figures, doing, runs, pulls, finished))


def stack_summaries(dimension: str, runs: dict[str, xr.Dataset]) -> xr.Dataset:
    """Return the summaries of Datasets of runs, one along `dimension` for each label."""
    stats = xr.concat([summary(ds).drop_attrs() for ds in runs.values()], dimension, join="exact")
    return with_meanings(stats, next(iter(runs.values()))).assign_coords({dimension: list(runs)})


def with_meanings(stats: xr.Dataset, ds: xr.Dataset) -> xr.Dataset:
    """Return summaries whose dimensions have the labels that those of a Dataset of runs have, as declared."""
    for name in stats.dims:
        if name in stats.coords and (meaning := declared(ds, str(name))) is not None:
            stats[name].attrs["long_name"] = meaning
    return stats


def count_runs(*datasets: xr.Dataset) -> int:
    """Return the number of runs in Datasets of runs."""
    return sum(ds["pulls"].size for ds in datasets)


def count_seconds(*datasets: xr.Dataset) -> float:
    """Return what the Datasets of a bench took, compilation included."""
    return float(sum(ds.attrs[_SECONDS] for ds in datasets))
