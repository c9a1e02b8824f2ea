"""The state of a run that pulls all its active arms equally often, in batches."""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.run_state import RunState
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.spending.accounts import Account, Looked, Spent

__all__ = ["JointState", "RangedState"]


@pytree
@dataclasses.dataclass(frozen=True)
class JointState(RunState):
    """The state of a run; arms first, runs last."""

    order: jax.Array  # int32 (K, …): tie order
    ties: jax.Array  # uint32 (2, …): what makes it, and those of rounds with fresh rewards
    active: jax.Array  # bool (K, …)
    values: jax.Array  # int32 or float32 (K, …): what active arms were last ranked by
    pulls: jax.Array  # int32 (K, …): pulls of each arm, 2^31 - 1 where there were more
    drawn: jax.Array  # int32 (…): batches so far
    ended: jax.Array  # bool (…)
    spent: Spent

    @classmethod
    def start(cls, problem: Problem, key: jax.Array, **more: Any) -> Self:
        """Before the first pull; `more` are a subclass's fields."""
        words = ties.tie_words(key)
        order = ties.tie_order(words, problem.arms)
        exists = jnp.ones(order.shape, bool) if problem.mask is None else jnp.broadcast_to(problem.mask, order.shape)
        nothing = jnp.zeros(order.shape, jnp.int32)
        return cls(
            order=order, ties=words, active=exists,
            values=nothing if problem.integer_rewards else jnp.zeros(order.shape),
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

    @property
    def rankings(self) -> jax.Array:
        """A number of the next ranking, another one for each that looks at fresh rewards only; int32 `(…)`."""
        return jnp.zeros(self.ended.shape, jnp.int32)

    @property
    def fresh_order(self) -> jax.Array:
        """The tie order of a ranking by fresh rewards only, int32 `(K, …)`."""
        return ties.order_at(self.ties, self.rankings, self.order.shape[0])

    def best(self) -> jax.Array:
        """Return the mask of the active arm with the largest value, ties broken anew; bool `(K, …)`."""
        lowest = -jnp.inf if jnp.issubdtype(self.values.dtype, jnp.floating) else -MAX_COUNT
        values = jnp.where(self.active, self.values, lowest)
        best = self.active & (values == arms.largest(values))
        order = self.fresh_order
        return best & (order == ranking.first_place(best, order))


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
