"""Races: the arms are pulled equally often, and those whose intervals tell leave; what all of them share.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1.
"""

import abc
import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.joint_batches import LARGEST_BATCH, Batches, JointBatches, whole
from jaxbandits.algorithms.bases.joint_state import RangedState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import larger, log, rounded
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum
from jaxbandits.problems.base import Problem

__all__ = ["Bounds", "Race", "RaceState"]


@pytree
@dataclasses.dataclass(frozen=True)
class RaceState(RangedState):
    """With the arms accepted; `values` are the sums of all rewards of every arm."""

    level: jax.Array  # float32 (…): ln(c K / delta), an interval failing with probability c exp(-level) at most
    accepted: jax.Array  # bool (K, …)
    total: CompensatedSum | None  # (K, …): the sums, of rewards that are not integers
    looked: jax.Array  # int32 (…): n_r, pulls of every active arm
    round: jax.Array  # int32 (…): r, looks so far

    def left(self, m: jax.Array) -> jax.Array:
        """How many of the m arms are not accepted yet, int32 `(…)`."""
        return jnp.asarray(m, jnp.int32) - arms.total(self.accepted.astype(jnp.int32))


class Bounds(NamedTuple):
    """Of the means, float32 `(K, …)`, none falling where the empirical mean rises."""

    lower: jax.Array
    upper: jax.Array


@dataclasses.dataclass(frozen=True)
class Race(JointBatches):
    """A race; a subclass has the intervals.

    The r-th look is at n_r pulls of every active arm: n_1 = ceil(level), n_(r+1) = ceil(growth n_r). Its intervals all
    hold with probability 1 - delta / (r (r+1)), and so those of all looks with probability 1 - delta.
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1)
    growth: Numeric = parameter("above one", default=1.3)
    b: Numeric = parameter("positive", default=None)
    traits = dataclasses.replace(JointBatches.traits, answers="m", tolerance="epsilon")
    #: c, where an interval fails with probability at most c exp(-level).
    sides: ClassVar[float]

    @abc.abstractmethod
    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        """The intervals around empirical means `(K, …)`, with level / n and the range of the rewards, `(…)`."""

    def start(self, problem: Problem, key: jax.Array) -> RaceState:
        """The state before the first pull."""
        nothing = jnp.zeros(key.shape, jnp.int32)
        state = RaceState.of(
            problem, key, self.b, level=jnp.zeros(key.shape), accepted=jnp.zeros((problem.arms, *key.shape), bool),
            total=None, looked=nothing, round=nothing,
        )  # fmt: skip
        floats = jnp.issubdtype(state.values.dtype, jnp.floating)
        return dataclasses.replace(
            state,
            level=np.float32(np.log(self.sides)) + log(state.count) - log_of(self.delta),
            total=CompensatedSum.of(state.values) if floats else None,
        )

    def _level(self, state: RaceState, number: jax.Array) -> jax.Array:
        """ln(c K r (r+1) / delta) at the look of this number, float32 `(…)`."""
        return state.level + (log(number) + log(number + 1))

    def size(self, state: RaceState) -> jax.Array:
        """Pulls until the next look."""
        further = (self.growth - jnp.float32(1)) * state.looked.astype(jnp.float32)
        return whole(jnp.where(state.round == 0, self._level(state, state.round + 1), further))

    def exhausted(self, state: RaceState) -> jax.Array:
        """At the next look the sums would pass the range of the counts."""
        return state.looked.astype(jnp.float32) + self.size(state) >= LARGEST_BATCH

    def absorb(self, state: RaceState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True) -> RaceState:
        """The state after a look."""
        live = jnp.broadcast_to(live, state.ended.shape)
        fresh = jnp.where(live & state.active, sums[0], 0)
        total = None if state.total is None else state.total.plus(fresh)
        one = live.astype(jnp.int32)
        new = dataclasses.replace(
            state,
            values=state.values + fresh if total is None else total.high,
            total=total,
            looked=state.looked + jnp.where(live, batches.each, 0),
            round=state.round + one,
        )
        each = 1 / larger(new.looked, jnp.int32(1)).astype(jnp.float32)
        mean = rounded(new.values.astype(jnp.float32) * each)
        bounds = self._bounds(mean, self._level(state, state.round + 1) * each, state.b)
        inside = ranking.top_mask(new.values, state.left(self.m), state.order, state.active)  # J
        outside = state.active & ~inside
        high = arms.largest(jnp.where(outside, bounds.upper, -jnp.inf))  # U_u
        low = arms.smallest(jnp.where(inside, bounds.lower, jnp.inf))  # L_l
        accepted = live & inside & (high - bounds.lower < self.epsilon)
        discarded = live & outside & (bounds.upper - low < self.epsilon)
        new = dataclasses.replace(new, active=state.active & ~accepted & ~discarded, accepted=state.accepted | accepted)
        left = new.left(self.m)
        return dataclasses.replace(new, ended=state.ended | (live & ((left == 0) | (left == new.count))))

    def recommend(self, state: RaceState) -> jax.Array:
        """The accepted arms, and the best active ones."""
        return state.accepted | ranking.top_mask(state.values, state.left(self.m), state.order, state.active)
