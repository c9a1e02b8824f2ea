"""Sequential Halving with a fixed budget.

Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML, Algorithm 3.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.phases import EliminationInPhases
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.statistics.robust_means import EmpiricalMean, MeanEstimator

__all__ = ["SequentialHalving"]


class _Plan(NamedTuple):
    phases: jax.Array  # int32 (…): ceil(log2 K)
    target: jax.Array  # int32 (…): round after which the worse half goes


@pytree
@dataclasses.dataclass(frozen=True)
class SequentialHalving(EliminationInPhases):
    """ceil(log2 K) phases of floor(T / (|S| ceil(log2 K))) pulls of each surviving arm; the better half stays.

    Attributes:
        budget: number of pulls T, at least K ceil(log2 K).
        reuse: whether estimates keep the rewards of earlier phases. The printed algorithm forgets them; the published
            figures are nearer with `reuse`.

    Raises:
        UsageError: a value outside its range.
    """

    budget: Numeric = parameter("count")
    reuse: bool = parameter(default=True, static=True)
    traits = Traits(
        setting="fixed budget, one arm",
        source="Karnin, Koren, Somekh 2013",
        anytime=False,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Also that the budget gives every arm a pull in the first phase."""
        super().check(arms_per_bandit, bandits)
        needed = arms_per_bandit * (arms_per_bandit - 1).bit_length()
        if isinstance(self.budget, int | float) and self.budget < needed:
            raise UsageError(
                f"SequentialHalving: the budget must give each of {arms_per_bandit} arms a pull in the first of "
                f"{(arms_per_bandit - 1).bit_length()} phases: at least {needed}, got {self.budget:g}"
            )

    def _plan(self, state: EliminationState) -> tuple[MeanEstimator, _Plan]:
        phases = 32 - lax.clz(state.count - 1)
        return EmpiricalMean(), _Plan(phases, self._pulls(state.count, phases))

    def _pulls(self, count: jax.Array, phases: jax.Array) -> jax.Array:
        return jnp.asarray(self.budget, jnp.int32) // (count * phases)

    def _kept(self, state: EliminationState) -> tuple[jax.Array, Any]:
        left = (state.count + 1) // 2
        target = state.round + self._pulls(left, state.plan.phases)
        return ranking.top_mask(state.estimates, left, state.ranking_order), state.plan._replace(target=target)
