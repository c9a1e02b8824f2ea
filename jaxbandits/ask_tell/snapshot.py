"""The state of a live experiment between two rewards, as compiled programs return it."""

from typing import NamedTuple

import jax
import numpy as np

from jaxbandits.ask_tell.placeholder_problem import LiveProblem
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_states import RunState
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.random.tie_breaking import tie_order, tie_words
from jaxbandits.users_code.cache_key import Code

__all__ = ["Moment", "advance", "begin", "first_order", "look"]

#: Compiled programs that a process keeps of each kind: one for each algorithm and number of arms.
_MOST = 16


class Moment(NamedTuple):
    """A state, and all that a session reads from it."""

    state: RunState
    asked: np.ndarray  # int32 (P,): the arms to pull next
    counts: np.ndarray  # int32 (P,): pulls of each
    done: np.ndarray | np.bool_  # bool ()
    recommended: np.ndarray  # bool (K,)


@recent_programs(_MOST, "code")
def begin(algorithm: MappedAlgorithm, problem: LiveProblem, key: jax.Array, *, code: Code) -> RunState:
    """Return the state after the initial pulls."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return algorithm.init(problem, key)


@recent_programs(_MOST, "code")
def advance(
    algorithm: MappedAlgorithm,
    state: RunState,
    asked: jax.Array,
    counts: jax.Array,
    sums: jax.Array,
    cost: jax.Array,
    *,
    code: Code,
) -> RunState:
    """Return the state after the requested rewards; arguments as for `MappedAlgorithm.told`."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return algorithm.told(state, asked, counts, sums, cost)


@recent_programs(_MOST, "code")
def look(algorithm: MappedAlgorithm, state: RunState, pending: jax.Array, *, code: Code) -> tuple[jax.Array, ...]:
    """Return what a `Moment` has beside its state; `pending` is as for `MappedAlgorithm.asked`."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        done = algorithm.done(state) | algorithm.exhausted(state)
        return *algorithm.asked(state, pending), done, algorithm.recommend(state)


@recent_programs(_MOST, "arms")
def first_order(key: jax.Array, *, arms: int) -> jax.Array:
    """Return the rank of each arm in the order of the first pulls, int32 `(K,)`."""
    return tie_order(tie_words(key), arms)
