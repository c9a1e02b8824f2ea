"""Rules for the arms above a threshold, or near the best, are wrong in at most a share delta of the runs."""

import pytest
from scipy import stats

import jaxbandits as jb

RUNS, DELTA = 2000, 0.2
CASES = {
    "coins": (jb.bernoulli([0.62, 0.55, 0.45, 0.3]), 0.5),
    "all good": (jb.bernoulli([0.95, 0.9, 0.85]), 0.8),
    "none good": (jb.bernoulli([0.1, 0.05, 0.02]), 0.15),
    "normal": (jb.gaussian([0.2, 0.1, -0.1, -0.4], 0.5), 0.0),
    "beta": (jb.beta([3.0, 2.0, 1.0], [7.0, 8.0, 9.0]), 0.25),
}


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("rule", [jb.HDoC, jb.HDoCFirst, jb.LUCBG, jb.APTG, jb.APGAIc])
@pytest.mark.parametrize("case", CASES)
def test_is_wrong_in_at_most_delta_of_the_runs(rule, case):
    """Its probability to fail although failures have the probability delta is below 1e-7."""
    problem, threshold = CASES[case]
    assert_promise_kept(rule(delta=DELTA, threshold=threshold), problem)


NEAR_BEST = {
    "coins": (jb.bernoulli([0.9, 0.8, 0.5, 0.4]), {"epsilon": 0.25}),
    "coins, a share": (jb.bernoulli([0.9, 0.8, 0.5, 0.4]), {"epsilon": 0.3, "multiplicative": True}),
    "on the line": (jb.bernoulli([0.9, 0.75, 0.75, 0.3]), {"epsilon": 0.15, "gamma": 0.2}),
    "all good": (jb.beta([3.0, 2.0, 1.0], [7.0, 8.0, 9.0]), {"epsilon": 0.6}),
    "normal": (jb.gaussian([0.2, 0.1, -0.3, -0.6], 0.3), {"epsilon": 0.25}),
}


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("rule", [jb.ST2, jb.FAREAST])
@pytest.mark.parametrize("case", NEAR_BEST)
def test_all_good_arms_are_wrong_in_at_most_delta_of_the_runs(rule, case):
    """Its probability to fail although failures have the probability delta is below 1e-7."""
    problem, settings = NEAR_BEST[case]
    assert_promise_kept(rule(delta=DELTA, **settings), problem)


def assert_promise_kept(algorithm, problem):
    ds = jb.simulate(algorithm, problem, RUNS)
    assert (ds.status == 0).all()
    assert int((~ds.correct).sum()) <= stats.binom.isf(1e-7, RUNS, DELTA)
