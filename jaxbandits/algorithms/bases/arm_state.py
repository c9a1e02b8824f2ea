"""What the built-in algorithms' states have in common."""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.run_state import RunState
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem, per_bandit
from jaxbandits.random import ties
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["ArmState"]


@pytree
@dataclasses.dataclass(frozen=True)
class ArmState(RunState):
    """Statistics of the arms and what stays the same during a run; arms first, runs last."""

    statistics: ArmStatistics
    order: jax.Array  # int32 (K, …): tie order
    ties: jax.Array  # uint32 (2, …): what makes it, and those at a time
    mask: jax.Array | None  # bool (K, …): arms that exist; None for all
    b: jax.Array  # float32 (…): range of the rewards
    arms: jax.Array  # float32 (…): number of arms that exist, of all bandits
    bandits: int = dataclasses.field(metadata={"static": True})  # number of bandits on the axis of arms

    @classmethod
    def of(cls, statistics: ArmStatistics, problem: Problem, key: jax.Array, b: jax.Array | float | None) -> Self:
        """The state after the initial pulls; `b` of None takes the problem's range of rewards."""
        words = ties.tie_words(key)
        order = ties.tie_order(words, problem.arms)
        mask = None if problem.mask is None else jnp.broadcast_to(problem.mask, order.shape)
        count = jnp.float32(problem.arms) if mask is None else arms.total(mask.astype(jnp.float32))
        width = problem.reward_range if b is None else b
        return cls(
            statistics=statistics,
            order=order,
            ties=words,
            mask=mask,
            b=jnp.broadcast_to(jnp.asarray(width, jnp.float32), key.shape),
            arms=jnp.broadcast_to(count, key.shape),
            bandits=problem.bandits,
        )

    def shared(self) -> dict[str, Any]:
        """The fields of this class by name, to build a state with more."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(ArmState)}

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K, …)`."""
        return self.statistics.pulls

    @property
    def time(self) -> jax.Array:
        """Pulls of all arms, int32 `(…)`."""
        return self.statistics.time

    @property
    def collected(self) -> jax.Array:
        """Sum of the rewards of each arm, int32 or float32 `(K, …)`."""
        return self.statistics.total

    def existing(self, x: jax.Array, otherwise: float) -> jax.Array:
        """`x` of shape `(K, …)` with another value for the arms that do not exist."""
        return x if self.mask is None else jnp.where(self.mask, x, jnp.asarray(otherwise, x.dtype))

    def largest_means(self, m: jax.Array | int) -> jax.Array:
        """Mask of the m largest empirical means of each bandit, bool `(K, …)`."""
        mean = per_bandit(self.existing(self.statistics.mean, -jnp.inf), self.bandits)
        return ranking.top_mask(mean, m, per_bandit(self.order, self.bandits)).reshape(self.order.shape)

    def pulled(self, arm: jax.Array, reward: jax.Array, live: jax.Array | bool) -> Self:
        """The state after one reward of one arm; unchanged where `live` is false."""
        return dataclasses.replace(self, statistics=self.statistics.add(arm, reward, live))
