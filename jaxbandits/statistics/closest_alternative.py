"""The cheapest alternatives: the best arm and another moved towards each other until the other leads by epsilon.

Distinguishing two arms with means mu_1 and mu_a costs

    inf over lambda of w_1 d(mu_1, lambda) + w_a d(mu_a, lambda + epsilon)

(Garivier and Kaufmann 2016, eq. 4, for epsilon = 0). With numbers of pulls for w it is the statistic of the generalised
likelihood ratio test. Where the cost is least, w_1 (mu_1 - lambda) / V(lambda) = w_a (lambda + epsilon - mu_a) /
V(lambda + epsilon). So the ratio x = w_a / w_1 is an explicit function of how the two arms split the way, and the split
is the unknown. z is the distance that the best arm has gone over the distance it has left on its part of the way. x
increases with z from 0 to infinity where log V is concave, as in all of `exponential_families`. With epsilon = 0, x is
z.

Shapes: the best arm `(…)`, the others `(K, …)`; in a run `…` is nothing.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import exp, fast_max, fast_min, log, no_fma
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Alternative", "Pairs", "alternative", "cheapest", "least_cost", "moved"]

#: Factors by which one step may change z.
_LARGEST, _SMALLEST = 1e4, 1e-6
# Largest factor of x that a step looks at.
_FARTHEST = 1e30
# Newton steps from z = x to the split that belongs to x.
_STEPS = 8


class Pairs(NamedTuple):
    """A best arm and others; it leads all of them by more than -epsilon."""

    best: jax.Array  # (…)
    other: jax.Array  # (K, …)
    epsilon: jax.Array | None  # (…), at least 0; None where it is known to be 0

    def least_move(self, family: Family) -> jax.Array:
        """Return how far the best arm moves at least, `(…)`, so that lambda + epsilon stays in the range."""
        if self.epsilon is None or np.isinf(family.highest):
            return jnp.zeros_like(self.best)
        return fast_max(self.epsilon - (family.highest - self.best), 0.0)


class Alternative(NamedTuple):
    """The pairs, each at one split of the way; all `(K, …)`."""

    ratio: jax.Array  # x = w_a / w_1, for which this is the cheapest
    of_best: jax.Array  # d(mu_1, lambda)
    of_other: jax.Array  # d(mu_a, lambda + epsilon)
    best_slope: jax.Array  # (mu_1 - lambda) / V(lambda): how the cost of a pull of the best arm grows with its way
    other_slope: jax.Array  # the same of the other arm
    growth: jax.Array  # of log x, by unit of way that the best arm moves
    stretch: jax.Array  # of log x, by unit of log z


def alternative(family: Family, pairs: Pairs, z: jax.Array) -> Alternative:
    """Return the alternatives at a split of the way, z in (0, inf), `(K, …)`."""
    to_lowest, to_highest = pairs.best - family.lowest, family.highest - pairs.best
    if pairs.epsilon is None:
        way = pairs.best - pairs.other
        by_best, by_other = no_fma(way * (z / (1 + z))), way / (1 + z)
        low_best, high_best = to_lowest - by_best, to_highest + by_best
        low_other, high_other = low_best, high_best
        share = None
    else:
        way = (pairs.best - pairs.other) + pairs.epsilon
        start, end = pairs.least_move(family), fast_min(way, to_lowest)
        gone, left = no_fma((end - start) * (z / (1 + z))), (end - start) / (1 + z)
        by_best, by_other = start + gone, (way - end) + left
        # Distances from the ends of the range, since a difference with a mean would lose their digits.
        low_best, high_best = left + fast_max(to_lowest - way, 0.0), to_highest + by_best
        low_other = (pairs.other - family.lowest) + by_other
        high_other = gone + fast_max(to_highest - pairs.epsilon, 0.0)
        share = (gone * left) / (end - start)
    best_variance, other_variance = family.variance(low_best, high_best), family.variance(low_other, high_other)
    # No quotient of quotients: XLA would write it as one of products, if it sees it.
    if share is None:  # by_other is way / (1 + z)
        ratio, other_slope, growth = z, way / ((1 + z) * other_variance), 1 / by_best + (1 + z) / way
    else:
        ratio = (by_best * other_variance) / (best_variance * by_other)
        other_slope, growth = by_other / other_variance, 1 / by_best + 1 / by_other
        growth = growth + (
            family.log_variance_slope(low_best, high_best) - family.log_variance_slope(low_other, high_other)
        )
    return Alternative(
        ratio=ratio,
        of_best=family.divergence(pairs.best, -by_best, low_best, high_best),
        of_other=family.divergence(pairs.other, by_other, low_other, high_other),
        best_slope=by_best / best_variance,
        other_slope=other_slope,
        growth=growth,
        stretch=jnp.ones_like(z) if share is None else share * growth,
    )


def moved(z: jax.Array, factor: jax.Array, stretch: jax.Array) -> jax.Array:
    """Return the z at which x is `factor` times its value at z, to first order in log z; positive."""
    up = 1 + (fast_min(factor, _LARGEST) - 1) / stretch
    down = (stretch * factor) / (no_fma(stretch * factor) + (1 - factor))
    change = jnp.where(factor > 1, up, down)
    return no_fma(z * fast_min(fast_max(change, _SMALLEST), _LARGEST))


def _moved_by_power(z: jax.Array, factor: jax.Array, stretch: jax.Array) -> jax.Array:
    """Return the same, to first order of log x in log z.

    Where V grows with the square of the mean, x may grow with z^2.5. `moved` then overshoots, and may go to and fro
    for ever between two splits that are both far off.
    """
    change = exp(log(fast_min(fast_max(factor, 1 / _FARTHEST), _FARTHEST)) / stretch)
    return no_fma(z * fast_min(fast_max(change, _SMALLEST), _LARGEST))


def cheapest(family: Family, pairs: Pairs, best_weight: jax.Array, other_weight: jax.Array) -> Alternative:
    """Return the alternatives that cost least with given weights.

    Args:
        family: the rewards.
        pairs: the means.
        best_weight: w_1, such as the pulls of the best arm, `(…)`, positive.
        other_weight: w_a, `(K, …)`, positive.

    Returns:
        The alternatives; they mean nothing where the other arm leads by epsilon already.
    """
    ratio = no_fma(other_weight * (1 / best_weight))  # 1 is added to it
    z = ratio
    if pairs.epsilon is not None:
        step = _moved_by_power if family.degree == 0 else moved

        def closer(_: jax.Array | int, z: jax.Array) -> jax.Array:
            at = alternative(family, pairs, z)
            return step(z, ratio / at.ratio, at.stretch)

        z = lax.fori_loop(0, _STEPS, closer, z)
        z = jnp.where((z > 0) & (z < jnp.inf), z, 1.0)  # where a range leaves no way to split, any z will do
    return alternative(family, pairs, z)


def least_cost(family: Family, pairs: Pairs, best_weight: jax.Array, other_weight: jax.Array) -> jax.Array:
    """Return the cost of distinguishing each pair, `(K, …)`; arguments as for `cheapest`.

    Returns:
        At least 0; 0 where the other arm leads by epsilon already.
    """
    at = cheapest(family, pairs, best_weight, other_weight)
    cost = no_fma(best_weight * at.of_best) + no_fma(other_weight * at.of_other)
    lead = 0.0 if pairs.epsilon is None else pairs.epsilon
    return jnp.where((pairs.best - pairs.other) + lead > 0, cost, 0.0)
