"""A race with empirical Bernstein intervals: arms whose rewards vary little leave early.

Audibert, Munos, Szepesvari (2009), "Exploration-exploitation tradeoff using variance estimates in multi-armed bandits",
for the intervals; Mnih, Szepesvari, Audibert (2008), "Empirical Bernstein stopping", ICML; Kaufmann, Kalyanakrishnan
(2013), "Information complexity in bandit subset selection", COLT, Algorithm 1, for the race.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.protocol import algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.algorithms.uniform_sampling.races import Bounds, Race

__all__ = ["BernsteinRace"]


@algorithm
class BernsteinRace(Race):
    """A race with empirical Bernstein intervals: cheap arms leave early.

    It is `HoeffdingRace` with the intervals mean +- sqrt(2 V level / n) + 3 b level / n, cut to [0, b], and
    level = ln(3 K r (r+1) / delta) (Audibert, Munos, Szepesvari 2009, Theorem 1). V is mean (b - mean): no empirical
    variance of rewards in [0, b] exceeds it, and rewards 0 and b reach it. So the sum of the rewards is enough. It
    returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b].

    Now let pulls cost their rewards, with means w_i of sum W, b = 1 and m = 1. With the same probability the race costs
    at most O(sum_i (w_i^2 / epsilon^2 + w_i / epsilon) x), with x = ln(K log(1/epsilon) / delta). So it costs at most
    O(W max(w_max / epsilon^2, 1 / epsilon) x).

    Proof. Let the intervals hold. Then V <= mean <= w + sqrt(2 mean x / n) + 3 x / n. It follows that
    mean <= 2 w + 8 x / n, and that the radius is at most 2 sqrt(w x / n) + 7 x / n. The bounds are monotone in the
    empirical mean. So if arm i is not in J, its distance U_i - L_l to the best-looking arm is at most that to the best
    arm. With its gap D and w_max = w_i + D, that distance is at most

        -D + 4 sqrt(w_i x / n) + 4 sqrt((w_i + D) x / n) + 28 x / n <= 8 sqrt(w_i x / n) + 32 x / n.

    This is below epsilon from n = x max(256 w_i / epsilon^2, 64 / epsilon) on. If arm i is in J by then, all others are
    discarded, since their upper bounds are at most its own. So it has O((w_i / epsilon^2 + 1 / epsilon) x) pulls.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.

    Example:
        >>> ds = jb.simulate(jb.BernsteinRace(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    sides = 3.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls", answers="m", tolerance="epsilon",
        source="Audibert, Munos, Szepesvári 2009; Kaufmann, Kalyanakrishnan 2013",
    )  # fmt: skip
    from_zero = True

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the bound of the pulls on rewards in [0, b]."""
        del variances
        if means.min() < 0 or means.max() > b:
            return None
        return Theorem(theory.bernstein_race_pulls_bound, (means, epsilon, delta, m, b, self.growth), "derived")

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        """Return mean +- sqrt(2 V level / n) + 3 b level / n, cut to [0, b]."""
        variance = mean * jnp.maximum(b - mean, 0)  # V
        radius = jnp.sqrt(2 * share * variance) + 3 * share * b
        return Bounds(jnp.maximum(mean - radius, 0), jnp.minimum(mean + radius, b))
