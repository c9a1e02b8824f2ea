"""Fixed-budget index policies: pull the arm with the largest index, return the largest means. GapE, GapE-V and UCB-E."""

import abc
import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits import arms
from jaxbandits.algorithms.protocol import Sequential
from jaxbandits.estimators import ArmStatistics
from jaxbandits.problems.base import Problem, per_bandit

__all__ = ["IndexPolicy", "IndexState"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class IndexState:
    """The state of a run; arms first, runs last."""

    statistics: ArmStatistics
    order: jax.Array  # int32 (K, …): tie order
    mask: jax.Array | None  # bool (K, …): arms that exist
    b: jax.Array  # float32 (…): range of the rewards
    arms: jax.Array  # float32 (…): number of arms that exist, of all bandits
    exploration: jax.Array  # float32 (…): a, where it is fixed or changes at phases
    bandits: int = dataclasses.field(metadata={"static": True})

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K, …)`."""
        return self.statistics.pulls

    @property
    def time(self) -> jax.Array:
        """Pulls of all arms, int32 `(…)`."""
        return self.statistics.time


class IndexPolicy(Sequential):
    """Pulls the arm with the largest index until the budget is spent."""

    anytime = False

    @abc.abstractmethod
    def _index(self, state: IndexState) -> jax.Array:
        """The index of each arm, float32 `(K, …)`."""

    @abc.abstractmethod
    def _first_exploration(self, state: IndexState, problem: Problem) -> jax.Array:
        """The exploration parameter a at the start, float32 `(…)`."""

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> IndexState:
        """The state after the initial pulls; computes a from the true gaps where it is asked for."""
        order = arms.tie_order(key, problem.arms)
        mask = None if problem.mask is None else jnp.broadcast_to(problem.mask, order.shape)
        count = jnp.float32(problem.arms) if mask is None else arms.total(mask.astype(jnp.float32))
        state = IndexState(
            statistics=statistics,
            order=order,
            mask=mask,
            b=jnp.broadcast_to(jnp.float32(problem.reward_range if self.b is None else self.b), key.shape),
            arms=jnp.broadcast_to(count, key.shape),
            exploration=jnp.zeros(key.shape, jnp.float32),
            bandits=problem.bandits,
        )
        a = jnp.broadcast_to(jnp.float32(self._first_exploration(state, problem)), key.shape)
        return dataclasses.replace(state, exploration=a)

    def select(self, state: IndexState) -> jax.Array:
        """The arm with the largest index over all bandits, int32 `(…)`."""
        index = self._index(state)
        if state.mask is not None:
            index = jnp.where(state.mask, index, -jnp.inf)
        _, place = arms.arg_largest(index, state.order)
        return arms.arm_at(place, state.order.shape[0])

    def update(self, state: IndexState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> IndexState:
        """The state after one reward."""
        return dataclasses.replace(state, statistics=state.statistics.add(arm, reward, live))

    def done(self, state: IndexState) -> jax.Array:
        """The budget is spent."""
        return state.time >= self.budget

    def recommend(self, state: IndexState) -> jax.Array:
        """The largest mean of each bandit."""
        mean = state.statistics.mean if state.mask is None else jnp.where(state.mask, state.statistics.mean, -jnp.inf)
        best = arms.top_mask(per_bandit(mean, state.bandits), arms.Known(1), per_bandit(state.order, state.bandits))
        return best.reshape(state.order.shape)
