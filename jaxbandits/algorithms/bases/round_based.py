"""Algorithms that pull several arms per decision."""

import abc

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.arrays import arms
from jaxbandits.problems.base import Problem

__all__ = ["RoundBased"]


class RoundBased(BuiltIn):
    """An algorithm that pulls several arms per decision."""

    @abc.abstractmethod
    def request(self, state: State) -> jax.Array:
        """The arms to pull once each, all different, int32 `(P, …)`."""

    @abc.abstractmethod
    def absorb(self, state: State, requested: jax.Array, rewards: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after the requested rewards `(P, …)`; unchanged where `live` is false."""

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Request, pull, absorb."""
        requested = self.request(state)
        slots = [requested[slot] for slot in range(requested.shape[0])]
        live = live & ~self.done(state)
        rewards = [problem.reward(key, arm, arms.take(state.pulls, arm)) for arm in slots]
        return self.absorb(state, requested, jnp.stack(rewards), live)

    def next_pulls(self, state: State) -> int:
        """Return P, the number of arms that are requested."""
        return int(jax.eval_shape(self.request, state).shape[0])

    def asked(self, state: State) -> tuple[jax.Array, jax.Array]:
        """The arms requested, once each."""
        requested = self.request(state)
        return requested, jnp.ones_like(requested)

    def told(self, state: State, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> State:
        """The state after their rewards."""
        del counts, cost
        return self.absorb(state, asked, sums)
