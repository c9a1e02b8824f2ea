"""Where a live experiment stands between two rewards, as compiled programs see it."""

from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.live.live_problem import LiveProblem
from jaxbandits.random.ties import tie_order, tie_words
from jaxbandits.users_code.cache_key import Code

__all__ = ["Moment", "advance", "begin", "first_order"]

#: Programs that a process holds of each kind: one for each algorithm and number of arms.
_MOST = 16


class Moment(NamedTuple):
    """A state, and all that a session needs to know of it."""

    state: Any
    asked: jax.Array | np.ndarray  # int32 (P,): the arms to pull next
    counts: jax.Array | np.ndarray  # int32 (P,): how often each
    done: jax.Array | np.ndarray | np.bool_  # bool ()
    recommended: jax.Array | np.ndarray  # bool (K,)


def _moment(algorithm: MappedAlgorithm, state: Any) -> Moment:
    with traced(type(algorithm.rule).__name__):
        done = algorithm.done(state) | algorithm.exhausted(state)
        return Moment(state, *algorithm.asked(state), done, algorithm.recommend(state))


@recent_programs(_MOST, "code")
def begin(algorithm: MappedAlgorithm, problem: LiveProblem, key: jax.Array, *, code: Code) -> Moment:
    """The moment after the initial pulls."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return _moment(algorithm, algorithm.init(problem, key))


@recent_programs(_MOST, "code")
def advance(
    algorithm: MappedAlgorithm,
    state: Any,
    asked: jax.Array,
    counts: jax.Array,
    sums: jax.Array,
    cost: jax.Array,
    *,
    code: Code,
) -> Moment:
    """The moment after the rewards that were asked for; arguments as for `MappedAlgorithm.told`."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return _moment(algorithm, algorithm.told(state, asked, counts, sums, cost))


@recent_programs(_MOST, "arms")
def first_order(key: jax.Array, *, arms: int) -> jax.Array:
    """The place of each arm in the order of the first pulls, int32 `(K,)`."""
    return tie_order(tie_words(key), arms)
