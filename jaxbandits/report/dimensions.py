"""The choice of a dimension for each place in a picture, and the errors where it is ambiguous."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.checks import is_number
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report.repeated_cells import without_repeated_axes
from jaxbandits.report.run_statistics import QUANTILES
from jaxbandits.report.summaries import (
    GROWING,
    LIMITED,
    PER_ARM,
    check_runs,
    is_moments,
    is_summary,
    metrics,
    summary,
)

__all__ = [
    "check_lines",
    "check_one_a_run",
    "check_some",
    "choose",
    "laid_out",
    "lower_bounds",
    "metric",
    "nearest",
    "numeric",
    "parts",
    "summarised",
    "unknown_variable",
    "usable",
    "values_of",
]

#: The dimensions of a study that have usual places, and the places that may stay empty.
_USUAL = {"hue": "algorithm", "panel": "problem"}
#: How many lines, each with a colour and a filled or hollow mark, and how many numbers in order can be distinguished.
_MOST_LINES, _MOST_NUMBERS = 14, 8
#: Limit on the pairs of axes of a picture.
_MOST_PANELS = 12
#: The centres of a metric's runs.
CENTRES = ("mean", "median")


def usable(ds: xr.Dataset, *places: str | None) -> xr.Dataset:
    """Return runs and summaries, and the summary of moments, without axes along which all cells repeat their runs.

    Args:
        ds: runs, their summary or their moments.
        *places: dimensions that stay.

    Raises:
        UsageError: an empty selection.
    """
    for name, size in ds.sizes.items() if isinstance(ds, xr.Dataset) else ():
        if not size and name != "seed":
            raise UsageError(f"there is nothing to draw: the selection has no value of {name}")
    ds = summary(ds) if is_moments(ds) else ds
    known = is_summary(ds) or (isinstance(ds, xr.Dataset) and "pulls" in ds)
    return without_repeated_axes(ds, _grid(ds), places) if known else ds


def _grid(ds: xr.Dataset) -> list[str]:
    """Return the dimensions of the grid."""
    dims = ds["runs"].dims if is_summary(ds) else ds["pulls"].dims
    return [str(name) for name in dims if name != "seed"]


def summarised(ds: xr.Dataset) -> xr.Dataset:
    """Return the summary of runs; a summary stays unchanged."""
    return ds if is_summary(ds) else summary(ds)


def laid_out(ds: xr.Dataset, *places: str | None) -> xr.Dataset:
    """Return the summary of runs, without the dimensions that have one value and no place in the picture."""
    known = summarised(ds)
    return known.squeeze([name for name, size in known.sizes.items() if size == 1 and name not in places], drop=True)


def check_some(name: str, values: np.ndarray) -> None:
    """Refuse a metric that is nowhere a finite number."""
    if not np.any(np.isfinite(values)):
        raise UsageError(f"there is nothing to draw: {name} is nowhere a finite number")


def unknown_variable(kind: str, name: str, known: Sequence[str]) -> UsageError:
    """Return the error for a variable beside the metrics, which theory may have."""
    return UsageError(f"{unknown_name(kind, name, known)}; what theory says is added by jb.with_theory(ds, {name!r})")


def choose(ds: xr.Dataset, **wanted: str | None) -> dict[str, str | None]:
    """Fill in the dimensions that were not given, and check that every one of the grid has its place.

    Places are filled in the order given: a budget or a checkpoint first, then numeric dimensions, the longest first.
    Those with one value come last. Algorithms are hues, and problems panels, where they are left. The places `hue` and
    `panel` may stay empty.

    Args:
        ds: runs or their summary.
        **wanted: place to dimension, None for an automatic choice.

    Raises:
        UsageError: no such dimension, one dimension in two places, none left for a place, or one without a place.
    """
    allowed = _grid(ds)
    every = [name for name in allowed if ds.sizes[name] > 1]
    for name in wanted.values():
        if name is not None and name not in allowed:
            if not allowed:
                raise UsageError(f"the Dataset has no dimension {name!r}: nothing varies in it but the seed")
            raise unknown_name("dimension", name, allowed)
    taken = [name for name in wanted.values() if name is not None]
    if len(set(taken)) < len(taken):
        raise UsageError(f"dimension {taken[0]!r} cannot be in two places of a picture")
    left = [name for name in every if name not in taken]
    single = [name for name in allowed if name not in {*every, *taken}]
    # Budgets and checkpoints belong on the horizontal axis, then the dimension with most values; words make good hues.
    left.sort(key=lambda d: (d not in {"checkpoint", "budget"}, not numeric(ds, d), d == "algorithm", -ds.sizes[d]))
    chosen = dict(wanted)
    for place, name in wanted.items():
        if name is not None:
            continue
        usual = _USUAL.get(place)
        if usual in left:
            chosen[place] = usual
            left.remove(str(usual))
        elif left and place != "panel":
            chosen[place] = left.pop(0)
        elif single and usual is None:
            chosen[place] = single.pop(0)
        elif usual is None:
            has = ", ".join(every) if every else "none"
            raise UsageError(f"this picture needs a dimension with several values for {place}; the grid has {has}")
    if left:
        place = f"{left[0]}={values_of(ds, left[0])[0]!r}"
        how = f"choose one value, ds.sel({place}) or --sel {place}"
        raise UsageError(f"the Dataset also varies over {', '.join(left)}: {how}")
    if hue := chosen.get("hue"):
        check_lines(hue, ds.sizes[hue], numbers=numeric(ds, hue))
    if (panel := chosen.get("panel")) and ds.sizes[panel] > _MOST_PANELS:
        size = ds.sizes[panel]
        raise UsageError(f"{size} values of {panel} are too many for one picture: choose at most {_MOST_PANELS}")
    return chosen


def check_lines(name: str, count: int, *, numbers: bool) -> None:
    """Refuse more lines than can be distinguished in a picture."""
    most = _MOST_NUMBERS if numbers else _MOST_LINES
    if count > most:
        raise UsageError(f"{count} values of {name} are too many to distinguish: choose at most {most}")


def metric(ds: xr.Dataset, name: str | None) -> str:
    """Return a metric's name, checked; `failure` is one.

    None is the regret where a budget of cost was spent, else the pulls.

    Raises:
        UsageError: not a Dataset of runs, or one that has no such metric, where the message names the nearest one; or
            a metric of arms.
    """
    if is_summary(ds):
        known = [str(n).removesuffix("_mean") for n in ds.data_vars if str(n).endswith("_mean")]
    else:
        check_runs(ds)
        known = metrics(ds)
    known += ["failure"] if "correct" in ds or "failure" in ds else []
    if name is None:
        return "regret" if "regret" in known else "pulls"
    check_one_a_run(ds, name)
    if name not in known:
        raise unknown_name("metric", name, known)
    return name


def check_one_a_run(ds: xr.Dataset, name: str) -> None:
    """Refuse a metric that has a number for each arm of a run."""
    if name in ds and PER_ARM & {*ds[name].dims}:
        raise UsageError(f"{name} has a number for each arm: take one of them, ds.assign(one=ds.{name}.isel(arm=0))")


def parts(name: str, centre: str = "mean") -> tuple[str, str, str]:
    """Return the names of a metric's mean and its interval in a summary, or of its median and the middle 80% of runs.

    Raises:
        UsageError: another centre than `mean` and `median`, or the median of a failure rate.
    """
    if centre not in CENTRES:
        raise unknown_name("centre", centre, CENTRES)
    if centre == "median":
        if name == "failure":
            raise UsageError("a failure rate has no median: draw it with its mean")
        return (f"{name}_q50", f"{name}_q10", f"{name}_q90")
    return (name if name == "failure" else f"{name}_mean", f"{name}_low", f"{name}_high")


def lower_bounds(known: xr.Dataset, variable: str) -> xr.DataArray:
    """Return where a variable of a summary is a lower bound, since runs were truncated, bool in its shape.

    A truncated run has more pulls than every run that ended: a quantile of the pulls is exact if it lies among those.
    """
    name, _, part = variable.rpartition("_")
    found = known["at_least"].astype(bool) & (name in GROWING)
    if name == LIMITED and part in QUANTILES:
        ended = known["runs"] - known["censored"]
        found &= QUANTILES[part] * (known["runs"] - 1) > ended - 1
    return xr.zeros_like(known[variable], bool) | found


def values_of(ds: xr.Dataset, name: str | None) -> Sequence[object]:
    """Return the coordinate's values as Python's own; `[None]` for no dimension."""
    if name is None:
        return [None]
    return ds[name].values.tolist() if name in ds.coords else list(range(ds.sizes[name]))


def nearest(wanted: float, values: Sequence[Any]) -> int | None:
    """Return where a number is among values, up to rounding, as of 0.1 in float32; None if it is not there."""
    near = [i for i, one in enumerate(values) if is_number(one) and math.isclose(one, wanted, rel_tol=1e-6)]
    return min(near, key=lambda i: abs(values[i] - wanted), default=None)


def numeric(ds: xr.Dataset, name: str) -> bool:
    """Return whether a dimension's values are numbers."""
    return name not in ds.coords or np.issubdtype(ds[name].dtype, np.number)
