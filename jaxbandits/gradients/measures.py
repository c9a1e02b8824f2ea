"""The quantities that gradients are taken of: a number of each run, and how it depends on the means themselves."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import xarray as xr
from jax.typing import ArrayLike

from jaxbandits.algorithms.protocol import Arms
from jaxbandits.engine.metric import Metric
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.problems.base import Problem

__all__ = ["DIRECT", "MEASURES", "OWN", "DirectPart", "Measure", "measure_of", "one_number", "wrong"]

#: Names of the metrics that runs are made with.
OWN, DIRECT = "own_measure", "direct_part"

#: A number of a run from problem, state and returned arms.
Function = Callable[[Any, Arms, jax.Array], ArrayLike]


class Measure(NamedTuple):
    """A number of each run."""

    value: Callable[[xr.Dataset], xr.DataArray]
    #: The same as a function of the problem, where it depends on the means themselves.
    of_problem: Function | None = None


def _several(x: jax.Array, bandits: int) -> jax.Array:
    return x.reshape(-1, bandits)


def _cost(problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
    del recommended
    price = 1.0 if problem.costs is None else problem.costs.expected(problem.mean)
    return jnp.sum(state.pulls * price)


def _simple_regret(problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
    """Return the m-th best mean minus the worst returned one; the largest of several bandits'."""
    del state
    means, returned = (_several(x, problem.bandits) for x in (problem.mean, recommended))
    ordered = -jnp.sort(-means, axis=0)
    last = jnp.maximum(jnp.sum(returned, axis=0) - 1, 0)
    threshold = jnp.take_along_axis(ordered, last[None], axis=0)[0]
    return jnp.max(threshold - jnp.min(jnp.where(returned, means, jnp.inf), axis=0))


def _aggregate_regret(problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
    """Return the mean of the best m means minus the mean of the returned, on average over bandits."""
    del state
    means, returned = (_several(x, problem.bandits) for x in (problem.mean, recommended))
    number = jnp.sum(returned, axis=0)
    best = jnp.sum(jnp.where(jnp.arange(means.shape[0])[:, None] < number, -jnp.sort(-means, axis=0), 0), axis=0)
    gained = jnp.sum(jnp.where(returned, means, 0), axis=0)
    return jnp.mean((best - gained) / jnp.maximum(number, 1))


def _of(name: str) -> Callable[[xr.Dataset], xr.DataArray]:
    return lambda ds: ds[name]


def wrong(ds: xr.Dataset) -> xr.DataArray:
    """Return whether a run's answer is wrong, bool, with the criterion in its attributes."""
    return (~ds["correct"]).assign_attrs({**ds["correct"].attrs, "long_name": "answer is wrong"})


MEASURES: dict[str, Measure] = {
    "pulls": Measure(_of("pulls")),
    "steps": Measure(_of("steps")),
    "cost": Measure(_of("cost"), _cost),
    "error": Measure(wrong),
    "simple_regret": Measure(_of("simple_regret"), _simple_regret),
    "aggregate_regret": Measure(_of("aggregate_regret"), _aggregate_regret),
}


def measure_of(metric: object) -> Measure:
    """Return the measure of this name, or of a user's function.

    Raises:
        UsageError: an unknown name, or an object that is not a function.
    """
    if isinstance(metric, str):
        if metric not in MEASURES:
            raise unknown_name("metric", metric, MEASURES)
        return MEASURES[metric]
    function = metric.function if isinstance(metric, Metric) else metric
    if not callable(function):
        raise UsageError(f"a metric is a name or a function of problem, state and returned arms, got {metric!r}")
    return Measure(_of(OWN), function)


def one_number(metric: Callable[..., ArrayLike] | Metric) -> Metric:
    """Return a user's metric as one that is refused if it has a number for each arm."""
    given = metric if isinstance(metric, Metric) else Metric(metric)
    return dataclasses.replace(given, function=_OneNumber(given.function))


@dataclasses.dataclass(frozen=True)
class _OneNumber:
    """A metric that checks its shape; two of the same function are equal, so that they are one program."""

    function: Function

    def __call__(self, problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
        """Return the number, `()`."""
        value = jnp.asarray(self.function(problem, state, recommended))
        if value.shape:
            raise UsageError(f"the metric must be one number of a run here, got {value.dtype} {value.shape}")
        return value


@dataclasses.dataclass(frozen=True)
class DirectPart:
    """A metric: the derivative of a measure in a parameter of each arm, with the state and the answer fixed.

    Two of the same are equal, so that they are one program.
    """

    function: Function
    parameter: str

    def __call__(self, problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
        """Return float32 `(K,)`."""
        leaf = getattr(problem, self.parameter)

        def moved(leaf: jax.Array) -> jax.Array:
            changed: dict[str, Any] = {self.parameter: leaf}
            value = jnp.asarray(self.function(dataclasses.replace(problem, **changed), state, recommended))
            if not jnp.issubdtype(value.dtype, jnp.floating):  # a count or a verdict, constant where it has a slope
                return jnp.zeros(())
            return value

        slope: jax.Array = jax.grad(moved)(leaf)
        return slope
