"""Gradients in the parameters of an algorithm: differences of runs that see the same rewards.

A run is piecewise constant in an epsilon or a radius, its expectation is not. Two algorithms that differ by a nudge see
the same reward tables, so that most of the noise of a difference cancels (common random numbers). With `smoothing` the
expectation is that of a parameter with normal noise of this width, E[f(theta + h z) - f(theta - h z)] z / (2 h). Its
integral over z is a Gauss-Hermite sum: the same runs, antithetic by construction.
"""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from jaxbandits.algorithms.parameters import is_whole
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.axes import axis
from jaxbandits.checks import FINITE, POSITIVE, each, is_number, number
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = [
    "NUDGE",
    "Nudges",
    "ProblemNudges",
    "by_differences",
    "by_problem_differences",
    "nudged",
    "nudged_problem",
]

#: The dimension of the nudged parameter.
NUDGE = "nudge"
#: Half the distance of the two runs of a difference, as a share of the parameter.
_WIDTH = 0.05
#: Points of the Gauss-Hermite rule, half of them positive: exact for polynomials of degree 11.
_POINTS = 6


@dataclasses.dataclass(frozen=True)
class Nudges:
    """The parameter values at which runs are made, and the weights of the runs."""

    parameter: str
    at: float
    width: float
    points: np.ndarray  # float64 (P,), positive, in units of the width
    weights: np.ndarray  # float64 (P,): the derivative is sum w (f(at + h z) - f(at - h z)) / (2 h)

    @property
    def values(self) -> list[float]:
        """Return the parameter's value, and those on both sides of it."""
        steps = self.width * self.points
        return [self.at, *(self.at + steps).tolist(), *(self.at - steps).tolist()]


def nudged(known: Rule, parameter: str, smoothing: float | None) -> tuple[Nudges, Rule]:
    """Return the algorithm with an axis of the values that a derivative needs.

    Args:
        known: the algorithm.
        parameter: name of a real parameter with one value.
        smoothing: standard deviation of the noise; None for a difference of two runs.

    Raises:
        UsageError: a parameter without a derivative or a value, or nudges that leave its range.
    """
    value = getattr(known, parameter)
    if value is None:
        raise UsageError(f"{type(known).__name__} takes {parameter} from the problem: give it a value to nudge")
    whole = {field.name for field in dataclasses.fields(known) if is_whole(field)}
    if parameter in whole or (isinstance(value, bool | str | int) and not is_number(value)):
        raise UsageError(f"{type(known).__name__} has no derivative in {parameter}, an integer or a choice")
    if not is_number(value):
        raise UsageError(f"{type(known).__name__} needs one value of {parameter} for a derivative, got {value!r}")
    at = float(value)
    if smoothing is None:
        width, points, weights = _WIDTH * (abs(at) or 1.0), np.ones(1), np.ones(1)
    else:
        width = number("smoothing", smoothing, POSITIVE)
        roots, masses = np.polynomial.hermite_e.hermegauss(_POINTS)
        points = roots[roots > 0]
        # E[g(z)] over both signs; g(z) = z (f(at + h z) - f(at - h z)) / (2 h) is even.
        weights = 2 * masses[roots > 0] / masses.sum() * points
    found = Nudges(parameter, at, width, points, weights)
    try:
        changed: dict[str, object] = {parameter: axis(found.values, name=NUDGE)}
        return found, dataclasses.replace(known, **changed)
    except UsageError as error:
        raise UsageError(
            f"{error}: nudges of {width:.3g} leave the range of {parameter}; smoothing=… narrows them"
        ) from None


@dataclasses.dataclass(frozen=True)
class ProblemNudges:
    """The problem itself, and with the parameter of one arm at a time up and down."""

    problems: list[Problem]
    widths: np.ndarray  # float64 (K,)


def nudged_problem(problem: Problem, parameter: str, wrt: str) -> ProblemNudges:
    """Return the problems that a derivative needs in a parameter of each arm.

    Args:
        problem: a problem of one bandit, leaves `(K,)`.
        parameter: name of the leaf.
        wrt: the user's name of the parameter.

    Raises:
        UsageError: several bandits, or nudges that leave the parameter's range.
    """
    if problem.bandits > 1 or problem.mask is not None:
        raise UsageError("refit_algorithm=True is for one bandit")
    leaf = np.asarray(getattr(problem, parameter), np.float64)
    widths = _WIDTH * np.where(leaf == 0, 1.0, np.abs(leaf))
    made = [problem]
    for sign in (1, -1):
        for arm in range(leaf.size):
            moved = leaf + sign * widths * (np.arange(leaf.size) == arm)
            each(f"{wrt}, 5% to either side,", moved, problem.score_range or FINITE, "arm")
            changed: dict[str, Any] = {parameter: jnp.asarray(moved, jnp.float32), "recipe": None}
            made.append(dataclasses.replace(problem, **changed))
    return ProblemNudges(made, widths)


def by_problem_differences(value: xr.DataArray, nudges: ProblemNudges) -> xr.DataArray:
    """Return each run's difference quotients, along `arm`, from a metric along `NUDGE`."""
    arms = nudges.widths.size
    up, down = (
        value.isel({NUDGE: slice(first, first + arms)}).drop_vars(NUDGE).rename({NUDGE: "arm"})
        for first in (1, 1 + arms)
    )
    return (up - down) / (2 * xr.DataArray(nudges.widths, dims="arm"))


def by_differences(value: xr.DataArray, nudges: Nudges) -> xr.DataArray:
    """Return each run's difference quotient, from a metric along `NUDGE`."""
    number_of = nudges.points.size
    up = value.isel({NUDGE: slice(1, 1 + number_of)}).drop_vars(NUDGE)
    down = value.isel({NUDGE: slice(1 + number_of, None)}).drop_vars(NUDGE)
    weights = xr.DataArray(nudges.weights, dims=NUDGE)
    return ((up - down) * weights).sum(NUDGE) / (2 * nudges.width)
