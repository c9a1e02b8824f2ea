"""Gradients in the parameters of a problem by the score function, also called likelihood ratio or REINFORCE.

The identity is d E[f] / d theta = E[(f - b) S] + E[d f / d theta]. Here S = d log p(rewards) / d theta is the score of
a run, and b is any number, since E[S] = 0. The source is Williams 1992, "Simple statistical gradient-following
algorithms for connectionist reinforcement learning". An optional-stopping argument extends this to runs that end by
themselves (Glynn 1990, "Likelihood ratio gradient estimation for stochastic systems"). Decisions need not be smooth:
only the law of the rewards is differentiated.
"""

from collections.abc import Callable

import jax
import numpy as np
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.checks import FINITE, each
from jaxbandits.errors import UsageError
from jaxbandits.gradients.measures import DIRECT, DirectPart, Measure
from jaxbandits.gradients.missing_values import linearised
from jaxbandits.gradients.rare_outcomes import carrying, fewer, varied
from jaxbandits.gradients.reward_scores import scores
from jaxbandits.gradients.score_checks import check_scores
from jaxbandits.problems import Problem

__all__ = ["ARM_PULLS", "by_scores", "centred", "check_scored", "score_metrics"]

#: Name of the metric that scores need.
ARM_PULLS = "arm_pulls"
#: A sum of other runs below this share of a run's own is what subtracting has left.
_ROUNDING = 1e-9


def _arm_pulls(problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
    del problem, recommended
    return state.pulls


def check_scored(known: Rule, problem: Problem, parameter: str, wrt: str) -> None:
    """Check that a problem and an algorithm have a score in a parameter, named `wrt` by the user.

    Raises:
        UsageError: a law without one in this parameter, a value at the edge of its range, or sums of rewards.
    """
    if parameter not in problem.scored:
        others = f": only in {', '.join(problem.scored)}" if problem.scored else ""
        raise UsageError(
            f"{problem.name or type(problem).__name__} has no score in {wrt}{others} "
            "(either the range of its rewards depends on it, or its rewards have no density)"
        )
    if not any("log_density" in vars(one) for one in type(problem).__mro__ if one is not Problem):
        raise UsageError(f"{type(problem).__name__} has scored parameters, but no log_density, which scores rest on")
    if known.traits.in_batches:
        raise UsageError(f"{type(known).__name__} draws sums of rewards, which have no score yet")
    each(f"{wrt}, for a score,", np.asarray(getattr(problem, parameter)), problem.score_range or FINITE, "arm")


def score_metrics(measure: Measure, parameter: str) -> dict[str, Callable[..., ArrayLike]]:
    """Return the metrics that runs must measure for `by_scores`."""
    direct = {} if measure.of_problem is None else {DIRECT: DirectPart(measure.of_problem, parameter)}
    return {ARM_PULLS: _arm_pulls, **direct}


def by_scores(
    runs: xr.Dataset, value: xr.DataArray, problem: Problem, parameter: str, root_seed: int, wrt: str
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return each run's sample of the gradient in `parameter`, which the user named `wrt`, and how many runs carry it.

    Both have the dimensions of `value` and the arms.

    Raises:
        UsageError: scores, or the metric's own derivative in runs that have the metric, that are not finite.
    """
    score = _scores(runs[ARM_PULLS], problem, parameter, root_seed)
    check_scores(score, problem, wrt)
    terms = centred(value, score)
    number = fewer(carrying(terms), varied(score, runs[ARM_PULLS]))
    if DIRECT in runs:
        direct = runs[DIRECT].astype(np.float64).where(value.notnull())
        # A NaN here is no run without the metric: the mean over the other runs would be another number.
        if lost := int((value.notnull() & ~np.isfinite(direct)).sum()):
            raise UsageError(
                f"the metric's derivative in {wrt} is not finite {lost:,} times, as that of a square root at 0: "
                "jnp.where must choose its argument, not only its result"
            )
        terms = terms + linearised(direct)
    arms = [name for name in ("bandit", "arm") if name in terms.dims]
    return terms.transpose(..., *arms), number.transpose(..., *arms)


def centred(value: xr.DataArray, score: xr.DataArray) -> xr.DataArray:
    """Return (f - b) S of each run, with the b of least variance, E[f S^2] / E[S^2], of all other runs.

    Some runs may have no f. The terms' mean is then the gradient of the mean of those that have one, a ratio. Their
    spread includes that of both means of the ratio.
    """
    there, value, squared = value.notnull(), linearised(value), score**2
    weighted = value * squared
    others = squared.sum("seed") - squared
    baseline = (weighted.sum("seed") - weighted) / others.where(others > _ROUNDING * squared)
    terms = (value - baseline.fillna(value.mean("seed"))) * score  # an arm that is never pulled has no score
    if bool(there.all()):
        return terms
    share = there.mean("seed")
    slope = ((score - score.mean("seed")) * there).mean("seed") / share  # of the logarithm of the share
    return terms - slope * (value - value.mean("seed")) - terms.mean("seed") * (there / share - 1)


def _scores(pulls: xr.DataArray, problem: Problem, parameter: str, root_seed: int) -> xr.DataArray:
    """Return scores with the dimensions of the pulls."""
    inner = [name for name in ("arm", "bandit") if name in pulls.dims]  # arm k of bandit b is number k M + b
    ordered = pulls.transpose(..., "seed", *inner)
    flat = ordered.to_numpy().reshape(*ordered.shape[: ordered.ndim - len(inner)], -1)
    return ordered.copy(data=scores(problem, parameter, flat, root_seed).reshape(ordered.shape))
