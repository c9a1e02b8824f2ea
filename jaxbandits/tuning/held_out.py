"""What has been tuned, judged on instances that no step has seen, beside what it started from."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.report.tables import clopper_pearson
from jaxbandits.tuning.estimates import Goal, mean_and_error, measured
from jaxbandits.tuning.instances import INSTANCE, family

__all__ = ["judged"]

#: The normal quantile of 95% intervals.
_Z = 1.96


def judged(
    goal: Goal, algorithms: Mapping[str, Any], problems: list[Any], seeds: int, root_seed: int, reference: str
) -> xr.Dataset:
    """Objective, error and the difference to the reference, with 95% intervals, by the algorithm's name.

    Instances and seeds are the same for all, so that differences are paired. An interval of an error is as wide as
    that of so many runs of one instance, at least: none is of width 0 because no run erred.
    """
    runs = {name: measured(goal, one, family(problems), seeds, root_seed) for name, one in algorithms.items()}
    return xr.concat(
        [_judged(one, one["objective"] - runs[reference]["objective"]) for one in runs.values()],
        dim=xr.DataArray(list(runs), dims="algorithm", name="algorithm"),
    )


def _judged(runs: xr.Dataset, difference: xr.DataArray) -> xr.Dataset:
    found: dict[str, float] = {}
    for name, values in (("objective", runs["objective"]), ("error", runs["error"]), ("difference", difference)):
        middle, se = mean_and_error(values)
        found |= {name: middle, f"{name}_se": se, f"{name}_low": middle - _Z * se, f"{name}_high": middle + _Z * se}
    count = runs.sizes[INSTANCE] * runs.sizes["seed"]
    low, high = (float(end) for end in clopper_pearson(np.asarray(round(found["error"] * count)), np.asarray(count)))
    found["error_low"] = max(min(found["error_low"], low), 0.0)
    found["error_high"] = min(max(found["error_high"], high), 1.0)
    return xr.Dataset({name: ((), value) for name, value in found.items()})
