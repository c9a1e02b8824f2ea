"""Speculatively draws several rounds of one arm at once, and rolls back if a round would eliminate an arm.

Within a round of elimination no decision is made, so the rewards of an arm's next rounds can be drawn together. Eight
or sixteen blocks of the cipher then share one read of the list of survivors and of the state. Where the rule says after
how many rounds it next evaluates the arms, a block ends there at the latest. Other rules decide after each round
whether to evaluate. If one would do so within a block, the block is undone, and repeated with half as many rounds. The
smallest block is one round, a single step. The runs are those of single pulls, to the last bit. The line `blocks of
rounds` of `python experiments/benchmarks/compiler_forms.py` measures the gain.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import Sums
from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.compilers.xla_cpu import materialize, where_if_any
from jaxbandits.engine.elimination_state import EliminationState

__all__ = ["block_of_rounds"]

# Bounds are compared with this margin: a radius falls with the round, but rounding may raise a computed one.
_ROOM = 2.0**-16


def block_of_rounds(
    state: EliminationState,
    rewards: Callable[[jax.Array, jax.Array], jax.Array],
    live: jax.Array,
    stop: jax.Array | int,
    *,
    rounds: int,
    due: Callable[[EliminationState], jax.Array],
) -> tuple[EliminationState, jax.Array]:
    """Pull the next survivor in all rounds of the block.

    A block never passes `stop`: single pulls may continue from a run at `stop`, and they could not read half a block.

    Args:
        state: the state.
        rewards: from a place, int32 `(…)`, and numbers of pulls before, int32 `(N, …)`, to rewards `(N, …)`.
        live: bool `(…)`: the runs to advance; none of them is done.
        stop: int32 `(…)` or `()`: pulls that no run passes.
        rounds: most rounds of a block, which are the rewards of one arm that a step draws at once; 1 for single pulls.
        due: from a state to which runs evaluate their arms after a finished round, bool `(…)`.

    Returns:
        The state, and which runs evaluate their arms now, bool `(…)`.
    """
    first, estimator = state.position == 0, state.estimator
    ahead = jnp.where(first, _length(state, stop, rounds), state.ahead) if rounds > 1 else jnp.ones_like(state.ahead)
    place = arms.take(state.survivors, state.position)
    slot = estimator.slot(place, state.round + 1 - state.start, state.places)
    old = jax.tree.map(lambda x: arms.take(x, slot), state.sums)
    new, highest, lowest = _drawn(state, rewards, place, old, jnp.where(live, ahead, 0), most=rounds)
    single = ahead == 1
    ended = live & (state.position + 1 == state.left)
    seen = dataclasses.replace(state, round=state.round + ahead)
    changes: dict[str, Any] = {}
    if state.highest is not None and state.lowest is not None:
        highest = jnp.where(first, highest, fast_max(state.highest, highest))
        lowest = jnp.where(first, lowest, fast_min(state.lowest, lowest))
        room = jnp.where(single, 0, _ROOM * (highest - lowest))
        seen = dataclasses.replace(seen, highest=highest + room, lowest=lowest)
        changes = {
            "highest": jnp.where(live, highest, state.highest), "lowest": jnp.where(live, lowest, state.lowest)
        }  # fmt: skip
        if rounds > 1:
            changes["undone"] = jax.tree.map(lambda x, y: arms.put(x, place, y), state.undone, old)
    asked = ended & due(seen)
    again = asked & ~single if state.target is None else jnp.zeros_like(asked)
    over = ended & ~again
    length = jnp.where(again, ahead // 2, jnp.where(over, fast_min(2 * ahead, jnp.int32(rounds)), ahead))
    one = (live & single).astype(jnp.int32)
    state = dataclasses.replace(
        state,
        sums=jax.tree.map(lambda x, y: arms.put(x, slot, y), state.sums, new),
        position=jnp.where(ended, 0, state.position + live.astype(jnp.int32)),
        round=state.round + jnp.where(over, ahead, 0),
        time=state.time + jnp.where(over & ~single, ahead * state.left, one),
        ahead=jnp.where(live, length, state.ahead),
        **changes,
    )
    return (_undone(state, again) if "undone" in changes else state), asked & ~again


def _length(state: EliminationState, stop: jax.Array | int, rounds: int) -> jax.Array:
    """Return the number of rounds of the next block, int32 `(…)`, at least 1."""
    most = (stop - state.time) // state.left
    most = fast_min(most, state.ahead if state.target is None else state.target - state.round)
    return fast_min(fast_max(most, 1), jnp.int32(rounds))


def _drawn(
    state: EliminationState,
    rewards: Callable[[jax.Array, jax.Array], jax.Array],
    place: jax.Array,
    sums: Sums,
    rounds: jax.Array,
    *,
    most: int,
) -> tuple[Sums, Any, Any]:
    """Return an arm's sum after its rewards of some rounds, at most `most`, and its extreme estimates in them."""
    estimator, follows = state.estimator, state.highest is not None
    index = arms.index(most, state.round.shape)
    number = state.round + 1 + index

    def terms(place: jax.Array, number: jax.Array, within: jax.Array) -> jax.Array:
        reward = rewards(place, number - 1)
        return jnp.where(within, estimator.term(reward.astype(jnp.float32), number), 0)

    def added(sums: Sums, term: jax.Array, number: jax.Array) -> tuple[Sums, jax.Array | None, jax.Array | None]:
        highest, lowest = (jnp.full(number.shape[1:], limit) for limit in (-jnp.inf, jnp.inf))
        for i in range(most):
            sums = sums.plus(term[i])
            if follows:
                estimate = sums.high / (number[i] - state.start).astype(jnp.float32)
                highest = fast_max(highest, jnp.where(rounds > i, estimate, -jnp.inf))
                lowest = fast_min(lowest, jnp.where(rounds > i, estimate, jnp.inf))
        return (sums, highest, lowest) if follows else (sums, None, None)

    # Each has several uses: the compiler would repeat the draws and the sums for every use.
    term = materialize(terms, place, number, index < rounds)
    sums, highest, lowest = materialize(added, sums, term, number)
    return sums, highest, lowest


def _undone(state: EliminationState, again: jax.Array) -> EliminationState:
    """Return the state without the rewards of a block that is to be repeated."""

    def before(sums: Sums) -> Sums:
        return jax.tree.map(lambda new, old: jnp.where(state.active, old, new), sums, state.undone)

    return dataclasses.replace(state, sums=where_if_any(again, before, state.sums))
