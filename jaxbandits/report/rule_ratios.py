"""How many times the best rule's mean each rule has, in every cell of a study, and which rules do what they promise."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.checks import INSIDE_UNIT, number
from jaxbandits.errors import UsageError
from jaxbandits.report.best_candidates import find_best
from jaxbandits.report.dimensions import parts
from jaxbandits.report.repeated_cells import specification_of
from jaxbandits.report.summaries import GROWING

__all__ = ["Ratios", "of_wins", "ratios_to_best", "within_noise"]


class Ratios(NamedTuple):
    """The rules of a study against the best of each cell, over the dimensions of the grid."""

    ratio: xr.DataArray  # float64, at least 1 where a rule solves; NaN without a number, or where no rule solves
    solves: xr.DataArray  # bool
    at_least: xr.DataArray  # bool: truncated runs make the ratio a lower bound
    fails: xr.DataArray  # bool: the interval of failures lies above the allowed probability
    unjudged: xr.DataArray  # bool: no allowed probability is known


def ratios_to_best(known: xr.Dataset, value: str, along: str, delta: float | None) -> Ratios:
    """Return the ratio of each rule's mean to the smallest mean of the rules that solve the cell.

    Of pulls, cost and steps, a rule solves a cell if no run is truncated, and the 95% interval of its failure rate does
    not lie above the failure probability that it is allowed. Of failure rates and regrets, all rules solve it.

    Args:
        known: a summary.
        value: a metric, or `failure`.
        along: the dimension of the rules.
        delta: failure probability that every rule is allowed; None for the `delta` of each.

    Raises:
        UsageError: rewards, of which the largest is the best; or no rule has a `delta` to be judged by.
    """
    if value == "reward":
        raise UsageError("a ratio to the best needs a value of which the smallest is the best: draw regret, not reward")
    if delta is not None:
        number("delta", delta, INSIDE_UNIT)
    mean = known[parts(value)[0]].astype(float)
    nothing = xr.zeros_like(mean, bool).drop_attrs()
    at_least = fails = unjudged = nothing
    if value in GROWING:
        if "failure_low" not in known:
            raise UsageError(
                f"{value} of rules are compared where their answers are judged, and the runs have no 'correct'"
            )
        allowed = xr.DataArray(float(delta)) if delta is not None else allowed_failures(known)
        allowed = allowed.drop_vars(list(allowed.coords)) + xr.zeros_like(mean).drop_vars(list(mean.coords))
        allowed = allowed.transpose(*mean.dims).assign_coords(mean.coords)
        if not allowed.notnull().any():
            raise UsageError(
                f"no rule has a delta to be judged by: give the failure probability that is allowed, delta=0.1, or "
                f"draw 'failure', not {value!r}"
            )
        unjudged, at_least = allowed.isnull(), known["at_least"]
        fails = known["failure_low"] > allowed
    solves = mean.notnull() & ~at_least & ~fails & ~unjudged
    best = mean.where(solves).min(along)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = xr.where((best == 0) & (mean == 0), 1.0, mean / best).transpose(*mean.dims)
    return Ratios(ratio, solves, at_least, fails, unjudged)


def allowed_failures(known: xr.Dataset) -> xr.DataArray:
    """Return the failure probability `delta` that each rule was given, as the specification says; NaN without one."""
    spec = specification_of(known)
    if spec is None:
        return known["delta"].astype(float) if "delta" in known.coords else xr.DataArray(np.nan)
    tables = spec["algorithm"]
    if not isinstance(tables, list):
        return _allowed(known, tables.get("delta"))
    given = {table["label"]: _allowed(known, table.get("delta")) for table in tables}
    if "algorithm" not in known.dims:
        return given[known["algorithm"].item()]
    each = xr.broadcast(*(given[label].drop_vars(list(given[label].coords)) for label in known["algorithm"].values))
    return xr.concat(each, "algorithm")


def _allowed(known: xr.Dataset, entry: Any) -> xr.DataArray:
    """Return the values of an entry of a specification, along its dimension if it is an axis."""
    if not isinstance(entry, dict):
        return xr.DataArray(np.nan if entry is None else float(entry))
    name = entry.get("name") or "delta"
    if name not in known.coords:
        return xr.DataArray(np.nan)
    by_label = dict(zip(entry.get("labels") or entry["axis"], entry["axis"], strict=True))
    shown = [float(by_label.get(one, np.nan)) for one in np.ravel(known[name].values).tolist()]
    return xr.DataArray(shown, dims=[name]) if name in known.dims else xr.DataArray(shown[0])


def within_noise(ds: xr.Dataset, value: str, along: str, solves: xr.DataArray) -> xr.DataArray | None:
    """Return which of the rules that solve a cell cannot be distinguished from the best; None where runs do not tell.

    These are the sets of `jaxbandits.find_best`, of 95%.

    Args:
        ds: runs; a summary does not tell.
        value: a metric, or `failure`.
        along: the dimension of the rules.
        solves: bool, over the dimensions of the grid.
    """
    if "seed" not in ds.dims or value not in (*ds.data_vars, "failure"):
        return None
    ds = ds[[name for name in dict.fromkeys(("pulls", value, "correct", "status")) if name in ds]]
    found, dims = xr.zeros_like(solves), [str(name) for name in solves.dims if name != along]
    ds = ds.isel({name: 0 for name in ds["pulls"].dims if name not in (*solves.dims, "seed")})
    for place in itertools.product(*(range(solves.sizes[name]) for name in dims)):
        at = dict(zip(dims, place, strict=True))
        here = np.flatnonzero(solves.isel(at).values)
        best = np.ones(here.shape, bool)
        if len(here) > 1:
            try:
                best = find_best(ds.isel({**at, along: here}), value, along)["among_best"].values
            except UsageError:  # they are not paired
                return None
        found[{**at, along: here}] = best
    return found


def of_wins(name: str, what: str, place: int, first: np.ndarray, near: np.ndarray | None) -> str:
    """Say in how many cells a rule has the smallest mean, and in how many of these others may be as good.

    Args:
        name: of the rule.
        what: the mean.
        place: the row of the rule.
        first: which rules have the smallest mean, bool `(rules, cells)`; several where they are equal.
        near: which cannot be distinguished from the best, in the same shape; None where that is not known.
    """
    wins, cells = first[place], first.shape[1]
    where = f"all {cells}" if wins.all() else f"{wins.sum()} of {cells}"
    others = np.delete(first if near is None else first | near, place, axis=0).any(axis=0)
    shared = int((wins & others).sum())
    doubt = f"; others may be as good in {shared}" if shared else ""
    return f"{name} has the smallest {what} in {where} cells{doubt}"
