"""Algorithms for K arms that pull their active arms equally often, and accept and reject some after each round."""

import abc
import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.batch_based import BatchBased
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import MAX_COUNT, larger, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["RoundState", "TopKRounds", "TopKState"]

# The largest float32 that is a count.
_LARGEST = np.nextafter(np.float32(2**31), np.float32(0))


@pytree
@dataclasses.dataclass(frozen=True)
class TopKState(ArmState):
    """The state of a run; arms first, runs last."""

    active: jax.Array  # bool (K, …): S_r, the arms that are neither accepted nor rejected
    accepted: jax.Array  # bool (K, …): A
    values: jax.Array  # int32 or float32 (K, …): sums that the last round ranked, of as many rewards of active arms
    round: jax.Array  # int32 (…): finished rounds
    ended: jax.Array  # bool (…)
    # Kept, since the compiler would compute what a run has once again for every arm, wherever it is used.
    each: jax.Array  # int32 (…): pulls of every active arm in the next round

    @classmethod
    def start(cls, statistics: ArmStatistics, problem: Problem, key: jax.Array, **more: Any) -> Self:
        """Before the first pull, and before the first round is planned; `more` are a subclass's fields."""
        state = ArmState.of(statistics, problem, key, None)
        exists = jnp.ones(state.order.shape, bool) if state.mask is None else state.mask
        nothing = jnp.zeros(key.shape, jnp.int32)
        return cls(
            **state.shared(), active=exists, accepted=jnp.zeros_like(exists), values=statistics.total, round=nothing,
            ended=nothing > 0, each=nothing, **more,
        )  # fmt: skip

    def left(self, k: jax.Array) -> jax.Array:
        """K - |A|, int32 `(…)`."""
        return jnp.asarray(k, jnp.int32) - arms.total(self.accepted.astype(jnp.int32))

    @property
    def count(self) -> jax.Array:
        """|S_r|, int32 `(…)`."""
        return arms.total(self.active.astype(jnp.int32))

    def around(self, values: jax.Array, left: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The `left`-th and the next largest of the active arms' values `(K, …)`, float32 `(…)`.

        The latter is -inf where no more than `left` arms are active.
        """
        inner = ranking.kth_largest(values, larger(left, 1), self.active)
        level = arms.total((self.active & (values >= inner)).astype(jnp.int32)) > left
        below = arms.largest(jnp.where(self.active & (values < inner), values.astype(jnp.float32), -jnp.inf))
        inner = inner.astype(jnp.float32)
        return inner, jnp.where(level, inner, below)


@pytree
@dataclasses.dataclass(frozen=True)
class RoundState(TopKState):
    """With the next round's radius, and whether it is whole; kept like its pulls."""

    radius: jax.Array  # float32 (…): how far a mean is taken to be off
    whole: jax.Array  # bool (…): whether the budget, if any, leaves as many pulls as the algorithm asks for


class TopKRounds(BatchBased):
    """Rounds of equally many pulls of every active arm; a subclass says how many, and who is accepted or rejected."""

    traits = dataclasses.replace(BatchBased.traits, criterion="aggregate", answers="k", tolerance="epsilon")
    k: Numeric
    budget: Numeric = None

    @abc.abstractmethod
    def _pulls(self, state: RoundState, number: jax.Array) -> jax.Array:
        """Pulls of every active arm in the round of this number, float32 `(…)`, not rounded."""

    def _radius(self, state: RoundState, number: jax.Array) -> jax.Array:
        """2^-r in the round of this number, float32 `(…)`."""
        del state
        return jnp.ldexp(jnp.float32(1), -number)

    @abc.abstractmethod
    def _decide(self, state: RoundState, sums: jax.Array, pulls: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The arms to accept and to reject, bool `(K, …)`, by sums `(K, …)` of `pulls` `(…)` rewards of active arms."""

    @abc.abstractmethod
    def _close_enough(self, state: RoundState, left: jax.Array) -> jax.Array:
        """Whether any `left` of the best-looking active arms will do, by this state's radius; bool `(…)`."""

    @property
    def _cumulative(self) -> bool:
        """Whether decisions rest on the rewards of all rounds."""
        return False

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> RoundState:
        """The state before the first pull."""
        radius = jnp.zeros(key.shape)
        return self._planned(RoundState.start(statistics, problem, key, radius=radius, whole=radius == 0))

    def _planned(self, state: RoundState) -> RoundState:
        """With the next round's pulls, or what the budget leaves, evenly."""
        number = state.round + 1
        # A ceiling that rounding of the product cannot lift.
        wanted = jnp.ceil(self._pulls(state, number) * (1 - 4e-7))
        limit = MAX_COUNT if self.budget is None else jnp.asarray(self.budget, jnp.int32)
        # Whole numbers: as float32 what is left of a budget beyond 2^24 could become more than it is.
        spare = (limit - state.time) // larger(state.count, 1)
        whole = (wanted < 2.0**31) & (smaller(wanted, _LARGEST).astype(jnp.int32) <= spare)
        each = jnp.where(whole, smaller(wanted, _LARGEST).astype(jnp.int32), spare)
        return dataclasses.replace(state, each=each, whole=whole, radius=self._radius(state, number))

    def request(self, state: RoundState) -> jax.Array:
        """The planned pulls of every active arm, int32 `(K, …)`."""
        return jnp.where(state.active, state.each, 0)

    def absorb(self, state: RoundState, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> RoundState:
        """The state after a round."""
        live = jnp.broadcast_to(live, state.ended.shape)
        statistics = state.statistics.add_sums(sums, count)
        looked, pulls = (statistics.total, statistics.pulls) if self._cumulative else (sums, count)
        accepted, rejected = self._decide(state, looked, arms.largest(pulls))
        settled = (live & state.whole) & (accepted | rejected)
        new = dataclasses.replace(
            state,
            statistics=statistics,
            active=state.active & ~settled,
            accepted=state.accepted | (settled & accepted),
            values=jnp.where(live, jnp.where(state.whole, looked, statistics.total), state.values),
            round=state.round + live.astype(jnp.int32),
        )
        left = new.left(self.k)
        over = (left == 0) | (left == new.count)
        over |= self._close_enough(state, left) if self.budget is None else ~state.whole
        return self._planned(dataclasses.replace(new, ended=state.ended | (live & over)))

    def done(self, state: RoundState) -> jax.Array:
        """The budget is spent, the arms are told apart, or what is left is close enough."""
        return state.ended

    def exhausted(self, state: RoundState) -> jax.Array | bool:
        """Without a budget: the next round does not fit."""
        return ~state.whole if self.budget is None else False

    def recommend(self, state: RoundState) -> jax.Array:
        """A, and the K - |A| active arms with the largest values."""
        return state.accepted | ranking.top_mask(state.values, state.left(self.k), state.order, state.active)
