"""The end of runs on finite populations, whose arms are known exactly once all their cells have been read.

A pull of a known arm teaches nothing. So a run has ended when it has read every cell, or, where a rule eliminates arms,
every cell of the survivors. A rule that keeps on pulling known arms, as one does that waits until two equal arms
differ, is truncated. Rules that request batches end by themselves, and pulls of known arms cost them no time.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import NO_LIMIT, fast_max, fast_min
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.flight_state import FlightState
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_states import RuleState, RunState
from jaxbandits.problems.base import Problem

__all__ = ["Known", "exact_answer", "known_arms", "runs_on", "stop_of_block"]

#: Pulls of known arms after which a run is truncated: this number, or this multiple of all cells if that is more.
_FEW, _TIMES = 10_000, 10
#: The most rounds that are looked ahead: more than a block has.
_AHEAD = 1024


class Known(NamedTuple):
    """Whether runs on finite populations end."""

    everything: jax.Array  # bool (…): nothing is left to be read
    in_vain: jax.Array  # bool (…): known arms were pulled very often


def known_arms(algorithm: MappedAlgorithm, problem: Problem, state: RunState) -> Known:
    """Return which runs have read all cells, and which pull known arms on and on.

    Args:
        algorithm: the mapped algorithm.
        problem: that of the runs, of finite populations, leaves `(K, …)`.
        state: the state of one run, or of R.
    """
    if isinstance(state, FlightState):
        state = state.told
    never = jnp.zeros(state.time.shape, bool)
    if algorithm.rule.in_batches:
        return Known(never, never)
    if isinstance(state, EliminationState):
        return Known(state.round >= _last_round(problem, state), never)
    cells = problem.all_cells
    read = lax.cond(  # the pulls of each arm cost more than a step
        jnp.any(state.time >= cells), lambda: problem.evaluations(state.pulls), lambda: jnp.zeros_like(state.time)
    )
    everything = read >= cells
    most = fast_max(jnp.int32(_FEW), fast_min(cells, NO_LIMIT // _TIMES) * _TIMES)
    return Known(everything, ~everything & (state.time >= cells) & (state.time - read >= most))


def exact_answer(state: RuleState, answer: jax.Array) -> jax.Array:
    """Return a rule's answer; once all cells have been read, as many arms, those with the largest means.

    A rule may answer by indices, by its most pulled arm or by an earlier look, and these can err after a full read.

    Args:
        state: the state of one run, or of R.
        answer: bool `(K, …)`, by places.
    """
    cells, known = state.cells, state.statistics
    if cells is None or state.spent is not None:  # no cells, or no means
        return answer
    everything = ~arms.any_arm((known.pulls < cells) & state.exists)
    places, exist = (
        jnp.broadcast_to(x, answer.shape) for x in (arms.index(state.places, state.time.shape), state.exists)
    )
    best = ranking.top_mask(known.mean, arms.total(answer.astype(jnp.int32)), places, exist)
    return jnp.where(everything, best, answer)


def runs_on(algorithm: MappedAlgorithm, problem: Problem, state: RunState) -> jax.Array:
    """Return which runs have cells to read, and do not pull known arms on and on, bool `(…)`; as `known_arms`."""
    known = known_arms(algorithm, problem, state)
    return ~(known.everything | known.in_vain)


def stop_of_block(problem: Problem, state: EliminationState, stop: jax.Array | int) -> jax.Array | int:
    """Return the pulls that no block of rounds passes: `stop`, or fewer, where the survivors are known before."""
    if not problem.finite:
        return stop
    rounds = fast_min(_last_round(problem, state) - state.round, _AHEAD)
    return fast_min(jnp.int32(stop), state.time + state.left * fast_max(rounds, 1))


def _last_round(problem: Problem, state: EliminationState) -> jax.Array:
    """Return the round after which the survivors are known, int32 `(…)`.

    Where earlier rewards were forgotten, estimates are exact if all later ones are those of known arms.
    """
    most = problem.most_cells
    return jnp.where(state.start == 0, most, jnp.where(state.start >= most, state.start + 1, NO_LIMIT))
