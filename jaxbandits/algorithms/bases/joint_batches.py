"""Algorithms that pull all their active arms equally often, in batches, and look at the sums of each batch.

A formula says how large a batch is, and how many there are; the request, and what is too large to be asked for, follow.
"""

import abc
import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT, NO_LIMIT, larger, smaller
from jaxbandits.arrays.sums import compensated_total
from jaxbandits.arrays.wide_counts import Wide
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import batch_key
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["LARGEST_BATCH", "Batches", "JointBatches", "whole"]

#: Rewards of an arm in a batch: the sum of two batches must be a count.
LARGEST_BATCH = 2**30 - 1
# As float32, the largest batch is a power of two, one more than it may be.
_LARGEST = np.nextafter(np.float32(LARGEST_BATCH), np.float32(0))
# A ceiling that rounding of float32 formulas cannot lift.
_BELOW = 1 - 1e-6


class Batches(NamedTuple):
    """What a joint request asks for."""

    active: jax.Array  # bool (K, …): the arms to pull, all equally often
    each: jax.Array  # int32 (…): joint pulls in a batch
    number: jax.Array  # int32 (…): how many batches


def whole(count: jax.Array) -> jax.Array:
    """A formula's count, float32 `(…)`, rounded up to a whole number, at least 1."""
    return larger(jnp.ceil(count * _BELOW), 1)


class JointBatches(BuiltIn):
    """An algorithm that asks for batches of joint pulls of its active arms, and looks at each batch's sums."""

    traits = Traits(anytime=False, in_batches=True)

    @property
    def initial_pulls(self) -> int:
        """None: the first step pulls."""
        return 0

    @property
    def slots(self) -> int:
        """The largest number of batches that a request may have, part of the program; one if it says no more."""
        return 1

    @abc.abstractmethod
    def size(self, state: Any) -> jax.Array:
        """Joint pulls in a batch of the next request, whole float32 `(…)`, at least 1; infinite for too many."""

    def number(self, state: Any) -> jax.Array:
        """Batches in the next request, whole float32 `(…)`, at least 1."""
        return jnp.ones(state.ended.shape)

    def request(self, state: Any) -> Batches:
        """The next batches of the active arms."""
        each = smaller(self.size(state), _LARGEST).astype(jnp.int32)
        return Batches(state.active, each, smaller(self.number(state), float(self.slots)).astype(jnp.int32))

    def exhausted(self, state: Any) -> jax.Array:
        """The next request passes the range of the counts, or has more batches than the program has slots."""
        return (self.size(state) > _LARGEST) | (self.number(state) > self.slots)

    def next_pulls(self, state: Any) -> jax.Array:
        """Return how many pulls the next batches make, int32 `(…)`; 2^31 - 1 for more."""
        asked = self.request(state)
        return Wide.product(asked.each, asked.number).times(arms.total(asked.active.astype(jnp.int32))).capped()

    def at_limit(self, state: Any, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next batches would pass `max_pulls`, int32 `()`; bool `(…)`.

        Without a limit they never do: time stops counting below it.
        """
        return jnp.asarray(max_pulls < NO_LIMIT) & super().at_limit(state, max_pulls)

    def done(self, state: Any) -> jax.Array:
        """The answer is found."""
        return jnp.asarray(state.ended)

    def recommend(self, state: Any) -> jax.Array:
        """The answer; before that the active arm with the largest value."""
        return jnp.asarray(state.best())

    @abc.abstractmethod
    def absorb(self, state: Any, batches: Batches, sums: jax.Array, live: jax.Array | bool = True) -> Any:
        """The state after these batches; unchanged where `live` is false.

        Args:
            state: the state.
            batches: what was asked for.
            sums: int32 or float32 `(Q, K, …)`: the sum of the rewards of every arm in every batch, 0 where there was
                none.
            live: bool `(…)`.
        """

    @abc.abstractmethod
    def start(self, problem: Problem, key: jax.Array) -> Any:
        """The state before the first pull."""

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> State:
        """The state before the first pull."""
        del statistics
        return self.start(problem, key)

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state before the first pull."""
        return self.start(problem, key)

    def asked(self, state: Any) -> tuple[jax.Array, jax.Array]:
        """The active arms of batch after batch, all of a batch equally often."""
        batches = self.request(state)
        batch, number = jnp.arange(self.slots)[:, None], jnp.arange(batches.active.shape[0])
        counts = jnp.where(batches.active & (batch < batches.number), batches.each, 0).reshape(-1)
        return jnp.broadcast_to(number, (self.slots, number.shape[0])).reshape(-1), counts

    def told(self, state: Any, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> Any:
        """The state after the sums of batch after batch."""
        del counts, cost
        batches = self.request(state)
        batch = jnp.arange(asked.shape[0]) // arms.total(batches.active.astype(jnp.int32))
        nothing = jnp.zeros((self.slots, *batches.active.shape), jnp.float32)
        return self.absorb(state, batches, nothing.at[batch, asked].add(sums, mode="drop"))

    def step(self, problem: Problem, key: jax.Array, state: Any, live: jax.Array | bool = True) -> Any:
        """Request, draw the sums of every batch, absorb."""
        live = jnp.asarray(live) & ~self.done(state) & ~jnp.asarray(self.exhausted(state))
        asked = self.request(state)
        number = jnp.where(live, asked.number, 0)

        def draw(batch: jax.Array | int, sums: jax.Array) -> jax.Array:
            count = jnp.where(asked.active & (batch < number), asked.each, 0)
            fresh = problem.sums(key, state.drawn + batch, count, _pulled(state.pulls, asked.each, batch))
            return lax.dynamic_update_index_in_dim(sums, fresh.astype(sums.dtype), batch, 0)

        nothing = jnp.zeros((self.slots, *asked.active.shape), state.values.dtype)
        sums = lax.fori_loop(0, jnp.max(number), draw, nothing)
        new = self.absorb(state, asked, sums, live)
        paid_key = batch_key(key, state.drawn)
        reward = _total(sums, number) if problem.costs is not None else jnp.zeros(number.shape)
        spent = state.spent.plus(problem, paid_key, jnp.where(asked.active & live, asked.each, 0), number, reward)
        pulls = jnp.where(asked.active & live, _pulled(state.pulls, asked.each, number), state.pulls)
        return dataclasses.replace(new, pulls=pulls, drawn=state.drawn + number, spent=spent)


def _pulled(before: jax.Array, each: jax.Array, number: jax.Array | int) -> jax.Array:
    """Pulls after `number` batches more of `each`, int32; 2^31 - 1 for more."""
    more = Wide.product(each, jnp.broadcast_to(jnp.asarray(number), each.shape)).capped()
    return before + smaller(MAX_COUNT - before, more)


def _total(sums: jax.Array, number: jax.Array) -> jax.Array:
    """The sum over batches and arms, float32 `(…)`."""
    over_arms = compensated_total if jnp.issubdtype(sums.dtype, jnp.floating) else arms.total_of_counts

    def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
        return total + over_arms(lax.dynamic_index_in_dim(sums, batch, 0, keepdims=False))

    return lax.fori_loop(0, jnp.max(number), add, jnp.zeros(sums.shape[2:]))
