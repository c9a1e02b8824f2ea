"""Fixed-budget index policies: pull the arm with the largest index, return the largest means: GapE, UCB-E."""

import abc
import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["IndexPolicy", "IndexState"]


@pytree
@dataclasses.dataclass(frozen=True)
class IndexState(ArmState):
    """The state of a run; arms first, runs last."""

    exploration: jax.Array  # float32 (…): a, where it is not estimated at every pull


class IndexPolicy(Sequential):
    """Pulls the arm with the largest index until the budget is spent."""

    budget: Numeric
    b: Numeric
    traits = Traits(anytime=False)

    @abc.abstractmethod
    def _index(self, state: IndexState) -> jax.Array:
        """The index of each arm, float32 `(K, …)`."""

    @abc.abstractmethod
    def _first_exploration(self, state: ArmState, problem: Problem) -> jax.Array:
        """The exploration parameter a at the start, float32 `(…)`."""

    def indices(self, state: IndexState, problem: Problem) -> jax.Array:
        """The index of each arm with the exploration and the range that these parameters have; float32 `(K, …)`."""
        width = state.b if self.b is None else jnp.broadcast_to(jnp.asarray(self.b, jnp.float32), state.b.shape)
        own = dataclasses.replace(state, b=width)
        a = jnp.broadcast_to(jnp.asarray(self._first_exploration(own, problem), jnp.float32), width.shape)
        return self._index(dataclasses.replace(own, exploration=a))

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> IndexState:
        """The state after the initial pulls; computes a from the true gaps where it is asked for."""
        state = ArmState.of(statistics, problem, key, self.b)
        a = jnp.broadcast_to(jnp.asarray(self._first_exploration(state, problem), jnp.float32), key.shape)
        return IndexState(**state.shared(), exploration=a)

    def select(self, state: IndexState) -> jax.Array:
        """The arm with the largest index over all bandits, int32 `(…)`."""
        _, place = ranking.arg_largest(state.existing(self._index(state), -jnp.inf), state.order)
        return arm_at(place, state.order.shape[0], state.ties)

    def update(self, state: IndexState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> IndexState:
        """The state after one reward."""
        return state.pulled(arm, reward, live)

    def done(self, state: IndexState) -> jax.Array:
        """The budget is spent."""
        return state.time >= self.budget

    def recommend(self, state: IndexState) -> jax.Array:
        """The largest mean of each bandit."""
        return state.largest_means(Known(1))
