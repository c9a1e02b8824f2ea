"""Guarantees of KL-LUCB and of races: by slow arithmetic, and runs that must keep to them; Chernoff information."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.array([0.9, 0.5, 0.3])


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.6), (0.6, 0.3), (0.99, 0.2), (1e-4, 0.5), (0.5, 0.5001)])
def test_chernoff_information(p, q):
    z = brentq(lambda z: kl(z, p) - kl(z, q), min(p, q), max(p, q), xtol=1e-15)
    found = theory.chernoff_information(p, q)
    assert found == pytest.approx(kl(z, p), rel=1e-7)
    # Chernoff's own definition: the least of log of the sum of p^s q^(1-s).
    least = minimize_scalar(
        lambda s: math.log(p**s * q ** (1 - s) + (1 - p) ** s * (1 - q) ** (1 - s)), bounds=(0, 1), method="bounded"
    )
    assert found == pytest.approx(-least.fun, rel=1e-6)


def test_chernoff_information_at_the_ends_and_near_ties():
    assert theory.chernoff_information(0.0, 0.3) == pytest.approx(-math.log(0.7), rel=1e-14)
    assert theory.chernoff_information(0.3, 1.0) == pytest.approx(-math.log(0.3), rel=1e-14)
    assert theory.chernoff_information(0.0, 1.0) == np.inf
    assert theory.chernoff_information(0.4, 0.4) == 0
    # As far from each other as 0 and 1 only by rounding.
    assert theory.chernoff_information(1.0, 1e-20) == pytest.approx(20 * math.log(10), rel=1e-14)
    assert theory.chernoff_information(np.float32(1e-9), np.float32(1.0)) == pytest.approx(9 * math.log(10), rel=1e-6)
    # (p - q)^2 / (8 p (1 - p)) as they meet.
    assert theory.chernoff_information(0.3, 0.3 + 1e-9) == pytest.approx(1e-18 / (8 * 0.21), rel=1e-6)
    np.testing.assert_allclose(
        theory.chernoff_information(np.float32(0.3), np.float32(0.3001)), 1e-8 / (8 * 0.21), rtol=2e-3
    )


def information(p, q):
    z = brentq(lambda z: kl(z, p) - kl(z, q), min(p, q), max(p, q))
    return kl(z, p)


def kl_lucb_by_hand(means, epsilon, delta, m):
    order = np.sort(means)[::-1]

    def rounds(c):
        return sum(1 / information(mu, c) for mu in means)

    informed = minimize_scalar(rounds, bounds=(order[m] + 1e-6, order[m - 1] - 1e-6), method="bounded").fun
    gap = np.where(means >= order[m - 1], means - order[m], order[m - 1] - means)
    slope = min(informed, 8 * np.sum(1 / np.maximum(gap, epsilon) ** 2))

    def spare(r):
        x = math.log(405.5 * len(means) * r**1.1 / delta)
        return r - slope * (x + math.log(x))

    return len(means) + 2 * brentq(spare, 2 * slope, 1e9)


@pytest.mark.parametrize(("epsilon", "delta", "m"), [(0.0, 0.05, 1), (0.0, 1e-6, 2), (0.6, 0.05, 1)])
def test_kl_lucb_by_hand(epsilon, delta, m):
    found = theory.kl_lucb_pulls_bound(MEANS, epsilon, delta, m)
    assert found == pytest.approx(kl_lucb_by_hand(MEANS, epsilon, delta, m), rel=1e-6)


def test_kl_lucb_gains_where_means_are_extreme():
    means = np.array([0.99, 0.95, 0.9])
    assert theory.kl_lucb_pulls_bound(means, 0.0, 0.05) < 0.2 * theory.lucb_pulls_bound(means, 0.0, 0.05)
    assert np.isinf(theory.kl_lucb_pulls_bound([0.5, 0.5, 0.1], 0.0, 0.05))
    assert np.isfinite(theory.kl_lucb_pulls_bound([0.5, 0.5, 0.1], 0.1, 0.05))


def interval(mean, level):
    """The q on either side with kl(mean, q) <= level, by halving."""
    ends = []
    for end in (0.0, 1.0):
        inside, outside = mean, end
        for _ in range(40):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if 0 < middle < 1 and kl(mean, middle) <= level else (inside, middle)
        ends.append(inside)
    return ends


def test_runs_keep_to_the_kl_lucb_bound():
    # All 4 runs stay within the bound except with probability far below 4 delta = 4e-9.
    rng, delta = np.random.default_rng(0), 1e-9
    bound = theory.kl_lucb_pulls_bound(MEANS, 0.0, delta)
    for _ in range(4):
        sums, pulls, t = (rng.random(3) < MEANS).astype(float), np.ones(3), 1
        while True:
            x = math.log(405.5 * 3 * t**1.1 / delta)
            low, high = np.transpose([interval(s / n, (x + math.log(x)) / n) for s, n in zip(sums, pulls, strict=True)])
            best = int(np.argmax(sums / pulls))
            rival = max((k for k in range(3) if k != best), key=lambda k: high[k])
            if high[rival] < low[best]:
                break
            for arm in (best, rival):
                sums[arm] += rng.random() < MEANS[arm]
                pulls[arm] += 1
            t += 1
        assert best == 0
        assert 0.02 * bound < pulls.sum() <= bound


def race_by_hand(looks, sides, delta, growth):
    """Pulls of arms that stay at n pulls only if n <= a l_r, summed; the looks as they are."""
    total = 0
    for a in looks:
        r, n = 1, math.ceil(math.log(2 * sides * len(looks) / delta))
        while n <= a * math.log(sides * len(looks) * r * (r + 1) / delta):
            r, n = r + 1, math.ceil(growth * n)
        total += n
    return total


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_race_bounds_are_above_the_looks_as_they_are_but_not_far(epsilon):
    gap, delta, growth = np.array([0.4, 0.4, 0.6]), 0.05, 1.3
    hoeffding = 8 / gap**2 if epsilon == 0 else np.full(3, 2 / epsilon**2)
    distance = gap if epsilon == 0 else np.full(3, 2 * epsilon)
    v = 8 * 0.25
    bernstein = 4 * (np.sqrt(v) + np.sqrt(v + 7 * distance)) ** 2 / distance**2
    for looks, sides, bound in (
        (hoeffding, 2, theory.hoeffding_race_pulls_bound),
        (bernstein, 3, theory.bernstein_race_pulls_bound),
    ):
        exact = race_by_hand(looks, sides, delta, growth)
        found = bound(MEANS, epsilon, delta, growth=growth)
        assert exact <= found <= 1.6 * exact
        assert bound(5 * MEANS, 5 * epsilon, delta, b=5.0, growth=growth) == pytest.approx(float(found), rel=1e-9)
        assert np.isinf(bound([0.5, 0.5, 0.1], 0.0, delta))


@pytest.mark.parametrize("bound", [theory.hoeffding_race_pulls_bound, theory.bernstein_race_pulls_bound])
def test_derivatives_by_gaps_are_those_of_differences(bound, x64, central_differences):
    def by_gaps(x):
        return jnp.log(bound(x[:3], 0.0, x[3], b=1.2))

    point = np.array([0.9, 0.55, 0.3, 0.05])
    gradient = jax.jit(jax.grad(by_gaps))(jnp.asarray(point))
    np.testing.assert_allclose(gradient, central_differences(by_gaps, point), rtol=1e-6, atol=1e-8)
    assert np.all(np.asarray(gradient) != 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("race", "bound"),
    [(jb.HoeffdingRace, theory.hoeffding_race_pulls_bound), (jb.BernsteinRace, theory.bernstein_race_pulls_bound)],
)
def test_runs_keep_to_the_race_bounds(race, bound):
    # All runs stay within their bound except with probability below 100 delta = 1e-7.
    for epsilon in (0.0, 0.15):
        ds = jb.simulate(race(epsilon=epsilon, delta=1e-9), jb.bernoulli(MEANS), seeds=100)
        limit = float(bound(MEANS, epsilon, 1e-9))
        assert 0.02 * limit < ds.pulls.max() <= limit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.chernoff_information(1.2, 0.5), r"^p must lie in \[0, 1\], got 1.2$"),
        (lambda: theory.kl_lucb_pulls_bound(MEANS + 0.2, 0.1, 0.1), r"^means must lie in \[0, 1\], got 1.1"),
        (
            lambda: theory.kl_lucb_pulls_bound(MEANS, 0.1, 0.1, alpha=1.0),
            r"^alpha must be finite and above 1, got 1.0$",
        ),
        (lambda: theory.hoeffding_race_pulls_bound(MEANS, 0.1, 0.1, growth=1.0), r"^growth must .* got 1.0$"),
        (lambda: theory.bernstein_race_pulls_bound(MEANS + 0.2, 0.1, 0.1), r"^the means must lie in \[0, 1\], got 1.1"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
