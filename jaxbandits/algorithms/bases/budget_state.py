"""The state of a run that spends a budget of cost, pull by pull, and collects rewards."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum, WholeSum
from jaxbandits.problems.base import Problem
from jaxbandits.spending.accounts import Account, Looked, account_of_ledger
from jaxbandits.spending.budget_ledger import Ledger

__all__ = ["BudgetState"]


@pytree
@dataclasses.dataclass(frozen=True)
class BudgetState(ArmState):
    """The state of a run; arms first, runs last."""

    costs: CompensatedSum | WholeSum  # (K, …): costs of the pulls of each arm
    mean_cost: jax.Array  # float32 (K, …): 0 before the first pull
    ledger: Ledger  # (…)
    known: jax.Array  # int32 (…): arms pulled so far; they are the first ones

    def reached(self, point: jax.Array) -> jax.Array:
        """Whether more than a cost, float32 `(…)`, was paid: bool `(…)`."""
        return self.ledger.beyond(point)

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: Looked | None = None
    ) -> Account:
        """What runs have spent, and the reward that they collected within a budget."""
        del key, looked
        return account_of_ledger(problem, self.pulls, self.time, self.ledger, budget)

    def part(self, first: jax.Array | int, size: int) -> Self:
        """The state as if there were only `size` arms from arm `first` on."""

        def cut(x: jax.Array) -> jax.Array:
            return lax.dynamic_slice_in_dim(x, first, size)

        return dataclasses.replace(
            self,
            statistics=dataclasses.replace(self.statistics, moments=jax.tree.map(cut, self.statistics.moments)),
            order=cut(self.order),
            mask=None if self.mask is None else cut(self.mask),
            costs=jax.tree.map(cut, self.costs),
            mean_cost=cut(self.mean_cost),
        )

    def paid(self, arm: jax.Array, reward: jax.Array, cost: jax.Array, live: jax.Array) -> Self:
        """The state after one pull; unchanged where `live` is false."""
        spent = jax.tree.map(lambda x: arms.take(x, arm), self.costs).plus(jnp.where(live, cost, 0))
        # Counted again, not read again where it was just written.
        pulls = larger(arms.take(self.pulls, arm) + live.astype(jnp.int32), jnp.int32(1)).astype(jnp.float32)
        return dataclasses.replace(
            self,
            statistics=self.statistics.add(arm, reward, live),
            costs=jax.tree.map(lambda x, value: arms.put(x, arm, value), self.costs, spent),
            mean_cost=arms.put(self.mean_cost, arm, spent.high / pulls),
            ledger=self.ledger.plus(reward, cost, live),
            known=self.known + (live & (arm == self.known)).astype(jnp.int32),
        )
