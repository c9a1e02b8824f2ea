"""Several rounds of an arm at once, where it is known that none of them drops an arm, or may turn out not to.

Within a round of elimination nothing is decided, so the rewards of an arm's next rounds can be drawn together: eight or
sixteen blocks of the cipher for one look at a list, at a state and at the bounds. Where one of the block's rounds may
have to drop an arm, nothing is kept of it, and it is made again with half as many rounds, down to one, which is what a
step makes. The runs are those of `Elimination.step`, to the last bit; what this is worth is the line `blocks of rounds`
of `python experiments/benchmarks/compiler_forms.py`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.arrays import arms
from jaxbandits.arrays.compiler_forms import computed_once, where_any
from jaxbandits.arrays.numerics import larger, smaller
from jaxbandits.problems.base import Problem

__all__ = ["block_of_rounds"]

# Bounds are compared with this much room, since a computed radius falls with the round but for its rounding.
_ROOM = 2.0**-16


def block_of_rounds(
    problem: Problem,
    key: jax.Array,
    state: EliminationState,
    live: jax.Array,
    stop: jax.Array | int,
    *,
    rounds: int,
    quiet: Callable[[EliminationState], jax.Array],
    due: Callable[[EliminationState], jax.Array],
) -> tuple[EliminationState, jax.Array]:
    """Pull the next survivor in all rounds of the block.

    `step` and `update` may go on from a run that has come to `stop`; within a block they would not see what is drawn
    of it.

    Args:
        problem: the problem, leaves `(K, …)`.
        key: typed keys `(…)`.
        state: the state; its estimator is a running one.
        live: bool `(…)`: the runs to move, none of which is done.
        stop: int32 `(…)` or `()`: pulls that no run passes.
        rounds: of a block at most: the rewards of one arm that a step draws at once.
        quiet: after how many more rounds no arm can have to go, int32 `(…)`.
        due: whether arms may have to go after a finished round, bool `(…)`.

    Returns:
        The state, and where arms may have to go now, bool `(…)`.
    """
    first = state.position == 0
    most = smaller(quiet(state), (stop - state.time) // state.count)
    ahead = jnp.where(first, smaller(larger(smaller(state.ahead, most), 1), rounds), state.ahead)
    arm = arms.take(state.survivors, state.position)
    old = jax.tree.map(lambda x: arms.take(x, arm), state.sums)
    new, highest, lowest = _drawn(problem, key, state, arm, old, jnp.where(live, ahead, 0), most=rounds)
    highest = jnp.where(first, highest, larger(state.highest, highest))
    lowest = jnp.where(first, lowest, smaller(state.lowest, lowest))

    single = ahead == 1
    ended = live & (state.position + 1 == state.count)
    room = jnp.where(single, 0, _ROOM * (highest - lowest))
    looked = dataclasses.replace(state, round=state.round + ahead, highest=highest + room, lowest=lowest)
    dropping = ended & due(looked)
    over, again = ended & (single | ~dropping), dropping & ~single
    length = jnp.where(over, smaller(2 * ahead, jnp.int32(rounds)), jnp.where(again, ahead // 2, ahead))
    one = (live & single).astype(jnp.int32)
    state = dataclasses.replace(
        state,
        sums=jax.tree.map(lambda x, y, z: arms.put(x, arm, jnp.where(single, y, z)), state.sums, new, old),
        block=jax.tree.map(lambda x, y: arms.put(x, arm, y), state.block, new),
        pulls=arms.put(state.pulls, arm, state.round + one),
        highest=jnp.where(live, highest, state.highest),
        lowest=jnp.where(live, lowest, state.lowest),
        position=jnp.where(ended, 0, state.position + live.astype(jnp.int32)),
        round=state.round + jnp.where(over, ahead, 0),
        time=state.time + one,
        ahead=jnp.where(live, length, state.ahead),
    )
    return _kept_block(state, over & ~single, ahead), dropping & single


def _drawn(
    problem: Problem,
    key: jax.Array,
    state: EliminationState,
    arm: jax.Array,
    sums: Any,
    rounds: jax.Array,
    *,
    most: int,
) -> tuple[Any, jax.Array, jax.Array]:
    """The arm's sum after its rewards of so many rounds, `most` or fewer, and its extreme estimates in them."""
    estimator = state.estimator
    index = arms.index(most, state.round.shape)
    number = state.round + 1 + index

    def terms(key: jax.Array, arm: jax.Array, number: jax.Array, within: jax.Array) -> jax.Array:
        reward = jax.vmap(lambda number: problem.reward(key, arm, number - 1))(number)
        return jnp.where(within, estimator.term(reward.astype(jnp.float32), number), 0)

    def added(sums: Any, term: jax.Array, number: jax.Array) -> tuple[Any, jax.Array, jax.Array]:
        highest, lowest = (jnp.full(number.shape[1:], limit) for limit in (-jnp.inf, jnp.inf))
        for i in range(most):
            sums = sums.plus(term[i])
            estimate = sums.high / (number[i] - state.start).astype(jnp.float32)
            highest = larger(highest, jnp.where(rounds > i, estimate, -jnp.inf))
            lowest = smaller(lowest, jnp.where(rounds > i, estimate, jnp.inf))
        return sums, highest, lowest

    # Each has several uses: the compiler would draw and add for every one of them.
    term = computed_once(terms, key, arm, number, index < rounds)
    return computed_once(added, sums, term, number)


def _kept_block(state: EliminationState, kept: jax.Array, rounds: jax.Array) -> EliminationState:
    """With what the survivors were given in a block of so many rounds, which ended just now."""

    def changed(old: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        sums, pulls = old
        sums = jax.tree.map(lambda new, old: jnp.where(state.active, new, old), state.block, sums)
        return sums, jnp.where(state.active, state.round, pulls)

    sums, pulls = where_any(kept, changed, (state.sums, state.pulls))
    time = state.time + jnp.where(kept, rounds * state.count, 0)
    return dataclasses.replace(state, sums=sums, pulls=pulls, time=time)
