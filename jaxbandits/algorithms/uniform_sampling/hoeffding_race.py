"""A race with Hoeffding's intervals: the arms are pulled equally often, and those whose intervals are decisive leave.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1; Maron, Moore
(1994), "Hoeffding races", NIPS 6.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.algorithms.uniform_sampling.races import Bounds, Race

__all__ = ["HoeffdingRace"]


@algorithm
class HoeffdingRace(Race):
    """A race with Hoeffding's intervals, mean +- b sqrt(level / (2 n)), level = ln(2 K r (r+1) / delta).

    It returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b]. At every look, J
    are the best-looking arms that would complete the m. An arm outside J is discarded if its upper bound is less than
    epsilon above the smallest lower bound in J. An arm of J is accepted if its lower bound is less than epsilon below
    the largest upper bound outside. Algorithm 1 does this one arm after another, with the same outcome.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: ratio of the pulls at a look to those at the previous look, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.HoeffdingRace(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    sides = 2.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls",
        source="Kaufmann, Kalyanakrishnan 2013",
        answers="m",
        tolerance="epsilon",
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the bound of the pulls."""
        del variances
        return Theorem(theory.hoeffding_race_pulls_bound, (means, epsilon, delta, m, b, self.growth), "derived")

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        """Return mean +- b sqrt(level / (2 n))."""
        radius = b * jnp.sqrt(share / 2)
        return Bounds(mean - radius, mean + radius)
