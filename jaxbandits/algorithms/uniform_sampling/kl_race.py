"""A race with the intervals of the Kullback-Leibler divergence of Bernoulli laws.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1.
"""

import dataclasses

import jax

from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.uniform_sampling.hoeffding_race import HoeffdingRace
from jaxbandits.algorithms.uniform_sampling.races import Bounds
from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound, kl_upper_bound

__all__ = ["KLRace"]


@algorithm
class KLRace(HoeffdingRace):
    """A race with the intervals {q: n d(mean / b, q / b) <= level}, d the divergence of Bernoulli laws.

    It is `HoeffdingRace`, whose intervals contain these, with the same level. It returns an (epsilon, m)-optimal set
    with probability at least 1 - delta for rewards in [0, b]. Bounds of small means keep their digits: a race between
    means of 2e-8 and 1.5e-8 with epsilon 0 ends at the most pulls that a run may have.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: ratio of the pulls at a look to those at the previous look, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.

    Example:
        >>> ds = jb.simulate(jb.KLRace(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = dataclasses.replace(
        HoeffdingRace.traits, setting="fixed confidence, (ε, m), rewards in [0, b]; looks at growing numbers of pulls"
    )
    from_zero = True

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        """Return the ends of {q: n d(mean / b, q / b) <= level}."""
        return Bounds(b * kl_lower_bound(mean / b, share), b * kl_upper_bound(mean / b, share))
