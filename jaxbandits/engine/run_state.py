"""What the engine asks of a state, whatever the algorithm keeps in it."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from jaxbandits.costs.accounts import Account, CheckpointCosts, account_of_counts
from jaxbandits.problems.base import Problem

__all__ = ["RunState"]


class RunState:
    """The state of a run; arms first, runs last. A subclass says what it keeps.

    Attributes:
        pulls: int32 `(K, …)`, pulls per arm.
        time: int32 `(…)`, pulls of all arms; 2^31 - 2 where there were more.
    """

    if TYPE_CHECKING:  # fields of some subclasses, which a property here would be taken for the default of

        @property
        def pulls(self) -> jax.Array:
            """Pulls per arm, int32 `(K, …)`."""

        @property
        def time(self) -> jax.Array:
            """Pulls of all arms, int32 `(…)`; 2^31 - 2 where there were more."""

    @property
    def collected(self) -> jax.Array | None:
        """Sum of the rewards of each arm, int32 or float32 `(K, …)`; None where nobody keeps it."""
        return None

    def made(self) -> jax.Array:
        """Pulls so far, float32 `(…)`, for a display of progress."""
        return self.time.astype(jnp.float32)

    def reached(self, point: jax.Array) -> jax.Array:
        """Whether runs are at a point of a curve, a number of pulls or what else the algorithm spends; bool `(…)`."""
        return self.time >= point

    def account(
        self, problem: Problem, key: jax.Array, budget: jax.Array | None = None, looked: CheckpointCosts | None = None
    ) -> Account:
        """What runs have spent.

        Args:
            problem: leaves `(K, …)`.
            key: the runs' typed keys, shape `(…)`.
            budget: float32 `(…)`, up to where rewards count, where a budget of cost is spent; None elsewhere.
            looked: what they had spent before, where they are looked at more than once.
        """
        del budget
        return account_of_counts(problem, key, self.pulls, self.time, self.collected, looked)
