"""A budget of cost, spent pull by pull."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp

from jaxbandits.arrays.compensated_sums import IntSum, Sums, sums_of
from jaxbandits.arrays.numerics import fast_min
from jaxbandits.arrays.pytrees import pytree

__all__ = ["Ledger"]


@pytree
@dataclasses.dataclass(frozen=True)
class Ledger:
    """The payments and earnings of runs.

    The reward of the last pull is kept separately, since a run is evaluated with several budgets. The pull whose cost
    overshoots a budget pays nothing (Li and Xia 2017, equation 3).
    """

    paid: Sums  # (…): the costs of all pulls
    earned: Sums  # (…): the rewards of all pulls but the last
    latest: jax.Array  # float32 or int32 (…): the reward of the last pull

    @classmethod
    def empty(cls, shape: tuple[int, ...], *, whole: bool = False) -> Self:
        """Return the ledger before the first pull of runs of a shape.

        `whole` means that all rewards and costs are whole numbers.
        """
        nothing = jnp.zeros(shape, jnp.int32 if whole else jnp.float32)
        return cls(paid=sums_of(nothing), earned=sums_of(nothing), latest=nothing)

    def plus(self, reward: jax.Array, cost: jax.Array, live: jax.Array) -> Self:
        """Return the ledger after one more pull of the runs that are live.

        Args:
            reward: int32 or float32 `(…)`.
            cost: float32 `(…)`.
            live: bool `(…)`; elsewhere no bit changes.
        """
        return type(self)(
            paid=self.paid.plus(jnp.where(live, cost, 0)),
            earned=self.earned.plus(jnp.where(live, self.latest, 0)),
            latest=jnp.where(live, reward.astype(self.latest.dtype), self.latest),
        )

    def beyond(self, budget: jax.Array) -> jax.Array:
        """Return whether more than a budget, float32 `(…)`, was paid: bool `(…)`."""
        budget = jnp.asarray(budget, jnp.float32)
        if isinstance(self.paid, IntSum):
            # A whole number exceeds the budget if it exceeds the budget's whole part, which is capped to fit int32.
            return self.paid.value > fast_min(budget, jnp.float32(2.0**31 - 128)).astype(jnp.int32)
        # The difference is exact where the two are close. Float32 rounds each cost, and the budget, by at most 2^-24 of
        # it: costs of 0.1 that add up to 5 do not exceed 5.
        return (self.paid.high - budget) + self.paid.low > 2**-22 * budget

    def collected(self, budget: jax.Array) -> jax.Array:
        """Return the rewards of the pulls whose cost the budget covered, float32 `(…)`; for runs not far beyond it."""
        return self.earned.plus(jnp.where(self.beyond(budget), 0, self.latest)).high
