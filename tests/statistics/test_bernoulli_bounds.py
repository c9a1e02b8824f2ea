"""Confidence bounds by the divergence of Bernoulli laws, against roots that SciPy brackets in double precision and by
bisection in 60 digits."""

import decimal
import math
from decimal import Decimal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special, stats

import jaxbandits as jb
from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBState
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.statistics.bernoulli_bounds import kl_lower_bound, kl_rival_key, kl_upper_bound, kl_upper_of_key
from jaxbandits.statistics.confidence import iterated_level, kl2013_level, kl2013_rate
from jaxbandits.transform import map_runs

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


def bounds_in_digits(p, divergence):
    """Both bounds, to more than 40 digits: the w with d(p, p e^-w) = divergence, and that of 1 - p, by bisection."""
    with decimal.localcontext(prec=90):
        p, divergence = Decimal(float(p)), Decimal(float(divergence))

        def relative(p):
            def miss(w):
                left = (-w).exp()
                return p * w + ((1 - p) * ((1 - p) / (1 - p * left)).ln() if p < 1 else 0) - divergence

            high = Decimal(1)
            while miss(high) < 0:
                high *= 2
            while miss(high / 16) > 0:
                high /= 16
            low = high / 16
            for _ in range(50):  # to 14 digits, of which one step of the secant makes 28
                middle = (low + high) / 2
                low, high = (middle, high) if miss(middle) < 0 else (low, middle)
            return low + (high - low) * miss(low) / (miss(low) - miss(high))

        lower = p * (-relative(p)).exp() if p else Decimal(0)
        upper = 1 - (1 - p) * (-relative(1 - p)).exp() if p < 1 else Decimal(1)
        return lower, upper


ENDS = np.float32([0, 1e-30, 1e-17, 1e-12, 1e-8, 2e-8, 1e-6, 1e-4, 0.003, 0.004, 0.1, 0.499, 0.5, 0.9, 1 - 2.0**-24, 1])
DIVERGENCES = np.float32([1e-12, 1e-10, 1e-8, 3e-6, 1e-4, 0.02, 0.7, 10.0, 100.0])


def test_both_bounds_keep_their_digits_at_both_ends():
    p, divergence = (x.ravel() for x in np.meshgrid(ENDS, DIVERGENCES))
    lower, upper = (np.asarray(x) for x in BOUNDS(p, divergence))
    exact = np.asarray([[float(x) for x in bounds_in_digits(*pair)] for pair in zip(p, divergence, strict=True)]).T
    assert np.max(np.abs(upper / exact[1] - 1)) < 4 * EPS
    assert np.max(np.abs(lower - exact[0]) / np.where(p > 0, p, 1).astype(float)) < 4 * EPS
    assert (upper >= p).all()
    assert (lower <= p).all()
    # What KL-LUCB looks at of arms that are not chosen has the digits of the bound where it is small, and of what it
    # lacks to 1 where it is not; and it is in the order of the bounds.
    for b in np.float32([1, 1.5]):
        key = np.asarray(jax.jit(lambda p, x, b: b * kl_rival_key(1 - p, p, x))(p, divergence, b))
        again = np.asarray(jax.jit(kl_upper_of_key)(key, b)) / b
        small = (exact[1] < 2.0**-8) & (divergence > 1e-11)  # of 2^31 pulls divergences are 5e-10 at least
        assert small.sum() > 20
        assert np.max(np.abs(again / exact[1] - 1)[small]) < 1e-5
        np.testing.assert_allclose(again, exact[1], rtol=0, atol=4 * EPS)
        order = np.argsort(exact[1])
        apart = np.diff(exact[1][order]) > np.where(exact[1][order][1:] < 2.0**-8, 1e-5 * exact[1][order][1:], 1e-6)
        assert (np.diff(key[order])[apart] < 0).all()


def test_of_chosen_arms_the_key_is_the_lower_bound():
    p, divergence = (x.ravel() for x in np.meshgrid(ENDS, DIVERGENCES))
    key = jax.jit(kl_rival_key)(p, p, divergence)
    np.testing.assert_array_equal(key, BOUNDS(p, divergence)[0])


def test_kl_lucb_tells_small_means_apart():
    """Three arms of 4 10^8 pulls with 30, 3 and 8 rewards: the third is the rival, by its bound in 60 digits."""
    algorithm = jb.KLLUCB(epsilon=0, delta=0.1, b=1.0)
    pulls, total = np.full(3, 400_000_000, np.int32), np.int32([30, 3, 8])
    mean = total.astype(np.float32) / pulls.astype(np.float32)
    arms = Arms(
        pulls=pulls, total=total, mean=mean, inverse_root=1 / np.sqrt(pulls.astype(np.float32)),
        time=np.int32(1_200_000_000), count=np.int32(3), b=np.float32(1),
    )  # fmt: skip
    state = LUCBState(np.int32(1), np.asarray([True, False, False]))
    one_run = jax.tree.map(lambda leaf: jnp.asarray(leaf)[..., None], (state, arms))
    decided = jax.jit(map_runs(algorithm.rivals))(*one_run)
    assert (int(decided.h[0]), int(decided.l[0])) == (0, 2)
    rate = float(algorithm._beta(state.round, arms))
    below, above = (bounds_in_digits(mean[arm], np.float32(rate / 4e8))[side] for arm, side in ((0, 0), (2, 1)))
    assert float(decided.distance[0]) == pytest.approx(float(above - below), rel=1e-4)


@pytest.mark.slow
def test_a_race_of_small_means_does_not_end_by_rounding():
    """Means of 2 and 1.5 in 10^8 take some 10^11 pulls to be told apart, which no run has: it ended in every run."""
    race = jb.KLRace(epsilon=0, delta=0.01)
    data = jb.simulate(race, jb.bernoulli([2e-8, 1.5e-8]), seeds=50)
    assert (np.asarray(data.status) == 1).all()  # truncated


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
