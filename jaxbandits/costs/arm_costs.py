"""The costs of the pulls of each arm, and the payments and earnings of a run."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import Sums, sums_of
from jaxbandits.arrays.numerics import fast_max
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.costs.ledger import Ledger
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["ArmCosts", "ToldCosts"]


@pytree
@dataclasses.dataclass(frozen=True)
class ArmCosts:
    """The costs of pulls, by arm and in total; arms first, runs last."""

    total: Sums  # (K, …): costs of the pulls of each arm
    mean: jax.Array  # float32 (K, …): 0 before the first pull
    ledger: Ledger  # (…)

    @classmethod
    def none(cls, problem: Problem, shape: tuple[int, ...]) -> Self:
        """Return the costs before the first pull of runs of a shape."""
        zero, whole = jnp.zeros((problem.arms, *shape), jnp.float32), _is_whole(problem)
        total = sums_of(zero.astype(jnp.int32) if whole else zero)
        return cls(total=total, mean=zero, ledger=Ledger.empty(shape, whole=whole))

    def moved(self, by_arm: Callable[[jax.Array], jax.Array]) -> Self:
        """Return the same costs with the arms in another order."""
        return dataclasses.replace(self, total=jax.tree.map(by_arm, self.total), mean=by_arm(self.mean))

    def plus(self, arm: jax.Array, before: jax.Array, reward: jax.Array, cost: jax.Array, live: jax.Array) -> Self:
        """Return the costs after one pull of an arm, which had `before`; unchanged where `live` is false."""
        total = jax.tree.map(lambda x: arms.take(x, arm), self.total).plus(jnp.where(live, cost, 0))
        pulls = fast_max(before + live.astype(jnp.int32), jnp.int32(1)).astype(jnp.float32)
        return type(self)(
            total=jax.tree.map(lambda x, value: arms.put(x, arm, value), self.total, total),
            mean=arms.put(self.mean, arm, total.high / pulls),
            ledger=self.ledger.plus(reward, cost, live),
        )


def _is_whole(problem: Problem) -> bool:
    """Return whether all rewards and costs are whole numbers; not in a live experiment, where costs are unknown."""
    costs = problem.costs
    return problem.integer_sums and (
        costs is None or costs.price is None or (costs.random and costs.concentration is None)
    )


class ToldCosts:
    """The costs that a rule can read."""

    if TYPE_CHECKING:  # a field of the subclass

        @property
        def costs(self) -> ArmCosts | None:
            """Return the costs of pulls."""

    @property
    def mean_cost(self) -> jax.Array:
        """Return the mean cost of the pulls of each arm, float32 `(K,)`; 0 before the first pull."""
        return self._kept_costs.mean

    @property
    def total_cost(self) -> jax.Array:
        """Return the sum of the costs of the pulls of each arm, float32 `(K,)`."""
        return self._kept_costs.total.high

    @property
    def spent(self) -> jax.Array:
        """Return the sum of the costs of all pulls, float32 `()`."""
        return self._kept_costs.ledger.paid.high

    @property
    def _kept_costs(self) -> ArmCosts:
        if self.costs is None:
            raise UsageError("costs are recorded only for a class with takes_costs = True, or spends= in its jb.Traits")
        return self.costs
