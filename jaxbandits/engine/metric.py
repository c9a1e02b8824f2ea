"""Metrics of a run: a function, and the labels of its values."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.pytrees import is_key
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.outside_values import no_random_numbers
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.transform import map_runs
from jaxbandits.users_code.cache_key import code_of

__all__ = ["Metric", "MetricKind", "Metrics", "check_metrics", "functions_of", "measured", "users_metrics"]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A number that is measured for every run, or for each arm of every run.

    Attributes:
        function: takes the problem, leaves `(K,)`, the run's state, and the returned arms, bool `(K,)`. It returns a
            truth value or a number `()`, or one for each arm `(K,)`, and is written with `jax.numpy`. It sees the arms
            that a reservoir gave the run, and the state as `jaxbandits.run` returns it. It is compiled into the engine:
            another function object compiles again. In a grid over numbers of arms a fraction of an arm that a problem
            lacks is NaN, a whole number 0.
        unit: the unit of the values, for labels.
        long_name: the name in words, for labels; empty for the function's name.

    Example:
        >>> pulls_of_first = jb.Metric(lambda problem, state, recommended: state.pulls[0], unit="pulls")
        >>> metrics = {"first": pulls_of_first}
        >>> ds = jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10, metrics=metrics)
        >>> int(ds.first.max())
        10
    """

    function: Callable[[Any, Arms, jax.Array], ArrayLike]
    unit: str = ""
    long_name: str = ""


#: Metrics by name, in the order of the log; hashable, by the identity of the functions.
Metrics = tuple[tuple[str, Metric], ...]


class MetricKind(NamedTuple):
    """The type of a metric's values."""

    dtype: np.dtype
    per_arm: bool


def users_metrics(given: Mapping[str, Any] | None, taken: Mapping[str, object]) -> Metrics:
    """Return the user's metrics, after checking their names and functions.

    Args:
        given: functions or `Metric`s by name; None for none.
        taken: names that are in use.

    Raises:
        UsageError: an invalid name, one that is in use, or an object that is not a function.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise UsageError(f"metrics must be functions by name, {{'name': function}}, got {type(given).__name__}")
    found = []
    for name, one in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise UsageError(f"a metric's name must be a Python identifier, got {name!r}")
        if name in taken:
            raise UsageError(f"the metric {name!r} needs another name: the results have {name!r} already")
        metric = one if isinstance(one, Metric) else Metric(one)
        if not callable(metric.function):
            raise UsageError(f"the metric {name!r} must be a function of problem, state and returned arms, got {one!r}")
        try:
            hash(metric)
        except TypeError:
            raise UsageError(f"the metric {name!r} must be a function that can be hashed, got {one!r}") from None
        found.append((name, metric))
    return tuple(found)


def functions_of(metrics: Metrics) -> dict[str, Callable[..., ArrayLike]]:
    """Return the functions, by the metrics' names."""
    return {name: metric.function for name, metric in metrics}


def check_metrics(
    metrics: Metrics, algorithm: MappedAlgorithm, problem: Problem, key: jax.Array
) -> dict[str, MetricKind]:
    """Return the types of metrics; a run is traced, not made.

    Args:
        metrics: the metrics, by name.
        algorithm: the mapped algorithm, for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.

    Raises:
        UsageError: a function that fails, draws from NumPy or Python, or whose result is not a number.
    """
    if not metrics:
        return {}

    def first(problem: Problem) -> tuple[Problem, Arms, jax.Array]:
        realised = problem.realised(key)
        state = algorithm.init(realised, key)
        return realised, algorithm.state_of(state), algorithm.recommend(state)

    seen = jax.eval_shape(first, problem)
    code = code_of(problem, functions=functions_of(metrics))
    found = {}
    for name, metric in metrics:
        try:
            with traced(f"the metric {name!r}"), code.traced(), no_random_numbers(f"the metric {name!r}"):
                value = jax.eval_shape(lambda *seen, metric=metric: _array_of(metric.function(*seen)), *seen)
        except UsageError:
            raise
        except Exception as error:
            what = " ".join(str(error).split())[:300]
            raise UsageError(f"the metric {name!r} fails: {type(error).__name__}: {what}") from None
        if value.shape not in ((), (problem.arms,)) or _kind(value) not in "biuf":
            raise UsageError(
                f"the metric {name!r} must be one number of a run or of each arm, got {value.dtype} {value.shape}"
            )
        if value.dtype.kind == "u" and value.dtype.itemsize > 2:
            raise UsageError(
                f"the metric {name!r} is {value.dtype}, of which int32 holds half: return int32 or float32"
            )
        dtype = np.dtype({"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float32}[_kind(value)])
        found[name] = MetricKind(dtype, per_arm=bool(value.shape))
    return found


def measured(metrics: Metrics, problem: Problem, state: Arms, recommended: jax.Array) -> dict[str, jax.Array]:
    """Return the metrics of R runs, float32, int32 or bool `(R,)` or `(K, R)`, from leaves with runs last."""

    def of_run(metric: Metric) -> Callable[..., jax.Array]:
        def value(problem: Problem, state: Arms, recommended: jax.Array) -> jax.Array:
            found = _array_of(metric.function(problem, state, recommended))
            kinds = {"b": jnp.bool_, "i": jnp.int32, "u": jnp.int32, "f": jnp.float32}
            return found.astype(kinds[_kind(found)])

        return value

    return {name: map_runs(of_run(metric))(problem, state, recommended) for name, metric in metrics}


def _array_of(value: ArrayLike) -> jax.Array:
    """Return an array of JAX; a whole number of NumPy that int32 does not hold is refused, as one of Python's is."""
    whole = isinstance(value, np.integer | np.ndarray) and value.dtype.kind in "iu"
    if whole and not np.array_equal(value, np.asarray(value).astype(np.int32)):
        raise OverflowError(f"{value} is too large for int32: return a float")
    return jnp.asarray(value)


def _kind(value: jax.Array | jax.ShapeDtypeStruct) -> str:
    """Return NumPy's letter of a type's kind; bfloat16 is a float, too, and keys have none."""
    if is_key(value):
        return "key"
    return "f" if jnp.issubdtype(value.dtype, jnp.floating) else str(value.dtype.kind)
