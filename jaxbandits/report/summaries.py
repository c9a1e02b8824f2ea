"""Runs reduced to a number per cell, with its interval: from the runs, or from their moments.

Intervals are two-sided. Means have Student's t interval; probabilities, also those of truth values, the exact one of
Clopper and Pearson (1934).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.checks import INSIDE_UNIT, number
from jaxbandits.errors import UsageError, warn
from jaxbandits.report.intervals import clopper_pearson, student_half_width
from jaxbandits.report.one_cell import with_one_row
from jaxbandits.report.repeated_cells import count_distinct
from jaxbandits.report.run_statistics import QUANTILES, Statistics, is_rate, of_runs, warn_of_lost_status
from jaxbandits.status import NOT_RUN, STALLED, stopped_early

__all__ = [
    "ENDINGS", "FLAGS", "GROWING", "LIMITED", "PER_ARM", "Reduced", "check_names", "check_runs",
    "is_moments", "is_summary", "metrics", "summary", "summary_of", "variables_of",
]  # fmt: skip

#: The endings of the names of a metric's variables in a summary or in moments.
ENDINGS = tuple(f"_{part}" for part in ("mean", "low", "high", "sd", "variance", "number", *QUANTILES))
#: Variables that belong to no single metric, and the dimension that quantiles have while they are computed.
_OF_ALL = (
    "failure", "failure_low", "failure_high", "errors", "unanswered", "runs", "censored", "stalled", "at_least",
    "stopped_early", "quantile",
)  # fmt: skip
#: Not metrics: verdicts, and a mark.
FLAGS = frozenset({"correct", "status", "wrong_size"})
#: Metrics that only grow in a run: where runs were truncated, their means are lower bounds.
GROWING = frozenset(
    {"pulls", "joint_pulls", "told", "elapsed", "waits", "evaluations", "cost", "paid", "reward", "steps"}
)
#: The metric that `max_pulls` limits: a truncated run has more than every run that ended.
LIMITED = "pulls"
PER_ARM = frozenset({"arm", "bandit"})
#: The endings of the names of moments.
_OF_MOMENTS = ("_mean", "_variance", "_number")


class Reduced(NamedTuple):
    """The reduced runs of which a summary is made."""

    statistics: dict[str, Statistics]
    runs: xr.DataArray  # int64, of every cell; one number where all have as many
    censored: xr.DataArray  # int64: truncated runs
    stalled: xr.DataArray  # int64: of these, runs that pulled no more
    errors: xr.DataArray | None  # int64, with the criterion in its attributes
    unanswered: xr.DataArray | None  # int64: runs that returned nothing
    wrong_size: xr.DataArray | None  # int64: runs that returned another number of arms than declared
    attrs: dict[str, object]


def summary(ds: xr.Dataset, level: float = 0.95) -> xr.Dataset:
    """Reduce a Dataset over its seeds to means, spreads and failure rates, each with an interval.

    Args:
        ds: the result of `simulate` or `sweep`, or the moments that a sweep kept (which have no quantiles).
        level: of the intervals, in (0, 1).

    Returns:
        The Dataset's other dimensions. For every metric (`pulls`, `cost`, `simple_regret`, `aggregate_regret`, `steps`,
        …) `<metric>_mean`, `<metric>_low` and `<metric>_high` (Student's t interval of the mean), `<metric>_sd`, and
        quantiles `<metric>_q10`, `_q50`, `_q90`. `failure`, `failure_low`, `failure_high` (Clopper-Pearson) and
        `errors`. `runs`, and `censored`, the number of runs truncated at `max_pulls`, or because a user's own algorithm
        pulled no more (these are counted in `stalled`). Where runs were truncated, means and quantiles of pulls, cost
        and steps are lower bounds: `at_least` is true and the upper end infinite.
        Quantiles of the pulls below those of the longest run are still exact: a truncated run would have made more.
        Regrets are of the runs that returned an answer. `unanswered` counts the others, if any. `<metric>_number`
        counts the runs that have a metric, where others lack it: a metric of your own that is NaN. `wrong_size` counts
        the answers of a wrong number of arms. Variables without seeds, such as bounds, are kept. Where a study has left
        out an algorithm on a problem, `runs` and counts are 0, and all else is NaN.

    Raises:
        UsageError: not a Dataset of runs, or one in which runs are missing; a level outside its range.

    Example:
        >>> float(jb.summary(jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10)).pulls_mean)
        20.0
    """
    if is_moments(ds):
        own = (*_OF_MOMENTS, "runs", "stopped_early")
        beside = {name: v for name, v in ds.data_vars.items() if not str(name).endswith(own)}
        ds = ds.transpose(*ds["pulls_mean"].dims, ...)  # variables may have dimensions in orders of their own
        return summary_of(_of_moments(ds), level).assign(beside)
    check_runs(ds)
    ds = ds.transpose(*ds["pulls"].dims, ...)  # variables may have dimensions in orders of their own
    warn_of_lost_status(ds)
    status = ds["status"] if "status" in ds else xr.zeros_like(ds["pulls"], np.int8)
    stopped, left_out = stopped_early(status), (status == NOT_RUN).sum("seed")
    if missing := int((ds["pulls"].isnull().sum("seed") - left_out).sum()):  # Datasets with other seeds were joined
        raise UsageError(f"{missing} of {ds['pulls'].size} runs are missing: keep common seeds, join='inner'")
    reduced = Reduced(
        statistics={name: of_runs(ds[name], stopped if name == LIMITED else None) for name in metrics(ds)},
        runs=(runs := ds.sizes["seed"] - left_out),
        censored=stopped.sum("seed"),
        stalled=(status == STALLED).sum("seed"),
        errors=(ds["correct"] == 0).sum("seed").assign_attrs(ds["correct"].attrs) if "correct" in ds else None,
        unanswered=runs - ds["simple_regret"].notnull().sum("seed") if "simple_regret" in ds else None,
        wrong_size=ds["wrong_size"].sum("seed") if "wrong_size" in ds else None,
        attrs=ds.attrs,
    )
    kept = {name: v for name, v in ds.data_vars.items() if "seed" not in v.dims and not PER_ARM & set(v.dims)}
    return summary_of(reduced, level).assign(kept).drop_vars(["seed", *PER_ARM], errors="ignore")


def summary_of(reduced: Reduced, level: float = 0.95) -> xr.Dataset:
    """Return the summary of reduced runs, as `summary` does."""
    level = number("level", level, INSIDE_UNIT)
    censored, errors = reduced.censored, reduced.errors
    runs = (xr.zeros_like(censored) + reduced.runs).astype(np.int64)
    results: dict[str, xr.DataArray] = {}
    for name, statistics in reduced.statistics.items():
        results.update(_metric(name, statistics, level, censored if name in GROWING else None))
        missing = runs - statistics.number
        if bool(missing.any()) and not (reduced.unanswered is not None and bool((missing == reduced.unanswered).all())):
            results[f"{name}_number"] = statistics.number.assign_attrs(long_name=f"runs with {name}")
    if errors is not None:
        ends = clopper_pearson(errors.values, np.maximum(runs.values, 1), level)
        about = {"long_name": "failure rate", "interval": f"Clopper-Pearson, {100 * level:g}%"}
        about |= {"correct": errors.attrs["criterion"]} if "criterion" in errors.attrs else {}
        results["failure"] = (errors / runs.where(runs > 0)).assign_attrs(about)
        errors = errors.drop_attrs(deep=False)
        for name, end in zip(("failure_low", "failure_high"), ends, strict=True):
            results[name] = errors.copy(data=end).where(runs > 0)
        results["errors"] = errors.assign_attrs(long_name="runs with a wrong answer")
    if reduced.unanswered is not None and bool(reduced.unanswered.any()):
        results["unanswered"] = reduced.unanswered.assign_attrs(long_name="runs that returned nothing")
    if reduced.wrong_size is not None and bool(reduced.wrong_size.any()):
        about = {"long_name": "runs whose answer has another number of arms than declared"}
        results["wrong_size"] = reduced.wrong_size.astype(np.int64).assign_attrs(about)
    results["runs"] = runs.assign_attrs(long_name="number of runs")
    results["censored"] = censored.astype(np.int64).assign_attrs(long_name="truncated runs")
    if bool(reduced.stalled.any()):
        stalled = reduced.stalled.astype(np.int64)
        results["stalled"] = stalled.assign_attrs(long_name="runs truncated after many steps without a pull")
    bounds = "means of pulls, cost and steps are lower bounds"
    results["at_least"] = (censored > 0).assign_attrs(long_name=bounds)
    check_names(censored, results)
    found = xr.Dataset(results, attrs={**reduced.attrs, "level": level})
    total, made = (count_distinct(x, reduced.attrs) for x in (censored, runs))
    if total:
        idle = count_distinct(reduced.stalled, reduced.attrs)
        why = "at max_pulls" if not idle else f"at max_pulls, or, {idle} of them, as they pulled no more"
        found.attrs["censored"] = f"{total} of {made} runs were truncated {why}: where at_least is true, {bounds}"
    if "wrong_size" in found:
        found.attrs["wrong_size"] = (
            f"{count_distinct(found['wrong_size'], reduced.attrs)} of {made} runs returned another number of arms "
            "than `answers` in the algorithm's jb.Traits declares: they count as wrong"
        )
    return with_one_row(found)


def is_moments(ds: object) -> bool:
    """Return whether this is the result of a sweep with keep="moments"."""
    return isinstance(ds, xr.Dataset) and "seed" not in ds.dims and {"runs", "stopped_early", "pulls_mean"} <= set(ds)


def _of_moments(ds: xr.Dataset) -> Reduced:
    runs, censored = ds["runs"], ds["stopped_early"]
    statistics, everyone = {}, xr.zeros_like(censored) + runs
    for name in (str(name).removesuffix("_mean") for name in ds.data_vars if str(name).endswith("_mean")):
        mean = ds[f"{name}_mean"]
        if name in FLAGS or PER_ARM & set(mean.dims):
            continue
        long_name = mean.attrs["long_name"].removeprefix("mean of ")
        number = ds.get(f"{name}_number", everyone)
        spread = ds[f"{name}_variance"] ** 0.5
        statistics[name] = Statistics(number, mean.assign_attrs(long_name=long_name), spread, {})
    errors = None
    if (rate := ds.get("correct_mean")) is not None:  # NaN where there is no run
        errors = (runs * (1 - rate.fillna(1))).round().astype(np.int64).assign_attrs(rate.attrs)
    unanswered = runs - statistics["simple_regret"].number if "simple_regret" in statistics else None
    wrong_size = (runs * ds["wrong_size_mean"].fillna(0)).round().astype(np.int64) if "wrong_size_mean" in ds else None
    return Reduced(statistics, runs, censored, xr.zeros_like(censored), errors, unanswered, wrong_size, ds.attrs)


def is_summary(ds: xr.Dataset) -> bool:
    """Return whether this is a result of `summary`."""
    return isinstance(ds, xr.Dataset) and "seed" not in ds.dims and {"runs", "censored"} <= set(ds.data_vars)


def variables_of(metrics: Iterable[str]) -> list[str]:
    """Return the names that variables may have in a summary, or in moments, of metrics with these names."""
    return [*_OF_ALL, *(metric + ending for metric in metrics for ending in ENDINGS)]


def metrics(ds: xr.Dataset) -> list[str]:
    """Return the names of the numbers that every run has: variables with seeds, not per arm, and not a flag."""
    return [
        str(name)
        for name, variable in ds.data_vars.items()
        if "seed" in variable.dims and not PER_ARM & set(variable.dims) and name not in FLAGS
    ]


def _metric(name: str, found: Statistics, level: float, censored: xr.DataArray | None) -> dict[str, xr.DataArray]:
    """Return mean, interval, sd and quantiles of one metric."""
    number, mean, sd, quantiles = found
    half = student_half_width(sd, number, (1 - level) / 2)
    low, high, kind = mean - half, mean + half, "Student's t"
    if is_rate(mean):
        some, kind = number.clip(1), "Clopper-Pearson"
        ends = clopper_pearson((mean.fillna(0) * some).round().values, some.values, level)
        low, high = (mean.copy(data=end).where(number > 0) for end in ends)
    if censored is not None:
        high = high.where(censored == 0, np.inf)
    about = {"long_name": mean.attrs.get("long_name", name), "interval": f"{kind}, {100 * level:g}%"}
    results = {
        "mean": mean.assign_attrs(about),
        "low": low.drop_attrs(deep=False),
        "high": high.drop_attrs(deep=False),
        "sd": sd,
        **quantiles,
    }
    return {f"{name}_{ending}": result for ending, result in results.items()}


def check_names(runs: xr.DataArray, variables: Iterable[str]) -> None:
    """Refuse runs with a coordinate that has the name of a variable of the result."""
    for name in variables:
        if name in runs.coords or name in runs.dims:
            raise UsageError(f"{name!r} is a dimension, and a variable of the result: ds.rename({name}=…) renames it")


def check_runs(ds: object) -> None:
    """Refuse an object that is not a Dataset of runs, with at least one; warn of runs that occur twice."""
    if not isinstance(ds, xr.Dataset):
        raise UsageError(f"a Dataset of runs is needed, such as jb.simulate returns, got {type(ds).__name__}")
    if "seed" not in ds.dims or "pulls" not in ds:
        raise UsageError("a Dataset of runs must have a dimension 'seed' and a variable 'pulls'; this one does not")
    if ds.sizes["seed"] == 0:
        raise UsageError("the Dataset has no runs")
    if "seed" in ds.indexes and not ds.indexes["seed"].is_unique:
        twice = ds.indexes["seed"][ds.indexes["seed"].duplicated()][0]
        warn(f"seed {twice} occurs more than once, and each time counts as a run: jb.merge([…]) has each run once")
    for name in ("correct", "wrong_size"):
        values = ds[name].values if name in ds and ds[name].dtype != bool else np.zeros(0)
        values = values.astype(np.float64)  # a missing run makes a truth value an object
        if (other := values[~np.isin(values, (0, 1)) & ~np.isnan(values)]).size:
            raise UsageError(
                f"{name} is true or false in each run, and {other[0]:g} in this Dataset: means over cells are taken "
                "after jb.summary(ds)"
            )
