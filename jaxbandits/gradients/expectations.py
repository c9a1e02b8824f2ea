"""The expectation of a metric, and its gradient in parameters of the problem's law or of the algorithm."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits.algorithms.parameters import values_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import shown, whole
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.binding import accept
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.metric import Metric
from jaxbandits.errors import UsageError, renamed, unknown_name
from jaxbandits.gradients.differences import (
    NUDGE,
    by_differences,
    by_problem_differences,
    nudged,
    nudged_problem,
    slope_of,
)
from jaxbandits.gradients.likelihood_ratio import by_scores, centred, check_scored, score_metrics
from jaxbandits.gradients.measures import OWN, measure_of, one_number
from jaxbandits.gradients.missing_values import linearised
from jaxbandits.gradients.rare_outcomes import carrying, distinct, enough, fewer, varied, warn_of_few
from jaxbandits.gradients.several_parameters import takes_several
from jaxbandits.gradients.softened_policies import PolicyScore, Softened
from jaxbandits.problems import Problem
from jaxbandits.problems.constructors import ProblemFamily, listed
from jaxbandits.status import stopped_early
from jaxbandits.sweeps.run import sweep

__all__ = ["expected"]

#: Metrics that a budget or a limit of pulls may determine.
_SPENT = ("pulls", "steps", "cost")
#: Name of the metric that a softened policy's gradient needs.
POLICY_SCORE = "policy_score"


@renamed(told_anew="refit_algorithm")
@takes_several
@own_settings()
def expected(
    metric: str | Callable[..., ArrayLike] | Metric,
    algorithm: Any,
    problem: Problem,
    wrt: str | Sequence[str] = "mean",
    *,
    seeds: int = 10_000,
    root_seed: int = 0,
    smoothing: float | None = None,
    refit_algorithm: bool = False,
    max_pulls: int | None = None,
    checkpoints: Sequence[int] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> xr.Dataset:
    """Return the expectation of a metric over runs, and its gradient.

    A parameter of the problem's law, with one value for each arm: the gradient is estimated by the score function.
    This differentiates the law of the rewards, and also a metric that depends on the means itself (a regret; costs paid
    per reward). The algorithm's parameters stay fixed, also those that it takes from the problem: a range of rewards, a
    moment, the true gaps of an oracle. With `refit_algorithm` these follow the problem, and the derivative includes
    their change. It is then a difference of runs that see the same random numbers, at 5% on both sides of each value.

    A parameter of the algorithm: the gradient is a difference of runs that see the same rewards, at 5% on both
    sides of the value. With `smoothing` it is the derivative of the expectation under normal noise of the parameter,
    cut off at 3.5 standard deviations; 32 blocks of the seeds have noise of their own.
    An error is judged by the algorithm's own epsilon, so the derivative in epsilon includes the change of the
    criterion.

    A parameter of a softened policy (`jb.gradients.softened`): the derivative is exact, by the score function.

    Args:
        metric: `pulls`, `steps`, `cost`, `error`, `simple_regret` or `aggregate_regret`; or a function of problem,
            state and returned arms to a number, as for `jb.simulate`.
        algorithm: for the law's parameters, an algorithm that pulls arms one by one; its other parameters may have
            axes.
        problem: for the law's parameters, a family whose densities are smooth in them.
        wrt: the name of a parameter of the law (`mean` where it is one, `sd`, `dof`, `a`, …) or of the algorithm
            (`epsilon`, `delta`, `c`, …). Where both have the name, use `problem.a` or `algorithm.a`. A list of names
            makes the runs of each in turn, and returns `gradient_mean` and `gradient_mean_se`, for example, for each.
        seeds: number of runs, at least 2.
        root_seed: as in `jb.simulate`; the runs are the same.
        smoothing: standard deviation of the noise of an algorithm's parameter, positive; None for a difference.
        refit_algorithm: whether the parameters that the algorithm takes from the problem follow the law's parameter.
        max_pulls: as in `jb.simulate`. Truncated runs are counted in `stopped_early`, and judged by their last state.
        checkpoints: as in `jb.simulate`; the gradients are then those of the curve.
        on_progress: called now and then with the runs and pulls done so far.

    Returns:
        float64 `value` and `value_se`, with the axes of the algorithm, and `checkpoint` where there are checkpoints.
        With `smoothing`, too, `value` is of the parameter itself, without noise.
        float64 `gradient` and `gradient_se`; for the law's parameters these also have the axes `arm` (`bandit`, `arm`).
        Standard errors are those of means over runs. Runs without the metric, such as a regret where no arm is
        returned, are left out: value and gradient are of the others' mean.
        int64 `outcomes`, the number of different values of the metric. int64 `gradient_runs`, the number of runs that
        carry the gradient. Where it is below 30 and below a tenth of the runs, the standard error is infinite. There is
        also a warning if 1000 runs or more were made. `attrs` name the estimator, and the width of a difference or of
        the noise.

    Raises:
        UsageError: an unknown metric or parameter; or a parameter without a derivative. These are whole numbers, a law
            without a score, a value at the edge of its range, and parameters of laws where the algorithm draws sums.

    Example:
        >>> rule, problem = jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4])
        >>> g = jb.gradients.expected("error", rule, problem, wrt="mean", seeds=100)
        >>> g.gradient.shape
        (2,)
    """
    assert isinstance(wrt, str)  # a list was split by `takes_several`
    measure = measure_of(metric)
    known, parameter, kind = _target(algorithm, problem, wrt)
    own: dict[str, Callable[..., ArrayLike] | Metric] = {}
    if not isinstance(metric, str):  # a gradient in the law has a number for each arm itself
        own[OWN] = one_number(metric) if kind == "law" else metric
    about: dict[str, str | float] = {}
    if kind != "algorithm" and smoothing is not None:
        what = "the problem" if kind == "law" else "a softened policy, whose derivative is exact"
        raise UsageError(f"smoothing applies to a parameter of the algorithm, and {wrt} is one of {what}")
    explored: Problem | ProblemFamily = problem
    if refit_algorithm and kind != "law":
        raise UsageError(
            f"refit_algorithm=True applies to a parameter of the problem, and {wrt} is one of the algorithm"
        )
    if whole("seeds", seeds, 1, MAX_COUNT) == 1:
        raise UsageError("a gradient needs at least 2 seeds: its standard error is that of a mean")
    blocks: list[tuple[Rule, int]] = [(algorithm, seeds)]
    if refit_algorithm:
        around = nudged_problem(problem, parameter, wrt)
        explored = listed(around.problems, NUDGE)
        about["estimator"] = "differences with common random numbers, the algorithm refitted"
    elif kind == "law":
        check_scored(known, problem, parameter, wrt)
        own |= score_metrics(measure, parameter)
        about["estimator"] = "score function, each arm's score its own control variate"
    elif kind == "policy":
        own |= {POLICY_SCORE: PolicyScore(algorithm.scored.index(parameter))}
        about["estimator"] = "score function of the softened policy, its own control variate"
    else:
        nudges = nudged(known, parameter, smoothing, seeds, root_seed)
        blocks = [(one.of(known), one.seeds) for one in nudges]
        how = "differences" if smoothing is None else "Gaussian smoothing"
        about |= {"estimator": f"{how} with common random numbers", "width": nudges[0].width}
    options = {"root_seed": root_seed, "max_pulls": max_pulls, "checkpoints": checkpoints, "metrics": own}
    found = list(_runs(blocks, explored, on_progress, options))
    values = [measure.value(runs).astype(np.float64) for runs in found]
    runs, value, slope = found[0], values[0], None
    if refit_algorithm:
        terms, status = by_problem_differences(linearised(value), around), runs["status"].isel({NUDGE: 0}, drop=True)
        value, number = value.isel({NUDGE: 0}, drop=True), carrying(terms)
    elif kind == "law":
        (terms, number), status = by_scores(runs, value, problem, parameter, root_seed, wrt), runs["status"]
    elif kind == "policy":
        score, status = runs[POLICY_SCORE].astype(np.float64), runs["status"]
        terms = centred(value, score)
        number = fewer(carrying(terms), varied(score))
    else:
        parts = [by_differences(linearised(one), nudge) for one, nudge in zip(values, nudges, strict=True)]
        terms = xr.concat(parts, "seed")
        value = xr.concat([one.isel({NUDGE: 0}, drop=True) for one in values], "seed")
        status = xr.concat([one["status"].isel({NUDGE: 0}, drop=True) for one in found], "seed")
        number = carrying(terms)
        slope = None if smoothing is None else slope_of(parts, [one.z for one in nudges])
    terms = terms.drop_attrs()  # gradients have other units
    outcomes, stopped, value = distinct(value), stopped_early(status), linearised(value)
    if metric in _SPENT:  # the budget or the limit determines this number for every run
        given = known.given("budget") is not None
        number = number.where((outcomes > 1) | ~(stopped.all("seed") | given), seeds)
    number = number.transpose(*(name for name in terms.dims if name != "seed")).drop_attrs()
    name_of = metric if isinstance(metric, str) else getattr(metric, "__name__", "own")
    warn_of_few(f"{name_of} in {wrt}", number, seeds)
    root = seeds**0.5
    gradient, se = slope or (terms.mean("seed"), terms.std("seed", ddof=1) / root)
    return xr.Dataset(
        {
            "value": value.mean("seed"),
            "value_se": (value.std("seed", ddof=1) / root).drop_attrs(),
            "gradient": gradient.drop_attrs(),
            "gradient_se": se.drop_attrs().where(enough(number, seeds), np.inf),
            "gradient_runs": number.assign_attrs(long_name="runs that the gradient rests on"),
            "outcomes": outcomes.drop_attrs().assign_attrs(long_name="different values of the metric"),
            "stopped_early": stopped.sum("seed"),
        },
        attrs={
            "metric": name_of,
            "wrt": wrt,
            **about,
            "problem": problem.name,
            **{name: runs.attrs[name] for name in ("algorithm", "root_seed", "jaxbandits_version")},
            "seeds": seeds,
        },
    )


def _runs(
    blocks: Sequence[tuple[Rule, int]], problem: Problem | ProblemFamily,
    on_progress: Callable[[Progress], None] | None, options: dict[str, Any],
) -> Iterator[xr.Dataset]:  # fmt: skip
    """Make the runs of one block of seeds after another, of an algorithm each."""
    first, now = 0, Progress(0, 0.0)

    def report(progress: Progress) -> None:
        nonlocal now
        now = progress.after(before)
        assert on_progress is not None
        on_progress(now)

    told = None if on_progress is None else report
    for algorithm, seeds in blocks:
        before = now
        yield sweep(algorithm, problem, seeds, first_seed=first, on_progress=told, **options)
        first += seeds


def _target(algorithm: Any, problem: object, wrt: str) -> tuple[Rule, str, str]:
    """Return the algorithm, the parameter's name, and its kind: `law`, `algorithm` or `policy`."""
    if not isinstance(problem, Problem):
        raise UsageError(f"a gradient needs a single problem, such as jb.bernoulli([0.7, 0.5]), got {shown(problem)}")
    known = accept(algorithm)
    if problem.finite and (wrt in problem.parameters or wrt.startswith("problem.") or wrt == "mean"):
        raise UsageError(
            f"{problem.name}: scores of a matrix are given, and have no law with a parameter {wrt}: a gradient is in a "
            "parameter of the algorithm"
        )
    law = {name: name for name in problem.parameters} | ({"mean": problem.mean_is} if problem.mean_is else {})
    policy = isinstance(algorithm, Softened)
    own = {name: name for name in (algorithm.scored if policy else values_of(known))}
    names = {f"problem.{name}": (leaf, "law") for name, leaf in law.items()}
    names |= {f"algorithm.{name}": (name, "policy" if policy else "algorithm") for name in own}
    if wrt in law and wrt in own:
        raise UsageError(f"problem and algorithm both have a parameter {wrt}: use problem.{wrt} or algorithm.{wrt}")
    names |= {name: names[f"problem.{name}"] for name in law} | {name: names[f"algorithm.{name}"] for name in own}
    if wrt not in names:
        raise unknown_name("parameter of the problem or the algorithm", wrt, [*law, *own], likeness=0.75)
    return known, *names[wrt]
