"""Checks of what a user's code reads from outside while it is traced: values of arms, and random numbers of Python."""

import contextlib
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.arm_values import filled
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.compilers.jaxpr_types import ClosedJaxpr, Jaxpr
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["check_constants", "no_random_numbers"]


@contextlib.contextmanager
def no_random_numbers(name: str) -> Iterator[None]:
    """Refuse random numbers of NumPy or Python inside: code is traced once, so all runs would share them.

    Args:
        name: what draws, for the message.

    Raises:
        UsageError: the state of one of their generators has changed.
    """
    before = _states()
    yield
    for module, state in _states().items():
        if state != before[module]:
            raise UsageError(
                f"{name} draws from {module} once, while it is traced, and all runs would share the number: draw with "
                "jax.random and a key of the run"
            )


def check_constants(
    program: Any, check: Callable[[Rule, Problem, jax.Array], None], rule: Rule, problem: Problem, key: jax.Array
) -> None:
    """Check that no array from outside could have a value of each arm, where each run sees its arms in its own order.

    An array that the rule makes for its number of arms has another length for another number.

    Args:
        program: the traced `check(rule, problem, key)`.
        check: calls the rule's methods.
        rule: leaves as for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.

    Raises:
        UsageError: there may be one.
    """
    count = problem.arms
    if not (found := _by_arm(program, count)):
        return
    wider = problem.padded(count // problem.bandits + 1)
    try:
        others = _by_arm(jax.make_jaxpr(check)(filled(rule, wider.arms), wider, key), count)
    except (TypeError, ValueError, IndexError, UsageError):  # its length does not fit
        others = found
    kept = [one for one in found if any(np.array_equal(one, other) for other in others)]
    if kept:
        raise UsageError(
            f"{type(rule).__name__} reads an array of shape {kept[0].shape} from outside, and there are {count} arms, "
            "which each run sees in its own order: make it a field, jb.parameter(per_arm=True) if it has a value of "
            "each arm and per_arm=False if not; or set shuffle_arms = False in the class"
        )


def _states() -> dict[str, object]:
    """Return the states of the generators that a process has, by module."""
    return {"random": random.getstate(), "np.random": pickle.dumps(np.random.get_state())}  # noqa: NPY002


def _by_arm(program: Any, count: int) -> list[np.ndarray]:
    """Return the constants of a program and its parts that may have a value of each arm, different ones."""
    arrays = [np.asarray(one) for one in _constants(program) if not jnp.issubdtype(one.dtype, jax.dtypes.extended)]
    return [one for one in arrays if count in one.shape and (one != one.flat[0]).any() and not _places(one)]


def _places(array: np.ndarray) -> bool:
    """Return whether an array only numbers its places."""
    return bool(array.ndim == 1 and np.array_equal(array, np.arange(len(array))))


def _constants(program: Any) -> Iterator[Any]:
    yield from program.consts
    for part in _parts(program.jaxpr):
        yield from _constants(part)


def _parts(jaxpr: Jaxpr) -> Iterator[ClosedJaxpr]:
    """Return the programs that the equations of a program call."""
    for equation in jaxpr.eqns:
        for value in jax.tree.leaves(equation.params, is_leaf=lambda one: isinstance(one, ClosedJaxpr)):
            if isinstance(value, ClosedJaxpr):
                yield value
