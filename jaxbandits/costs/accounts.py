"""The accounts of runs: pulls, joint pulls, and their cost."""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import CompensatedSum, compensated_total
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.costs.ledger import Ledger
from jaxbandits.problems.base import Problem
from jaxbandits.problems.pull_costs import Costs
from jaxbandits.random.streams import batch_key

__all__ = ["Account", "CheckpointCosts", "CostCounter", "account_of_counts", "account_of_ledger", "account_of_reads"]


@pytree
@dataclasses.dataclass(frozen=True)
class Account:
    """The costs of runs so far."""

    pulls: UInt64  # (…)
    joint_pulls: UInt64 | None  # (…): sets of arms pulled at once; None where arms are pulled one by one
    cost: jax.Array | None  # float32 (…): expected cost of the pulls made; None for a unit a pull
    paid: jax.Array | None  # float32 (…): the cost that was drawn; None for a unit a pull, or where it is unknown
    reward: jax.Array | None = None  # float32 (…): the reward collected within the budget; None where it is not counted


@pytree
@dataclasses.dataclass(frozen=True)
class CostCounter:
    """An account that is updated during a run; for algorithms whose counts may pass 2^31."""

    pulls: UInt64
    joint_pulls: UInt64
    cost: CompensatedSum | None
    paid: CompensatedSum | None

    @classmethod
    def nothing(cls, problem: Problem, shape: tuple[int, ...]) -> Self:
        """Return the account before the first pull of runs of a shape."""
        none = UInt64.of(jnp.zeros(shape, jnp.int32))
        money = None if problem.costs is None else CompensatedSum.of(jnp.zeros(shape))
        known = problem.costs is not None and problem.costs.concentration is None
        return cls(pulls=none, joint_pulls=none, cost=money, paid=money if known else None)

    def account(self) -> Account:
        """Return the account of the pulls so far."""
        money = [None if total is None else total.high for total in (self.cost, self.paid)]
        return Account(self.pulls, self.joint_pulls, *money)

    def plus(self, problem: Problem | None, key: Any, counts: jax.Array, number: jax.Array, reward: jax.Array) -> Self:
        """Return the account after `number` batches of some pulls of each arm.

        Args:
            problem: the problem; None where the costs of pulls are unknown.
            key: a typed key of these batches, shape `(…)`; None where the costs of pulls are unknown.
            counts: int32 `(K, …)`: pulls of each arm in a batch.
            number: int32 `(…)`.
            reward: float32 `(…)`: the sum of all these rewards.
        """
        pulls, joint = UInt64.total(counts).times(number), UInt64.product(arms.largest(counts), number)
        cost, paid = self.cost, self.paid
        if problem is not None and cost is not None:
            assert problem.costs is not None
            expected = compensated_total(problem.costs.expected(problem.mean) * counts.astype(jnp.float32))
            cost = cost.plus(no_fma(expected * number.astype(jnp.float32)))
        if problem is not None and paid is not None:
            assert problem.costs is not None
            paid = paid.plus(_paid(problem.costs, key, counts, number, reward))
        return dataclasses.replace(
            self, pulls=self.pulls.plus(pulls), joint_pulls=self.joint_pulls.plus(joint), cost=cost, paid=paid
        )


def _paid(costs: Costs, key: jax.Array, counts: jax.Array, number: jax.Array, reward: jax.Array) -> jax.Array:
    """Return the cost that was drawn, float32 `(…)`.

    It is drawn by batches, since together they may have more pulls than a count holds.
    """
    if costs.price is None:
        return reward

    def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
        paid = costs.paid(batch_key(key, batch), jnp.where(batch < number, counts, 0), reward)
        assert paid is not None
        return total + paid

    return lax.fori_loop(0, jnp.max(number), add, jnp.zeros(number.shape))


@pytree
@dataclasses.dataclass(frozen=True)
class CheckpointCosts:
    """The costs of runs at the latest checkpoint, where random costs are drawn at checkpoints only.

    A curve of such costs is then a path: the increment between two checkpoints is drawn for the pulls in between.
    """

    pulls: jax.Array  # int32 (K, …)
    time: jax.Array  # int32 (…)
    paid: jax.Array  # float32 (…)

    @classmethod
    def never(cls, arms: int, shape: tuple[int, ...]) -> Self:
        """Return the costs before the first checkpoint."""
        return cls(jnp.zeros((arms, *shape), jnp.int32), jnp.zeros(shape, jnp.int32), jnp.zeros(shape))

    def again(self, pulls: jax.Array, time: jax.Array, paid: jax.Array, where: jax.Array) -> Self:
        """Return the costs after a checkpoint of some runs: those where `where`, bool `(…)`, is true."""
        now = type(self)(pulls, time, paid)
        new: Self = jax.tree.map(lambda new, old: jnp.where(where, new, old), now, self)
        return new


def account_of_counts(
    problem: Problem,
    key: jax.Array,
    pulls: jax.Array,
    time: jax.Array,
    collected: jax.Array | None,
    looked: CheckpointCosts | None = None,
) -> Account:
    """Return the account of runs whose costs are drawn at checkpoints.

    Args:
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
        pulls: int32 `(K, …)`.
        time: their sum, int32 `(…)`.
        collected: int32 or float32 `(K, …)`: sums of rewards; None where they are not kept.
        looked: the costs at the previous checkpoint, where there are several.
    """
    total, costs = UInt64.of(time), problem.costs
    if costs is None:
        return Account(total, None, None, None)
    cost = _expected_cost(problem, costs, pulls)
    if collected is None and costs.price is None:
        return Account(total, None, cost, None)
    reward = compensated_total(collected.astype(jnp.float32)) if collected is not None else jnp.zeros_like(cost)
    if looked is None:
        return Account(total, None, cost, costs.paid(key, problem.read(pulls), reward))
    more = costs.paid(key, problem.read(pulls) - problem.read(looked.pulls), reward, looked.time)
    assert more is not None
    return Account(total, None, cost, looked.paid + more)


def account_of_ledger(
    problem: Problem, pulls: jax.Array, time: jax.Array, ledger: Ledger, budget: jax.Array | None
) -> Account:
    """Return the account of runs that pay pull by pull.

    Args:
        problem: leaves `(K, …)`.
        pulls: int32 `(K, …)`.
        time: their sum, int32 `(…)`.
        ledger: the ledger of the runs `(…)`.
        budget: float32 `(…)`: rewards count up to this cost; None for all.
    """
    costs = problem.costs
    spending = None if costs is None else _expected_cost(problem, costs, pulls)
    collected = None if budget is None else ledger.collected(budget)
    return Account(UInt64.of(time), None, spending, ledger.paid.high, collected)


def account_of_reads(problem: Problem, spent: CostCounter, pulls: jax.Array) -> Account:
    """Return the account of runs on a finite population, where pulls of read-out arms cost nothing.

    Args:
        problem: leaves `(K, …)`.
        spent: what the runs have counted.
        pulls: int32 `(K, …)`; 2^31 - 1 for more.
    """
    if problem.costs is None:
        return spent.account()
    cost = _expected_cost(problem, problem.costs, pulls)
    return dataclasses.replace(spent.account(), cost=cost, paid=cost)


def _expected_cost(problem: Problem, costs: Costs, pulls: jax.Array) -> jax.Array:
    return compensated_total(costs.expected(problem.mean) * problem.read(pulls).astype(jnp.float32))
