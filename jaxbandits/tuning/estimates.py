"""Estimates from runs of what is tuned: its mean over instances, its slopes, and their standard errors.

Slopes are differences of runs that see the same rewards, at a fixed width on both sides in a parameter's coordinate.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.axes import axis
from jaxbandits.engine.metric import Metric
from jaxbandits.gradients.measures import OWN, Measure, measure_of, one_number, wrong
from jaxbandits.gradients.missing_values import linearised
from jaxbandits.gradients.rare_outcomes import carrying, enough
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.run import sweep
from jaxbandits.tuning.bijectors import Coordinate
from jaxbandits.tuning.instance_parameters import INSTANCE

__all__ = ["WIDTH", "Estimate", "Goal", "goal_of", "mean_and_error", "measured", "slopes"]

#: Half the distance of the two runs of a difference, in a coordinate: about a tenth of the parameter.
WIDTH = 0.1
_SIDE = "side"


class Estimate(NamedTuple):
    """A mean, and its standard error; float64."""

    mean: float
    se: float


class Goal(NamedTuple):
    """The objective to minimise."""

    name: str
    measure: Measure
    metrics: dict[str, Callable[..., ArrayLike] | Metric]
    max_pulls: int | None


def goal_of(objective: str | Callable[..., ArrayLike], max_pulls: int | None) -> Goal:
    """Return the goal that a user means.

    Raises:
        UsageError: no metric of that name, or no function.
    """
    measure = measure_of(objective)
    if isinstance(objective, str):
        return Goal(objective, measure, {}, max_pulls)
    return Goal(getattr(objective, "__name__", "own"), measure, {OWN: one_number(objective)}, max_pulls)


def measured(goal: Goal, algorithm: object, problems: ProblemFamily, seeds: int, root_seed: int) -> xr.Dataset:
    """Return `objective` and `error` of every run, float64, and whether it was `truncated`, bool.

    They are along the algorithm's axes, instances and seeds. Means of the objective are over the runs that have one.
    """
    runs = sweep(
        algorithm, problems, seeds, root_seed=root_seed, max_pulls=goal.max_pulls, metrics=goal.metrics
    )  # fmt: skip
    objective = linearised(goal.measure.value(runs).astype(np.float64), (INSTANCE, "seed"))
    error, truncated = wrong(runs).astype(np.float64), stopped_early(runs["status"])
    return xr.Dataset({"objective": objective, "error": error, "truncated": truncated})


def slopes(
    goal: Goal, algorithm: Rule, where: Sequence[Coordinate], points: dict[str, float], problems: ProblemFamily,
    seeds: int, root_seed: int,
) -> tuple[dict[str, Estimate], dict[str, dict[str, Estimate]], int]:  # fmt: skip
    """Return means of objective and error, their slopes in each coordinate, at the points, and the truncated runs.

    Returns:
        By name of the variable; the slopes then by name of the parameter. Means are those of the runs at both sides.
        The standard error of a slope that rests on too few runs is infinite. Last the number of truncated runs.
    """
    at = {one.parameter: one.value(points[one.parameter]) for one in where}
    levels: list[xr.Dataset] = []
    found: dict[str, dict[str, Estimate]] = {"objective": {}, "error": {}}
    for one in where:
        sides = [one.value(points[one.parameter] + sign * WIDTH) for sign in (1, -1)]
        changed: dict[str, Any] = {**at, one.parameter: axis(sides, name=_SIDE)}
        runs = measured(goal, dataclasses.replace(algorithm, **changed), problems, seeds, root_seed)
        up, down = (runs.isel({_SIDE: side}, drop=True) for side in (0, 1))
        for name in found:
            found[name][one.parameter] = _slope((up[name] - down[name]) / (2 * WIDTH))
        levels += [up, down]
    middle = sum(levels[1:], levels[0]) / len(levels)
    truncated = sum(int(runs["truncated"].sum()) for runs in levels)
    return {name: mean_and_error(middle[name]) for name in found}, found, truncated


def _slope(values: xr.DataArray) -> Estimate:
    """Return `mean_and_error` of differences; the error is infinite where too few runs have one."""
    found = mean_and_error(values)
    number = int(carrying(xr.DataArray(values.to_numpy().ravel(), dims="seed")))
    return found if enough(number, values.size) else found._replace(se=np.inf)


def mean_and_error(values: xr.DataArray) -> Estimate:
    """Return the mean over instances and seeds, and its standard error.

    Instances share their seeds' rewards, so that neither instances nor seeds are independent of the other. So the
    variances of both means are added, which counts the remaining variance twice.
    """
    count = {name: values.sizes[name] for name in (INSTANCE, "seed")}
    square = 0.0
    for name, other in ((INSTANCE, "seed"), ("seed", INSTANCE)):
        if count[name] > 1:
            square += float(values.mean(other).var(ddof=1)) / count[name]
    return Estimate(float(values.mean()), square**0.5)
