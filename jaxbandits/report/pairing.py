"""The runs of a Dataset along one dimension, paired by their seeds: what comparisons of labels are computed from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits import checks
from jaxbandits.errors import UsageError, check_text, unknown_name
from jaxbandits.report.dimensions import check_one_a_run, nearest, values_of
from jaxbandits.report.run_statistics import warn_of_lost_status
from jaxbandits.report.summaries import GROWING, PER_ARM, check_runs, metrics
from jaxbandits.status import NOT_RUN, stopped_early

__all__ = ["Labelled", "Runs", "joined", "labelled", "place_of", "runs_of", "seeds_left_out"]

#: Entries of a Dataset's attributes that differ from label to label, and say nothing of a comparison.
_OF_ONE = frozenset({"algorithm", "spec", "compile_seconds", "seconds"})


class Runs(NamedTuple):
    """A value of every run, with `seed` as the last dimension."""

    values: xr.DataArray  # float64 (…, seed), NaN where a run or its value is missing; 0 or 1 of a truth value
    truncated: xr.DataArray  # bool (…, seed): runs whose value is a lower bound
    is_truth: bool
    not_run: xr.DataArray  # bool (…): labels and cells without runs, since the algorithm does not fit the problem
    attrs: dict[str, object]  # of the Dataset, without those of one label


class Labelled(NamedTuple):
    """Runs along a dimension with several labels, paired by their seeds."""

    runs: Runs  # (…, along, seed)
    along: str
    labels: Sequence[object]
    dims: list[str]  # of the Dataset, in its order, without `seed`


def labelled(ds: object, value: str, along: str, level: float) -> Labelled:
    """Return the runs along a dimension, after checks of all that a comparison needs.

    Args:
        ds: runs, or Datasets of runs by their labels.
        value: a variable of every run, or `failure`.
        along: a dimension of the Dataset with at least two labels.
        level: of the intervals.

    Raises:
        UsageError: not runs, an unknown dimension or variable, a single label, two equal ones, runs that are not
            paired, or a level outside (0, 1).
    """
    checks.number("level", level, checks.INSIDE_UNIT)
    check_text("along", along)
    if isinstance(value, xr.Dataset):
        raise UsageError("two Datasets are compared by their labels: give {'one': …, 'other': …} as the first argument")
    ds = joined(ds, along)
    runs = runs_of(ds, value)
    dims = [str(name) for name in runs.values.dims[:-1]]
    if along not in dims:
        if not dims:
            raise UsageError(f"the Dataset has no dimension {along!r}: nothing varies in it but the seed")
        raise unknown_name("dimension", along, dims)
    labels = values_of(ds, along)
    if len(labels) < 2:
        raise UsageError(f"a comparison along {along} needs at least two values of it, got {len(labels)}: {labels}")
    twice = [label for place, label in enumerate(labels) if label in labels[:place]]
    if twice:
        raise UsageError(f"values of {along} must differ from each other, got {twice[0]!r} twice")
    _check_paired(ds, along)
    values, truncated = (array.transpose(..., along, "seed") for array in (runs.values, runs.truncated))
    not_run = runs.not_run.transpose(..., along)
    return Labelled(runs._replace(values=values, truncated=truncated, not_run=not_run), along, labels, dims)


def runs_of(ds: xr.Dataset, value: str) -> Runs:
    """Return a value of every run.

    Args:
        ds: runs.
        value: a variable of every run, or `failure`, which is where `correct` is not.

    Raises:
        UsageError: not runs, or no such value.
    """
    check_runs(ds)
    check_text("value", value)
    known = [*metrics(ds), *(name for name in ("correct", "wrong_size") if name in ds)]
    known += ["failure"] if "correct" in ds else []
    check_one_a_run(ds, value)
    if value not in known:
        raise unknown_name("value", value, known)
    found = ds["correct" if value == "failure" else value]
    is_truth = found.dtype == bool or value in ("correct", "failure", "wrong_size")
    values = found.astype(np.float64).transpose(..., "seed")  # a missing run makes a truth value an object
    if value == "failure":
        values = (1 - values).assign_attrs(long_name="failure rate")
    nothing = xr.zeros_like(values, bool)
    truncated, not_run = nothing, nothing.all("seed")
    if value in GROWING:
        warn_of_lost_status(ds)
    if "status" in ds:
        truncated = nothing | stopped_early(ds["status"]) if value in GROWING else nothing
        not_run = not_run | (ds["status"] == NOT_RUN).all("seed")
    attrs = {name: about for name, about in ds.attrs.items() if name not in _OF_ONE}
    return Runs(values, truncated.transpose(*values.dims), is_truth, not_run.transpose(*values.dims[:-1]), attrs)


def joined(ds: Any, along: str) -> xr.Dataset:
    """Return one Dataset; Datasets by their labels are joined along a new dimension, over all seeds that any has.

    Raises:
        UsageError: not Datasets of runs, or Datasets with other root seeds.
    """
    if not isinstance(ds, Mapping) or isinstance(ds, xr.Dataset):
        return ds
    if not ds:
        raise UsageError("Datasets of runs by their labels are needed, got none")
    for one in ds.values():
        check_runs(one)
        if along in one.dims:
            raise UsageError(f"Datasets given by their labels must not have the dimension {along!r} already")
    seeds = {str(label): one.attrs["root_seed"] for label, one in ds.items() if "root_seed" in one.attrs}
    if len(set(seeds.values())) > 1:
        told = ", ".join(f"{label}: {seed}" for label, seed in seeds.items())
        raise UsageError(f"the runs are not paired: root seeds must be equal, got {told}")
    for one in ds.values():
        _check_paired(one, along)
    if len({frozenset(one["pulls"].dims) for one in ds.values()}) > 1:
        raise UsageError("Datasets given by their labels must have the same dimensions")
    # Variables of arms are of no comparison, and numbers of arms may differ.
    apart = [one.drop_dims(PER_ARM, errors="ignore") for one in ds.values()]
    shared = [name for name in apart[0].data_vars if all(name in one for one in apart)]
    both = xr.concat(
        [one[shared] for one in apart],
        xr.Variable(along, list(ds)),
        data_vars="all",
        coords="minimal",
        compat="override",
        join="outer",
        combine_attrs="drop_conflicts",
    )
    return both.assign_attrs(root_seed=next(iter(seeds.values()))) if seeds else both


def place_of(label: Any, labels: Sequence[Any], along: str) -> int:
    """Return where a label is, or refuse it; a number may differ by rounding, as 0.1 in float32 does."""
    label = label.item() if isinstance(label, np.generic) else label
    same = [place for place, one in enumerate(labels) if type(one) is type(label) and one == label]
    place = same[0] if same else nearest(label, labels) if checks.is_number(label) else None
    if place is not None:
        return place
    raise unknown_name(f"value of {along}", str(label), [str(one) for one in labels])


def seeds_left_out(values: xr.DataArray, complete: xr.DataArray) -> str | None:
    """Return which seeds are not `complete` in some cell, in words; None where all are."""
    places = np.flatnonzero(~complete.all([name for name in complete.dims if name != "seed"]).values)
    if not len(places):
        return None
    seeds = [str(values_of(values.to_dataset(name="values"), "seed")[place]) for place in places[:10]]
    more = f" and {len(places) - 10} more" if len(places) > 10 else ""
    said = f"{len(places)} of {values.sizes['seed']} seeds are left out of a comparison"
    return f"{said}, as a run or its value is missing: {', '.join(seeds)}{more}"


def _check_paired(ds: xr.Dataset, along: str) -> None:
    """Refuse runs that do not share their rewards, as far as the Dataset says so."""
    remedy = "run all of them with one root_seed"
    if "root_seed" in ds.coords and len(np.unique(ds["root_seed"])) > 1:
        raise UsageError(f"the runs are not paired: root seeds differ along {along}; {remedy}")
    if "jaxbandits_version" in ds.attrs and "root_seed" not in ds.attrs:
        raise UsageError(f"the runs are not paired: the attributes have no root_seed, as root seeds differ; {remedy}")
    try:
        spec = json.loads(ds.attrs.get("spec", "{}"))
        independent = bool(spec.get("run", {}).get("independent", False))
    except (TypeError, ValueError, AttributeError):
        return
    if independent:
        raise UsageError("the runs are not paired: independent=True gave every cell its own rewards; run without it")
