"""The state of a live experiment between two rewards, as compiled programs return it."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.ask_tell.placeholder_problem import LiveProblem
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_states import RunState
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.random.tie_breaking import tie_order, tie_words
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.users_code.cache_key import Code

__all__ = ["Moment", "advance", "begin", "decided", "first_order", "look", "resume"]

#: Compiled programs that a process keeps of each kind: one for each algorithm and number of arms.
_MOST = 16


class Moment(NamedTuple):
    """A state, and all that a session reads from it."""

    state: RunState
    asked: np.ndarray  # int32 (P,): the arms to pull next
    counts: np.ndarray  # int32 (P,): pulls of each
    done: np.ndarray | np.bool_  # bool (): the rule has decided, or its next pulls would pass the range of counts
    recommended: np.ndarray  # bool (K,)


@recent_programs(_MOST, "code")
def begin(algorithm: MappedAlgorithm, problem: LiveProblem, key: jax.Array, *, code: Code) -> RunState:
    """Return the state after the initial pulls."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return algorithm.init(problem, key)


@recent_programs(_MOST, "code")
def resume(
    algorithm: MappedAlgorithm, problem: LiveProblem, key: jax.Array, pulls: jax.Array, sums: CompensatedSum,
    time: jax.Array, *, code: Code,
) -> RunState:  # fmt: skip
    """Return the state of a rule without a state of its own, after rewards of which only sums are known.

    Args:
        algorithm: the mapped rule.
        problem: the placeholder, with any first rewards.
        key: the session's typed key `()`.
        pulls: int32 `(K,)`, pulls of each arm of the problem, at least its initial pulls.
        sums: float32 `(K,)`, sums of their rewards.
        time: int32 `()`, pulls of all arms so far, of those that are gone too.
        code: of the rule.
    """
    with code.traced(), traced(type(algorithm.rule).__name__):
        state = algorithm.init(problem, key)
        pulls, sums = jax.tree.map(state.by_place, (pulls, sums))
        return dataclasses.replace(state, statistics=ArmStatistics.of_counts(pulls, sums, time=time))


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


@recent_programs(_MOST, "code")
def decided(algorithm: MappedAlgorithm, state: RunState, *, code: Code) -> jax.Array:
    """Return whether the rule itself has stopped, bool `()`."""
    with code.traced(), traced(type(algorithm.rule).__name__):
        return jnp.asarray(algorithm.done(state))


@recent_programs(_MOST, "arms")
def first_order(key: jax.Array, *, arms: int) -> jax.Array:
    """Return the rank of each arm in the order of the first pulls, int32 `(K,)`."""
    return tie_order(tie_words(key), arms)
