"""A user's algorithm, written for one run, as the engine wants it: for R runs at once, runs last."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.problems.base import Problem
from jaxbandits.pytrees import pytree

__all__ = ["Vectorised", "VectorisedState"]


@pytree
@dataclasses.dataclass(frozen=True)
class VectorisedState:
    """R states of a single-run algorithm, runs last."""

    inner: Any

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
    kind: type = dataclasses.field(metadata={"static": True})  # tells apart what their own pytrees may not

    def init(self, problem: Problem, key: jax.Array) -> VectorisedState:
        """First states of R runs."""
        init = jax.vmap(lambda a, p, k: a.init(p, k), in_axes=(-1, -1, 0), out_axes=-1)
        return VectorisedState(init(self.algorithm, problem, key))

    def step(self, problem: Problem, key: jax.Array, state: VectorisedState, live: jax.Array) -> VectorisedState:
        """One step of the runs that are live."""
        step = jax.vmap(lambda a, p, k, s: a.step(p, k, s), in_axes=(-1, -1, 0, -1), out_axes=-1)
        new = step(self.algorithm, problem, key, state.inner)
        return VectorisedState(jax.tree.map(lambda a, b: jnp.where(live, a, b), new, state.inner))

    def done(self, state: VectorisedState) -> jax.Array:
        """Which runs have ended, bool `(R,)`."""
        return jax.vmap(lambda a, s: a.done(s), in_axes=(-1, -1))(self.algorithm, state.inner)

    def recommend(self, state: VectorisedState) -> jax.Array:
        """Masks of the returned arms, bool `(K, R)`."""
        return jax.vmap(lambda a, s: a.recommend(s), in_axes=(-1, -1), out_axes=-1)(self.algorithm, state.inner)
