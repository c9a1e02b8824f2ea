"""Guarantees of UGapE: the formulas by hand, the self-consistent number of pulls, and runs that must keep to them."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from jaxbandits import theory

MEANS = np.array([0.9, 0.5, 0.3])
VARIANCES = np.array([0.09, 0.25, 0.21])
# Delta = .4, .4, .6 and epsilon = .2, as in test_complexity.
H = 2 / 0.09 + 1 / 0.16


def largest_number_of_pulls(arms_first: int, slope: float, scale: float) -> float:
    """Largest n <= arms_first + slope log(scale (n-1)^3), by bracketing."""

    def excess(n: float) -> float:
        return n - arms_first - slope * math.log(scale * (n - 1) ** 3)

    return brentq(excess, arms_first + 3 * slope, 1e3 * (arms_first + slope), xtol=1e-9, rtol=1e-14)


def test_theorem_1_by_hand():
    a = (2000 - 3) / (4 * H)
    assert float(theory.ugape_b_largest_a(MEANS, 2000, 0.2)) == pytest.approx(a, rel=1e-5)
    assert float(theory.ugape_b_error_bound(MEANS, 2000, 0.2)) == pytest.approx(12000 * math.exp(-2 * a), rel=1e-3)
    assert float(theory.ugape_b_error_bound(MEANS, 2000, 0.2, a=6.0)) == pytest.approx(12000 * math.exp(-12), rel=1e-4)


def test_theorem_1_says_nothing_outside_its_condition():
    largest = float(theory.ugape_b_largest_a(MEANS, 2000, 0.2))
    assert float(theory.ugape_b_error_bound(MEANS, 2000, 0.2, a=largest)) < 1
    assert float(theory.ugape_b_error_bound(MEANS, 2000, 0.2, a=1.01 * largest)) == 1
    assert float(theory.ugape_b_error_bound(MEANS, 2000, 0.2, a=0.0)) == 1
    # Too small a budget: a is negative, or the bound above 1.
    assert float(theory.ugape_b_error_bound(MEANS, 2, 0.2)) == 1
    assert float(theory.ugape_b_error_bound(MEANS, 100, 0.2)) == 1


def test_variance_version_of_theorem_1_by_hand():
    h = float(theory.h_epsilon_variance(MEANS, VARIANCES, 0.2))
    a = (5000 - 6) / (2 * h)
    assert float(theory.ugape_b_variance_largest_a(MEANS, VARIANCES, 5000, 0.2)) == pytest.approx(a, rel=1e-5)
    bound = float(theory.ugape_b_variance_error_bound(MEANS, VARIANCES, 5000, 0.2))
    assert bound == pytest.approx(60000 * math.exp(-a), rel=1e-3)
    assert bound < 1


def test_theorem_2_is_the_largest_solution():
    n = largest_number_of_pulls(3, 2 * H, 4 * 3 / 0.05)
    assert float(theory.ugape_c_pulls_bound(MEANS, 0.2, 0.05)) == pytest.approx(n, rel=1e-5)
    n = largest_number_of_pulls(3, 4 * H, 4 * 3 / 0.05)
    assert float(theory.ugape_c_pulls_bound(MEANS, 0.2, 0.05, c=1.0)) == pytest.approx(n, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_theorem_2_in_double_precision(scale, x64):
    # The range b scales H: nearly every pull an initial one, and nearly none.
    means = np.linspace(0.9, 0.1, 40)
    h = float(theory.h_epsilon(means, 0.1, 5, b=scale))
    n = largest_number_of_pulls(40, 2 * h, 4 * 40 / 0.01)
    assert float(theory.ugape_c_pulls_bound(means, 0.1, 0.01, 5, b=scale)) == pytest.approx(n, rel=1e-12)


def test_variance_version_of_theorem_2_is_the_largest_solution():
    h = float(theory.h_epsilon_variance(MEANS, VARIANCES, 0.2))
    n = largest_number_of_pulls(6, 2 * h, 7 * 3 / 0.05)
    assert float(theory.ugape_c_variance_pulls_bound(MEANS, VARIANCES, 0.2, 0.05)) == pytest.approx(n, rel=1e-5)


def test_variances_help_where_they_are_small():
    means = np.array([0.99, 0.98, 0.97])
    with_them = theory.ugape_c_variance_pulls_bound(means, np.full(3, 1e-4), 0.005, 0.05)
    assert float(with_them) < 0.2 * float(theory.ugape_c_pulls_bound(means, 0.005, 0.05))


def test_no_finite_number_of_pulls_separates_tied_arms():
    assert np.isinf(theory.ugape_c_pulls_bound(np.array([0.5, 0.5, 0.1]), 0.0, 0.05))
    assert np.isfinite(theory.ugape_c_pulls_bound(np.array([0.5, 0.5, 0.1]), 0.01, 0.05))


def test_bounds_are_monotone():
    errors = np.asarray(theory.ugape_b_error_bound(MEANS, jnp.array([1000, 2000, 3000, 10000]), 0.2))
    assert np.all(np.diff(errors) < 0)
    for pulls in (
        [float(theory.ugape_c_pulls_bound(MEANS, 0.2, delta)) for delta in (0.3, 0.1, 1e-3, 1e-9)],
        [float(theory.ugape_c_pulls_bound(MEANS, epsilon, 0.05)) for epsilon in (0.8, 0.3, 0.1, 0.0)],
    ):
        assert np.all(np.diff(pulls) > 0)


def test_traced_arguments_and_vmap_equal_the_loop():
    rng = np.random.default_rng(3)
    means, m = jnp.asarray(rng.uniform(size=(6, 8))), jnp.asarray(rng.integers(1, 8, size=6))
    delta, n = jnp.asarray(rng.uniform(0.01, 0.3, size=6)), jnp.asarray(rng.integers(10**5, 10**6, size=6))

    def both(means, m, delta, n):
        return theory.ugape_c_pulls_bound(means, 0.1, delta, m), theory.ugape_b_error_bound(means, n, 0.2, m)

    loop = np.array([both(means[r], int(m[r]), delta[r], n[r]) for r in range(6)], np.float64)
    np.testing.assert_allclose(np.transpose(jax.jit(jax.vmap(both))(means, m, delta, n)), loop, rtol=2e-3)
    np.testing.assert_allclose(np.transpose(both(means.T, m, delta, n)), loop, rtol=2e-3)


def test_gradients_equal_differences(x64, central_differences):
    cases = [
        (lambda x: theory.ugape_c_pulls_bound(x, 0.15, 0.05), MEANS),
        (lambda x: theory.ugape_c_pulls_bound(MEANS, x, 0.05), np.array(0.15)),
        (lambda x: theory.ugape_c_pulls_bound(MEANS, 0.15, x), np.array(0.05)),
        (lambda x: theory.ugape_c_variance_pulls_bound(MEANS, x, 0.15, 0.05), VARIANCES),
        (lambda x: theory.ugape_b_error_bound(MEANS, x, 0.2), np.array(1500.0)),
        (lambda x: theory.ugape_b_error_bound(x, 1500.0, 0.2), np.array([0.9, 0.52, 0.3])),
        (lambda x: theory.ugape_b_variance_error_bound(MEANS, VARIANCES, 9000.0, x), np.array(0.2)),
    ]
    for function, x in cases:
        gradient = jax.jit(jax.grad(function))(jnp.asarray(x))
        np.testing.assert_allclose(gradient, central_differences(function, x), rtol=1e-5, atol=1e-12)
        assert np.any(np.asarray(gradient) != 0)


def test_gradient_of_a_bound_that_says_nothing_is_zero():
    gradient = jax.jit(jax.grad(lambda n: theory.ugape_b_error_bound(MEANS, n, 0.2)))
    assert [float(gradient(n)) for n in (1.0, 3.0, 50.0)] == [0, 0, 0]


def ugape_c(rng: np.random.Generator, epsilon: float, delta: float, m: int, limit: float) -> tuple[int, np.ndarray]:
    """UGapEc on Bernoulli arms as printed (figures 1 and 2), up to a number of pulls."""
    arms = MEANS.size
    sums, pulls = (rng.random(arms) < MEANS).astype(float), np.ones(arms)
    while pulls.sum() <= limit:
        mean = sums / pulls
        beta = np.sqrt(0.5 * np.log(4 * arms * pulls.sum() ** 3 / delta) / pulls)
        upper, lower = mean + beta, mean - beta
        index = np.array([np.sort(np.delete(upper, k))[-m] - lower[k] for k in range(arms)])
        chosen = np.argsort(index, kind="stable")[:m]
        if index[chosen].max() < epsilon:
            return int(pulls.sum()), chosen
        rest = np.setdiff1d(np.arange(arms), chosen)
        u, low = rest[np.argmax(upper[rest])], chosen[np.argmin(lower[chosen])]
        arm = u if beta[u] > beta[low] else low
        sums[arm] += rng.random() < MEANS[arm]
        pulls[arm] += 1
    return int(pulls.sum()), chosen


@pytest.mark.parametrize(("m", "epsilon"), [(1, 0.2), pytest.param(2, 0.1, marks=pytest.mark.slow)])
def test_runs_keep_to_theorem_2(m, epsilon):
    # All 8 runs stay within the bound except with probability far below 8 delta = 8e-9.
    bound = float(theory.ugape_c_pulls_bound(MEANS, epsilon, 1e-9, m))
    rng = np.random.default_rng(m)
    runs = [ugape_c(rng, epsilon, 1e-9, m, 2 * bound) for _ in range(8)]
    assert max(pulls for pulls, _ in runs) <= bound
    # Its constants are loose, but not by a factor of a hundred.
    assert min(pulls for pulls, _ in runs) > 0.01 * bound
    assert all(np.all(MEANS[chosen] >= np.sort(MEANS)[-m] - epsilon) for _, chosen in runs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.ugape_c_pulls_bound(MEANS, 0.1, 0.0), r"^delta must lie strictly between 0 and 1, got 0.0$"),
        (lambda: theory.ugape_c_pulls_bound(MEANS, 0.1, 1.5), r"^delta must lie strictly between 0 and 1, got 1.5$"),
        (lambda: theory.ugape_c_pulls_bound(MEANS, -1, 0.1), r"^epsilon must be .* got -1$"),
        (lambda: theory.ugape_c_pulls_bound(MEANS, 0.1, 0.1, 3), r"^m must be .* got 3$"),
        (lambda: theory.ugape_c_pulls_bound(MEANS, 0.1, 0.1, c=0.0), r"^c must be positive and finite, got 0.0$"),
        (lambda: theory.ugape_b_error_bound(MEANS, 0, 0.1), r"^the budget n must be at least 1, got 0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
