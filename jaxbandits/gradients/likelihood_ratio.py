"""Gradients in the parameters of a problem by the score function, also called likelihood ratio or REINFORCE.

d E[f] / d theta = E[(f - b) S] + E[d f / d theta], where S = d log p(rewards) / d theta is the score of a run and b any
number, since E[S] = 0 (Williams 1992, "Simple statistical gradient-following algorithms for connectionist reinforcement
learning"). An optional-stopping argument extends this to runs that end by themselves (Glynn 1990, "Likelihood ratio
gradient estimation for stochastic systems"). Decisions may be as hard as they like: only the law of the rewards is
differentiated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.checks import FINITE, each
from jaxbandits.engine.admission import admitted
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.metric import Metric
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.gradients.measures import DIRECT, OWN, Measure, direct_part, measure_of
from jaxbandits.gradients.reward_scores import scores
from jaxbandits.problems import Problem
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.run import sweep

__all__ = ["expected"]

_ARM_PULLS = "arm_pulls"


def _arm_pulls(problem: Any, state: Any, recommended: Any) -> Any:
    del problem, recommended
    return state.pulls


def expected(
    metric: str | Callable[..., Any] | Metric,
    algorithm: Any,
    problem: Problem,
    wrt: str = "mean",
    *,
    seeds: int = 10_000,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[int] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> xr.Dataset:
    """The expectation of a metric over runs, and its gradient in a parameter of each arm.

    The law of the rewards is differentiated, and the metric where it depends on the means itself (a regret; costs paid
    per reward). What the algorithm is told stays as it is, also where it took it from the problem: a range of rewards,
    a moment, the true gaps of an oracle.

    Args:
        metric: `pulls`, `steps`, `cost`, `error`, `simple_regret` or `aggregate_regret`; or a function of problem,
            state and returned arms to a number, as for `jb.simulate`.
        algorithm: any that pulls arms one by one; its parameters may have axes.
        problem: of a family whose densities are smooth in the parameter, leaves `(K,)`.
        wrt: the parameter: `mean` where the mean is one, or the name of a leaf (`sd`, `dof`, `a`, …).
        seeds: runs, at least 2.
        root_seed: as in `jb.simulate`, whose runs these are.
        max_pulls: as there; runs that are stopped are counted in `stopped_early`, and judged as they are then.
        checkpoints: as there; the gradients of the curve.
        on_progress: called now and then with the runs and pulls done so far.

    Returns:
        `value` and `value_se`, with the axes of the algorithm and `checkpoint` where asked for; `gradient` and
        `gradient_se` with `arm` (`bandit`, `arm`) too; float64. Standard errors of the mean over runs. `baseline` is
        b / E[f]: 1 where the score's own control variate is the mean.

    Raises:
        UsageError: a metric or parameter that is not there, an algorithm that draws sums of rewards, a law without a
            score, or a parameter at the edge of its range.
    """
    measure = measure_of(metric)
    parameter = _parameter(algorithm, problem, wrt)
    own: dict[str, Any] = {_ARM_PULLS: _arm_pulls}
    if not isinstance(metric, str):
        own[OWN] = metric
    direct = measure.of_problem
    if direct is not None:
        own[DIRECT] = direct_part(direct, parameter)
    runs = sweep(
        algorithm, problem, seeds, root_seed=root_seed, max_pulls=max_pulls, checkpoints=checkpoints, metrics=own,
        on_progress=on_progress,
    )  # fmt: skip
    if runs.sizes["seed"] < 2:
        raise UsageError("a gradient needs at least 2 seeds: its standard error is that of a mean")
    found = _estimate(runs, measure, _scores(runs[_ARM_PULLS], problem, parameter, root_seed), direct is not None)
    return found.assign_attrs(
        metric=metric if isinstance(metric, str) else getattr(metric, "__name__", "own"),
        wrt=wrt,
        estimator="score function, each arm's score its own control variate",
        **{name: runs.attrs[name] for name in ("algorithm", "problem", "root_seed", "jaxbandits_version")},
        seeds=seeds,
    )


def _parameter(algorithm: Any, problem: Any, wrt: str) -> str:
    """The leaf that is meant."""
    if not isinstance(problem, Problem):
        raise UsageError(f"a gradient is one of a single problem, such as jb.bernoulli([0.7, 0.5]), got {problem!r}")
    known = admitted(algorithm)
    named = {**{name: name for name in problem.parameters}, **dict.fromkeys(["mean"] * bool(problem.mean_is), "")}
    if wrt not in named:
        if wrt in known.values:
            raise UsageError(f"{wrt} is a parameter of {known.name}: gradients are in those of the problem's law")
        raise unknown_name("parameter of the problem", wrt, named)
    parameter = problem.mean_is if wrt == "mean" else wrt
    if parameter not in problem.scored:
        others = f": only in {', '.join(problem.scored)}" if problem.scored else ""
        raise UsageError(
            f"{problem.name or type(problem).__name__} has no score in {wrt}{others} "
            "(what rewards are possible moves with it, or they are no draws of a density)"
        )
    if known.traits.in_batches:
        raise UsageError(f"{known.name} draws sums of rewards, of which no score is taken yet")
    each(f"{wrt}, for a score,", np.asarray(getattr(problem, parameter)), problem.score_range or FINITE, "arm")
    return parameter


def _scores(pulls: xr.DataArray, problem: Problem, parameter: str, root_seed: int) -> xr.DataArray:
    """Scores with the dimensions of the pulls."""
    inner = [name for name in ("arm", "bandit") if name in pulls.dims]  # arm k of bandit b is number k M + b
    ordered = pulls.transpose(..., "seed", *inner)
    flat = ordered.to_numpy().reshape(*ordered.shape[: ordered.ndim - len(inner)], -1)
    return ordered.copy(data=scores(problem, parameter, flat, root_seed).reshape(ordered.shape))


def _estimate(runs: xr.Dataset, measure: Measure, score: xr.DataArray, with_direct: bool) -> xr.Dataset:
    """Means over seeds, and their standard errors."""
    value, number = measure.value(runs).astype(np.float64), runs.sizes["seed"]
    squared = score**2
    weight = squared.sum("seed")
    # The b with the least variance is E[f S^2] / E[S^2]; an arm that is never pulled has no score.
    baseline = (value * squared).sum("seed") / weight.where(weight > 0)
    baseline = baseline.fillna(value.mean("seed"))
    terms = (value - baseline) * score
    if with_direct:
        terms = terms + runs[DIRECT].astype(np.float64)
    arms = [name for name in ("bandit", "arm") if name in score.dims]
    return xr.Dataset(
        {
            "value": value.mean("seed"),
            "value_se": value.std("seed", ddof=1) / number**0.5,
            "gradient": terms.mean("seed").transpose(..., *arms),
            "gradient_se": (terms.std("seed", ddof=1) / number**0.5).transpose(..., *arms),
            "stopped_early": stopped_early(runs["status"]).sum("seed"),
        }
    )
