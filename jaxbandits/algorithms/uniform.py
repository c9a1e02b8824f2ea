"""Uniform sampling: the baseline of every fixed-budget figure."""

import dataclasses

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits import arms
from jaxbandits.algorithms.protocol import Sequential, parameter, register_algorithm
from jaxbandits.estimators import ArmStatistics
from jaxbandits.problems.base import Problem, per_bandit

__all__ = ["Uniform", "UniformState"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class UniformState:
    """The state of a run; arms first, runs last."""

    statistics: ArmStatistics
    order: jax.Array  # int32 (K, …): tie order
    mask: jax.Array | None  # bool (K, …): arms that exist
    bandits: int = dataclasses.field(metadata={"static": True})

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K, …)`."""
        return self.statistics.pulls

    @property
    def time(self) -> jax.Array:
        """Pulls of all arms, int32 `(…)`."""
        return self.statistics.time


@register_algorithm
@dataclasses.dataclass(frozen=True)
class Uniform(Sequential):
    """Pulls the arm pulled least, ties at random, and returns the m arms with the largest means (of each bandit).

    Attributes:
        budget: number of pulls, at least K.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range.
    """

    budget: ArrayLike = parameter("count")
    m: ArrayLike = parameter("count", default=1, common=1)
    multi_bandit = True

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> UniformState:
        """The state after one pull of every arm."""
        order = arms.tie_order(key, problem.arms)
        mask = None if problem.mask is None else jnp.broadcast_to(problem.mask, order.shape)
        return UniformState(statistics=statistics, order=order, mask=mask, bandits=problem.bandits)

    def select(self, state: UniformState) -> jax.Array:
        """An arm pulled least, int32 `(…)`."""
        pulls = state.pulls if state.mask is None else jnp.where(state.mask, state.pulls, jnp.iinfo(jnp.int32).max)
        _, place = arms.arg_smallest(pulls, state.order)
        return arms.arm_at(place, state.order.shape[0])

    def update(
        self, state: UniformState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True
    ) -> UniformState:
        """The state after one reward."""
        return dataclasses.replace(state, statistics=state.statistics.add(arm, reward, live))

    def done(self, state: UniformState) -> jax.Array:
        """The budget is spent."""
        return state.time >= self.budget

    def recommend(self, state: UniformState) -> jax.Array:
        """The m largest means of each bandit."""
        mean = state.statistics.mean if state.mask is None else jnp.where(state.mask, state.statistics.mean, -jnp.inf)
        best = arms.top_mask(per_bandit(mean, state.bandits), self.m, per_bandit(state.order, state.bandits))
        return best.reshape(state.order.shape)
