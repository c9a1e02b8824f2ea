"""Algorithms that pull all their active arms equally often, in batches, and look at the sums of each batch.

A formula says how large a batch is, and how many there are; the request, and what is too large to be asked for, follow.
"""

import abc
import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.bases.built_in import BuiltIn
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.algorithms.bases.run_state import RunState
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import in_blocks
from jaxbandits.arrays.numerics import MAX_COUNT, larger, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import compensated_total
from jaxbandits.arrays.wide_counts import Wide
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.random.streams import batch_key
from jaxbandits.spending.accounts import Account, Looked, Spent
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["LARGEST_BATCH", "Batches", "JointBatches", "JointState", "RangedState", "middle_sums", "whole"]

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


@pytree
@dataclasses.dataclass(frozen=True)
class JointState(RunState):
    """The state of a run; arms first, runs last."""

    order: jax.Array  # int32 (K, …): tie order
    active: jax.Array  # bool (K, …)
    values: jax.Array  # int32 or float32 (K, …): what active arms were last ranked by
    pulls: jax.Array  # int32 (K, …): pulls of each arm, 2^31 - 1 where there were more
    drawn: jax.Array  # int32 (…): batches so far
    ended: jax.Array  # bool (…)
    spent: Spent

    @classmethod
    def start(cls, problem: Problem, key: jax.Array, **more: Any) -> Self:
        """Before the first pull; `more` are a subclass's fields."""
        order = ties.tie_order(ties.tie_words(key), problem.arms)
        exists = jnp.ones(order.shape, bool) if problem.mask is None else jnp.broadcast_to(problem.mask, order.shape)
        nothing = jnp.zeros(order.shape, jnp.int32)
        return cls(
            order=order, active=exists, values=nothing if problem.integer_rewards else jnp.zeros(order.shape),
            pulls=nothing, drawn=jnp.zeros(key.shape, jnp.int32), ended=jnp.zeros(key.shape, bool),
            spent=Spent.nothing(problem, key.shape), **more,
        )  # fmt: skip

    @property
    def count(self) -> jax.Array:
        """|S|, int32 `(…)`."""
        return arms.total(self.active.astype(jnp.int32))

    @property
    def time(self) -> jax.Array:
        """Pulls of all arms in a simulation, int32 `(…)`; 2^31 - 2 where there were more."""
        return self.spent.pulls.capped(MAX_COUNT - 1)

    def made(self) -> jax.Array:
        """Pulls so far, float32 `(…)`, beyond the range of `time` too."""
        return self.spent.pulls.as_float()

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: Looked | None = None
    ) -> Account:
        """What runs have spent: it is kept as they go."""
        del problem, key, budget, looked
        return self.spent.account()

    def best(self) -> jax.Array:
        """Mask of the active arm with the largest value, ties by the order; bool `(K, …)`."""
        lowest = -jnp.inf if jnp.issubdtype(self.values.dtype, jnp.floating) else -MAX_COUNT
        values = jnp.where(self.active, self.values, lowest)
        best = self.active & (values == arms.largest(values))
        return best & (self.order == ranking.first_place(best, self.order))


@pytree
@dataclasses.dataclass(frozen=True)
class RangedState(JointState):
    """With the range of the rewards."""

    b: jax.Array  # float32 (…)

    @classmethod
    def of(cls, problem: Problem, key: jax.Array, b: Numeric, **more: Any) -> Self:
        """Before the first pull; `b` of None takes the problem's range, and `more` are a subclass's fields."""
        width = jnp.asarray(problem.reward_range if b is None else b, jnp.float32)
        return cls.start(problem, key, b=jnp.broadcast_to(width, key.shape), **more)


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
        spent = state.spent.plus(problem, paid_key, asked.active & live, asked.each, number, reward)
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


def middle_sums(sums: jax.Array, number: jax.Array) -> jax.Array:
    """Twice the median over batches: the sum of the two middle values, or twice the middle one.

    Args:
        sums: int32 or float32 `(Q, …)`, by batch; int32 below 2^30.
        number: int32, of a shape that broadcasts with the others: the batches there are, at least 1.

    Returns:
        The type of `sums`, `(…)`.
    """
    most = jnp.max(number)

    def row(sums: jax.Array, batch: jax.Array | int) -> jax.Array:
        return lax.dynamic_index_in_dim(sums, batch, 0, keepdims=False)

    def middle(sums: jax.Array) -> jax.Array:
        """By the rank of each: a few batches are compared in pairs faster than they are sorted."""

        def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
            value = row(sums, batch)

            def count(other: jax.Array | int, rank: jax.Array) -> jax.Array:
                before = (row(sums, other) < value) | ((row(sums, other) == value) & (other < batch))
                return rank + (before & (other < number)).astype(jnp.int32)

            rank = lax.fori_loop(0, most, count, jnp.zeros(value.shape, jnp.int32))
            for place in ((number - 1) // 2, number // 2):
                total = total + jnp.where((rank == place) & (batch < number), value, 0)
            return total

        return lax.fori_loop(0, most, add, jnp.zeros_like(sums[0]))

    if sums.ndim < 3:
        return middle(sums)

    def of_arms(arm: jax.Array) -> jax.Array:
        return middle(lax.dynamic_slice_in_dim(sums, arm[0, 0], arm.shape[0], 1))

    return in_blocks(of_arms, jnp.broadcast_to(arms.index(sums.shape[1], sums.shape[2:]), sums.shape[1:]))
