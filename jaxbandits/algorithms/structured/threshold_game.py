"""Which means are at least a threshold, as a question: Degenne, Koolen, Ménard (2019), NeurIPS 32."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.structured.question import Question

__all__ = ["ThresholdGame"]


@algorithm
class ThresholdGame(Question):
    """Finds the arms whose mean is at least a threshold, with as few pulls as for small delta is possible.

    The closest alternative moves the one mean to the threshold for which N d(mean, threshold) is least. T* is the sum
    over the arms of 1 / d(mean, threshold).

    Attributes:
        level: the threshold of the means. A run cannot end where a mean equals it.
        delta: as for `Question`, as are threshold, the one of the test, family and b.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.ThresholdGame(delta=0.1, level=0.5), jb.bernoulli([0.9, 0.8, 0.2]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    level: Numeric = parameter("finite")

    def answer(self, means: jax.Array) -> jax.Array:
        """Return the arms whose mean is at least the threshold."""
        return means >= self.level

    def closest_alternative(self, means: jax.Array, shares: jax.Array) -> jax.Array:
        """Move the mean that is moved to the threshold most easily."""
        nearest = jnp.argmin(shares * self.divergence(means, self.level))
        return means.at[nearest].set(self.level)

    def tests(self, count: jax.Array) -> tuple[float, jax.Array]:
        """Return one arm, and the number of arms."""
        return 1.0, count
