"""Guarantees of GapE, UCB-E, Successive Rejects and LUCB1: by hand, and runs of LUCB1 that must keep to theirs."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from jaxbandits import theory

MEANS = np.array([0.9, 0.5, 0.3])
# Problem 1 of the GapE paper: H = 925 + 67.36.
BANDITS = np.array([[0.5, 0.45, 0.4, 0.3], [0.5, 0.3, 0.2, 0.1]])
VARIANCES = BANDITS * (1 - BANDITS)


def test_gape_theorem_1_by_hand():
    n, h = 3_000_000, 925 + 25 * (1 + 1 + 4 / 9 + 1 / 4)
    a = 4 / 9 * (n - 8) / h
    assert float(theory.gape_largest_a(BANDITS, n)) == pytest.approx(a, rel=1e-5)
    # The theorem's own rewriting at the largest a: exp(-(n - MK) / (144 H)).
    bound = 16 * n * math.exp(-(n - 8) / (144 * h))
    assert bound < 1
    assert float(theory.gape_error_bound(BANDITS, n)) == pytest.approx(bound, rel=1e-3)
    assert float(theory.gape_error_bound(BANDITS, n, a=2 * a)) == 1
    assert float(theory.gape_error_bound(BANDITS, 700)) == 1


def test_gape_v_theorem_by_hand():
    n, h = 30_000_000, float(theory.gape_h_variance(BANDITS, VARIANCES).sum())
    a = 8 / 9 * (n - 16) / h
    assert float(theory.gape_variance_largest_a(BANDITS, VARIANCES, n)) == pytest.approx(a, rel=1e-5)
    bound = 48 * n * math.exp(-9 * a / 4096)
    assert bound < 1
    assert float(theory.gape_variance_error_bound(BANDITS, VARIANCES, n)) == pytest.approx(bound, rel=1e-3)


def test_ucb_e_by_hand():
    h1 = 2 / 0.16 + 1 / 0.36
    a = 25 / 36 * (5000 - 3) / h1
    assert float(theory.ucb_e_largest_a(MEANS, 5000)) == pytest.approx(a, rel=1e-5)
    # At the largest a: 2nK exp(-(n - K) / (18 H1)).
    bound = 30000 * math.exp(-(5000 - 3) / (18 * h1))
    assert float(theory.ucb_e_error_bound(MEANS, 5000)) == pytest.approx(bound, rel=1e-3)
    assert float(theory.ucb_e_error_bound(MEANS, 5000, a=1.0)) == 1


def test_successive_rejects_by_hand():
    # logbar(3) = 1/2 + 1/2 + 1/3, H2 = 2 / .4^2 against 3 / .6^2.
    bound = 3 * math.exp(-(100 - 3) / (4 / 3 * 12.5))
    assert float(theory.successive_rejects_error_bound(MEANS, 100)) == pytest.approx(bound, rel=1e-4)
    assert float(theory.successive_rejects_error_bound(MEANS, 3)) == 1


def test_lucb_bound_is_the_largest_solution():
    slope = 8 * (2 / 0.16 + 1 / 0.36)
    rounds = brentq(lambda r: r - slope * math.log(1.25 * 3 * r**4 / 0.05), 4 * slope, 1e9, xtol=1e-9)
    assert float(theory.lucb_pulls_bound(MEANS, 0.2, 0.05)) == pytest.approx(3 + 2 * rounds, rel=1e-5)
    # An accuracy above every gap takes their place.
    slope = 8 * 3 / 0.7**2
    rounds = brentq(lambda r: r - slope * math.log(1.25 * 3 * r**4 / 0.05), 4 * slope, 1e9, xtol=1e-9)
    assert float(theory.lucb_pulls_bound(MEANS, 0.7, 0.05)) == pytest.approx(3 + 2 * rounds, rel=1e-5)
    assert np.isinf(theory.lucb_pulls_bound(np.array([0.5, 0.5, 0.1]), 0.0, 0.05))


def lucb1(rng: np.random.Generator, epsilon: float, delta: float, m: int, limit: float) -> tuple[int, np.ndarray]:
    """LUCB1 on Bernoulli arms, two pulls a round, up to a number of pulls."""
    arms = MEANS.size
    sums, pulls, t = (rng.random(arms) < MEANS).astype(float), np.ones(arms), 1
    while pulls.sum() <= limit:
        mean, beta = sums / pulls, np.sqrt(np.log(1.25 * arms * t**4 / delta) / (2 * pulls))
        order = np.argsort(-mean, kind="stable")
        high, rest = order[:m], order[m:]
        h, challenger = high[np.argmin((mean - beta)[high])], rest[np.argmax((mean + beta)[rest])]
        if (mean + beta)[challenger] - (mean - beta)[h] < epsilon:
            return int(pulls.sum()), high
        for arm in (h, challenger):
            sums[arm] += rng.random() < MEANS[arm]
            pulls[arm] += 1
        t += 1
    return int(pulls.sum()), high


@pytest.mark.parametrize(("m", "epsilon"), [(1, 0.2), (2, 0.1)])
def test_runs_keep_to_the_lucb_bound(m, epsilon):
    # All 8 runs stay within the bound except with probability far below 8 delta = 8e-9.
    bound = float(theory.lucb_pulls_bound(MEANS, epsilon, 1e-9, m))
    rng = np.random.default_rng(m)
    runs = [lucb1(rng, epsilon, 1e-9, m, 2 * bound) for _ in range(8)]
    assert max(pulls for pulls, _ in runs) <= bound
    # Its constants are loose, but not by a factor of a hundred.
    assert min(pulls for pulls, _ in runs) > 0.01 * bound
    assert all(np.all(MEANS[high] >= np.sort(MEANS)[-m] - epsilon) for _, high in runs)


@pytest.mark.parametrize(
    ("bound", "means", "budgets"),
    [
        (theory.ucb_e_error_bound, MEANS, [6000, 7000, 8000]),
        (theory.successive_rejects_error_bound, MEANS, [100, 150, 200]),
        (theory.gape_error_bound, BANDITS, [3_000_000, 4_000_000, 5_000_000]),
    ],
)
def test_errors_fall_with_the_budget_under_vmap_as_in_a_loop(bound, means, budgets):
    together = np.asarray(jax.jit(jax.vmap(lambda n: bound(means, n)))(jnp.array(budgets)))
    np.testing.assert_allclose(together, [float(bound(means, n)) for n in budgets], rtol=1e-3)
    assert np.all(np.diff(together) < 0)


def test_gradients_equal_differences(x64, central_differences):
    cases = [
        (lambda x: theory.lucb_pulls_bound(x, 0.1, 0.05), np.array([0.9, 0.52, 0.3])),
        (lambda x: theory.lucb_pulls_bound(MEANS, 0.1, x), np.array(0.05)),
        (lambda x: theory.lucb_pulls_bound(MEANS, x, 0.05), np.array(0.5)),
        (lambda x: theory.ucb_e_error_bound(x, 2000.0), np.array([0.9, 0.4, 0.3])),
        (lambda x: theory.successive_rejects_error_bound(MEANS, x), np.array(100.0)),
        (lambda x: theory.gape_error_bound(x, 4e6), BANDITS),
    ]
    for function, x in cases:
        gradient = jax.jit(jax.grad(function))(jnp.asarray(x))
        np.testing.assert_allclose(gradient, central_differences(function, x), rtol=1e-4, atol=1e-12)
        assert np.any(np.asarray(gradient) != 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.lucb_pulls_bound(MEANS, -0.1, 0.1), r"^epsilon must be .* got -0.1$"),
        (lambda: theory.lucb_pulls_bound(MEANS, 0.1, 1.0), r"^delta must lie strictly between 0 and 1, got 1.0$"),
        (lambda: theory.lucb_pulls_bound(MEANS, 0.1, 0.1, 0), r"^m must be .* got 0$"),
        (lambda: theory.gape_error_bound(BANDITS, 0), r"^the budget n must be at least 1, got 0$"),
        (lambda: theory.gape_h(0.5), r"^means must be a list of arms, or one list per bandit, got 0.5$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("formula", "more"),
    [
        (theory.gape_h, ()),
        (theory.gape_h_variance, ("variances",)),
        (theory.gape_largest_a, (700,)),
        (theory.gape_error_bound, (4e5,)),
        (theory.gape_variance_largest_a, ("variances", 7000)),
        (theory.gape_variance_error_bound, ("variances", 1e7)),
    ],
)
def test_the_means_of_one_bandit_may_be_a_list(formula, more):
    """They ended in JAX's "axis 1 is out of bounds"."""
    means, variances = [0.6, 0.45, 0.2], [0.24, 0.2475, 0.16]
    one = formula(means, *(variances if x == "variances" else x for x in more))
    several = formula([means], *([variances] if x == "variances" else x for x in more))
    assert np.shape(one) == ()
    assert float(one) == float(np.ravel(several)[0])
    assert float(one) > 0
