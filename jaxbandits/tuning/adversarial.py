"""Instances on which an algorithm does badly: a climb over means at constant complexity."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits import theory
from jaxbandits.algorithms.parameters import axes_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.traits import answers_of, tolerance_of
from jaxbandits.checks import FINITE, INSIDE_UNIT, POSITIVE, as_single, number, seed, shown, whole
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.binding import accept
from jaxbandits.engine.metric import Metric
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.gradients.expectations import expected
from jaxbandits.gradients.rare_outcomes import interval_of_value
from jaxbandits.problems.base import Problem
from jaxbandits.tuning.complexity_level import Level
from jaxbandits.tuning.instance_parameters import seed_of
from jaxbandits.tuning.optimizers import optimizer_of
from jaxbandits.users_code.cache_key import code_of

__all__ = ["Hardened", "adversary"]


@dataclasses.dataclass(frozen=True)
class Hardened:
    """The result of `adversary`.

    Attributes:
        problem: the instance found.
        history: of each step `mean` of each arm, `value` and `value_se` of the metric there, `complexity`, and how many
            runs were `truncated`, int64: these are judged by their last state.
        judged: `value`, with `value_se`, `value_low` and `value_high` (95%), `complexity` and `truncated` of the
            instance at the `start` and the one `found`, from other runs than any step's.
    """

    problem: Problem
    history: xr.Dataset
    judged: xr.Dataset


@own_settings()
def adversary(
    algorithm: object,
    problem: Problem,
    metric: str | Callable[..., ArrayLike] | Metric = "error",
    *,
    complexity: Callable[[jax.Array], jax.Array] | None = None,
    within: tuple[float, float] | None = None,
    optimizer: optax.GradientTransformation | None = None,
    steps: int = 50,
    seeds: int = 2000,
    judged_seeds: int = 20_000,
    root_seed: int = 0,
    max_pulls: int | None = None,
    on_step: Callable[[xr.Dataset], None] | None = None,
) -> Hardened:
    """Find means of the same complexity on which a metric's expectation is larger.

    Each step takes the score-function gradient in the means (`jb.gradients.expected`), without its part along the
    gradient of the complexity. Then it scales the gaps to the best mean until the complexity is the start's again. It
    finds a local maximum, not a worst case.

    Args:
        algorithm: one that pulls arms one by one, without axes.
        problem: where the climb starts, of one bandit; of a family whose mean is a parameter with a score.
        metric: what is made large, as in `jb.gradients.expected`.
        complexity: function of the means `(K,)` to a number, which falls as gaps grow, traceable by JAX; None for
            `theory.h_epsilon` with the algorithm's own tolerance and number of arms returned.
        within: the range of means; None for [0.01, 0.99] where they are probabilities, 1% of the start's least and
            above where they must be positive, and no limits elsewhere.
        optimizer: of `optax`; None for `optax.adam(0.01)`.
        steps: at least 1.
        seeds: runs in a step, at least 2.
        judged_seeds: runs of the judgement, at least 2.
        root_seed: of the rewards.
        max_pulls: as in `jb.simulate`.
        on_step: called after each step with the history so far.

    Raises:
        UsageError: a problem without a score in its means, a range of means that its law does not have, or a start
            outside it. A complexity that is no number, not finite there, or does not fall as gaps grow.

    Example:
        >>> start = jb.bernoulli([0.8, 0.5, 0.4])
        >>> hard = jb.adversary(jb.Uniform(budget=30), start, steps=2, seeds=50, judged_seeds=100)
        >>> hard.problem.arms
        3
    """
    known = accept(algorithm)
    steps, seeds = whole("steps", steps, 1), whole("seeds", seeds, 2)
    judged_seeds, root_seed = whole("judged_seeds", judged_seeds, 2), seed("root_seed", root_seed)
    if not isinstance(problem, Problem) or problem.bandits > 1 or not problem.mean_is or problem.mask is not None:
        raise UsageError(f"an adversary starts at one bandit whose means are its parameters, got {shown(problem)}")
    if axes := axes_of(known):
        raise UsageError(f"an adversary needs one algorithm: {', '.join(axes)} must be one value, not an axis")
    measure_of_hardness = _usual(known) if complexity is None else _as_it_is_now(complexity)
    moving = optimizer_of(optimizer, 0.01)
    ends = _ends(problem, within)
    start = np.asarray(problem.mean, np.float64)
    if not ((start >= ends[0]) & (start <= ends[1])).all():
        raise UsageError(f"the means must lie in [{ends[0]:g}, {ends[1]:g}], got {start.tolist()}")
    jax.eval_shape(jax.grad(measure_of_hardness), jnp.asarray(start, jnp.float32))  # before the runs of a step
    level = Level(measure_of_hardness, ends, float(measure_of_hardness(jnp.asarray(start, jnp.float32))))
    if not 0 < level.at < np.inf:
        raise UsageError(f"the complexity must be positive and finite at the start, got {level.at}")
    level.check_falls(start)
    means = jnp.asarray(start, jnp.float32)
    state = moving.init(means)
    rows: list[dict[str, float | np.ndarray]] = []
    options: dict[str, Any] = {"wrt": "problem.mean", "max_pulls": max_pulls}  # the algorithm may have a mean too
    for step in range(steps):
        here = _with_means(problem, means)
        found = expected(metric, algorithm, here, seeds=seeds, root_seed=seed_of(root_seed, "steps", step), **options)
        rows.append(_row(means, found, level))
        if on_step is not None:
            on_step(_history(rows))
        climb = level.along(means, jnp.asarray(found["gradient"].to_numpy(), jnp.float32))
        updates, state = moving.update(-climb, state, means)
        moved = optax.apply_updates(means, updates)
        means = level.back(np.asarray(moved, np.float64))
    judged, ends_of = [], []
    for at in (jnp.asarray(start, jnp.float32), means):
        here, own_seed = _with_means(problem, at), seed_of(root_seed, "judge")
        one = expected(metric, algorithm, here, seeds=judged_seeds, root_seed=own_seed, **options)
        judged.append(_row(at, one, level))
        ends_of.append(interval_of_value(metric, one))
    names = xr.DataArray(["start", "found"], dims="instance", name="instance")
    judgement = _history(judged).rename(step="instance").assign_coords(instance=names)
    for name, values in zip(("value_low", "value_high"), zip(*ends_of, strict=True), strict=True):
        judgement[name] = "instance", np.asarray(values)
    return Hardened(_with_means(problem, means), _history(rows), judgement)


def _as_it_is_now(complexity: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
    """Wrap a user's function, of which JAX may have traced parts before they were edited."""
    if not callable(complexity):
        raise UsageError(f"complexity must be a function of the means, got {shown(complexity)}")
    code = code_of(functions={"complexity": complexity})

    def of_means(means: jax.Array) -> jax.Array:
        with code.traced(), traced("complexity"):
            found = complexity(means)
        if not (isinstance(found, jax.Array | float) and np.shape(found) == () and jnp.result_type(found).kind == "f"):
            raise UsageError(f"complexity must return one number of the means {means.shape}, got {shown(found)}")
        return found

    return of_means


def _usual(known: Rule) -> Callable[[jax.Array], jax.Array]:
    returned, epsilon = answers_of(known) or 1, tolerance_of(known)

    def complexity(means: jax.Array) -> jax.Array:
        return theory.h_epsilon(means, epsilon, m=returned)

    return complexity


def _ends(problem: Problem, within: tuple[float, float] | None) -> tuple[float, float]:
    """Return the range of means, rounded to float32 as the means are."""
    rule = problem.score_range or FINITE
    if within is None:
        least = 0.01 if rule is INSIDE_UNIT else 0.01 * float(problem.mean.min()) if rule is POSITIVE else -np.inf
        return float(np.float32(least)), float(np.float32(0.99 if rule is INSIDE_UNIT else np.inf))
    try:
        low, high = within
    except (TypeError, ValueError):
        raise UsageError(f"within must be two numbers, got {within!r}") from None
    low, high = (
        number(name, as_single(name, number(name, end)), rule)
        for name, end in (("within: the least mean", low), ("within: the largest mean", high))
    )
    if not low < high:
        raise UsageError(f"within must be a smaller and a larger number, got {within!r}")
    return low, high


def _with_means(problem: Problem, means: jax.Array) -> Problem:
    changed: dict[str, Any] = {problem.mean_is: means, "recipe": None}
    return dataclasses.replace(problem, **changed)


def _row(means: jax.Array, found: xr.Dataset, level: Level) -> dict[str, float | np.ndarray]:
    numbers = {name: float(found[name]) for name in ("value", "value_se")}
    judged = {"complexity": float(level.complexity(means)), "truncated": int(found["stopped_early"])}
    return {"mean": np.asarray(means, np.float64), **numbers, **judged}


def _history(rows: list[dict[str, float | np.ndarray]]) -> xr.Dataset:
    found = {name: np.asarray([row[name] for row in rows]) for name in rows[0]}
    data = {name: (("step", "arm")[: values.ndim], values) for name, values in found.items()}
    return xr.Dataset(data, coords={"step": np.arange(len(rows))})
