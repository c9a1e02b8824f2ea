"""Tri-BBAI: the best arm with fixed confidence in three batches of pulls, or four.

Jin, Yang, Tang, Xiao, Xu (2024), "Optimal batched best arm identification", NeurIPS 37, Algorithm 1.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.batched_stages import BATCHES, BatchedStages
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.arrays.probabilities import log_of

__all__ = ["TriBBAI"]


@algorithm
class TriBBAI(BatchedStages):
    """Pulls in three batches, by w* of the means so far, and tests the best-looking arm; if it fails, pulls once more.

    * Stage I: l1 pulls of every arm.
    * Stage II, q = 1 and 2: min(ceil(2^q alpha w_i T log(1/delta)), l2) pulls of arm i. w and T are w* and T* of the
      means, with the largest one reduced by `shift` and the others increased.
    * Stage III: if the likelihood ratio of the best-looking arm against every other one is at least the threshold for
      delta / 2, it is the answer.
    * Stage IV: every arm is pulled until it has l3 pulls in all. The arm with the largest mean is the answer.

    `steps` counts the batches: 3, or 4 if stage IV makes a pull. For small delta there are 3, with up to
    6 alpha T* log(1/delta) pulls. The program's condition to go on with q = 3 never holds, and is left out.

    It errs more often than delta, as nothing bounds the error of stage IV. Of 10,000 runs with delta = 0.1, 0.01
    and 0.001, 39%, 17% and 7.5% are wrong on coins of 0.5, 0.45, 0.43, 0.4. On 0.66 and nine of 0.5 they are 35%, 5.0%
    and 0.56%. `OptBBAI` has another stage IV, with a proof.

    Attributes:
        delta: allowed probability of error, in (0, 1); a goal and no promise.
        threshold: what the likelihood ratio must reach, by its name in `jaxbandits.theory.glr_threshold`; None for a
            proved one. With `heuristic`, which is not proved, the test is for delta, as in the authors' program.
        family: the law of the rewards: `bernoulli` (and all rewards in [0, b]), `gaussian` (and all (b/2)-sub-Gaussian
            ones), `poisson` or `exponential`; None takes the problem's.
        b: as for `UniformGLR`.
        shift: how far the means are moved towards each other, in units of rewards, not negative.
        alpha: factor of the pulls of stage II, positive.
        l1: pulls of every arm in stage I; None for ceil(2 log(K) sqrt(log(1/delta))).
        l2: the most pulls of an arm in a batch of stage II; None for ceil(80 log(1/delta) log(log(1/delta)) / K).
        l3: pulls of every arm in all after stage IV; None for ceil(log(1/delta)^2).

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.TriBBAI(delta=0.01), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    l3: Numeric = parameter("count", default=None)
    traits = Traits(
        setting="fixed confidence, one arm, in three or four batches; right for small delta only",
        source="Jin, Yang, Tang, Xiao, Xu 2024",
    )

    @property
    def proved(self) -> bool:
        """Whether it errs with probability at most delta: stage IV may err more often."""
        return False

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return how many batches were made, int32 `()`."""
        del arms, key
        return jnp.int32(0)

    def request(self, batch: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the pulls of the next batch."""
        del key
        return jnp.where(batch < BATCHES, self.first_pulls(batch, arms), jnp.maximum(self._l3() - arms.pulls, 0))

    def absorb(self, batch: jax.Array, arms: Arms, counts: jax.Array, sums: jax.Array) -> jax.Array:
        """Return how many batches were made."""
        del arms, counts, sums
        return batch + 1

    def done(self, batch: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the best-looking arm has passed the test, or all pulls are made."""
        over = self.passes(arms) | jnp.all(arms.pulls >= self._l3())
        return (batch > BATCHES) | ((batch == BATCHES) & over)

    def recommend(self, batch: jax.Array, arms: Arms) -> jax.Array:
        """Return the arm with the largest mean."""
        del batch
        return jnp.argmax(arms.mean)

    def _l3(self) -> jax.Array:
        """Return L3, int32 `()`."""
        return as_count(log_of(self.delta) ** 2) if self.l3 is None else jnp.int32(self.l3)
