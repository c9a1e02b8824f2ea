"""The state of a run of a rule that eliminates arms: a list holds the survivors, and a pull reads one entry.

All survivors have the same number of pulls, so that a pull writes the sums of its arm only.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.arrays import arms as over_arms
from jaxbandits.arrays.numerics import fast_max
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.engine.arm_positions import PlacedArms
from jaxbandits.random.arm_orders import ArmOrder
from jaxbandits.statistics.robust_means import MeanEstimator

__all__ = ["EliminationState"]


@pytree
@dataclasses.dataclass(frozen=True)
class EliminationState(PlacedArms):
    """The state of a run, or of R runs, runs last; arms by their places in the order of the run."""

    sums: Any  # `CompensatedSum` or `IntSum` (S K, …): the estimator's sums of the rewards since `start`
    undone: Any  # the same, before the current block, for the arms pulled in it; None where no block is undone
    survivors: jax.Array  # int32 (K, …): places of the surviving arms, in the first `left` entries
    active: jax.Array  # bool (K, …): the same as a mask
    gone: jax.Array  # int32 (K, …): pulls of the dropped arms
    left: jax.Array  # int32 (…): surviving arms
    position: jax.Array  # int32 (…): position in the list of the next arm to pull
    round: jax.Array  # int32 (…): finished rounds, the pulls of every surviving arm
    start: jax.Array  # int32 (…): the round from which on rewards count
    target: jax.Array | None  # int32 (…): the round after which the rule evaluates; None if it is asked after each
    highest: jax.Array | None  # float32 (…): largest estimate of the round so far, where the rule is asked after each
    lowest: jax.Array | None  # float32 (…): smallest estimate of the round so far, under the same condition
    ahead: jax.Array  # int32 (…): rounds of the block; between two blocks, largest number of the next one
    time: jax.Array  # int32 (…)
    estimator: MeanEstimator
    b: jax.Array | None  # float32 (…): range of the rewards; None where they have none
    count: jax.Array | None  # int32 (…): how many arms exist, the first ones; None for all
    order: ArmOrder | None  # the arm at each place; None where they stay in the problem's order
    own: OwnState  # the rule's own state; None where it has none
    words: tuple[jax.Array, jax.Array]  # uint32 (…) each: the words of the runs' keys
    bandits: int = dataclasses.field(metadata={"static": True})  # bandits that share the axis of arms
    fault: jax.Array  # int32 (…): the code of a fault in `jaxbandits.status`, 0 for none
    placed: tuple[jax.Array, ...] = ()  # (K, …) each: the rule's values of arms, by places; none where arms stay
    waited: Any = None  # `Waited`: the time without a pull, on a platform with delays; None elsewhere

    @property
    def places(self) -> int:
        """Return the length of the axis of arms."""
        return int(self.active.shape[0])

    @property
    def pulls_by_place(self) -> jax.Array:
        """Return the pulls of each arm, int32 `(K, …)`; an unfinished round counts if it is one of single pulls."""
        listed = over_arms.index(self.places, self.time.shape) < over_arms.take(self.survivors, self.position)
        return jnp.where(self.active, self.round + (listed & (self.ahead == 1)).astype(jnp.int32), self.gone)

    @property
    def pulls(self) -> jax.Array:
        """Return the pulls of each arm of the problem, int32 `(K, …)`."""
        return self.by_arm(self.pulls_by_place)

    @property
    def estimates(self) -> jax.Array:
        """Return the estimated means, float32 `(K, …)`, by places; dropped arms keep their last estimates."""
        return self.estimator.estimates(self.sums, fast_max(self.pulls_by_place - self.start, 1))

    @property
    def surviving(self) -> SurvivingArms:
        """Return the arms as the rule sees them, between two rounds."""
        pulls = jnp.where(self.active, self.round, self.gone)
        count = jnp.full(self.time.shape, self.places, jnp.int32) if self.count is None else self.count
        estimates = self.estimator.estimates(self.sums, fast_max(pulls - self.start, 1))
        return SurvivingArms(
            pulls=pulls, mean=jnp.where(self.active, estimates, -jnp.inf),
            inverse_root=jnp.sqrt(1 / fast_max(pulls, 1).astype(jnp.float32)), total=self.sums.high[: self.places],
            time=self.time, count=count, b=self.b, active=self.active, left=self.left, round=self.round,
            highest=self.highest, lowest=self.lowest, bandits=self.bandits,
        )  # fmt: skip
