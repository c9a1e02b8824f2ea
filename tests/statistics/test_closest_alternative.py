"""The cheapest alternatives against a bisection in float64, with pulls that are very uneven."""

import jax
import numpy as np
import pytest

from jaxbandits.statistics.closest_alternative import Pairs, least_cost
from jaxbandits.statistics.exponential_families import FAMILIES

LAWS = {
    "bernoulli": (lambda m, x: m * np.log(m / x) + (1 - m) * np.log((1 - m) / (1 - x)), lambda x: x * (1 - x), 1.0),
    "exponential": (lambda m, x: m / x - 1 - np.log(m / x), lambda x: x * x, np.inf),
    "poisson": (lambda m, x: x - m + m * np.log(m / x), lambda x: x, np.inf),
}


def cost_by_bisection(law, best, other, epsilon, best_pulls, other_pulls):
    """inf over lambda of w_1 d(mu_1, lambda) + w_a d(mu_a, lambda + epsilon): its derivative grows through 0."""
    divergence, variance, highest = LAWS[law]
    low, high = np.maximum(other - epsilon, 0), np.minimum(best, highest - epsilon)
    for _ in range(200):
        x = (low + high) / 2
        slope = best_pulls * (x - best) / variance(x) + other_pulls * (x + epsilon - other) / variance(x + epsilon)
        low, high = np.where(slope < 0, x, low), np.where(slope < 0, high, x)
    return best_pulls * divergence(best, x) + other_pulls * divergence(other, x + epsilon)


@pytest.mark.parametrize("law", LAWS)
def test_the_cheapest_alternative_is_found_with_uneven_pulls(law):
    rng, number = np.random.default_rng(5), 100_000
    if law == "bernoulli":
        best, epsilon = rng.uniform(0.01, 0.99, number), rng.uniform(0, 0.3, number)
        other = best * rng.uniform(0.01, 1, number)
    else:
        best = 10 ** rng.uniform(-2, 2, number)
        other, epsilon = best * 10 ** rng.uniform(-3, 0, number), best * 10 ** rng.uniform(-3, 1, number)
    pulls = [10 ** rng.uniform(0, 4, number) for _ in range(2)]
    given = [np.asarray(x, np.float32) for x in (best, other, epsilon, *pulls)]
    cost = jax.jit(lambda best, other, epsilon, own, others: least_cost(
        FAMILIES[law], Pairs(best, other[None], epsilon), own, others[None]
    )[0])  # fmt: skip
    exact = cost_by_bisection(law, *(np.asarray(x, np.float64) for x in given))
    np.testing.assert_allclose(cost(*given), exact, rtol=1e-3)
