"""The state of an elimination."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.run_state import RunState
from jaxbandits.arrays.numerics import larger
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random.ties import order_at
from jaxbandits.statistics.robust_means import MeanEstimator

__all__ = ["EliminationState"]


@pytree
@dataclasses.dataclass(frozen=True)
class EliminationState(RunState):
    """The state of a run; arms first, runs last. Estimates are of the rewards since round `start`."""

    sums: Any  # CompensatedSum (S K, …): what the estimator makes of the rewards, S sums per arm
    pulls: jax.Array  # int32 (K, …)
    survivors: jax.Array  # int32 (K, …): numbers of the surviving arms, in the first `count` entries
    active: jax.Array  # bool (K, …): the same as a mask
    order: jax.Array  # int32 (K, …): tie order
    ties: jax.Array | None  # uint32 (2, …): what makes other ones, where every phase ranks fresh rewards; else None
    count: jax.Array  # int32 (…): surviving arms
    position: jax.Array  # int32 (…): of the next arm to pull in the list
    round: jax.Array  # int32 (…): finished rounds, the pulls of every surviving arm
    start: jax.Array  # int32 (…)
    time: jax.Array  # int32 (…)
    highest: jax.Array  # float32 (…): largest estimate of the round so far, if the estimator is a running one
    lowest: jax.Array  # float32 (…): smallest
    arms: jax.Array  # float32 (…): number of arms that exist
    estimator: MeanEstimator
    plan: Any  # what else the algorithm keeps
    ahead: jax.Array  # int32 (…): rounds of the block; between two blocks, the rounds that the next may have
    block: Any  # CompensatedSum (K, …): sums at the end of the block, of the arms that were pulled in it
    bandits: int = dataclasses.field(default=1, metadata={"static": True})  # number of bandits on the axis of arms

    @property
    def ranking_order(self) -> jax.Array:
        """The tie order of a ranking by the rewards since round `start`, int32 `(K, …)`."""
        return self.order if self.ties is None else order_at(self.ties, self.start, self.order.shape[0])

    @property
    def estimates(self) -> jax.Array:
        """Estimated means, float32 `(K, …)`; -inf for dropped arms."""
        number = larger(self.pulls - self.start, 1)
        return jnp.where(self.active, self.estimator.estimates(self.sums, number), -jnp.inf)
