"""Races: the arms are pulled equally often, and those whose intervals tell leave; the best or m best are returned.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1; Maron, Moore
(1994), "Hoeffding races", NIPS 6; Mnih, Szepesvari, Audibert (2008), "Empirical Bernstein stopping", ICML.
"""

import dataclasses
from typing import ClassVar, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.races import Bounds, Race
from jaxbandits.algorithms.bases.rewards_from_zero import with_range_from_zero
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.arrays.numerics import larger, rounded, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound, kl_upper_bound

__all__ = ["BernsteinRace", "HoeffdingRace", "KLRace"]


@pytree
@dataclasses.dataclass(frozen=True)
class HoeffdingRace(Race):
    """A race with Hoeffding's intervals, mean +- b sqrt(level / (2 n)), level = ln(2 K r (r+1) / delta).

    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b]. At every look J are
    the best-looking arms, as many as are missing of the m. An arm outside whose upper bound is less than epsilon above
    the smallest lower bound in J is discarded, and an arm of J whose lower bound is less than epsilon below the largest
    upper bound outside is accepted (Algorithm 1: one arm after another, with the same outcome).

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    sides: ClassVar[float] = 2.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls",
        source="Kaufmann, Kalyanakrishnan 2013",
        answers="m",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Its pulls."""
        del variances
        return Theorem(theory.hoeffding_race_pulls_bound, (means, epsilon, delta, m, b, self.growth), "derived")

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        radius = rounded(b * jnp.sqrt(share * 0.5))
        return Bounds(mean - radius, mean + radius)


@pytree
@dataclasses.dataclass(frozen=True)
class BernsteinRace(Race):
    """A race with empirical Bernstein intervals: cheap arms leave early.

    As `HoeffdingRace`, with mean +- sqrt(2 V level / n) + 3 b level / n, level = ln(3 K r (r+1) / delta) (Audibert,
    Munos, Szepesvari 2009, "Exploration-exploitation tradeoff using variance estimates in multi-armed bandits",
    Theorem 1), cut to [0, b]. V is mean (b - mean), which no empirical variance of rewards in [0, b] exceeds and that
    of rewards 0 and b is: their sum suffices. Returns an (epsilon, m)-optimal set with probability at least 1 - delta
    for rewards in [0, b].

    Where pulls cost their rewards, with means w_i of sum W, b = 1 and m = 1, the race costs, with the same probability,
    at most O(sum_i (w_i^2 / epsilon^2 + w_i / epsilon) x), and so O(W max(w_max / epsilon^2, 1 / epsilon) x) with
    x = ln(K log(1/epsilon) / delta). For with the intervals right, V <= mean <= w + sqrt(2 mean x / n) + 3 x / n gives
    mean <= 2 w + 8 x / n, and a radius of at most 2 sqrt(w x / n) + 7 x / n. The bounds are monotone in the empirical
    mean, so if arm i is not in J its distance U_i - L_l to the best-looking arm is at most that to the best one, and
    with its gap D and w_max = w_i + D that is at most
    -D + 4 sqrt(w_i x / n) + 4 sqrt((w_i + D) x / n) + 28 x / n <= 8 sqrt(w_i x / n) + 32 x / n,
    below epsilon from n = x max(256 w_i / epsilon^2, 64 / epsilon) on. If arm i is in J by then, all others are
    discarded, for their upper bounds are at most its own. So it is pulled O((w_i / epsilon^2 + 1 / epsilon) x) times.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.
    """

    sides: ClassVar[float] = 3.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls",
        source="Audibert, Munos, Szepesvári 2009; Kaufmann, Kalyanakrishnan 2013",
        answers="m",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Its pulls on rewards in [0, b]."""
        del variances
        if means.min() < 0 or means.max() > b:
            return None
        return Theorem(theory.bernstein_race_pulls_bound, (means, epsilon, delta, m, b, self.growth), "derived")

    def resolved(self, problem: Problem) -> Self:
        """With a range that begins at 0.

        Raises:
            UsageError: rewards that do not lie in an interval [0, b].
        """
        return with_range_from_zero(super().resolved(problem), problem)

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        variance = mean * larger(b - mean, jnp.float32(0))  # V
        radius = jnp.sqrt(variance * (2 * share)) + rounded((3 * share) * b)
        return Bounds(larger(mean - radius, jnp.float32(0)), smaller(mean + radius, b))


@pytree
@dataclasses.dataclass(frozen=True)
class KLRace(HoeffdingRace):
    """A race with the intervals {q: n d(mean / b, q / b) <= level}, d the divergence of Bernoulli laws.

    As `HoeffdingRace`, whose intervals contain these, and with the same level; returns an (epsilon, m)-optimal set with
    probability at least 1 - delta for rewards in [0, b]. Bounds of small means keep their digits: a race of means of
    2e-8 and 1.5e-8 with epsilon 0 ends at the most pulls that a run may have.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.
    """

    traits = dataclasses.replace(
        HoeffdingRace.traits, setting="fixed confidence, (ε, m), rewards in [0, b]; looks at growing numbers of pulls"
    )

    def resolved(self, problem: Problem) -> Self:
        """With a range that begins at 0.

        Raises:
            UsageError: rewards that do not lie in an interval [0, b].
        """
        return with_range_from_zero(super().resolved(problem), problem)

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        part = mean * (1 / b)
        return Bounds(b * kl_lower_bound(part, share), b * kl_upper_bound(part, share))
