"""Elimination: all surviving arms are pulled in turn, and at the end of some rounds the worst are dropped for good.

Between eliminations a run has nothing to decide, so a pull touches one arm and no other: the survivors stand in a list,
and the arms are looked at together only in the rounds that drop some.
"""

import abc
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits import arms
from jaxbandits.algorithms.protocol import Sequential
from jaxbandits.estimators import ArmStatistics, CompensatedSum
from jaxbandits.numerics import apart, larger, smaller, where_any
from jaxbandits.problems.base import Problem
from jaxbandits.pytrees import pytree

__all__ = ["Elimination", "EliminationState"]


@pytree
@dataclasses.dataclass(frozen=True)
class EliminationState:
    """The state of a run; arms first, runs last. Estimates are of the rewards since round `start`."""

    sums: CompensatedSum  # (K, …): rewards, truncated where the estimator does that
    pulls: jax.Array  # int32 (K, …)
    survivors: jax.Array  # int32 (K, …): numbers of the surviving arms, in the first `count` entries
    active: jax.Array  # bool (K, …): the same as a mask
    order: jax.Array  # int32 (K, …): tie order
    count: jax.Array  # int32 (…): surviving arms
    position: jax.Array  # int32 (…): of the next arm to pull in the list
    round: jax.Array  # int32 (…): finished rounds, the pulls of every surviving arm
    start: jax.Array  # int32 (…)
    time: jax.Array  # int32 (…)
    highest: jax.Array  # float32 (…): largest estimate of the round so far
    lowest: jax.Array  # float32 (…): smallest
    arms: jax.Array  # float32 (…): number of arms that exist
    plan: Any  # what else the algorithm keeps

    @property
    def estimates(self) -> jax.Array:
        """Estimated means, float32 `(K, …)`; -inf for dropped arms."""
        number = jnp.maximum(self.pulls - self.start, 1).astype(jnp.float32)
        return jnp.where(self.active, self.sums.high / number, -jnp.inf)


class Elimination(Sequential):
    """Round-robin pulls of the surviving arms; a subclass says when to look at them, and which to keep."""

    anytime = False
    reuse: bool = True

    @abc.abstractmethod
    def _plan(self, state: EliminationState) -> Any:
        """What the algorithm keeps of its parameters during a run: a pytree of arrays `(…)` or `(K, …)`."""

    def _contribution(self, plan: Any, reward: jax.Array, number: jax.Array) -> jax.Array:
        """What the arm's reward of this number (from 1) adds to its sum, float32."""
        del plan, number
        return reward

    @abc.abstractmethod
    def _due(self, state: EliminationState) -> jax.Array:
        """Whether arms may have to go after a finished round, bool `(…)`."""

    @abc.abstractmethod
    def _kept(self, state: EliminationState) -> tuple[jax.Array, Any]:
        """The surviving arms that stay, bool `(K, …)`, at least one; and the plan from here on."""

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> EliminationState:
        """The state after a first round, and what it dropped."""
        order = arms.tie_order(key, problem.arms)
        exists = statistics.pulls > 0
        number = arms.index(problem.arms, key.shape)
        zero, one = jnp.zeros(key.shape, jnp.int32), jnp.ones(key.shape, jnp.int32)
        count = arms.total(exists.astype(jnp.int32))
        blank = EliminationState(
            sums=CompensatedSum.of(statistics.mean), pulls=statistics.pulls, active=exists, order=order, count=count,
            survivors=jnp.broadcast_to(number, exists.shape), position=zero, round=one, start=zero,
            time=statistics.time, highest=jnp.zeros(key.shape), lowest=jnp.zeros(key.shape),
            arms=count.astype(jnp.float32), plan=None,
        )  # fmt: skip
        plan = self._plan(blank)
        sums = CompensatedSum.of(self._contribution(plan, statistics.mean, one))
        state = dataclasses.replace(blank, sums=sums, plan=plan)
        state = dataclasses.replace(
            state,
            highest=arms.largest(state.estimates),
            lowest=arms.smallest(jnp.where(exists, state.estimates, jnp.inf)),
        )
        return self._drop(state, self._due(state))

    def select(self, state: EliminationState) -> jax.Array:
        """The next survivor of the round, int32 `(…)`."""
        return arms.take(state.survivors, state.position)

    def pulled_before(self, state: EliminationState, arm: jax.Array) -> jax.Array:
        """The finished rounds: every survivor was pulled in each."""
        del arm
        return state.round

    def update(
        self, state: EliminationState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True
    ) -> EliminationState:
        """The state after one reward; at the end of a round, without the arms that it drops."""
        live = jnp.broadcast_to(live, state.time.shape)
        old = jax.tree.map(lambda x: arms.take(x, arm), state.sums)
        number = state.round + 1

        def after(arm: jax.Array, old: CompensatedSum, reward: jax.Array, live: jax.Array) -> Any:
            value = self._contribution(state.plan, reward.astype(jnp.float32), number)
            return arm, old.plus(jnp.where(live, value, 0))

        arm, new = apart(state.time.reshape(-1)[0] >= 0, after, arm, old, reward, live)
        estimate = new.high / (number - state.start).astype(jnp.float32)
        first = state.position == 0
        highest = jnp.where(first, estimate, larger(state.highest, estimate))
        lowest = jnp.where(first, estimate, smaller(state.lowest, estimate))
        one = live.astype(jnp.int32)
        ended = live & (state.position + 1 == state.count)
        state = dataclasses.replace(
            state,
            sums=jax.tree.map(lambda x, value: arms.put(x, arm, value), state.sums, new),
            pulls=arms.put(state.pulls, arm, state.round + one),
            position=jnp.where(ended, 0, state.position + one),
            round=state.round + ended.astype(jnp.int32),
            time=state.time + one,
            highest=jnp.where(live, highest, state.highest),
            lowest=jnp.where(live, lowest, state.lowest),
        )
        return self._drop(state, ended & self._due(state))

    def _drop(self, state: EliminationState, due: jax.Array) -> EliminationState:
        return where_any(due & (state.count > 1), self._without, state)

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
        best = arms.top_mask(state.estimates, arms.Known(1), state.order)
        return jnp.where(state.count == 1, state.active, best)
