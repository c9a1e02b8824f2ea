"""Lower bounds of errors with a fixed budget: by hand, below what algorithms reach, and below what they promise."""

import numpy as np
import pytest
from scipy.stats import binom

from jaxbandits import theory

MEANS = np.array([0.6, 0.5, 0.45, 0.3])


def kl(p, q):
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def test_by_hand():
    h = sum(1 / kl(mu, 0.6) for mu in MEANS[1:])
    assert theory.best_arm_error_lower_bound(MEANS, 500) == pytest.approx(np.exp(-500 / h) / 4, rel=1e-12)
    h = 2 * 0.49 * np.sum((0.6 - MEANS[1:]) ** -2)
    found = theory.best_arm_error_lower_bound(MEANS, 500, "gaussian", sd=0.7)
    assert found == pytest.approx(np.exp(-500 / h) / 4, rel=1e-12)
    counts = [7.0, 5.0, 0.0]
    h = sum(1 / (p * np.log(p / 7) + 7 - p if p else 7) for p in counts[1:])
    found = theory.best_arm_error_lower_bound(counts, 20, "poisson")
    assert found == pytest.approx(np.exp(-20 / h) / 4, rel=1e-12)
    times = [7.0, 5.0, 1.0]
    h = sum(1 / (np.log(7 / p) + p / 7 - 1) for p in times[1:])
    found = theory.best_arm_error_lower_bound(times, 20, "exponential")
    assert found == pytest.approx(np.exp(-20 / h) / 4, rel=1e-12)
    assert theory.best_arm_error_lower_bound([0.0, 0.0], 20, "poisson") == 0.25
    assert theory.best_arm_error_lower_bound([0.5, 0.5, 0.1], 1e9) == 0.25
    assert theory.best_arm_error_lower_bound([1.0, 0.9], 10) == 0
    assert theory.best_arm_worst_error_lower_bound(100, 400, 8) == pytest.approx(
        np.exp(-100 / np.log(8)) / 6, rel=1e-12
    )
    rate = np.exp(-5 * 300 / (0.3 * 0.7 * 200))
    assert theory.best_arm_error_lower_bound_rate(MEANS, 300) == pytest.approx(rate, rel=1e-9)
    assert theory.best_arm_error_lower_bound_rate([1.0, 0.5], 300) == 0


@pytest.mark.parametrize("n", [10, 50, 200])
def test_two_arms_pulled_alike_err_more_often(n):
    """The error of the larger empirical mean, exactly: on the instance, and with the other arm raised to the best."""
    p, q = 0.6, 0.4
    counts = np.arange(n // 2 + 1)
    one, other = (binom.pmf(counts, n // 2, x) for x in (p, q))
    tail = np.cumsum(other[::-1])[::-1]
    here = np.sum(one * (tail - other / 2))
    assert max(here, 0.5) >= theory.best_arm_error_lower_bound([p, q], n)
    # What any algorithm's two errors add up to.
    assert here + 0.5 >= 2 * theory.best_arm_error_lower_bound([p, q], n)


def test_no_algorithm_promises_less():
    n = np.array([1e3, 3e3, 1e4, 1e5])
    for means in (MEANS, np.linspace(0.8, 0.2, 20)):
        lower = theory.best_arm_error_lower_bound(means, n)
        assert np.all(np.diff(lower) < 0)
        assert np.all(lower <= theory.successive_rejects_error_bound(means, n))
        assert np.all(
            theory.best_arm_error_lower_bound_rate(means, n) <= theory.successive_rejects_error_bound(means, n)
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.best_arm_error_lower_bound(MEANS, 0.5), r"^the budget n must be at least 1, got 0.5$"),
        (lambda: theory.best_arm_error_lower_bound(MEANS, 10, "weibull"), r"^family must be .* got 'weibull'$"),
        (
            lambda: theory.best_arm_error_lower_bound([1.0, 0.0], 10, "exponential"),
            r"^means must be positive and finite, got 0.0$",
        ),
        (lambda: theory.best_arm_error_lower_bound([1.0, -1.0], 10, "poisson"), r"^means must .* got -1.0$"),
        (lambda: theory.best_arm_error_lower_bound(MEANS * 2, 10), r"^means must lie in \[0, 1\], got 1.2$"),
        (lambda: theory.best_arm_worst_error_lower_bound(10, 5, 1), r"^the number of arms must be .* got 1$"),
        (lambda: theory.best_arm_worst_error_lower_bound(10, 0, 2), r"^the complexity must be positive .* got 0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
