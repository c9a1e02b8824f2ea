"""Uniform sampling: the baseline of every fixed-budget figure."""

import dataclasses

import jax

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["Uniform"]


@pytree
@dataclasses.dataclass(frozen=True)
class Uniform(Sequential):
    """Pulls the arm pulled least, ties at random, and returns the m arms with the largest means (of each bandit).

    Attributes:
        budget: number of pulls, at least K.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range.
    """

    budget: Numeric = parameter("count")
    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed budget, m arms, several bandits",
        answers="m",
        multi_bandit=True,
    )

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> ArmState:
        """The state after one pull of every arm."""
        return ArmState.of(statistics, problem, key, None)

    def select(self, state: ArmState) -> jax.Array:
        """An arm pulled least, int32 `(…)`."""
        _, place = ranking.arg_smallest(state.existing(state.pulls, MAX_COUNT), state.order)
        return arm_at(place, state.order.shape[0], state.ties)

    def update(self, state: ArmState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> ArmState:
        """The state after one reward."""
        return state.pulled(arm, reward, live)

    def done(self, state: ArmState) -> jax.Array:
        """The budget is spent."""
        return state.time >= self.budget

    def recommend(self, state: ArmState) -> jax.Array:
        """The m largest means of each bandit."""
        return state.largest_means(self.m)
