"""Summaries of a Dataset: one number per cell with its interval, and the same as text.

Intervals are two-sided. Means have Student's t interval, probabilities the exact one of Clopper and Pearson (1934).
"""

import itertools
from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from jaxbandits.errors import UsageError
from jaxbandits.report import numbers
from jaxbandits.report.text_tables import text_table
from jaxbandits.status import STALLED, stopped_early

__all__ = ["check_runs", "clopper_pearson", "frame", "is_summary", "metrics", "summary", "table"]

#: Quantiles of every metric, by the ending of their variable's name.
QUANTILES = {"q10": 0.1, "q50": 0.5, "q90": 0.9}
#: Not metrics: a verdict, and a mark.
_FLAGS = {"correct", "status"}
#: Metrics that only grow in a run: where runs were stopped early, their means are lower bounds.
_GROWING = {"pulls", "joint_pulls", "cost", "paid", "reward", "steps"}
_PER_ARM = {"arm", "bandit"}


def clopper_pearson(errors: ArrayLike, runs: ArrayLike, level: float = 0.95) -> tuple[NDArray[Any], NDArray[Any]]:
    """Exact interval of a probability (Clopper, Pearson 1934): covers it with probability `level` or more, always.

    Args:
        errors: number of errors, between 0 and `runs`, any shape.
        runs: number of independent runs, at least 1; broadcasts with `errors`.
        level: the level, in (0, 1).

    Returns:
        Lower and upper ends, float64; 0 below no error at all, 1 above nothing but errors.

    Raises:
        UsageError: counts or a level outside their ranges.
    """
    k, n = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(runs, np.float64))
    if not 0 < level < 1:
        raise UsageError(f"level must lie strictly between 0 and 1, got {level:g}")
    if np.any(n < 1) or np.any(k < 0) or np.any(k > n):
        raise UsageError("errors must lie between 0 and runs, and runs be at least 1")
    tail = (1 - level) / 2
    # Quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k); these do not exist at the ends, where the answer is plain.
    low = np.where(k == 0, 0.0, scipy.special.betaincinv(np.maximum(k, 1), n - k + 1, tail))
    high = np.where(k == n, 1.0, scipy.special.betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return low, high


def summary(ds: xr.Dataset, level: float = 0.95) -> xr.Dataset:
    """Reduce a Dataset over its seeds to means, spreads and failure rates, each with an interval.

    Args:
        ds: what `simulate` or `sweep` returned.
        level: level of the intervals.

    Returns:
        The Dataset's other dimensions. For every metric (`pulls`, `cost`, `simple_regret`, `aggregate_regret`, `steps`,
        …) `<metric>_mean`, `<metric>_low` and `<metric>_high` (Student's t interval of the mean), `<metric>_sd`, and
        quantiles `<metric>_q10`, `_q50`, `_q90`; `failure`, `failure_low`, `failure_high` (Clopper-Pearson) and
        `errors`; `runs`, and `censored`, the number of runs that were stopped early, at `max_pulls` or, where there are
        any, as counted in `stalled`, because an algorithm of the user's own pulled no more. Where there are any,
        means of pulls, cost and steps are lower bounds: `at_least` is true and the upper end infinite. The
        attribute `censored` counts them. Quantiles below `max_pulls` are exact all the same. Regrets are of the runs
        that returned an answer; `unanswered` counts the others where there are any. Variables without seeds, such as
        bounds, are kept.

    Raises:
        UsageError: not a Dataset of runs.
    """
    check_runs(ds)
    runs = ds.sizes["seed"]
    censored = stopped_early(ds["status"]).sum("seed") if "status" in ds else xr.zeros_like(ds["pulls"].isel(seed=0))
    results: dict[str, xr.DataArray] = {}
    for name in metrics(ds):
        results.update(_metric(ds[name], level, censored if name in _GROWING else None))
    if "correct" in ds:
        errors = (~ds["correct"].astype(bool)).sum("seed")
        low, high = clopper_pearson(errors.values, runs, level)
        about = {"long_name": "failure rate", "interval": f"Clopper-Pearson, {100 * level:g}%"}
        criterion = ds["correct"].attrs.get("criterion")
        results["failure"] = (errors / runs).assign_attrs(
            about if criterion is None else {**about, "correct": criterion}
        )
        results["failure_low"], results["failure_high"] = errors.copy(data=low), errors.copy(data=high)
        results["errors"] = errors.assign_attrs(long_name="runs with a wrong answer")
    if "simple_regret" in ds and bool((unanswered := ds["simple_regret"].isnull().sum("seed")).any()):
        results["unanswered"] = unanswered.assign_attrs(long_name="runs that returned nothing")
    results["runs"] = xr.full_like(censored, runs, dtype=np.int64).assign_attrs(long_name="number of runs")
    results["censored"] = censored.astype(np.int64).assign_attrs(long_name="runs stopped early")
    stalled = (ds["status"] == STALLED).sum("seed") if "status" in ds else xr.zeros_like(censored)
    if bool(stalled.any()):
        results["stalled"] = stalled.astype(np.int64).assign_attrs(long_name="runs stopped as they pulled no more")
    results["at_least"] = (censored > 0).assign_attrs(long_name="means of pulls, cost and steps are lower bounds")
    kept = {name: v for name, v in ds.data_vars.items() if "seed" not in v.dims and not _PER_ARM & set(v.dims)}
    reduced = xr.Dataset({**results, **kept}, attrs={**ds.attrs, "level": level})
    if total := int(censored.sum()):
        idle = int(stalled.sum())
        why = "at max_pulls" if not idle else f"at max_pulls, or, {idle} of them, as they pulled no more"
        reduced.attrs["censored"] = (
            f"{total} of {runs * censored.size} runs were stopped {why}: where at_least is true, "
            "means of pulls, cost and steps are lower bounds"
        )
    return reduced.drop_vars(["seed", *(_PER_ARM & set(reduced.coords))], errors="ignore")


def is_summary(ds: xr.Dataset) -> bool:
    """Whether this is what `summary` returns."""
    return isinstance(ds, xr.Dataset) and "seed" not in ds.dims and {"runs", "censored"} <= set(ds.data_vars)


def metrics(ds: xr.Dataset) -> list[str]:
    """The numbers that every run has: variables with seeds, not per arm, and not a flag."""
    return [
        str(name)
        for name, variable in ds.data_vars.items()
        if "seed" in variable.dims and not _PER_ARM & set(variable.dims) and name not in _FLAGS
    ]


def table(ds: xr.Dataset) -> str:
    """A Dataset of runs, or its summary, as a Markdown table with a row per cell.

    Means carry a `≥` where runs were stopped early, and a last line says how many.

    Raises:
        UsageError: not a Dataset of runs.
    """
    known = ds if is_summary(ds) else summary(ds)
    level = f"{100 * float(known.attrs.get('level', 0.95)):g}%"
    dimensions = [str(name) for name in known["runs"].dims]
    columns = [*dimensions, "runs"]
    metric_names = [
        n
        for n in ("pulls", "cost", "paid", "reward", "regret", "simple_regret", "aggregate_regret")
        if f"{n}_mean" in known
    ]
    if "cost" in metric_names and bool((known["cost_mean"] == known["pulls_mean"]).all()):
        metric_names.remove("cost")  # one unit a pull: nothing new
    for name in metric_names:
        columns.append(f"{name.replace('_', ' ')}, mean [{level}]")
        if name == "pulls":
            columns.append("10% / 50% / 90%")
    if "failure" in known:
        columns.append(f"failure rate [{level}]")
    rows = []
    for cell in _cells(known, dimensions):
        row = [numbers.text(cell[name].item()) for name in dimensions]
        row.append(numbers.count(cell["runs"].item()))
        for name in metric_names:
            at_least = "≥ " if name in _GROWING and cell["at_least"].item() else ""
            low, high = cell[f"{name}_low"].item(), cell[f"{name}_high"].item()
            row.append(f"{at_least}{numbers.value(cell[f'{name}_mean'].item())} {numbers.interval(low, high)}")
            if name == "pulls":
                row.append(" / ".join(numbers.value(cell[f"pulls_{q}"].item()) for q in QUANTILES))
        if "failure" in known:
            low, high = cell["failure_low"].item(), cell["failure_high"].item()
            row.append(f"{numbers.probability(cell['failure'].item())} {numbers.interval(low, high, True)}")
        rows.append(row)
    text = text_table([columns, *rows], markdown=True)
    return f"{text}\n\n{known.attrs['censored']}." if "censored" in known.attrs else text


def frame(ds: xr.Dataset, columns: list[str] | None = None) -> Any:
    """A summary as a tidy pandas DataFrame: a row per cell, intervals in columns of their own.

    Args:
        ds: runs, or their summary.
        columns: variables to keep, in order; None for all. The cell's coordinates always come first.
    """
    known = ds if is_summary(ds) else summary(ds)
    chosen = known if columns is None else known[columns]
    if not chosen.sizes:
        return chosen.expand_dims("cell").to_dataframe().reset_index(drop=True)
    tidy = chosen.to_dataframe().reset_index()
    first = [str(name) for name in known.coords if name in tidy.columns]
    return tidy[[*first, *(c for c in (columns or tidy.columns) if c not in first)]]


def _metric(values: xr.DataArray, level: float, censored: xr.DataArray | None) -> dict[str, xr.DataArray]:
    """Mean, interval, sd and quantiles of one metric over seeds, of the runs that have it."""
    name, values = str(values.name), values.astype(np.float64)
    there = values.notnull()
    number = there.sum("seed")
    mean = (values.where(there, 0).sum("seed") / number.where(number > 0)).assign_attrs(values.attrs)
    squares = ((values - mean) ** 2).where(there, 0).sum("seed")
    sd = (squares / (number - 1).where(number > 1)) ** 0.5  # unknown from a single run
    half = sd / number.where(number > 1) ** 0.5 * scipy.special.stdtrit(np.maximum(number - 1, 1), 0.5 + level / 2)
    high = mean + half if censored is None else (mean + half).where(censored == 0, np.inf)
    about = {"long_name": values.attrs.get("long_name", name)}
    results = {
        "mean": mean.assign_attrs(interval=f"Student's t, {100 * level:g}%", **about),
        "low": mean - half,
        "high": high,
        "sd": sd,
    }
    quantiles = values.quantile(list(QUANTILES.values()), "seed", skipna=bool(values.isnull().any()))
    for place, ending in enumerate(QUANTILES):
        results[ending] = quantiles.isel(quantile=place, drop=True)
    return {f"{name}_{ending}": result for ending, result in results.items()}


def check_runs(ds: Any) -> None:
    """Refuse what is not a Dataset of runs, with at least one."""
    if not isinstance(ds, xr.Dataset):
        raise UsageError(f"a Dataset of runs is needed, such as jb.simulate returns, got {type(ds).__name__}")
    if "seed" not in ds.dims or "pulls" not in ds:
        raise UsageError("a Dataset of runs has a dimension 'seed' and a variable 'pulls'; this one has not")
    if ds.sizes["seed"] == 0:
        raise UsageError("the Dataset has no runs")


def _cells(known: xr.Dataset, dimensions: list[str]) -> list[xr.Dataset]:
    places = itertools.product(*(range(known.sizes[name]) for name in dimensions))
    return [known.isel(dict(zip(dimensions, place, strict=True))) for place in places]
