"""Three batches of pulls by w*, and one likelihood ratio test: stages I to III of Tri-BBAI and Opt-BBAI.

Jin, Yang, Tang, Xiao, Xu (2024), "Optimal batched best arm identification", NeurIPS 37, Algorithm 1. The stages follow
the authors' program, and were not checked against the paper.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.likelihood_ratio.glr_statistic import PairwiseStatistic
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.optimal_proportions import proportions

__all__ = ["BATCHES", "BatchedStages"]

#: The batches before the test: one of stage I, two of stage II.
BATCHES = 3
_THRESHOLDS = tuple(word for word in words.THRESHOLD_WORDS if word != words.STUDENT)


@dataclasses.dataclass(frozen=True)
class BatchedStages(PairwiseStatistic):
    """A rule that tests its best-looking arm after three batches; a subclass says what follows if the test fails.

    `TriBBAI` explains the stages and their hyperparameters.
    """

    delta: Numeric = parameter("error probability")
    threshold: str | None = parameter(default=None, static=True, choices=_THRESHOLDS)
    family: str | None = parameter(default=None, static=True, choices=tuple(FAMILIES))
    b: Numeric = parameter("positive", default=None)
    shift: Numeric = parameter("not negative", default=0.01)
    alpha: Numeric = parameter("positive", default=1.001)
    l1: Numeric = parameter("count", default=None)
    l2: Numeric = parameter("count", default=None)
    initial_pulls = 0
    stopping = "glr"
    epsilon = StaticInt(0)

    def first_pulls(self, batch: jax.Array, arms: Arms) -> jax.Array:
        """Return the pulls of one of the first three batches, int32 `(K,)`; `batch` is how many were made before."""
        level, count = -log_of(self.delta), arms.count.astype(jnp.float32)
        l1 = as_count(2 * jnp.log(count) * jnp.sqrt(level)) if self.l1 is None else jnp.int32(self.l1)
        l2 = as_count(80 * level * jnp.log(level) / count) if self.l2 is None else jnp.int32(self.l2)
        best = proportions(self.rewards, self._nearer(arms))
        # Stage II, q = 1 and 2: ceil(2^q alpha w*_i T* log(1/delta)), at most L2.
        wanted = as_count(jnp.left_shift(1, batch) * self.alpha * best.weights * best.time * level)
        return jnp.where(batch == 0, l1, jnp.where(best.weights > 0, jnp.minimum(wanted, l2), 0))

    def passes(self, arms: Arms) -> jax.Array:
        """Return whether the best-looking arm passes the test of stage III, bool `()`."""
        share = jnp.log(1.0 if self.threshold == words.HEURISTIC else 2.0)
        return jnp.min(self.standing(arms).tested) >= self.boundary(arms, log_of(self.delta) - share)

    def _nearer(self, arms: Arms) -> jax.Array:
        """Return the means b in the family's unit, `(K,)`: the largest one less the shift, the others plus it."""
        leader = jnp.arange(len(arms)) == jnp.argmax(arms.mean)
        moved = arms.mean + jnp.where(leader, -self.shift, self.shift)
        return self.scaled_means(dataclasses.replace(arms, mean=moved))
