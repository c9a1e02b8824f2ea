"""What the figures on budgets share: summaries with holes, exponents of the regret, labels."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtrit  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.report import numbers
from jaxbandits.report.select import summarised

__all__ = ["COLUMNS", "SEQUENCE", "exponent", "joined", "labelled", "listed", "slope"]

COLUMNS = ["runs", "regret_mean", "regret_low", "regret_high", "pulls_mean", "paid_mean"]
SEQUENCE = "E_t = ln t, rewards and costs 0 or 1"
_LABELS = {"budget": "budget B", "beta": "regularity β", "lam": "smallest expected cost λ", "arms": "number of arms K"}


def joined(dimension: str, parts: Mapping[Any, xr.Dataset]) -> xr.Dataset:
    """Summaries of runs, one along `dimension` for each label; NaN where a part lacks a cell that another has.

    Args:
        dimension: the new one.
        parts: runs, or their summaries.
    """
    known = xr.concat([summarised(ds).drop_attrs() for ds in parts.values()], dimension, join="outer")
    known = known.assign_coords({dimension: list(parts)})
    return labelled(known.assign(at_least=known["at_least"].astype(float) > 0))


def labelled(known: xr.Dataset) -> xr.Dataset:
    """With what the axes are called."""
    for name, text in _LABELS.items():
        if name in known.coords:
            known[name].attrs["long_name"] = text
    return known


def exponent(ds: xr.Dataset, metric: str = "regret") -> xr.Dataset:
    """The power of the budget in a metric's mean: slope of its logarithm on that of B by least squares.

    Args:
        ds: runs along `budget` and `seed`.
        metric: one that is positive in the mean.

    Returns:
        `exponent_mean`, `exponent_low`, `exponent_high`: the slope and its 95% interval by the delta method. To first
        order a slope is a mean over runs, whose values at all budgets count together. NaN where a mean is not positive.
        `runs`, `censored` and `at_least` as in a summary.
    """
    values = ds[metric].astype(np.float64)
    mean = values.mean("seed")
    mean = mean.where(mean > 0)
    log_b = np.log(ds["budget"].astype(np.float64))
    weight = log_b - log_b.mean()
    weight = weight / (weight**2).sum()
    middle = (weight * np.log(mean)).sum("budget", skipna=False)
    of_run = (weight * values / mean).sum("budget", skipna=False)
    number = ds.sizes["seed"]
    half = of_run.std("seed", ddof=1) / number**0.5 * stdtrit(number - 1, 0.975)
    parts = {"exponent_mean": middle, "exponent_low": middle - half, "exponent_high": middle + half}
    parts["runs"] = xr.full_like(middle, number, dtype=np.int64)
    parts["censored"] = xr.zeros_like(parts["runs"])
    parts["at_least"] = xr.zeros_like(middle, dtype=bool)
    return xr.Dataset(parts)


def slope(budgets: ArrayLike, values: ArrayLike) -> np.ndarray:
    """The same slope of numbers without runs, `(budgets, …)`."""
    log_b = np.log(np.asarray(budgets, np.float64))
    flat = np.log(np.asarray(values, np.float64)).reshape(len(log_b), -1)
    return np.polyfit(log_b, flat, 1)[0].reshape(np.shape(values)[1:])


def listed(values: Iterable[float], names: Iterable[Any], show: str = ".2f") -> str:
    """`0.72 (β = 0.5), 0.91 (1)`: numbers with what they are of."""
    texts = [f"{value:{show}} ({numbers.text(name)})" for value, name in zip(values, names, strict=True)]
    return ", ".join(texts)
