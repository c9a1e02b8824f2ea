"""A user's algorithm, written for one run, as the engine wants it: for R runs at once, runs last."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.traits import Traits, traits_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.engine.stepping import exhausted, idle_after
from jaxbandits.problems.base import Problem
from jaxbandits.status import MOST_IDLE

__all__ = ["Vectorised", "VectorisedState"]


@pytree
@dataclasses.dataclass(frozen=True)
class VectorisedState:
    """R states of a single-run algorithm, runs last."""

    inner: Any
    idle: jax.Array  # int32 (R,): steps since the last pull

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K, R)`."""
        return self.inner.pulls

    @property
    def time(self) -> jax.Array:
        """Pulls of all arms, int32 `(R,)`."""
        return jnp.sum(self.inner.pulls, axis=0, dtype=jnp.int32)


@pytree
@dataclasses.dataclass(frozen=True)
class Vectorised:
    """The methods of an algorithm with `vmap` over the last axis of everything."""

    algorithm: Any

    @property
    def traits(self) -> Traits:
        """What the algorithm says of itself."""
        return traits_of(self.algorithm)

    def init(self, problem: Problem, key: jax.Array) -> VectorisedState:
        """First states of R runs."""
        init = jax.vmap(lambda a, p, k: a.init(p, k), in_axes=(-1, -1, 0), out_axes=-1)
        return VectorisedState(init(self.algorithm, problem, key), idle=jnp.zeros(key.shape, jnp.int32))

    def advance(
        self, problem: Problem, key: jax.Array, state: VectorisedState, live: jax.Array, stop: jax.Array | int
    ) -> VectorisedState:
        """One step of the runs that are live."""
        del stop
        step = jax.vmap(lambda a, p, k, s: a.step(p, k, s), in_axes=(-1, -1, 0, -1), out_axes=-1)
        inner = step(self.algorithm, problem, key, state.inner)
        new = VectorisedState(inner, idle_after(state.idle, state, inner))
        return jax.tree.map(lambda a, b: jnp.where(live, a, b), new, state)

    def done(self, state: VectorisedState) -> jax.Array:
        """Which runs have ended, bool `(R,)`."""
        return jax.vmap(lambda a, s: a.done(s), in_axes=(-1, -1))(self.algorithm, state.inner)

    def exhausted(self, state: VectorisedState) -> jax.Array:
        """Which runs cannot go on, bool `(R,)`."""
        return jax.vmap(exhausted, in_axes=(-1, -1))(self.algorithm, state.inner)

    def stalled(self, state: VectorisedState) -> jax.Array:
        """Which runs have gone on for long without a pull, bool `(R,)`."""
        return state.idle >= MOST_IDLE

    def recommend(self, state: VectorisedState) -> jax.Array:
        """Masks of the returned arms, bool `(K, R)`."""
        return jax.vmap(lambda a, s: a.recommend(s), in_axes=(-1, -1), out_axes=-1)(self.algorithm, state.inner)
