"""Joint batches whose size and number follow from a formula: the request, and what is too large to be asked for."""

import abc
import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.joint_batches import LARGEST_BATCH, Batches, JointBatches, JointState
from jaxbandits.algorithms.protocol import Numeric
from jaxbandits.problems.base import Problem
from jaxbandits.pytrees import pytree

__all__ = ["SizedBatches", "SizedState", "whole"]

# A ceiling that rounding of float32 formulas cannot lift.
_BELOW = 1 - 1e-6
# The largest float32 that is a batch.
_LARGEST = np.nextafter(np.float32(LARGEST_BATCH), np.float32(0))


@pytree
@dataclasses.dataclass(frozen=True)
class SizedState(JointState):
    """With the range of the rewards."""

    b: jax.Array  # float32 (…)

    @classmethod
    def of(cls, problem: Problem, key: jax.Array, b: Numeric, **more: Any) -> Self:
        """Before the first pull; `b` of None takes the problem's range, and `more` are a subclass's fields."""
        width = jnp.asarray(problem.reward_range if b is None else b, jnp.float32)
        return cls.start(problem, key, b=jnp.broadcast_to(width, key.shape), **more)


class SizedBatches(JointBatches):
    """An algorithm that asks for as many pulls of its active arms as a formula says, in one batch if it says no more.

    Without `b`, the range of the rewards, it takes the problem's; a reward that is not in an interval of that length
    must be (b/2)-sub-Gaussian.
    """

    epsilon: Numeric
    delta: Numeric
    b: Numeric

    @property
    def slots(self) -> int:
        """One batch."""
        return 1

    @abc.abstractmethod
    def size(self, state: Any) -> jax.Array:
        """Joint pulls in a batch of the next request, whole float32 `(…)`, at least 1; infinite for too many."""

    def number(self, state: Any) -> jax.Array:
        """Batches in the next request, whole float32 `(…)`, at least 1."""
        return jnp.ones(state.ended.shape)

    def request(self, state: Any) -> Batches:
        """The next batches of the active arms."""
        each = jnp.minimum(self.size(state), _LARGEST).astype(jnp.int32)
        return Batches(state.active, each, jnp.minimum(self.number(state), float(self.slots)).astype(jnp.int32))

    def exhausted(self, state: Any) -> jax.Array:
        """The next request passes the range of the counts, or has more batches than the program has slots."""
        return (self.size(state) > _LARGEST) | (self.number(state) > self.slots)

    def done(self, state: Any) -> jax.Array:
        """The answer is found."""
        return jnp.asarray(state.ended)

    def recommend(self, state: Any) -> jax.Array:
        """The answer; before that the active arm with the largest value."""
        return jnp.asarray(state.best())


def whole(count: jax.Array) -> jax.Array:
    """A formula's count, float32 `(…)`, rounded up to a whole number, at least 1."""
    return jnp.maximum(jnp.ceil(count * _BELOW), 1)
