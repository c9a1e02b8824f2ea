"""Join summaries with holes, fit exponents of the regret, and run with few lanes: what figures on budgets share."""

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import stdtrit  # type: ignore[import-untyped,unused-ignore]

import jaxbandits as jb
from jaxbandits.papers.bench import Bench, with_meanings
from jaxbandits.report import formatting
from jaxbandits.report.dimensions import summarised

__all__ = [
    "COLUMNS", "SEQUENCE", "choose_lanes", "fit_exponent", "fit_slope", "join_summaries", "label_axes", "list_values",
    "run_each",
]  # fmt: skip

COLUMNS = ["runs", "regret_mean", "regret_low", "regret_high", "pulls_mean", "paid_mean"]
SEQUENCE = "E_t = ln t, rewards and costs 0 or 1"
_LABELS = {"budget": "budget B", "beta": "regularity β", "lam": "smallest expected cost λ", "arms": "number of arms K"}


def choose_lanes(seeds: int) -> int:
    """Return the number of runs of a cell as the number of lanes: runs are few and long, and more lanes would idle."""
    return -(-seeds // jax.device_count())


def run_each(
    bench: Bench, algorithms: dict[str, object], problem: jb.Problem | jb.problems.ProblemFamily, seeds: int
) -> dict[str, xr.Dataset]:
    """Run each algorithm."""
    return bench.sweep_each(algorithms, problem, seeds, lanes=choose_lanes(seeds))


def join_summaries(dimension: str, parts: Mapping[Any, xr.Dataset]) -> xr.Dataset:
    """Return summaries, one along `dimension` for each label; NaN where a part lacks a cell that another has.

    Args:
        dimension: the new one.
        parts: runs, or their summaries.
    """
    stats = xr.concat([summarised(ds).drop_attrs() for ds in parts.values()], dimension, join="outer")
    stats = stats.assign_coords({dimension: list(parts)})
    stats = with_meanings(stats, next(iter(parts.values())))
    return label_axes(stats.assign(at_least=stats["at_least"].astype(float) > 0))


def label_axes(stats: xr.Dataset) -> xr.Dataset:
    """Add what the axes are called."""
    for name, text in _LABELS.items():
        if name in stats.coords:
            stats[name].attrs["long_name"] = text
    return stats


def fit_exponent(ds: xr.Dataset, metric: str = "regret") -> xr.Dataset:
    """Fit the power of the budget in a metric's mean: slope of its logarithm on that of B by least squares.

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


def fit_slope(budgets: ArrayLike, values: ArrayLike) -> np.ndarray:
    """Fit the same slope to numbers without runs, `(budgets, …)`."""
    log_b = np.log(np.asarray(budgets, np.float64))
    flat = np.log(np.asarray(values, np.float64)).reshape(len(log_b), -1)
    return np.polyfit(log_b, flat, 1)[0].reshape(np.shape(values)[1:])


def list_values(values: Iterable[float], names: Iterable[object]) -> str:
    """Write numbers with what they are of: `0.72 (β = 0.5), 0.91 (1)`."""
    return ", ".join(f"{value:.2f} ({formatting.text(name)})" for value, name in zip(values, names, strict=True))
