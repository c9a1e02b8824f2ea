"""The judgement of what has been tuned, on instances that no step has seen, beside the start."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.gradients.measures import MEASURES
from jaxbandits.problems.base import Problem
from jaxbandits.report.intervals import clopper_pearson, student_half_width
from jaxbandits.report.paired_intervals import discordant, score_interval
from jaxbandits.tuning.estimates import Goal, mean_and_error, measured
from jaxbandits.tuning.instance_parameters import INSTANCE, family

__all__ = ["check_enough", "judged", "share_within"]

#: The probability on each side of 95% intervals.
_TAIL = 0.025
#: Bisections of the way from the start to what was found.
_HALVINGS = 6


def judged(
    goal: Goal, algorithms: Mapping[str, object], problems: list[Problem], seeds: int, root_seed: int, reference: str
) -> xr.Dataset:
    """Return objective, error and the difference to the reference, with 95% intervals, by the algorithm's name.

    Instances and seeds are the same for all, so that differences are paired. Intervals are Student's, with one degree
    of freedom fewer than there are instances, or seeds if these are fewer. Intervals of an error, and of a difference
    of errors, are at least as wide as those of as many runs of one instance. So none has width 0 because no run erred.
    `truncated` counts the truncated runs, int64.
    """
    runs = {name: measured(goal, one, family(problems), seeds, root_seed) for name, one in algorithms.items()}
    return xr.concat(
        [_judged(goal, one, runs[reference]) for one in runs.values()],
        dim=xr.DataArray(list(runs), dims="algorithm", name="algorithm"),
    )


def check_enough(limit: float, instances: int, seeds: int) -> None:
    """Check that runs without an error would show that errors are at most the limit.

    Raises:
        UsageError: they are too few, so that what was found would come back unchecked.
    """
    needed = math.ceil(math.log(_TAIL) / math.log1p(-limit))
    if instances * seeds < needed:
        raise UsageError(
            f"{instances} instances (held_out) x {seeds} runs of each (held_out_seeds) cannot show an error of at most "
            f"{limit:g}: at least {needed:,} runs are needed"
        )


def share_within(
    goal: Goal, limit: float, between: Callable[[float], object], problems: list[Problem], seeds: int, root_seed: int
) -> float:
    """Return the share of the way from a start (0) to what was found (1) at which errors are surely few enough.

    Args:
        goal: what runs are made for.
        limit: the share of errors that is allowed.
        between: the algorithm at a share of the way.
        problems: instances to count errors on.
        seeds: runs of each.
        root_seed: of these.

    Returns:
        The largest share, to 1/64, whose interval of the error ends below the limit. It is 1 where the end's own
        interval does, and where not even the start's does.
    """

    def within(share: float) -> bool:
        runs = measured(goal, between(share), family(problems), seeds, root_seed)
        return _of_errors(runs["error"]).high <= limit

    if within(1.0) or not within(0.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


class _Judged(NamedTuple):
    mean: float
    se: float
    low: float
    high: float


def _judged(goal: Goal, runs: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    error, difference = _of_errors(runs["error"]), _of_numbers(runs["objective"] - reference["objective"])
    objective = _of_numbers(runs["objective"])
    if goal.measure is MEASURES["error"]:
        objective = error
        if runs is not reference:
            number, only_here, only_there = discordant(*(x["error"].to_numpy().ravel() for x in (runs, reference)))
            difference = _widened(difference, score_interval(only_here, only_there, number, _TAIL), -1.0)
    found: dict[str, float | int] = {}
    for name, one in (("objective", objective), ("error", error), ("difference", difference)):
        found |= {name: one.mean, f"{name}_se": one.se, f"{name}_low": one.low, f"{name}_high": one.high}
    found["truncated"] = int(runs["truncated"].sum())
    return xr.Dataset({name: ((), value) for name, value in found.items()})


def _of_numbers(values: xr.DataArray) -> _Judged:
    fewest = min(values.sizes[INSTANCE], values.sizes["seed"])
    middle, se = mean_and_error(values)
    half = float(student_half_width(se * fewest**0.5, fewest, _TAIL))
    return _Judged(middle, se, middle - half, middle + half)


def _of_errors(values: xr.DataArray) -> _Judged:
    return _widened(_of_numbers(values), clopper_pearson(values.sum(), values.size), 0.0)


def _widened(found: _Judged, ends: tuple[np.ndarray, np.ndarray], least: float) -> _Judged:
    """Return an interval that is at least as wide as another one, within [least, 1]."""
    low, high = (float(end) for end in ends)
    return found._replace(low=max(min(found.low, low), least), high=min(max(found.high, high), 1.0))
