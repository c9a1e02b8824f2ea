"""Datasets of the statistics of a stream: moments and summaries."""

import math
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.report.run_statistics import QUANTILES, Statistics, between
from jaxbandits.report.summaries import FLAGS, Reduced, summary_of
from jaxbandits.storage.accumulators import Moments, Stream, rounded_values
from jaxbandits.storage.layout import Layout, coordinates_of

__all__ = ["moments_dataset", "summary_dataset"]


def moments_dataset(stream: Stream, layout: Layout) -> xr.Dataset:
    """Return mean and variance of every variable over the runs of each cell.

    `<variable>_mean` and `<variable>_variance` (with n - 1) have the dimensions of the grid, and arms where the
    variable has them. Missing values (NaN), such as the regret of a run without an answer, are left out;
    `<variable>_number` counts the others. `runs` counts the runs of a cell, and `stopped_early` the
    truncated ones.
    """
    found: dict[str, xr.DataArray] = {}
    for name in [name for name in layout.variables if name in stream.moments]:
        about = layout.variables[name].about
        for part, values in zip(("mean", "variance"), stream.moments[name].mean_and_variance(), strict=True):
            array = _array(layout, values, layout.variables[name].per_arm)
            found[f"{name}_{part}"] = array.assign_attrs({**about, "long_name": f"{part} of {about['long_name']}"})
        if (stream.moments[name].number != layout.seeds).any():
            number = _array(layout, stream.moments[name].number, layout.variables[name].per_arm)
            found[f"{name}_number"] = number.assign_attrs(long_name=f"runs with {about['long_name']}")
    found["runs"] = _runs(layout).assign_attrs(long_name="runs of a cell")
    found["stopped_early"] = _array(layout, _total(stream.moments["stopped early"]), per_arm=False)
    return _named(xr.Dataset(found), layout, stream)


def summary_dataset(stream: Stream, layout: Layout, attrs: dict[str, Any]) -> xr.Dataset:
    """Return the summary of the runs, as `jaxbandits.summary` does, with quantiles rounded to 14 significant bits."""
    statistics, errors = {}, None
    for name, variable in layout.variables.items():
        if name not in stream.moments:
            continue
        moments = stream.moments[name]
        mean, variance = (_array(layout, x, variable.per_arm) for x in moments.mean_and_variance())
        if name == "correct":
            errors = _array(layout, moments.number - _total(moments), per_arm=False).assign_attrs(variable.about)
        if variable.per_arm or name in FLAGS:
            continue
        number = _array(layout, moments.number, per_arm=False)
        ends = {ending: _array(layout, q, per_arm=False) for ending, q in _quantiles(stream, name).items()}
        statistics[name] = Statistics(number, mean.assign_attrs(variable.about), variance**0.5, ends)
    censored, stalled = (
        _array(layout, _total(stream.moments[name]), per_arm=False) for name in ("stopped early", "stalled")
    )
    runs = _runs(layout)
    answered = statistics["simple_regret"].number if "simple_regret" in statistics else censored * 0 + runs
    about = {"quantiles": "of values rounded to 14 significant bits"}
    sizes = stream.moments.get("wrong_size")
    wrong_size = None if sizes is None else _array(layout, _total(sizes), per_arm=False)
    found = Reduced(statistics, runs, censored, stalled, errors, runs - answered, wrong_size, attrs | about)
    return _named(summary_of(found), layout, stream)


def _named(dataset: xr.Dataset, layout: Layout, stream: Stream) -> xr.Dataset:
    """Return the Dataset with its coordinates."""
    return dataset.assign_coords(coordinates_of(layout, stream.moments))


def _total(moments: Moments) -> np.ndarray:
    return np.asarray([int(total) for total in moments.total.totals()], np.int64)


def _runs(layout: Layout) -> xr.DataArray:
    """Return the number of runs of every cell, int64; one number where all have as many."""
    if not layout.left_out.size:
        return xr.DataArray(layout.seeds)
    return _array(layout, np.full(len(layout.distinct_cells) * layout.points, layout.seeds), per_arm=False)


def _array(layout: Layout, values: np.ndarray, per_arm: bool) -> xr.DataArray:
    """Return flat values `(cells points …)`, of each different cell once, with their dimensions.

    Of cells without runs numbers with fractions are NaN, and counts are 0.
    """
    numbers = {cell: number for number, cell in enumerate(layout.distinct_cells)}
    if len(numbers) < len(layout.cells):
        rows = values.reshape(len(numbers), -1)
        nothing = np.full((1, rows.shape[1]), np.nan if values.dtype.kind == "f" else 0, values.dtype)
        values = np.concatenate([rows, nothing])[[numbers.get(cell, -1) for cell in layout.cells]].ravel()
    coordinates = dict(layout.dimensions)
    shape, names = [*layout.shape], [*layout.dimensions]
    if len(layout.checkpoints):
        coordinates["checkpoint"] = layout.checkpoints
        shape, names = [*shape, layout.points], [*names, "checkpoint"]
    if per_arm:
        arms = (layout.bandits, layout.arms)[-1 if layout.bandits == 1 else 0 :]
        shape, names = [*shape, *arms], [*names, *["bandit", "arm"][-len(arms) :]]
    assert math.prod(shape) == values.size
    return xr.DataArray(values.reshape(shape), {k: v for k, v in coordinates.items() if k in names}, names)


def _quantiles(stream: Stream, name: str) -> dict[str, np.ndarray]:
    """Return quantiles of the counted values by linear interpolation between order statistics, as NumPy does."""
    _, keys, often = stream.counts(name)
    count = stream.moments[name].number
    if not keys.size:  # no run has the metric
        return {ending: np.full(count.size, np.nan) for ending in QUANTILES}
    values, ends = rounded_values(keys), np.cumsum(often)  # in order of place, then value
    start = np.append(0, np.cumsum(count))[:-1]

    def order_statistic(rank: np.ndarray) -> np.ndarray:
        found = np.searchsorted(ends, start + rank, side="right")
        return values[np.minimum(found, values.size - 1)]

    found = {}
    for ending, share in QUANTILES.items():
        rank = share * np.maximum(count - 1, 0)
        low, part = np.floor(rank).astype(np.int64), rank % 1
        lower, upper = order_statistic(low), order_statistic(np.minimum(low + 1, np.maximum(count - 1, 0)))
        found[ending] = np.where(count > 0, between(lower, upper, part), np.nan)
    return found
