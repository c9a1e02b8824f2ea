"""Algorithms that ask for many pulls of many arms at once."""

import abc

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["BatchBased"]


class BatchBased(BuiltIn):
    """An algorithm that asks for many pulls of many arms at once, and looks at their sums only."""

    traits = Traits(anytime=False, in_batches=True)

    @property
    def initial_pulls(self) -> int:
        """None: the first step pulls."""
        return 0

    @abc.abstractmethod
    def request(self, state: State) -> jax.Array:
        """How often to pull each arm, int32 `(K, …)`."""

    @abc.abstractmethod
    def absorb(self, state: State, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after `count` rewards of each arm with these sums, `(K, …)`; unchanged where `live` is false."""

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state before the first pull."""
        statistics = ArmStatistics.none(problem.arms, key.shape, integer=problem.integer_rewards)
        return self.begin(statistics, problem, key)

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Request, draw sums, absorb."""
        live = live & ~self.done(state) & ~jnp.asarray(self.exhausted(state))
        count = jnp.where(live, self.request(state), 0)
        return self.absorb(state, count, problem.sums(key, state.round, count, state.pulls), live)

    def next_pulls(self, state: State) -> jax.Array:
        """Return how many pulls are requested, int32 `(…)`."""
        return arms.total(self.request(state))

    def asked(self, state: State) -> tuple[jax.Array, jax.Array]:
        """Every arm as often as requested."""
        count = self.request(state)
        return jnp.arange(count.shape[0], dtype=jnp.int32), count

    def told(self, state: State, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> State:
        """The state after these sums."""
        del cost
        nothing = jnp.zeros_like(self.request(state))
        every = nothing.astype(jnp.float32).at[asked].add(sums)
        return self.absorb(state, nothing.at[asked].add(counts), every)
