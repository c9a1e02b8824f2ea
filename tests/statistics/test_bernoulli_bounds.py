"""Confidence bounds by the divergence of Bernoulli laws, against roots that SciPy brackets in double precision."""

import math

import jax
import numpy as np
import pytest
from scipy import optimize, special, stats

from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound, kl_upper_bound
from jaxbandits.statistics.confidence import iterated_level, kl2013_level, kl2013_rate

EPS = np.finfo(np.float32).eps
BOUNDS = jax.jit(lambda p, x: (kl_lower_bound(p, x), kl_upper_bound(p, x)))


def exponent(p, divergence):
    """W with d(p, p e^-w) = divergence."""

    def miss(w):
        less = -math.expm1(-w)
        # d = p (w - less) + (1 - p) (s - ln(1 + s)), s = p less / (1 - p): for small s by its series.
        s = p * less / (1 - p) if p < 1 else math.inf
        second = s - math.log1p(s) if s > 1e-3 else sum((-s) ** k / k for k in range(2, 12))
        first = w - less if w > 1e-3 else sum((-1) ** k * w**k / math.factorial(k) for k in range(2, 8))
        return p * first + ((1 - p) * second if p < 1 else less) - divergence

    return optimize.brentq(miss, 0, 1e4 + divergence / p, xtol=1e-300, rtol=1e-13, maxiter=500)


def test_bounds_are_the_roots_however_near_and_however_far():
    random = np.random.default_rng(1)
    p = np.float32([*10 ** random.uniform(-8, 0, 400), *(1 - 10 ** random.uniform(-7, 0, 400)), *([1.0] * 20)])
    p = p[p > 0]
    divergence = np.float32(10 ** random.uniform(-9, 1.6, p.size))
    w = np.asarray([exponent(*pair) for pair in zip(p.astype(float), divergence.astype(float), strict=True)])
    lower, _ = map(np.asarray, BOUNDS(p, divergence))
    expected = p.astype(float) * np.exp(-w)
    np.testing.assert_allclose(lower, expected, rtol=0, atol=4 * EPS * float(p.max()))
    assert np.max(np.abs(lower - expected) / p) < 4 * EPS
    digits = (w < 80) & (expected > 1e-36)
    assert digits.sum() > 400
    # A far bound keeps its digits: its logarithm is exact to rounding.
    far = digits & (w > 1)
    assert np.max(np.abs(np.log(lower[far].astype(float) / expected[far])) / w[far]) < 4 * EPS


def test_the_bound_above_is_the_mirrored_one_below():
    p = np.linspace(0, 1, 65, dtype=np.float32)
    for divergence in np.float32([1e-6, 0.01, 1.0, 30.0]):
        below, above = BOUNDS(p, divergence)
        np.testing.assert_allclose(1 - np.asarray(above), np.asarray(below)[::-1], atol=2 * EPS)
        assert (np.asarray(below) <= p).all()
        assert (np.asarray(above) >= p).all()


def test_ends_and_small_samples():
    """Where the divergence has an inverse: d(0, q) = -ln(1 - q), d(1, q) = -ln q; and one reward of a half."""
    divergence = np.float32([1e-8, 0.5, 3.0, 25.0])
    below, above = BOUNDS(np.zeros(4, np.float32), divergence)
    assert not np.asarray(below).any()
    np.testing.assert_allclose(above, -np.expm1(-divergence.astype(float)), rtol=2e-6, atol=EPS)
    below, above = BOUNDS(np.ones(4, np.float32), divergence)
    np.testing.assert_allclose(below, np.exp(-divergence.astype(float)), rtol=3e-6)
    assert (np.asarray(above) == 1).all()
    # d(1/2, q) = -ln(4 q (1 - q)) / 2.
    below, above = BOUNDS(np.float32(0.5), np.float32(0.4))
    root = math.sqrt(1 - math.exp(-0.8)) / 2
    np.testing.assert_allclose([below, above], [0.5 - root, 0.5 + root], rtol=1e-6)
    for p in (-0.1, 1.1):  # what rounding puts beyond an end
        assert BOUNDS(np.float32(p), np.float32(0.1)) == BOUNDS(np.float32(np.clip(p, 0, 1)), np.float32(0.1))
    assert np.isfinite(BOUNDS(np.float32([0, 0.3, 1]), np.float32(0))).all()


def test_bits_are_the_same_in_vectors_of_every_length():
    random = np.random.default_rng(3)
    p, divergence = (random.random(40).astype(np.float32) for _ in range(2))
    whole = np.asarray(BOUNDS(p, divergence))
    for length in (1, 2, 7, 16, 33):
        np.testing.assert_array_equal(BOUNDS(p[:length], divergence[:length]), whole[:, :length])
    mapped = jax.jit(lambda p, x: jax.lax.map(lambda pair: BOUNDS(*pair), (p, x)))(p, divergence)
    np.testing.assert_array_equal(mapped, whole)


@pytest.mark.parametrize(("p", "n"), [(0.5, 20), (0.1, 50), (0.97, 30)])
def test_chernoffs_bounds_hold_as_often_as_they_say(p, n):
    """By the binomial law, exactly: each side fails with probability exp(-x) at most."""
    successes = np.arange(n + 1)
    for x in (1.0, 3.0, 6.0):
        lower, upper = map(np.asarray, BOUNDS(np.float32(successes / n), np.float32(x / n)))
        weight = stats.binom.pmf(successes, n, p)
        assert weight[lower > p].sum() <= math.exp(-x)
        assert weight[upper < p].sum() <= math.exp(-x)


def test_exploration_rates_by_hand():
    level = kl2013_level(np.float32(10), np.log(np.float32(0.1)))
    assert float(level) == pytest.approx(math.log(40550), rel=1e-6)
    x = math.log(405.5 * 10 * 1000**1.1 / 0.1)
    assert float(kl2013_rate(level, np.int32(1000))) == pytest.approx(x + math.log(x), rel=1e-6)
    assert 2 * math.e + 1 + math.e / 0.1 + (math.e + 1) / 0.01 < 405.5
    first = math.log(100)
    assert float(iterated_level(np.log(np.float32(0.01)))) == pytest.approx(first + 3 * math.log(first), rel=1e-6)
    assert float(iterated_level(np.log(np.float32(0.45)))) == pytest.approx(-math.log(0.45), rel=1e-6)


def test_the_iterated_level_is_enough_up_to_nine_hundredths():
    """The deviation inequality that LUCB++ rests on, with eta = 3/2, at x = the level."""

    def failing(delta):
        x = float(iterated_level(np.log(np.float32(delta))))
        assert x >= 8 / (math.e - 1) ** 2
        return special.zeta(1.5 * (1 - 1 / (2 * x))) * (math.sqrt(x / 8) + 1) ** 1.5 * math.exp(0.5 - x)

    for delta in (*np.geomspace(1e-30, 0.09, 200), 0.09):
        assert failing(delta) <= delta
    assert failing(0.11) > 0.11
