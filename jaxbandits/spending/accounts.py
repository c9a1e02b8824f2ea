"""What a run has spent: pulls, joint pulls, and their cost."""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum, compensated_total
from jaxbandits.arrays.wide_counts import Wide
from jaxbandits.problems.base import Problem
from jaxbandits.problems.costs import Costs
from jaxbandits.random.streams import batch_key
from jaxbandits.spending.budget_ledger import Ledger
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["Account", "Looked", "Spent", "account"]


@pytree
@dataclasses.dataclass(frozen=True)
class Account:
    """What runs have spent so far."""

    pulls: Wide  # (…)
    joint_pulls: Wide | None  # (…): sets of arms pulled at once; None where arms are pulled one by one
    cost: jax.Array | None  # float32 (…): expected cost of the pulls made; None for a unit a pull
    paid: jax.Array | None  # float32 (…): the cost that was drawn; None for a unit a pull, or where it is not known
    reward: jax.Array | None = None  # float32 (…): the reward collected within the budget; None where nobody counts it


@pytree
@dataclasses.dataclass(frozen=True)
class Spent:
    """An account that is kept during a run; for algorithms whose counts may pass 2^31."""

    pulls: Wide
    joint_pulls: Wide
    cost: CompensatedSum | None
    paid: CompensatedSum | None

    @classmethod
    def nothing(cls, problem: Problem, shape: tuple[int, ...]) -> Self:
        """Before the first pull of runs of a shape."""
        none = Wide.of(jnp.zeros(shape, jnp.int32))
        money = None if problem.costs is None else CompensatedSum.of(jnp.zeros(shape))
        known = problem.costs is not None and problem.costs.concentration is None
        return cls(pulls=none, joint_pulls=none, cost=money, paid=money if known else None)

    def plus(
        self, problem: Problem, key: jax.Array, active: jax.Array, each: jax.Array, number: jax.Array, reward: jax.Array
    ) -> Self:
        """After `number` batches of `each` joint pulls of the active arms.

        Args:
            problem: the problem.
            key: a typed key of these batches, shape `(…)`.
            active: bool `(K, …)`.
            each: int32 `(…)`.
            number: int32 `(…)`.
            reward: float32 `(…)`: the sum of all these rewards.
        """
        joint = Wide.product(each, number)
        pulls = joint.times(arms.total(active.astype(jnp.int32)))
        cost, paid = self.cost, self.paid
        if cost is not None:
            assert problem.costs is not None
            expected = compensated_total(jnp.where(active, problem.costs.expected(problem.mean), 0))
            cost = cost.plus(rounded(expected * joint.as_float()))
        if paid is not None:
            assert problem.costs is not None
            paid = paid.plus(_paid(problem.costs, key, active, each, number, reward))
        return dataclasses.replace(
            self, pulls=self.pulls.plus(pulls), joint_pulls=self.joint_pulls.plus(joint), cost=cost, paid=paid
        )


def _paid(
    costs: Costs, key: jax.Array, active: jax.Array, each: jax.Array, number: jax.Array, reward: jax.Array
) -> jax.Array:
    """The cost that was drawn, float32 `(…)`; by batches, since all of them may have more pulls than a count holds."""
    if costs.price is None:
        return reward

    def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
        pulls = jnp.where(active & (batch < number), each, 0)
        paid = costs.paid(batch_key(key, batch), pulls, reward)
        assert paid is not None
        return total + paid

    return lax.fori_loop(0, jnp.max(number), add, jnp.zeros(number.shape))


@pytree
@dataclasses.dataclass(frozen=True)
class Looked:
    """What runs had spent when they were last looked at, where random costs are drawn when somebody looks.

    A curve of such costs is then a path: what is added between two looks is drawn for the pulls in between.
    """

    pulls: jax.Array  # int32 (K, …)
    time: jax.Array  # int32 (…)
    paid: jax.Array  # float32 (…)

    @classmethod
    def never(cls, arms: int, shape: tuple[int, ...]) -> Self:
        """Before the first look."""
        return cls(jnp.zeros((arms, *shape), jnp.int32), jnp.zeros(shape, jnp.int32), jnp.zeros(shape))

    def again(self, state: Any, paid: jax.Array, where: jax.Array) -> Self:
        """After another look at some runs, bool `(…)`."""
        now = type(self)(state.pulls, state.time, paid)
        new: Self = jax.tree.map(lambda new, old: jnp.where(where, new, old), now, self)
        return new


def account(
    problem: Problem, key: jax.Array, state: Any, budget: jax.Array | None = None, looked: Looked | None = None
) -> Account:
    """What runs have spent, from their states.

    Args:
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
        state: the algorithm's state, with `pulls` int32 `(K, …)` and `time` int32 `(…)`, or with `spent`.
        budget: float32 `(…)`, up to where rewards count, for a state with a `ledger`; None for one without.
        looked: what they had spent before, where they are looked at more than once.
    """
    spent: Spent | None = getattr(state, "spent", None)
    if spent is not None:
        money = [None if total is None else total.high for total in (spent.cost, spent.paid)]
        return Account(spent.pulls, spent.joint_pulls, *money)
    pulls = Wide.of(state.time)
    if budget is not None:
        ledger: Ledger = state.ledger
        spending = None if problem.costs is None else _expected_cost(problem, state)
        return Account(pulls, None, spending, ledger.paid.high, ledger.collected(budget))
    if problem.costs is None:
        return Account(pulls, None, None, None)
    cost = _expected_cost(problem, state)
    known: ArmStatistics | None = getattr(state, "statistics", None)
    if known is None and problem.costs.price is None:
        return Account(pulls, None, cost, None)
    reward = compensated_total(known.total.astype(jnp.float32)) if known is not None else jnp.zeros_like(cost)
    if looked is None:
        return Account(pulls, None, cost, problem.costs.paid(key, state.pulls, reward))
    more = problem.costs.paid(key, state.pulls - looked.pulls, reward, looked.time)
    assert more is not None
    return Account(pulls, None, cost, looked.paid + more)


def _expected_cost(problem: Problem, state: Any) -> jax.Array:
    assert problem.costs is not None
    return compensated_total(problem.costs.expected(problem.mean) * state.pulls.astype(jnp.float32))
