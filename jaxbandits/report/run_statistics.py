"""The statistics of a metric over the runs of each cell that have it: mean, standard deviation and quantiles."""

import warnings
from typing import NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.errors import warn

__all__ = ["QUANTILES", "TRUTH", "Statistics", "between", "is_rate", "of_runs", "warn_of_lost_status"]

#: Quantiles of every metric, by the ending of their variable's name.
QUANTILES = {"q10": 0.1, "q50": 0.5, "q90": 0.9}
#: The attribute of a mean of truth values, which is a rate.
TRUTH = {"values": "true or false"}


class Statistics(NamedTuple):
    """A metric over the runs of every cell that have it."""

    number: xr.DataArray  # int64: how many have
    mean: xr.DataArray  # with the metric's attributes
    sd: xr.DataArray  # NaN from a single run, and where a value is infinite
    quantiles: dict[str, xr.DataArray]  # by the ending of their name


def of_runs(values: xr.DataArray, stopped: xr.DataArray | None) -> Statistics:
    """Reduce a metric over seeds, of the runs that have it.

    Args:
        values: of every run.
        stopped: truncated runs that would have more than every run that ended: quantiles count them as the largest
            value. None for a metric for which that is not known.
    """
    about = values.attrs | (TRUTH if values.dtype == bool else {})
    values = values.astype(np.float64)
    there = values.notnull()
    number = there.sum("seed")
    least, most = values.min("seed"), values.max("seed")
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        mean = values.where(there, 0).sum("seed", skipna=False) / number.where(number > 0)
        mean = mean.where(least != most, least).assign_attrs(about)  # of equal values, without a rounding error
        squares = ((values - mean) ** 2).where(there, 0).sum("seed", skipna=False)
    sd = (squares / (number - 1).where(number > 1)) ** 0.5  # unknown from a single run
    if stopped is not None:
        values = values.where(~stopped, most)
    if np.isinf(values).any():
        return Statistics(number, mean, sd, {end: _quantile(values, share) for end, share in QUANTILES.items()})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN", RuntimeWarning)  # no run returned an answer
        quantiles = values.quantile(list(QUANTILES.values()), "seed", skipna=bool(values.isnull().any()))
    ends = {ending: quantiles.isel(quantile=place, drop=True) for place, ending in enumerate(QUANTILES)}
    return Statistics(number, mean, sd, ends)


def warn_of_lost_status(ds: xr.Dataset) -> None:
    """Warn of a selection of a result's variables that does not tell truncated runs from others."""
    if "jaxbandits_version" in ds.attrs and "status" not in ds:
        warn("the Dataset has lost its status: truncated runs count as runs that ended; keep ds.status")


def is_rate(mean: xr.DataArray) -> bool:
    """Return whether a mean is that of truth values."""
    return TRUTH.items() <= mean.attrs.items()


def _quantile(values: xr.DataArray, share: float) -> xr.DataArray:
    """Return a quantile over seeds of values of which some are infinite."""
    ordered = np.sort(values.transpose(..., "seed").values, axis=-1)  # missing values come last
    rank = share * np.maximum((~np.isnan(ordered)).sum(-1) - 1, 0)
    lower, upper = (
        np.take_along_axis(ordered, end(rank).astype(np.int64)[..., None], -1)[..., 0] for end in (np.floor, np.ceil)
    )
    return values.isel(seed=0, drop=True).drop_attrs().copy(data=between(lower, upper, rank % 1))


def between(lower: np.ndarray, upper: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Interpolate linearly between order statistics, which may be infinite.

    Args:
        lower: the smaller ones, float64.
        upper: the larger ones.
        part: the part of the way to the upper one, in [0, 1).
    """
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        inside, towards = lower + part * (upper - lower), lower * (1 - part) + upper * part
    inside = np.where(np.isinf(lower) | np.isinf(upper), towards, inside)
    return np.where((lower == upper) | (part == 0), lower, inside)
