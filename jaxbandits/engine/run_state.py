"""The interface of a run's state to the engine."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from jaxbandits.costs.accounts import Account, CheckpointCosts, account_of_counts
from jaxbandits.problems.base import Problem

__all__ = ["RunState"]


class RunState:
    """The state of a run; arms first, runs last. Subclasses define the fields.

    Attributes:
        pulls: int32 `(K, …)`, pulls per arm.
        time: int32 `(…)`, pulls of all arms; 2^31 - 2 where there were more.
    """

    if TYPE_CHECKING:  # fields of some subclasses: a property here would become their default

        @property
        def pulls(self) -> jax.Array:
            """Return the pulls per arm, int32 `(K, …)`."""

        @property
        def time(self) -> jax.Array:
            """Return the pulls of all arms, int32 `(…)`; 2^31 - 2 where there were more."""

    @property
    def collected(self) -> jax.Array | None:
        """Return the sum of the rewards of each arm, int32 or float32 `(K, …)`; None where it is not stored."""
        return None

    def made(self) -> jax.Array:
        """Return the pulls so far, float32 `(…)`, for a display of progress."""
        return self.time.astype(jnp.float32)

    def reached(self, point: jax.Array) -> jax.Array:
        """Return whether runs have reached a point of a curve, a number of pulls or a cost; bool `(…)`."""
        return self.time >= point

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: CheckpointCosts | None = None
    ) -> Account:
        """Return the account of the runs: what they have spent.

        Args:
            problem: leaves `(K, …)`.
            key: the runs' typed keys, shape `(…)`.
            budget: float32 `(…)`: rewards count up to this cost, where a budget of cost is spent; None elsewhere.
            looked: the costs at the previous checkpoint, where there are several.
        """
        del budget
        return account_of_counts(problem, key, self.pulls, self.time, self.collected, looked)
