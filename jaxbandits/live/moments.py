"""Where a live experiment stands between two rewards, as compiled programs see it."""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.live.live_problem import LiveProblem

__all__ = ["Moment", "advance", "begin"]


class Moment(NamedTuple):
    """A state, and all that a session needs to know of it."""

    state: Any
    asked: jax.Array | np.ndarray  # int32 (P,): the arms to pull next
    counts: jax.Array | np.ndarray  # int32 (P,): how often each
    done: jax.Array | np.ndarray | np.bool_  # bool ()
    recommended: jax.Array | np.ndarray  # bool (K,)


def _moment(algorithm: BuiltIn, state: Any) -> Moment:
    with traced(type(algorithm).__name__):
        done = algorithm.done(state) | algorithm.exhausted(state)
        return Moment(state, *algorithm.asked(state), done, algorithm.recommend(state))


# The classes of all nodes of the algorithm, which JAX may not tell apart, are part of a program's key.
_jit = functools.partial(jax.jit, static_argnames="classes")


@_jit
def begin(algorithm: BuiltIn, problem: LiveProblem, key: jax.Array, *, classes: tuple[type, ...]) -> Moment:
    """The moment after the initial pulls."""
    del classes
    with traced(type(algorithm).__name__):
        state = algorithm.init(problem, key)
    return _moment(algorithm, state)


@_jit
def advance(
    algorithm: BuiltIn,
    state: Any,
    asked: jax.Array,
    counts: jax.Array,
    sums: jax.Array,
    cost: jax.Array,
    *,
    classes: tuple[type, ...],
) -> Moment:
    """The moment after the rewards that were asked for; arguments as for `BuiltIn.told`."""
    del classes
    with traced(type(algorithm).__name__):
        state = algorithm.told(state, asked, counts, sums, cost)
    return _moment(algorithm, state)
