"""Gradients in the parameters of an algorithm: differences of runs that see the same rewards.

A run is piecewise constant in an epsilon or a radius, its expectation is not. Two algorithms that differ by a nudge see
the same reward tables, so that most of the noise of a difference cancels (common random numbers).

With `smoothing` the expectation is that of a parameter with normal noise of this width. Its derivative is the slope of
the differences D(z) = (f(theta + h z) - f(theta - h z)) / (2 h) over z, E[z D(z)] / E[z^2]. Each block of seeds has its
own z, from its own stratum of the half-normal law. Fixed points would hide the error of the integral where f jumps.
Strata are paired for the standard error, which is then too large rather than too small (Cochran 1977, "Sampling
techniques", section 5A.12).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
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
    "slope_of",
]

#: The dimension of the nudged parameter.
NUDGE = "nudge"
#: Half the distance of the two runs of a difference, as a share of the parameter.
_WIDTH = 0.05
#: Blocks of seeds with a z of their own, even; and the largest z.
_BLOCKS, _MOST = 32, 3.5


@dataclasses.dataclass(frozen=True)
class Nudges:
    """The values of a parameter at which a number of seeds are run."""

    parameter: str
    at: float
    width: float
    seeds: int
    z: float = 1.0  # the distance of the runs on both sides, in units of the width

    @property
    def values(self) -> list[float]:
        """Return the parameter's value, and those on both sides of it."""
        step = self.width * self.z
        return [self.at, self.at + step, self.at - step]

    def of(self, known: Rule) -> Rule:
        """Return the algorithm with an axis of these values.

        Raises:
            UsageError: values that leave the parameter's range.
        """
        try:
            changed: dict[str, object] = {self.parameter: axis(self.values, name=NUDGE)}
            return dataclasses.replace(known, **changed)
        except UsageError as error:
            raise UsageError(
                f"{error}: nudges of {self.width * self.z:.3g} leave the range of {self.parameter}; smoothing=… "
                "narrows them"
            ) from None


def nudged(known: Rule, parameter: str, smoothing: float | None, seeds: int, root_seed: int) -> list[Nudges]:
    """Return the values at which runs are made for a derivative, of one block of seeds after another.

    Args:
        known: the algorithm.
        parameter: name of a real parameter with one value.
        smoothing: standard deviation of the noise; None for a difference of two runs.
        seeds: number of all seeds.
        root_seed: decides the noise.

    Raises:
        UsageError: a parameter without a derivative or a value.
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
        return [Nudges(parameter, at, _WIDTH * (abs(at) or 1.0), seeds)]
    width, blocks = number("smoothing", smoothing, POSITIVE), max(2, min(_BLOCKS, seeds) // 2 * 2)
    levels = (np.arange(blocks) + np.random.default_rng(root_seed).random(blocks)) / blocks
    z = scipy.special.ndtri(0.5 + levels * (scipy.special.ndtr(_MOST) - 0.5))
    sizes = np.diff(np.linspace(0, seeds, blocks + 1).astype(int))
    return [Nudges(parameter, at, width, int(size), float(one)) for size, one in zip(sizes, z, strict=True)]


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
    """Return z D(z) of each run, with z = 1 the difference quotient, from a metric along `NUDGE`."""
    up, down = (value.isel({NUDGE: side}, drop=True) for side in (1, 2))
    return nudges.z * (up - down) / (2 * nudges.width)


def slope_of(found: Sequence[xr.DataArray], z: Sequence[float]) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the slope of differences over z, E[z D(z)] / E[z^2], and its standard error, without `seed`.

    Args:
        found: z D(z) of the runs of each block.
        z: of each block, of increasing strata; an even number.
    """
    square = float(np.mean(np.square(z)))
    means = xr.concat([one.mean("seed") for one in found], "block") / square
    slope = means.mean("block")
    left = means - slope * xr.DataArray(np.square(z) / square, dims="block")
    pairs = left.isel(block=slice(0, None, 2)) - left.isel(block=slice(1, None, 2))
    return slope, (pairs**2).sum("block") ** 0.5 / len(z)
