"""GapE and GapE-V: gap-based exploration of several bandits with one budget.

Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011), "Multi-bandit best arm identification", NIPS 24.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.confidence_bounds.gap_complexity import (
    GapBased,
    Gaps,
    bernstein_complexity,
    deviation_lower_bound,
    estimated_gaps,
    gap_upper_bound,
    hoeffding_complexity,
)
from jaxbandits.algorithms.confidence_bounds.ugape_selection import bernstein_radius
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.problems.base import Problem

__all__ = ["GapE"]


@algorithm
class GapE(GapBased):
    """Pulls the arm with the largest B = -gap + b sqrt(a / T) over all bandits; returns the best mean of each.

    P(any bandit wrong) <= 2 M K n exp(-a / 64) for 0 < a <= (4/9)(n - MK) / H (Theorem 1). The paper's figures use a =
    eta n / H.

    Attributes:
        budget: number of pulls n, at least the number of arms of all bandits (twice that with `variance`).
        a: exploration parameter, positive. None computes it from the complexity H of the true gaps (an oracle), or from
            an estimate of H with `adaptive`.
        eta: a = eta n / H, positive; None takes the theorem's (4/9)(n - MK) / H, or (8/9)(n - 2MK) / H^sigma with
            `variance`.
        adaptive: estimate H before every pull (A-GapE, section 5.1).
        variance: GapE-V, empirical Bernstein radii; H^sigma in place of H.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.GapE(budget=100, adaptive=True), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    a: Numeric = parameter("positive", default=None)
    eta: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    variance: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, several bandits, variances, adaptive",
        variants=({"adaptive": True},),
        source="Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011",
        anytime=False,
        multi_bandit=True,
    )

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest index over all bandits, on a score matrix of those that have items left."""
        del key
        a = self.a
        if self.adaptive:
            distance, b = gap_upper_bound(estimated_gaps(arms, StaticInt(1)), arms), self.range_of(arms)
            a = self._exploration(distance, lambda: deviation_lower_bound(arms), b, arms.count)
        return jnp.argmax(arms.where_unread(self.indices(arms, a), -jnp.inf))

    def done(self, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        return arms.time >= self.budget

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the largest mean of each bandit."""
        return is_largest(arms.per_bandit(arms.mean), StaticInt(1)).reshape(-1)

    def indices(self, arms: Arms, a: Numeric) -> jax.Array:
        """Return the index of each arm with this a, float32 `(K,)`."""
        b, gap = self.range_of(arms), estimated_gaps(arms, StaticInt(1)).reshape(-1)
        radius = bernstein_radius(a, b, arms) if self.variance else b * jnp.sqrt(a / arms.pulls)
        return radius - gap

    def exploration(self, problem: Problem) -> Numeric:
        """Compute a from the true gaps."""
        gap, b = self.true_gaps(problem, 1), self.true_range(problem)
        return self._exploration(gap, lambda: self.true_deviations(problem), b, problem.arms)

    def _exploration(
        self, distance: Gaps, deviation: Callable[[], Gaps], b: Numeric, count: int | jax.Array
    ) -> Numeric:
        """Return eta n / H, or the theorem's a, with the complexity H of these distances."""
        if self.variance:
            complexity = bernstein_complexity(distance, deviation(), b, 16 / 3)
            theorem = 8 / 9 * (self.budget - 2 * count)  # section 4
        else:
            complexity = hoeffding_complexity(distance, b)
            theorem = 4 / 9 * (self.budget - count)  # Theorem 1
        return (theorem if self.eta is None else self.eta * self.budget) / complexity
