"""How many seeds an interval of a wanted width needs, from runs that are there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
import xarray as xr

from jaxbandits import checks
from jaxbandits.errors import UsageError
from jaxbandits.report.intervals import student_half_width
from jaxbandits.report.paired_intervals import discordant, moments, score_interval
from jaxbandits.report.pairing import labelled, place_of, runs_of

__all__ = ["seeds_needed"]

#: More seeds than this are never run.
_MOST = 2.0**53


def seeds_needed(
    ds: Any, value: str, half_width: float, along: str | None = None, to: object = None, level: float = 0.95
) -> xr.DataArray:
    """Return how many seeds give an interval of a wanted half width.

    The interval is that of the mean of a value (Student's t), of a rate (Clopper and Pearson) or, with `along`, of the
    paired difference to one label, as `jaxbandits.difference` has it.

    Args:
        ds: a few runs from which the spread is estimated; with `along` also Datasets of runs by their labels.
        value: a variable of every run, such as `pulls`, or `failure`.
        half_width: half the width of the interval, in the value's unit, above 0.
        along: the dimension whose values are compared; None for the interval of each cell by itself.
        to: the value of `along` that is subtracted; None for the first.
        level: level of the interval, in (0, 1).

    Returns:
        For each cell, without the label `to`, the smallest number of seeds, in all, as float64 whole numbers. It takes
        the spread of these runs for the true one. One error and one success are added to a rate, and half a pair to
        each count of discordant pairs: no error in a few runs does not promise that there are none. Infinite where runs
        are truncated and `value` grows with the pulls, since the interval has no finite end. NaN where fewer than two
        runs have the value.

    Raises:
        UsageError: a half width that is not above 0, `to` without `along`, and as `jaxbandits.difference`.

    Example:
        >>> import jaxbandits as jb, xarray as xr
        >>> pulls = [[12, 14, 15, 13], [10, 10, 11, 9]]
        >>> ds = xr.Dataset({"pulls": (("algorithm", "seed"), pulls)}, {"algorithm": ["ugapec", "lucb"]})
        >>> jb.seeds_needed(ds, "pulls", 0.5, along="algorithm", to="lucb").values
        array([18.])
    """
    checks.number("level", level, checks.INSIDE_UNIT)
    half_width = float(checks.number("half_width", half_width, checks.POSITIVE))
    tail = (1 - level) / 2
    if along is None:
        if to is not None:
            raise UsageError("to is a value of a dimension: give the dimension as along")
        if isinstance(ds, dict):
            raise UsageError('Datasets by labels are compared: name the dimension of the labels, along="algorithm"')
        runs = runs_of(ds, value)
        first, truncated = runs.values, runs.truncated.any("seed")
        needed = _of_rate if runs.is_truth else _of_mean
        seeds = needed(first.values, half_width, tail)
        dims = [str(name) for name in truncated.dims]
    else:
        runs, along, labels, dims = labelled(ds, value, along, level)
        place = 0 if to is None else place_of(to, labels, along)
        others = [i for i in range(len(labels)) if i != place]
        first, second = runs.values.isel({along: others}), runs.values.isel({along: [place]}).values
        cut = runs.truncated.any("seed")
        truncated = cut.isel({along: others}) | cut.isel({along: place}, drop=True)
        if runs.is_truth:
            seeds = _of_rates(first.values, second, half_width, tail)
        else:
            seeds = _of_mean(first.values - second, half_width, tail)
    about = {"long_name": f"seeds for a half width of {half_width:g} of {value}", "level": level}
    found = truncated.drop_attrs(deep=False).copy(data=np.where(truncated.values, np.inf, seeds)).rename("seeds_needed")
    return found.assign_attrs(about).drop_vars("seed", errors="ignore").transpose(*dims)


def _of_mean(values: np.ndarray, half_width: float, tail: float) -> np.ndarray:
    found = moments(values, np.zeros_like(values))
    sd = found.first_variance**0.5
    return _smallest(lambda n: student_half_width(sd, n, tail), half_width, 2, sd)


def _of_rate(values: np.ndarray, half_width: float, tail: float) -> np.ndarray:
    there = ~np.isnan(values)
    number = there.sum(-1)
    rate = (np.where(there, values, 0).sum(-1) + 1) / (np.where(number > 1, number, np.nan) + 2)

    def half(n: np.ndarray) -> np.ndarray:
        """Return half the width of Clopper and Pearson's interval at the expected number of errors."""
        errors = rate * n
        low = scipy.special.betaincinv(errors, n - errors + 1, tail)
        return (scipy.special.betaincinv(errors + 1, n - errors, 1 - tail) - low) / 2

    return _smallest(half, half_width, 1, rate)


def _of_rates(first: np.ndarray, second: np.ndarray, half_width: float, tail: float) -> np.ndarray:
    number, only_first, only_second = discordant(first, second)
    pairs = np.where(number > 1, number, np.nan) + 2
    p, q = (only_first + 0.5) / pairs, (only_second + 0.5) / pairs

    def half(n: np.ndarray) -> np.ndarray:
        """Return half the width of the score interval at the expected numbers of discordant pairs."""
        low, high = score_interval(p * n, q * n, n, tail)
        return (high - low) / 2

    return _smallest(half, half_width, 1, p)


def _smallest(half: Callable[[np.ndarray], np.ndarray], half_width: float, least: int, like: np.ndarray) -> np.ndarray:
    """Return the smallest whole number from `least` at which a function that falls is at most `half_width`.

    Args:
        half: of an array like `like`.
        half_width: the bound.
        least: the smallest number.
        like: an array, NaN where there is no answer.
    """
    like = np.asarray(like)
    below, enough = np.full(like.shape, least - 1.0), np.full(like.shape, float(least))
    while np.any(short := (half(enough) > half_width) & (enough < _MOST)):
        below, enough = np.where(short, enough, below), np.where(short, 2 * enough, enough)
    enough_is_never = half(enough) > half_width
    while np.any(enough - below > 1):
        middle = np.floor((below + enough) / 2)
        middle = np.where(enough - below > 1, middle, enough)
        fits = half(middle) <= half_width
        below, enough = np.where(fits, below, np.minimum(middle, enough - 1)), np.where(fits, middle, enough)
    return np.where(np.isnan(like), np.nan, np.where(enough_is_never, np.inf, enough))
