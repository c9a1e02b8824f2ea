"""Checks of a user's algorithm before it runs: an error is one line, not a traceback of JAX."""

import dataclasses
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import check_parameter, is_parameter
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.algorithms.traits import answers_of, tolerance_of
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import is_masked, is_number, shown
from jaxbandits.engine.method_types import is_array
from jaxbandits.engine.outside_values import check_constants, no_random_numbers
from jaxbandits.engine.rule_checks import check_rule, methods_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["check_algorithm", "check_kind", "check_methods", "is_registered"]

_HOW = "write it as a rule of jb.algorithm, help(jaxbandits.algorithms.protocol)"


def check_kind(algorithm: object) -> None:
    """Check that an object is an algorithm: an instance of a class that `jb.algorithm` decorates.

    Raises:
        UsageError: another object; the message says what it is, and what is needed.
    """
    if isinstance(algorithm, Rule):
        return
    needed, got = "such as jb.UGapEc(epsilon=0.1, delta=0.05)", shown(algorithm)
    if isinstance(algorithm, type):
        if issubclass(algorithm, Rule):
            raise UsageError(f"an algorithm is needed, {algorithm.__name__}(…), not its class")
        raise UsageError(f"the class {algorithm.__name__} is not an algorithm: {_HOW}")
    if isinstance(algorithm, Problem):
        got = f"the problem {algorithm.name}: the algorithm comes first"
    elif isinstance(algorithm, str):
        names = {cls: name for name, line in REGISTRY.lines.items() for cls in (name, line.partition(":")[2])}
        name = names.get(algorithm) or names.get(algorithm.lower().replace("_", "-"))
        needed = needed if name is None else f"jb.{_call(REGISTRY[name])}"
        got = f"the text {got}"
    elif any(hasattr(algorithm, method) for method in ("step", "select", "request", "recommend")):
        raise UsageError(f"{type(algorithm).__name__} is not an algorithm: {_HOW}")
    raise UsageError(f"an algorithm is needed, {needed}, got {got}")


def _call(cls: type) -> str:
    """Return the call that makes an algorithm of this class."""
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    return f"{cls.__name__}({', '.join(f'{name}=…' for name in required)})"


def is_registered(algorithm: Rule) -> bool:
    """Return whether an algorithm is one of the package's; the package's tests check those."""
    return REGISTRY.name_of(type(algorithm)) is not None


def check_algorithm(algorithm: Rule) -> None:
    """Check an algorithm for one run (a cell of a grid), as far as is possible without calling it.

    Args:
        algorithm: what a user passed.

    Raises:
        UsageError: an object that is not a pytree; a method that is missing or takes other arguments; a parameter that
            is not one number; an invalid tolerance.
    """
    name = type(algorithm).__name__
    for field in dataclasses.fields(algorithm):
        value: Any = getattr(algorithm, field.name)
        if not is_parameter(field) and not is_number(value):
            continue
        shape, of_arms = np.shape(value), field.metadata.get("per_arm") is not None
        if shape and not of_arms:
            raise UsageError(f"{name}: {field.name} must be one number, got shape {shape}: for a grid, jb.axis(…)")
        if isinstance(value, np.ndarray | jax.Array) and is_number(value):  # unchecked: JAX makes them
            check_parameter(name, field, np.asarray(value)[()])
        if shape and not is_traced(value):
            for one in np.asarray(value).flat:
                check_parameter(name, field, one)
    if is_registered(algorithm):
        return
    methods = methods_of(algorithm)
    for method, taken in methods.items():
        if not callable(function := getattr(algorithm, method, None)):
            raise UsageError(f"{name} has no method {method!r}: it needs {', '.join(methods)}")
        signature = inspect.signature(function)
        known = [argument for argument in signature.parameters if argument in taken]
        try:
            signature.bind(*taken)
            fits = known == sorted(known, key=taken.index)
        except TypeError:
            fits = False
        if not fits:
            raise UsageError(f"{name}.{method} must take ({', '.join(taken)}), got {signature}")
    leaves = jax.tree_util.tree_leaves_with_path(algorithm)
    if any(leaf is algorithm for _, leaf in leaves):
        raise UsageError(f"{name} is not a pytree: put @jb.algorithm above its class, too")
    for path, leaf in leaves:
        if is_masked(leaf):
            raise UsageError(f"{name}{jax.tree_util.keystr(path)} has masked values: leave them out or fill them")
        if not is_array(leaf) or jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key):
            raise UsageError(
                f"{name}{jax.tree_util.keystr(path)} must be a number or an array, got {shown(leaf)}: declare other "
                'values part of the program, dataclasses.field(metadata={"static": True})'
            )
    tolerance_of(algorithm)
    answers_of(algorithm)


def check_methods(algorithm: Rule, problem: Problem, key: jax.Array, *, judged: bool = True) -> None:
    """Check that a user's own methods return what the protocol says; they are traced, not run.

    Args:
        algorithm: leaves as for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.
        judged: whether answers are judged by the user's own criterion; false in a live experiment.

    Raises:
        UsageError: a method returns another type; it names the method, the type and the one needed. Or a method reads
            values of arms from outside, or random numbers of NumPy or Python.
    """
    if is_registered(algorithm):
        return

    def check(algorithm: Rule, problem: Problem, key: jax.Array) -> None:
        check_rule(algorithm, problem.realised(key), key, judged=judged)

    with code_of(algorithm, problem).traced(), no_random_numbers(type(algorithm).__name__):
        program = jax.make_jaxpr(check)(algorithm, problem, key)
        if algorithm.shuffle_arms:
            check_constants(program, check, algorithm, problem, key)
