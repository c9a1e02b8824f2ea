"""Chances of arms by quadrature, against closed forms and draws."""

import numpy as np
import pytest
import scipy

from jaxbandits.counts.marginals import beta_marginals, chances, student_marginals


def better(a, b, c, d):
    """P(X > Y) for X of Beta(a, b) and Y of Beta(c, d), a a whole number (Evan Miller 2015)."""
    i = np.arange(a)
    ln = scipy.special.betaln
    return np.sum(np.exp(ln(c + i, b + d) - np.log(b + i) - ln(1 + i, b) - ln(c, d)))


@pytest.mark.parametrize("laws", [(3, 4, 5, 2), (61, 2941, 71, 2936), (2, 2, 900, 300), (1, 1, 40, 2000)])
def test_two_coins(laws):
    found = chances(beta_marginals(np.float64(laws[::2]), np.float64(laws[1::2])), 0.0)
    assert found.best[0] == pytest.approx(better(*laws), abs=1e-4)
    assert found.error < 1e-4
    # E max - E X = E (Y - X)^+, and the two losses differ by the difference of the means.
    first, second = laws[0] / (laws[0] + laws[1]), laws[2] / (laws[2] + laws[3])
    assert found.loss[1] - found.loss[0] == pytest.approx(first - second, rel=1e-3, abs=1e-7)


def test_two_normal_means_with_known_difference():
    center, scale = np.asarray([1.0, 1.2]), np.asarray([0.3, 0.4])
    found = chances(student_marginals(center, scale, np.full(2, 1e7)), 0.1)
    apart = 0.2 / 0.5
    assert found.best[1] == pytest.approx(scipy.special.ndtr(apart), abs=1e-5)
    assert found.near[0] == pytest.approx(scipy.special.ndtr(-0.1 / 0.5), abs=1e-5)
    density = np.exp(-(apart**2) / 2) / np.sqrt(2 * np.pi)
    assert found.loss[1] == pytest.approx(0.5 * (density - apart * scipy.special.ndtr(-apart)), rel=1e-4)


def test_small_losses_keep_their_digits():
    found = chances(student_marginals(np.asarray([0.0, 1.0]), np.full(2, 0.1), np.full(2, 1e7)), 0.0)
    sd = 0.1 * np.sqrt(2)
    apart = 1 / sd
    exact = sd * (np.exp(-(apart**2) / 2) / np.sqrt(2 * np.pi) - apart * scipy.special.ndtr(-apart))
    assert exact < 1e-13
    assert found.loss[1] == pytest.approx(exact, rel=0.01)


def test_many_arms_against_draws():
    random = np.random.default_rng(1)
    a, b = random.integers(1, 30, 40) + 0.5, random.integers(50, 400, 40) + 0.5
    marginals, drawn = beta_marginals(a, b), random.beta(a, b, size=(200_000, 40))
    most = drawn.max(axis=1, keepdims=True)
    found = chances(marginals, 0.01)
    # Six standard errors: with 80 comparisons a false alarm has a probability below 1e-6.
    for name, exact in (("best", drawn == most), ("near", drawn >= most - 0.01)):
        share = exact.mean(axis=0)
        error = np.sqrt(np.maximum(share * (1 - share), 1e-5) / len(drawn))
        assert np.all(np.abs(getattr(found, name) - share) < 6 * error + 1e-4), name
    assert found.loss == pytest.approx((most - drawn).mean(axis=0), rel=0.01)


def test_all_that_lies_outside_is_at_the_ends():
    marginals = student_marginals(np.asarray([-5.0, 5.0]), np.ones(2), np.full(2, 30.0), 0.0, 1.0)
    found = chances(marginals, 0.0)
    assert found.best == pytest.approx([0, 1], abs=1e-3)
    assert found.loss == pytest.approx([1, 0], abs=0.02)  # half a step between nodes


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
@pytest.mark.parametrize("center", [[1.02, 1.01, 0.99], [-0.03, -0.01, -0.02]], ids=["high", "low"])
def test_arms_that_tie_at_an_end_are_best_equally_often(center, epsilon):
    """Of 1,000,000 draws a share is off by more than 0.004 with probability below 1e-14."""
    scale, freedom = np.asarray([0.02, 0.03, 0.02]), np.asarray([9.0, 5.0, 12.0])
    found = chances(student_marginals(np.asarray(center), scale, freedom, 0.0, 1.0), epsilon)
    drawn = np.clip(center + scale * np.random.default_rng(5).standard_t(freedom, size=(1_000_000, 3)), 0.0, 1.0)
    most = drawn.max(axis=1, keepdims=True)
    tied = drawn == most
    assert tied.sum(axis=1).max() == 3
    np.testing.assert_allclose(found.best, (tied / tied.sum(axis=1, keepdims=True)).mean(axis=0), atol=0.004)
    np.testing.assert_allclose(found.near, (drawn >= most - epsilon).mean(axis=0), atol=0.004)
    assert found.error < 1e-3


def test_a_mean_beside_certain_ones_at_the_end():
    """Two arms are at the end for certain, a third with probability p: it is best with p / 3."""
    center = np.asarray([2.0, 2.0, 1.0])
    found = chances(student_marginals(center, np.asarray([1e-3, 1e-3, 0.05]), np.full(3, 40.0), 0.0, 1.0), 0.0)
    np.testing.assert_allclose(found.best, [0.5 - 1 / 12, 0.5 - 1 / 12, 1 / 6], atol=1e-4)
    np.testing.assert_allclose(found.near, [1.0, 1.0, 0.5], atol=1e-4)


@pytest.mark.slow
def test_thousands_of_arms():
    """Arms with the same counts, by the law of the largest of K draws; and one that leads 10,000 others."""
    count, epsilon = 10_000, 0.02
    law = scipy.stats.beta(2.5, 18.5)
    found = chances(beta_marginals(np.full(count, 2.5), np.full(count, 18.5)), epsilon)
    assert found.best == pytest.approx(1 / count)

    def of_others(x):
        return law.cdf(x) ** (count - 1)

    near = scipy.integrate.quad(lambda x: law.pdf(x) * of_others(x + epsilon), 0.2, 1, limit=500, epsabs=1e-12)[0]
    largest = 1 - scipy.integrate.quad(lambda x: law.cdf(x) ** count, 0, 1, limit=500, points=[0.4, 0.5, 0.6])[0]
    assert found.near == pytest.approx(near, rel=1e-3)
    assert found.loss == pytest.approx(largest - law.mean(), rel=1e-3)
    assert found.error < 1e-6
    random = np.random.default_rng(1)
    pulls = random.integers(90, 130, count)
    wins = random.binomial(pulls, 0.3)
    pulls[:2], wins[:2] = 1000, (900, 850)
    many, few = (chances(beta_marginals(wins[:k] + 0.5, (pulls - wins)[:k] + 0.5), 0.0) for k in (count, 100))
    assert many.best[0] == pytest.approx(few.best[0], abs=1e-6)
    assert many.loss[0] == pytest.approx(few.loss[0], rel=1e-4)
