"""Guarantees of algorithms that eliminate arms, by hand and in slow arithmetic; pulls of Median Elimination."""

import math

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits import theory

MEANS = np.array([0.9, 0.5, 0.3, 0.25])


def test_sar_by_hand():
    # Gaps for m = 2: .6, .2, .2, .25; H2 = max(1/.04, 2/.04, 3/.0625, 4/.36).
    log_bar = 0.5 + 1 / 2 + 1 / 3 + 1 / 4
    bound = 32 * math.exp(-(20_000 - 4) / (8 * log_bar * 50))
    assert theory.sar_error_bound(MEANS, 20_000, 2) == pytest.approx(bound, rel=1e-9)
    assert theory.sar_error_bound(MEANS, 4, 2) == 1
    assert theory.sar_error_bound([0.5, 0.5, 0.2], 1e9) == 1


def test_sequential_halving_by_hand():
    # H2 = max(2/.16, 3/.36, 4/.4225) = 12.5.
    bound = 6 * math.exp(-2000 / (8 * 12.5 * 2))
    assert theory.sequential_halving_error_bound(MEANS, 2000) == pytest.approx(bound, rel=1e-9)
    assert theory.sequential_halving_error_bound(MEANS, 7) == 1
    assert theory.sequential_halving_error_bound([1.0, 1e-9], 1e9) == 0


@pytest.mark.slow
def test_bounds_hold_in_runs():
    # Each of 400 runs is wrong with probability at most `bound`; five standard deviations more: below 1e-6.
    for algorithm, bound in (
        (jb.SAR(budget=2500, m=2), theory.sar_error_bound(MEANS, 2500, 2)),
        (jb.SequentialHalving(budget=900, reuse=False), theory.sequential_halving_error_bound(MEANS, 900)),
    ):
        ds = jb.simulate(algorithm, jb.bernoulli(MEANS), seeds=400)
        assert int((~ds.correct).sum()) <= 400 * bound + 5 * math.sqrt(400 * bound)


def pulls_by_hand(arms, epsilon, delta):
    left, total, round_ = arms, 0, 1
    while left > 1:
        accuracy, error = epsilon / 4 * 0.75 ** (round_ - 1), delta / 2**round_
        total += left * math.ceil(4 / accuracy**2 * math.log(3 / error) - 1e-9)
        left, round_ = math.ceil(left / 2), round_ + 1
    return total


@pytest.mark.parametrize(
    ("arms", "epsilon", "delta"), [(1, 0.1, 0.1), (2, 0.5, 0.05), (10, 0.1, 0.05), (1000, 0.03, 1e-6)]
)
def test_pulls_of_median_elimination(arms, epsilon, delta):
    assert theory.median_elimination_pulls(arms, epsilon, delta) == pulls_by_hand(arms, epsilon, delta)
    assert theory.median_elimination_pulls(arms, 7 * epsilon, delta, 7.0) == pulls_by_hand(arms, epsilon, delta)


@pytest.mark.slow
def test_runs_of_median_elimination_make_these_pulls():
    ds = jb.simulate(jb.MedianElimination(epsilon=0.4, delta=0.1), jb.bernoulli(np.linspace(0.9, 0.1, 5)), seeds=3)
    assert set(ds.pulls.values.tolist()) == {theory.median_elimination_pulls(5, 0.4, 0.1)}


def test_rates():
    gaps = np.array([0.4, 0.6, 0.65])
    log_delta, delta = math.log(10), 0.1
    small = np.array([0.9, 0.9 - 1e-4, 0.9 - 1e-3])
    exact = sum(g**-2.0 * (log_delta + math.log(math.log(1 / g))) for g in (1e-4, 1e-3))
    assert theory.exp_gap_elimination_pulls_rate(small, delta) == pytest.approx(exact, rel=1e-9)
    exact = sum(g**-2.0 * (log_delta + max(math.log(-2 * math.log(g)), 0)) for g in gaps)
    assert theory.lil_ucb_pulls_rate(MEANS, delta) == pytest.approx(exact, rel=1e-9)
    assert np.isinf(theory.lil_ucb_pulls_rate([0.5, 0.5, 0.1], delta))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.sar_error_bound(MEANS, 0), r"^the budget n must be at least 1, got 0$"),
        (lambda: theory.sar_error_bound(MEANS, 100, 4), r"^m must be a whole number from 1 to 3, .* got 4$"),
        (lambda: theory.median_elimination_pulls(2.5, 0.1, 0.1), r"^the number of arms must be a whole .* got 2.5$"),
        (lambda: theory.median_elimination_pulls(2, 0.0, 0.1), r"^epsilon must be positive and finite, got 0.0$"),
        (lambda: theory.lil_ucb_pulls_rate(MEANS, 1.0), r"^delta must lie strictly between 0 and 1, got 1.0$"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
