"""The number of runs that carry a gradient: where it is small, what matters may be too rare to have been seen.

A standard error is estimated from the same runs. Suppose that one run in 10^5 carries the whole gradient and none was
seen: the standard error then says that the gradient is surely 0. So it is trusted only where enough runs carry the
estimate. For a score, enough of them must also differ from most: an arm that never paid, say, has one score in all
runs.
"""

import numpy as np
import xarray as xr

from jaxbandits.errors import warn
from jaxbandits.report.intervals import clopper_pearson

__all__ = ["Z", "carrying", "distinct", "enough", "fewer", "interval_of_value", "place_of", "varied", "warn_of_few"]

#: The normal quantile of 95% intervals.
Z = 1.96
#: The number of runs that is enough; or, where few were made, this share of all runs.
_ENOUGH, _SHARE = 30, 0.1
#: A run carries an estimate if its term is at least this share of the largest one.
_CARRIES = 0.1
#: The number of runs from which on there is a warning: with fewer, the user knows that they are few.
_MANY = 1000


def distinct(values: xr.DataArray) -> xr.DataArray:
    """Return how many different values the runs have, int64, without `seed`; all NaN are one value."""

    def count(given: np.ndarray) -> np.ndarray:
        ordered = np.sort(given, axis=-1)  # NaN last
        before, after = ordered[..., :-1], ordered[..., 1:]
        return 1 + np.count_nonzero((before != after) & ~np.isnan(before), axis=-1)

    return xr.apply_ufunc(count, values, input_core_dims=[["seed"]])


def carrying(terms: xr.DataArray) -> xr.DataArray:
    """Return how many runs carry the mean of their terms, int64, without `seed`; none where all terms are 0."""
    size = abs(terms)
    most = size.max("seed")
    return ((size >= _CARRIES * most) & (most > 0)).sum("seed")


def varied(score: xr.DataArray, pulls: xr.DataArray | None = None) -> xr.DataArray:
    """Return in how many runs an arm's score differed from that in most runs, int64, without `seed`.

    Args:
        score: of each run.
        pulls: of the arm in each run, in which the score is counted a pull; None where it is one of a whole run.
    """
    each = score if pulls is None else (score / pulls.where(pulls > 0))

    def count(given: np.ndarray) -> np.ndarray:
        digits, exponent = np.frexp(given)
        seen = np.ldexp(np.round(digits * 2**17), exponent)  # rounded, so that values equal up to rounding are equal
        others = [_others(row[~np.isnan(row)]) for row in seen.reshape(-1, seen.shape[-1])]
        return np.asarray(others, np.int64).reshape(seen.shape[:-1])

    return xr.apply_ufunc(count, each, input_core_dims=[["seed"]])


def _others(values: np.ndarray) -> int:
    """Return how many of some values are not the most frequent one."""
    return 0 if not values.size else int(values.size - np.unique(values, return_counts=True)[1].max())


def fewer(one: xr.DataArray, other: xr.DataArray) -> xr.DataArray:
    """Return the smaller of two numbers of runs, elementwise."""
    return one.where(one < other, other)


def enough(number: int | xr.DataArray, runs: int) -> bool | xr.DataArray:
    """Return whether a standard error can be trusted for an estimate that this number of all runs carries."""
    return number >= min(_ENOUGH, _SHARE * runs)


def interval_of_value(metric: object, found: xr.Dataset) -> tuple[float, float]:
    """Return the 95% interval of a metric's expectation: exact for `error`, whose runs may all be right, else normal.

    Args:
        metric: as it was given to `expected`.
        found: what that returned, without axes but the arms'.

    Returns:
        Lower and upper end; infinite ones where all runs have one value, though nothing determines it.
    """
    middle, se, runs = float(found["value"]), float(found["value_se"]), int(found.attrs["seeds"])
    if metric == "error":
        low, high = clopper_pearson(round(middle * runs), runs)
        return float(low), float(high)
    if int(found["outcomes"]) == 1 and not np.isfinite(found["gradient_se"]).all():
        se = np.inf
    return middle - Z * se, middle + Z * se


def place_of(values: xr.DataArray, number: int) -> str:
    """Return where the entry with this number is, as text of a message: its index along each dimension."""
    place = np.unravel_index(number, values.shape)
    return ", ".join(f"{name} {index}" for name, index in zip(values.dims, place, strict=True))


def warn_of_few(what: str, number: xr.DataArray, runs: int) -> None:
    """Warn of an estimate whose standard error cannot be trusted.

    Args:
        what: the metric and the parameter, as text of the message.
        number: how many runs carry the estimate; of each arm and cell where there are several.
        runs: number of all runs.
    """
    fewest = int(number.min())
    if runs < _MANY or enough(fewest, runs):
        return
    where = place_of(number, int(number.to_numpy().argmin()))
    warn(
        f"the gradient of {what}{where and f' ({where})'} rests on {fewest:,} of {runs:,} runs, too few to know its "
        "standard error, which is given as infinite: make more runs"
    )
