"""The judgement of what has been tuned, on instances that no step has seen, beside the start."""

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from jaxbandits.problems.base import Problem
from jaxbandits.report.intervals import clopper_pearson, student_half_width
from jaxbandits.tuning.estimates import Goal, mean_and_error, measured
from jaxbandits.tuning.instance_parameters import INSTANCE, family

__all__ = ["judged", "share_within"]

#: The probability on each side of 95% intervals.
_TAIL = 0.025
#: Bisections of the way from the start to what was found.
_HALVINGS = 6


def judged(
    goal: Goal, algorithms: Mapping[str, object], problems: list[Problem], seeds: int, root_seed: int, reference: str
) -> xr.Dataset:
    """Return objective, error and the difference to the reference, with 95% intervals, by the algorithm's name.

    Instances and seeds are the same for all, so that differences are paired. Intervals are Student's, with one degree
    of freedom fewer than there are instances, or seeds if these are fewer. An interval of an error is at least as wide
    as that of the same number of runs of one instance: none has width 0 because no run erred.
    `truncated` counts the truncated runs, int64.
    """
    runs = {name: measured(goal, one, family(problems), seeds, root_seed) for name, one in algorithms.items()}
    return xr.concat(
        [_judged(one, one["objective"] - runs[reference]["objective"]) for one in runs.values()],
        dim=xr.DataArray(list(runs), dims="algorithm", name="algorithm"),
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
        return float(_judged(runs, runs["objective"])["error_high"]) <= limit

    if within(1.0) or not within(0.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return low


def _judged(runs: xr.Dataset, difference: xr.DataArray) -> xr.Dataset:
    found: dict[str, float | int] = {}
    fewest = min(runs.sizes[INSTANCE], runs.sizes["seed"])
    for name, values in (("objective", runs["objective"]), ("error", runs["error"]), ("difference", difference)):
        middle, se = mean_and_error(values)
        half = float(student_half_width(se * fewest**0.5, fewest, _TAIL))
        found |= {name: middle, f"{name}_se": se, f"{name}_low": middle - half, f"{name}_high": middle + half}
    count = runs.sizes[INSTANCE] * runs.sizes["seed"]
    low, high = (float(end) for end in clopper_pearson(np.asarray(round(found["error"] * count)), np.asarray(count)))
    found["truncated"] = int(runs["truncated"].sum())
    found["error_low"] = max(min(found["error_low"], low), 0.0)
    found["error_high"] = min(max(found["error_high"], high), 1.0)
    return xr.Dataset({name: ((), value) for name, value in found.items()})
