"""Maps a rule that eliminates arms, written for one run, to an algorithm of the engine: for one run or R, runs last.

A run makes no decision between two evaluations of its arms, so a pull reads and writes one arm only. An arm can also be
pulled several times at once, a block of rounds ahead of the others (`elimination_rounds.py`). The rule's decisions are
mapped over the runs (`jaxbandits/transform`), a few runs at a time: those that evaluate their arms.
"""

import dataclasses
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.arrays import arms as over_arms
from jaxbandits.arrays.compensated_sums import Sums
from jaxbandits.arrays.numerics import NO_LIMIT, fast_min
from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.compilers.xla_cpu import where_if_any, where_sparse
from jaxbandits.engine.elimination_calls import estimating, is_due, looked, next_look
from jaxbandits.engine.elimination_rounds import block_of_rounds
from jaxbandits.engine.elimination_start import first_round, rounds_of_a_block, unpulled
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.finite_populations import stop_of_block
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.rule_calls import axes_of_own, begun, call, done
from jaxbandits.engine.rule_states import shown
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import Catoni
from jaxbandits.status import NONE_STAYS
from jaxbandits.transform.programs_inside import has_loop

__all__ = ["EliminationRule"]


@pytree
@dataclasses.dataclass(frozen=True)
class EliminationRule(MappedAlgorithm):
    """A rule that eliminates arms, mapped over the runs."""

    def init(self, problem: Problem, key: jax.Array) -> EliminationState:
        """Return the states after the first round and its eliminations."""
        state = unpulled(self.rule, problem, key)
        if self.rule.has_state:
            state = dataclasses.replace(state, own=call(self.rule, self.facts, begun, state))
        if not self.rule.looks_each_round:
            state = dataclasses.replace(state, target=call(self.rule, self.facts, next_look, state))
        state = dataclasses.replace(state, estimator=call(self.rule, self.facts, estimating, state))
        state = first_round(self.rule, state, problem, key)
        return self._looked(state, self._due(state), problem, key)

    def step(
        self, problem: Problem, key: jax.Array, state: EliminationState, live: jax.Array | bool = True
    ) -> EliminationState:
        """Pull the next survivor."""
        return self._advanced(problem, key, state, jnp.asarray(live), NO_LIMIT, rounds=1)

    def advance(
        self, problem: Problem, key: jax.Array, state: EliminationState, live: jax.Array, stop: jax.Array | int
    ) -> EliminationState:
        """Pull the next survivor in all rounds of a block; the run is that of `step`, to the last bit."""
        return self._advanced(problem, key, state, live, stop, rounds=rounds_of_a_block(self.rule, state.estimator))

    def _advanced(
        self,
        problem: Problem,
        key: jax.Array,
        state: EliminationState,
        live: jax.Array,
        stop: jax.Array | int,
        *,
        rounds: int,
    ) -> EliminationState:
        def rewards(place: jax.Array, pulls: jax.Array) -> jax.Array:
            arm = state.arm_at(place)
            return jax.vmap(lambda pull: problem.reward(key, arm, pull))(pulls)

        live = jnp.broadcast_to(live, state.time.shape) & ~self.done(state)
        stop = stop_of_block(problem, state, stop)
        state, due = block_of_rounds(state, rewards, live, stop, rounds=rounds, due=self._due)
        return self._looked(state, due, problem, key)

    def _due(self, state: EliminationState) -> jax.Array:
        """Return which runs evaluate their arms after a finished round, bool `(…)`."""
        if state.target is not None:
            return state.round >= state.target
        return jnp.asarray(call(self.rule, self.facts, is_due, state))

    def _looked(
        self, state: EliminationState, due: jax.Array, problem: Problem | None, key: jax.Array | None
    ) -> EliminationState:
        """Return the states after the runs that are due have evaluated their arms."""
        # Arrays that are only read stay outside: returning them would copy them.
        read = {"sums": state.sums, "undone": state.undone}
        changing = dataclasses.replace(state, sums=None, undone=None)
        again = (problem, key) if isinstance(state.estimator, Catoni) else (None, None)

        if self._looks_of_few(state):
            changed = where_sparse(due, _look, changing, read["sums"], self, *again)
        else:
            changed = where_if_any(due, lambda changing: _look(changing, read["sums"], self, *again), changing)
        if not self.rule.reuse:
            read["sums"] = where_if_any(due, lambda sums: jax.tree.map(jnp.zeros_like, sums), state.sums)
        return dataclasses.replace(changed, **read)

    def _looks_of_few(self, state: EliminationState) -> bool:
        """Return whether arms are evaluated for a few runs at a time: on CPU, and elsewhere where this is costly.

        Elsewhere a loop over a few runs is many small kernels. A rule's own loop still needs it: for a run that is not
        due it need not end.
        """
        costly = not state.estimator.running
        return lowering().chunked or costly or has_loop(jax.make_jaxpr(self.after_look)(state).jaxpr)

    def after_look(self, state: EliminationState) -> EliminationState:
        """Return the states after all runs have evaluated their arms."""
        own, active = call(self.rule, self.facts, looked, state)
        number = over_arms.index(state.places, state.time.shape)
        slot = jnp.where(active, jnp.cumsum(active, axis=0) - 1, state.places)  # out of range: dropped
        left = over_arms.total(active.astype(jnp.int32))
        state = dataclasses.replace(
            state, active=active, own=own, left=left,
            gone=jnp.where(state.active & ~active, state.round, state.gone),
            survivors=over_arms.scatter(state.survivors, slot, jnp.broadcast_to(number, active.shape)),
            fault=jnp.where(left == 0, NONE_STAYS, state.fault),
        )  # fmt: skip
        if not self.rule.reuse:
            nothing = jax.tree.map(jnp.zeros_like, state.sums)
            state = dataclasses.replace(state, sums=nothing, start=state.round)
        if self.rule.looks_each_round:
            return state
        return dataclasses.replace(state, target=call(self.rule, self.facts, next_look, state))

    def done(self, state: EliminationState) -> jax.Array:
        """Return which runs have ended, bool `(…)`: by the rule, or with one arm left."""
        if self.rule.has("done"):
            return jnp.asarray(call(self.rule, self.facts, done, state))
        return state.left <= 1

    def recommend(self, state: EliminationState) -> jax.Array:
        """Return masks of the returned arms, bool `(K, …)`, in the problem's order.

        The rule's own answer, where it has one; or else the survivor with the largest estimate.
        """
        if self.rule.has("recommend"):
            answer = self.answer(state)
        else:
            estimates = jnp.where(state.active, state.estimates, -jnp.inf)
            number = over_arms.index(state.places, state.time.shape)
            best = state.active & (estimates == over_arms.largest(estimates))
            answer = number == over_arms.smallest(jnp.where(best, number, state.places))
        return state.by_arm(answer & state.exists)

    def state_of(self, state: EliminationState) -> SurvivingArms:
        """Return the part of a state that a user sees."""
        arms = cast(SurvivingArms, shown(state, self.recommend(state), self.done(state), axes_of_own(self.rule, state)))
        return dataclasses.replace(
            arms, mean=state.by_arm(state.estimates), active=state.by_arm(state.active), pulls=state.pulls
        )

    def asked(self, state: EliminationState, pending: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the arms to pull in the rest of the round, and a count of 1 for each; for one run."""
        del pending
        place = jnp.arange(state.places, dtype=jnp.int32)
        within = state.position + place < state.left
        survivor = state.survivors[jnp.where(within, state.position + place, 0)]
        return jax.vmap(state.arm_at)(survivor), within.astype(jnp.int32)

    def told(
        self, state: EliminationState, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array
    ) -> EliminationState:
        """Return the state after the next rewards of the round, of the first entries with a count; for one run."""
        del asked, cost

        def is_next(both: tuple[jax.Array, EliminationState]) -> jax.Array:
            entry, state = both
            told = (entry < len(counts)) & (counts[fast_min(entry, jnp.int32(len(counts) - 1))] > 0)
            return told & ~self.done(state)

        def after(both: tuple[jax.Array, EliminationState]) -> tuple[jax.Array, EliminationState]:
            entry, state = both
            state, due = block_of_rounds(
                state, lambda _, pulls: jnp.broadcast_to(sums[entry], pulls.shape), jnp.ones((), bool), NO_LIMIT,
                rounds=1, due=self._due,
            )  # fmt: skip
            return entry + 1, self._looked(state, due, None, None)

        return lax.while_loop(is_next, after, (jnp.int32(0), state))[1]


def _look(state: EliminationState, sums: Sums, mapped: EliminationRule, problem: Any, key: Any) -> EliminationState:
    """Evaluate the arms of some runs, and again where the next evaluation is due at once; sums are only read."""
    estimator = state.estimator
    if isinstance(estimator, Catoni):
        every = state.by_place(jnp.broadcast_to(over_arms.index(state.places, key.shape), state.active.shape))
        estimator = estimator.looked(lambda pull: problem.reward(key, every, pull), state.round, state.active)
        state = dataclasses.replace(state, estimator=estimator)

    if state.target is None:  # due after every round: not twice at once
        return dataclasses.replace(mapped.after_look(dataclasses.replace(state, sums=sums)), sums=None)

    def again(both: tuple[EliminationState, jax.Array]) -> tuple[EliminationState, jax.Array]:
        state, looks = both
        new = mapped.after_look(dataclasses.replace(state, sums=sums))
        assert new.target is not None
        more = looks & (new.target <= new.round) & (new.left < state.left) & ~mapped.done(new)
        new = dataclasses.replace(new, sums=None)
        return jax.tree.map(lambda new, old: jnp.where(looks, new, old), new, state), more

    return lax.while_loop(lambda both: jnp.any(both[1]), again, (state, jnp.ones(state.time.shape, bool)))[0]
