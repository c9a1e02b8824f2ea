"""Divergences of the families against long arithmetic, near ties and ends of their range included; costs of pairs."""

from decimal import Decimal, getcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from jaxbandits.statistics.closest_alternative import Pairs, alternative, least_cost
from jaxbandits.statistics.exponential_families import FAMILIES

getcontext().prec = 60


def log_ratio(a, b):
    return (a / b).ln() if a else Decimal(0)


EXACT = {
    "bernoulli": lambda p, q: p * log_ratio(p, q) + (1 - p) * log_ratio(1 - p, 1 - q),
    "gaussian": lambda p, q: (p - q) ** 2 / 2,
    "poisson": lambda p, q: p * log_ratio(p, q) + q - p,
    "exponential": lambda p, q: (q / p).ln() + p / q - 1,
}
MEANS = [0.5, 0.1, 0.3, 0.999, 1e-6, 0.7]
SHIFTS = [1e-7, 1e-4, 0.0009, -1e-3, 0.2, -0.09, -9e-7, 0.299]


def pairs(family):
    found = [(np.float32(p), np.float32(s)) for p in MEANS for s in SHIFTS]
    return [(p, s) for p, s in found if 0 < p + s < 1 or (family != "bernoulli" and p + s > 0)]


@pytest.mark.parametrize("name", FAMILIES)
def test_divergences_are_exact_in_both_precisions(name):
    found = pairs(name)
    p, s = (np.asarray(x) for x in zip(*found, strict=True))
    exact = [float(EXACT[name](Decimal(float(a)), Decimal(float(a)) + Decimal(float(b)))) for a, b in found]
    divergence = FAMILIES[name].divergence_by
    np.testing.assert_allclose(divergence(jnp.asarray(p), jnp.asarray(s)), exact, rtol=4e-6)
    with jax.enable_x64(True):
        double = divergence(jnp.asarray(p, jnp.float64), jnp.asarray(s, jnp.float64))
        assert double.dtype == jnp.float64
        np.testing.assert_allclose(double, exact, rtol=2e-14)


@pytest.mark.parametrize("name", FAMILIES)
def test_slopes_are_those_of_differences(name):
    family = FAMILIES[name]
    with jax.enable_x64(True):
        for p, s in ((0.3, 0.25), (0.6, -0.35), (0.2, 1e-3)):
            of_mean, of_shift = jax.grad(family.divergence_by, argnums=(0, 1))(jnp.float64(p), jnp.float64(s))
            for slope, at in ((of_mean, (1e-6, 0.0)), (of_shift, (0.0, 1e-6))):
                ends = [
                    float(family.divergence_by(*(jnp.float64(x) for x in (p + sign * at[0], s + sign * at[1]))))
                    for sign in (1, -1)
                ]
                assert float(slope) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
            # The slope in the second mean is (x - mu) / V(x), and V'/V the slope of log V.
            x = jnp.float64(p + s)

            def variance(x):
                return family.variance(x - family.lowest, family.highest - x)

            assert float(of_shift) == pytest.approx(s / float(variance(x)), rel=1e-9)
            relative = family.log_variance_slope(x - family.lowest, family.highest - x)
            assert float(relative) == pytest.approx(float(jax.grad(variance)(x) / variance(x)), abs=1e-9)


def test_means_at_the_ends_of_a_range():
    bernoulli, poisson = FAMILIES["bernoulli"].divergence_by, FAMILIES["poisson"].divergence_by
    for p, s, value in [(0.0, 0.25, -np.log(0.75)), (1.0, -0.75, -np.log(0.25)), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)]:
        assert float(bernoulli(jnp.float32(p), jnp.float32(s))) == pytest.approx(value, rel=1e-6)
    assert float(poisson(jnp.float32(0), jnp.float32(0.25))) == pytest.approx(0.25, rel=1e-6)
    # Infinite in truth: large and finite, with slopes that are finite too.
    for p, s in ((0.3, -0.3), (0.3, 0.7)):
        value, slopes = jax.value_and_grad(bernoulli, argnums=(0, 1))(jnp.float32(p), jnp.float32(s))
        assert 10 < float(value) < 1e3
        assert np.isfinite(slopes).all()


@pytest.mark.parametrize("epsilon", [None, 0.0, 0.07, 0.4])
@pytest.mark.parametrize("name", FAMILIES)
def test_costs_are_least(name, epsilon):
    family, random = FAMILIES[name], np.random.default_rng(7)
    best, other = np.float32(0.8), random.uniform(0.05, 0.79, 4).astype(np.float32)
    weights = 10 ** random.uniform(-2, 2, 4)
    lead = None if epsilon is None else jnp.float32(epsilon)
    found = least_cost(
        family, Pairs(jnp.float32(best), jnp.asarray(other), lead), jnp.float32(3), jnp.asarray(weights, jnp.float32)
    )
    lead = epsilon or 0.0

    def cost(x, i):
        with jax.enable_x64(True):
            moves = jnp.float64(x) - float(best), jnp.float64(x) + lead - float(other[i])
            means = jnp.float64(best), jnp.float64(other[i])
            return float(
                3 * family.divergence_by(means[0], moves[0]) + weights[i] * family.divergence_by(means[1], moves[1])
            )

    for i in range(4):
        ends = (
            max(other[i] - lead, 1e-9 if name != "gaussian" else -9),
            min(best, 1 - lead - 1e-9 if name == "bernoulli" else best),
        )
        least = minimize_scalar(cost, bounds=ends, args=(i,), method="bounded", options={"xatol": 1e-7})
        assert float(found[i]) == pytest.approx(least.fun, rel=2e-5)


def test_costs_of_ties_and_at_the_ends_of_a_range():
    best, other = jnp.asarray([0.5, 0.5, 1.0, 0.0, 0.3]), jnp.asarray([[0.5, 0.6, 1.0, 0.0, 0.0]])
    for epsilon in (None, jnp.zeros(5)):
        tied = least_cost(FAMILIES["bernoulli"], Pairs(best, other, epsilon), jnp.full(5, 3.0), jnp.full((1, 5), 2.0))
        np.testing.assert_allclose(tied[0, :4], 0, atol=1e-25)
        assert float(tied[0, 4]) > 0
    ends = least_cost(
        FAMILIES["bernoulli"], Pairs(best, other, jnp.full(5, 0.1)), jnp.full(5, 3.0), jnp.full((1, 5), 2.0)
    )
    # At the ends only one of the two can move.
    np.testing.assert_allclose(ends[0, 2:4], [-3 * np.log(0.9), -2 * np.log(0.9)], rtol=1e-5)
    assert np.isfinite(ends).all()


def test_with_equal_weights_and_no_lead_the_means_meet_in_the_middle():
    at = alternative(FAMILIES["gaussian"], Pairs(jnp.float32(0.75), jnp.asarray([0.25, 0.5]), None), jnp.ones(2))
    np.testing.assert_allclose(at.of_best, [0.25**2 / 2, 0.125**2 / 2])
    np.testing.assert_allclose(at.of_other, at.of_best)


@pytest.mark.bits
@pytest.mark.parametrize(("name", "epsilon"), [("bernoulli", 0.05), ("poisson", None)])
def test_costs_of_a_run_have_the_same_bits_alone_and_in_batches(name, epsilon):
    random = np.random.default_rng(4)
    best = jnp.asarray(random.uniform(0.5, 0.9, 70), jnp.float32)
    other = jnp.asarray(random.uniform(0.1, 0.5, (6, 70)), jnp.float32)
    pulls = jnp.asarray(random.integers(1, 10**6, (7, 70)), jnp.float32)
    lead = None if epsilon is None else jnp.float32(epsilon)

    @jax.jit
    def found(best, other, pulls):
        return least_cost(FAMILIES[name], Pairs(best, other, lead), pulls[0], pulls[1:])

    together = found(best, other, pulls)
    mapped = jax.jit(jax.vmap(found, in_axes=-1, out_axes=-1))(best, other, pulls)
    np.testing.assert_array_equal(mapped, together)
    for run in range(0, 70, 9):
        np.testing.assert_array_equal(found(best[run], other[:, run], pulls[:, run]), together[:, run])
