"""Checks of a user's problem before it runs: an error is one line, not a traceback of JAX."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import SMALLEST
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import shown
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.registry import REGISTRY
from jaxbandits.problems.value_range import check_moments, check_parameters, is_checked

__all__ = ["check_family", "check_problem", "check_values"]


def check_problem(problem: object) -> None:
    """Check that an object is a problem, or a family of problems with axes.

    Raises:
        UsageError: another object; or the user's own family, if it is not registered as a pytree, or its parameters
            are not arrays.
    """
    if isinstance(problem, ProblemFamily):
        return
    if not isinstance(problem, Problem):
        got = shown(problem)
        if isinstance(problem, str):
            name = problem.partition(":")[0].strip().lower().replace("_", "-")
            line = REGISTRY.lines.get(name, "")
            call = f", in Python jb.{line.partition(':')[2]}(…)" if line else ""
            got = f"the text {got}: texts are for the command line{call}"
        elif callable(problem) and not isinstance(problem, type):
            got = "a function: for rewards that you measure there is jb.AskTell(algorithm, arms=K)"
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {got}")
    if any(leaf is problem for leaf in jax.tree.leaves(problem)):
        raise UsageError(
            f"{type(problem).__name__} is not a pytree: put @jb.problems.register_problem above its "
            "@dataclasses.dataclass(frozen=True)"
        )
    for parameter in () if REGISTRY.holds(type(problem)) or problem.drawn else problem.parameters:
        leaf = getattr(problem, parameter)
        if not (hasattr(leaf, "shape") and leaf.shape):
            name = type(problem).__name__
            raise UsageError(f"{name}.{parameter} must be an array of a value for each arm, got {shown(leaf)}")
        if len(leaf) != problem.arms:
            name, first = type(problem).__name__, problem.parameters[0]
            raise UsageError(
                f"{name}.{parameter} must have a value for each of the {problem.arms} arms of {first}, got {len(leaf)}"
            )
        if leaf.ndim > 1 and type(problem).rewards is Problem.rewards:
            raise UsageError(
                f"{type(problem).__name__}.{parameter} must have one value for each arm, got the shape {leaf.shape}: "
                "make each column a field of its own"
            )
    if not (is_checked(problem) or is_traced(problem)):
        check_parameters(problem)


def check_family(problem: Problem, key: jax.Array) -> None:
    """Check that the methods of a user's own family of problems return what the engine needs; they are traced, not run.

    Args:
        problem: leaves `(K, …)`, one problem.
        key: a run's typed key `()`.

    Raises:
        UsageError: a method returns another type; it names the method, the type and the one needed.
    """
    if not REGISTRY.holds(type(problem)):
        jax.eval_shape(_check, problem, key)


def check_values(problem: Problem, key: jax.Array) -> None:
    """Check a problem as `check_family` does, and that its means and variances fit float32.

    Args:
        problem: leaves `(K,)`, one problem; one that is being traced has no values yet, and is not checked.
        key: a run's typed key `()`.

    Raises:
        UsageError: as for `check_family`; or a mean or a variance outside the range of float32.
    """
    if not (is_checked(problem) or is_traced(problem)):
        check_family(problem, key)
        check_moments(problem)
        if not REGISTRY.holds(type(problem)):
            _check_declared(problem)


def _check_declared(problem: Problem) -> None:
    """Check the range and the variances that a user's own family declares."""
    declared: dict[str, tuple[Any, float]] = {} if problem.drawn else {"variance": (problem.variance, 0.0)}
    if problem.bounded:
        with contextlib.suppress(UsageError, AttributeError):  # heavy tails have none
            declared["reward_range"] = problem.reward_range, SMALLEST
    for name, (found, least) in declared.items():
        if not np.all((values := np.asarray(found)) >= least):
            bound = "positive" if least else "at least 0"
            raise UsageError(f"{type(problem).__name__}.{name} must be {bound}, got {shown(values.tolist())}")


def _check(problem: Problem, key: jax.Array) -> None:
    name = type(problem).__name__
    with traced(name):
        problem = problem.realised(key)
        found = {"rewards": problem.rewards(key, 0)}
        arm = jnp.int32(0)
        if not problem.drawn:
            found |= {"mean": problem.mean, "variance": problem.variance}
        one = problem.reward(key, arm, arm)
    whole = problem.integer_rewards
    for what, array in found.items():
        dtype = "int32" if whole and what == "rewards" else "float32"
        sampled = what == "rewards" and type(problem).rewards is Problem.rewards
        _check_type(f"{name}.{what}", array, dtype, (problem.arms,), ", which sample returned" if sampled else "")
    _check_type(f"{name}.reward", one, "int32" if whole else "float32", ())


def _check_type(what: str, array: jax.Array, dtype: str, shape: tuple[int, ...], origin: str = "") -> None:
    got = f"{jnp.result_type(array)} {np.shape(array)}"
    if got != (wanted := f"{dtype} {shape}"):
        hint = ", as integer_rewards says" if dtype == "int32" else ""
        raise UsageError(f"{what} must be {wanted}{hint}, got {got}{origin}")
