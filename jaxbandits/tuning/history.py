"""The history of tuning, step by step: a Dataset, from which it goes on."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError, warn
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.io.search_arguments import MEANS, arguments_of_search
from jaxbandits.problems.base import Problem
from jaxbandits.tuning.bijectors import Coordinate
from jaxbandits.tuning.estimates import Estimate
from jaxbandits.tuning.instance_parameters import hash_of
from jaxbandits.users_code.records import CODE

__all__ = ["Step", "check_drawn", "history_of", "steps_of"]


class Step(NamedTuple):
    """The point of a step, and what it found there."""

    points: dict[str, float]
    multiplier: float
    means: dict[str, Estimate]
    slopes: dict[str, dict[str, Estimate]]
    truncated: int | None  # how many runs; None in histories of versions that did not keep it
    drawn: int | None  # `hash_of` its problems; None in histories of versions that did not keep it


def history_of(steps: Sequence[Step], where: Sequence[Coordinate], about: Mapping[str, object]) -> xr.Dataset:
    """Return the steps as a Dataset: parameters' values by name, means, slopes in the coordinates, standard errors."""
    names = [one.parameter for one in where]
    found: dict[str, Any] = {
        "value": (("step", "parameter"), [[one.value(step.points[one.parameter]) for one in where] for step in steps]),
        "point": (("step", "parameter"), [[step.points[name] for name in names] for step in steps]),
        "multiplier": ("step", [step.multiplier for step in steps]),
    }
    for mean in MEANS:
        for part in Estimate._fields:
            end = "" if part == "mean" else f"_{part}"
            found[f"{mean}{end}"] = ("step", [getattr(step.means[mean], part) for step in steps])
            found[f"{mean}_slope{end}"] = (
                ("step", "parameter"),
                [[getattr(step.slopes[mean][name], part) for name in names] for step in steps],
            )
    shapes = {"step": len(steps), "parameter": len(names)}
    arrays = {
        name: (dims, np.asarray(values, np.float64).reshape([shapes[dim] for dim in np.atleast_1d(dims)]))
        for name, (dims, values) in found.items()
    }
    for name, kept in (("truncated", [one.truncated for one in steps]), ("drawn", [one.drawn for one in steps])):
        if None not in kept:
            arrays[name] = ("step", np.asarray(kept, np.int64))
    return xr.Dataset(
        arrays, coords={"step": np.arange(len(steps)), "parameter": names}, attrs={"spec": json.dumps(about)}
    )


def steps_of(history: xr.Dataset, where: Sequence[Coordinate], about: Mapping[str, object]) -> list[Step]:
    """Return the steps of a history that another call with these arguments made.

    Raises:
        UsageError: no history, or one of other arguments; the message names the first that differs.
    """
    there, here = arguments_of_search(history), json.loads(json.dumps(about))
    if CODE in here and CODE not in there:
        warn("the history does not say which objective it is of: it is taken to be the same")
        there[CODE] = here[CODE]
    if "problem" not in there:
        warn("the history does not say of which family its problems are: it is taken to be the same")
        there["problem"] = here["problem"]
    if "training_problems" in here and "training_problems" not in there:
        warn("the history does not say which problems its list had: they are taken to be the same")
        there["training_problems"] = here["training_problems"]
    if found := difference(there, here):
        raise UsageError(f"the history is of other arguments: {found}")
    warn_of_doubts(there, here, "the history")
    names = [one.parameter for one in where]
    steps = []
    for step in range(history.sizes["step"]):
        row = history.isel(step=step)

        def of(name: str, row: xr.Dataset = row, **at: str) -> Estimate:
            return Estimate(*(float(row[name + end].sel(at)) for end in ("", "_se")))

        points = {name: float(row["point"].sel(parameter=name)) for name in names}
        means = {mean: of(mean) for mean in MEANS}
        slopes = {mean: {name: of(f"{mean}_slope", parameter=name) for name in names} for mean in MEANS}
        truncated, drawn = (int(row[name]) if name in row else None for name in ("truncated", "drawn"))
        steps.append(Step(points, float(row["multiplier"]), means, slopes, truncated, drawn))
    return steps


def check_drawn(step: Step, number: int, problems: Sequence[Problem]) -> None:
    """Check that a step of a history had these problems.

    Raises:
        UsageError: it had others, so that the function that draws them has changed.
    """
    if step.drawn not in (None, hash_of(problems)):
        raise UsageError(f"the history is of another distribution: other problems are drawn in step {number}")
