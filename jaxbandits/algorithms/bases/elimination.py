"""Elimination: all surviving arms are pulled in turn, and at the end of some rounds the worst are dropped for good.

Between eliminations a run has nothing to decide, so a pull touches one arm and no other: the survivors stand in a list,
and the arms are looked at together only in the rounds that drop some. For the
same reason an arm can be pulled several times at once, a block of rounds ahead of the others (`elimination_blocks.py`).
"""

import abc
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.elimination_blocks import block_of_rounds
from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import computed_once, where_any, where_few
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT, NO_LIMIT, larger, smaller
from jaxbandits.arrays.sums import CompensatedSum
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.robust_means import Catoni, EmpiricalMean, MeanEstimator

__all__ = ["Elimination"]


class Elimination(Sequential):
    """Round-robin pulls of the surviving arms; a subclass says when to look at them, and which to keep."""

    traits = Traits(anytime=False)
    reuse: bool = True

    @abc.abstractmethod
    def _plan(self, state: EliminationState) -> tuple[MeanEstimator, Any]:
        """The estimator of means, and what else the algorithm keeps of its parameters: arrays `(…)` or `(K, …)`."""

    @abc.abstractmethod
    def _due(self, state: EliminationState) -> jax.Array:
        """Whether arms may have to go after a finished round, bool `(…)`."""

    @property
    def _rounds(self) -> int:
        """How many rounds a block has, which changes no run: more are drawn faster, and more of them in vain."""
        return 8

    def _quiet(self, state: EliminationState) -> jax.Array:
        """After how many more rounds no arm can have to go, int32 `(…)`, where that is known beforehand."""
        return jnp.full_like(state.round, MAX_COUNT)

    @abc.abstractmethod
    def _kept(self, state: EliminationState) -> tuple[jax.Array, Any]:
        """The surviving arms that stay, bool `(K, …)`, at least one; and the plan from here on."""

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> EliminationState:
        """The state after a first round, and what it dropped."""
        words = ties.tie_words(key)
        order = ties.tie_order(words, problem.arms)
        exists = statistics.pulls > 0
        number = arms.index(problem.arms, key.shape)
        zero, one = jnp.zeros(key.shape, jnp.int32), jnp.ones(key.shape, jnp.int32)
        count = arms.total(exists.astype(jnp.int32))
        blank = EliminationState(
            sums=CompensatedSum.of(statistics.mean), pulls=statistics.pulls, active=exists, order=order, count=count,
            ties=None if self.reuse else words,
            survivors=jnp.broadcast_to(number, exists.shape), position=zero, round=one, start=zero,
            time=statistics.time, highest=jnp.zeros(key.shape), lowest=jnp.zeros(key.shape),
            arms=count.astype(jnp.float32), estimator=EmpiricalMean(), plan=None, bandits=problem.bandits,
            ahead=one, block=None,
        )  # fmt: skip
        estimator, plan = self._plan(blank)
        first = estimator.term(statistics.mean, one)
        others = jnp.zeros(((estimator.slots - 1) * first.shape[0], *first.shape[1:]), first.dtype)
        sums = CompensatedSum.of(jnp.concatenate([first, others]))
        state = dataclasses.replace(blank, sums=sums, estimator=estimator, plan=plan)
        if estimator.running:
            lowest = arms.smallest(jnp.where(exists, state.estimates, jnp.inf))
            state = dataclasses.replace(state, highest=arms.largest(state.estimates), lowest=lowest, block=sums)
        return self._drop(state, self._due(state), problem, key)

    def select(self, state: EliminationState) -> jax.Array:
        """The next survivor of the round, int32 `(…)`."""
        return arms.take(state.survivors, state.position)

    def pulled_before(self, state: EliminationState, arm: jax.Array) -> jax.Array:
        """The finished rounds: every survivor was pulled in each."""
        del arm
        return state.round

    def step(
        self, problem: Problem, key: jax.Array, state: EliminationState, live: jax.Array | bool = True
    ) -> EliminationState:
        """Select, pull, update; an estimator that looks back finds the earlier rewards in the run's table."""
        arm = self.select(state)
        live = live & ~self.done(state)
        reward = problem.reward(key, arm, self.pulled_before(state, arm))
        state, ended = self._pulled(state, arm, reward, live)
        return self._drop(state, ended & self._due(state), problem, key)

    def advance(
        self,
        problem: Problem,
        key: jax.Array,
        state: EliminationState,
        live: jax.Array,
        stop: jax.Array | int,
        max_pulls: jax.Array | int = NO_LIMIT,
    ) -> EliminationState:
        """Pull the next survivor in all rounds of a block; the run is that of `step`, to the last bit."""
        del max_pulls
        if not state.estimator.running:
            return self.step(problem, key, state, live)
        live = live & ~self.done(state)
        state, due = block_of_rounds(
            problem, key, state, live, stop, rounds=self._rounds, quiet=self._quiet, due=self._due
        )
        return self._drop(state, due, problem, key)

    def update(
        self, state: EliminationState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True
    ) -> EliminationState:
        """The state after one reward; at the end of a round, without the arms that it drops.

        Raises:
            UsageError: if the estimator looks at earlier rewards again.
        """
        self.check_live()
        state, ended = self._pulled(state, arm, reward, live)
        return self._drop(state, ended & self._due(state), None, None)

    def _pulled(
        self, state: EliminationState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool
    ) -> tuple[EliminationState, jax.Array]:
        """The state after one reward, and whether that ended a round."""
        live = jnp.broadcast_to(live, state.time.shape)
        number, estimator = state.round + 1, state.estimator
        slot = estimator.slot(arm, number - state.start, state.pulls.shape[0])
        old = jax.tree.map(lambda x: arms.take(x, slot), state.sums)

        def after(arm: jax.Array, slot: jax.Array, old: CompensatedSum, reward: jax.Array, live: jax.Array) -> Any:
            value = estimator.term(reward.astype(jnp.float32), number)
            return arm, slot, old.plus(jnp.where(live, value, 0))

        arm, slot, new = computed_once(after, arm, slot, old, reward, live)
        one = live.astype(jnp.int32)
        ended = live & (state.position + 1 == state.count)
        if estimator.running:
            estimate = new.high / (number - state.start).astype(jnp.float32)
            first = state.position == 0
            highest = jnp.where(first, estimate, larger(state.highest, estimate))
            lowest = jnp.where(first, estimate, smaller(state.lowest, estimate))
            highest, lowest = jnp.where(live, highest, state.highest), jnp.where(live, lowest, state.lowest)
            state = dataclasses.replace(state, highest=highest, lowest=lowest)
        state = dataclasses.replace(
            state,
            sums=jax.tree.map(lambda x, value: arms.put(x, slot, value), state.sums, new),
            pulls=arms.put(state.pulls, arm, state.round + one),
            position=jnp.where(ended, 0, state.position + one),
            round=state.round + ended.astype(jnp.int32),
            time=state.time + one,
            ahead=jnp.where(live, 1, state.ahead),
        )
        return state, ended

    def _drop(self, state: EliminationState, due: jax.Array, problem: Any, key: Any) -> EliminationState:
        due = due & (state.count > 1)
        if state.estimator.running:
            return where_any(due, self._without, state)
        # The sums are only read: to hand them back would mean to copy them.
        changed = where_few(due, self._look_and_drop, dataclasses.replace(state, sums=None), state.sums, problem, key)
        return dataclasses.replace(changed, sums=state.sums)

    def _look_and_drop(self, state: EliminationState, sums: CompensatedSum, problem: Any, key: Any) -> EliminationState:
        if isinstance(state.estimator, Catoni):
            every = jnp.broadcast_to(arms.index(problem.arms, key.shape), state.active.shape)
            estimator = state.estimator.looked(lambda pull: problem.reward(key, every, pull), state.round, state.active)
            state = dataclasses.replace(state, estimator=estimator)
        return dataclasses.replace(self._without(dataclasses.replace(state, sums=sums)), sums=None)

    def _without(self, state: EliminationState) -> EliminationState:
        kept, plan = self._kept(state)
        kept = kept & state.active
        number = arms.index(kept.shape[0], kept.shape[1:])
        slot = jnp.where(kept, jnp.cumsum(kept, axis=0) - 1, kept.shape[0])  # out of range: dropped
        survivors = arms.scatter(state.survivors, slot, jnp.broadcast_to(number, kept.shape))
        state = dataclasses.replace(
            state, active=kept, survivors=survivors, count=arms.total(kept.astype(jnp.int32)), plan=plan
        )
        if self.reuse:
            return state
        nothing = jax.tree.map(jnp.zeros_like, state.sums)
        return dataclasses.replace(state, sums=nothing, start=state.round)

    def done(self, state: EliminationState) -> jax.Array:
        """One arm is left."""
        return state.count == 1

    def recommend(self, state: EliminationState) -> jax.Array:
        """The last arm; before that, the survivor with the largest estimate."""
        best = ranking.top_mask(state.estimates, Known(1), state.ranking_order)
        return jnp.where(state.count == 1, state.active, best)
