"""Checks of scores: they are finite, and average 0 as those of a density of the rewards do."""

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError, warn
from jaxbandits.gradients.rare_outcomes import carrying, fewer, place_of
from jaxbandits.problems.base import Problem

__all__ = ["check_scores"]

#: Means this many standard errors from 0 are no chance: below 1e-14 for normal ones.
_FAR = 8.0
#: Standard errors are trusted where this many runs carry the mean, and lie on either side of 0.
_ENOUGH = 30


def check_scores(score: xr.DataArray, problem: Problem, wrt: str) -> None:
    """Check the scores of runs, and warn if they are not those of the rewards' density.

    The mean of a score is 0, also where runs end by themselves. A mean far from it says that the family's `log_density`
    is another law's, or that its slope is lost in float32's rounding.

    Args:
        score: float64, with `seed` and the arms.
        problem: the problem, for the message.
        wrt: the user's name of the parameter.

    Raises:
        UsageError: scores that are not finite; without these runs a gradient would be another number.
    """
    law = f"log_density of {problem.name or type(problem).__name__}"
    arms = [name for name in score.dims if name in ("arm", "bandit")]
    if lost := int((~(abs(score) < np.inf)).any(arms).sum()):
        raise UsageError(f"the derivative of the {law} in {wrt} is not finite in {lost:,} runs")
    runs = score.sizes["seed"]
    sides = fewer((score > 0).sum("seed"), (score < 0).sum("seed"))
    known = fewer(sides, carrying(score)) >= _ENOUGH
    spread = score.std("seed", ddof=1).where(known)
    distance = (abs(score.mean("seed")) / (spread / runs**0.5)).fillna(0.0)
    if (most := float(distance.max())) > _FAR:
        where = place_of(distance, int(distance.to_numpy().argmax()))
        warn(
            f"the gradient in {wrt} is biased: the derivative of the {law} averages {most:.0f} standard errors from 0 "
            f"({where}): it is not that of the rewards, or too small for float32"
        )
