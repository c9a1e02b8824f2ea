"""Algorithms that pull one arm per decision."""

import abc

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.arrays import arms
from jaxbandits.arrays.compiler_forms import kept
from jaxbandits.arrays.numerics import larger
from jaxbandits.arrays.written_out import arm_by_arm
from jaxbandits.problems.base import Problem

__all__ = ["Sequential"]


class Sequential(BuiltIn):
    """An algorithm that pulls one arm per decision."""

    @property
    def one_pull_a_step(self) -> bool:
        """Whether the step is the one below."""
        return type(self).step is Sequential.step and type(self).advance is BuiltIn.advance

    @abc.abstractmethod
    def select(self, state: State) -> jax.Array:
        """The arm to pull, int32 `(…)`."""

    @abc.abstractmethod
    def update(self, state: State, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after one reward of one arm; unchanged where `live` is false."""

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Select, pull, update."""
        arm, live = self._next(state, live)
        reward = problem.reward(key, arm, self.pulled_before(state, arm))
        return self.update(state, arm, reward, live)

    def _next(self, state: State, live: jax.Array | bool) -> tuple[jax.Array, jax.Array]:
        """The arm to pull, int32 `(…)`, and whether it is pulled, bool `(…)`.

        Both come from one word: a fusion of XLA:CPU has one result, and would decide anew for a second one.
        """

        def decided(state: State, live: jax.Array) -> jax.Array:
            arm = self.select(state)
            return jnp.where(live & ~self.done(state), arm, ~arm)

        word = kept(arm_by_arm(decided, state, jnp.asarray(live)))
        return larger(word, ~word), word >= 0

    def asked(self, state: State) -> tuple[jax.Array, jax.Array]:
        """The arm that is selected, once."""
        arm = self.select(state)[None]
        return arm, jnp.ones_like(arm)

    def told(self, state: State, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> State:
        """The state after its reward."""
        del counts, cost
        return self.update(state, asked[0], sums[0])

    def pulled_before(self, state: State, arm: jax.Array) -> jax.Array:
        """How often an arm was pulled, int32 `(…)`."""
        return arms.take(state.pulls, arm)
