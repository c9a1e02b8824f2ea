"""P(correct selection) >= 1 - delta where the best arm leads by epsilon: above all in the slippage configuration.

All other means are equal there, exactly epsilon below the best: the hardest instance of the indifference zone. An
answer is right only if it is the best arm.
"""

import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from tests.guarantees.promises import upper_bound

pytestmark = [pytest.mark.slow, pytest.mark.bits]

RUNS, DELTA, EPSILON = 40_000, 0.1, 0.5
SPREAD = [1.0, 2.0, 0.5, 1.0, 1.0, 2.0, 0.5, 1.0]
MEANS = {
    "two arms": [EPSILON, 0.0],
    "slippage": [EPSILON] + [0.0] * 7,
    "monotone": [-EPSILON * arm for arm in range(8)],
}


def failures(rule, problem):
    ds = jb.simulate(rule, problem, RUNS, root_seed=23)
    assert (ds.status == 0).all()
    return int((~ds.recommended[:, 0]).sum())


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("n0", [5, 20])
def test_kn(n0, means, correlation):
    spread = SPREAD[: len(MEANS[means])]
    problem = jb.gaussian(MEANS[means], spread)
    if correlation:
        problem = jb.correlated_gaussian(MEANS[means], spread, correlation)
    assert upper_bound(failures(jb.KN(epsilon=EPSILON, delta=DELTA, n0=n0), problem), RUNS) < DELTA


@pytest.mark.parametrize("sd", [1.0, SPREAD, SPREAD[::-1]])
@pytest.mark.parametrize("n0", [5, 20])
@pytest.mark.parametrize("means", MEANS)
def test_rinott(n0, sd, means):
    spread = np.broadcast_to(sd, 8)[: len(MEANS[means])]
    failed = failures(jb.Rinott(epsilon=EPSILON, delta=DELTA, n0=n0), jb.gaussian(MEANS[means], spread))
    if means == "two arms":  # h is exact for two: it fails with probability delta, or less where pulls are rounded up
        assert failed < stats.binom.isf(1e-7, RUNS, DELTA)
    else:
        assert upper_bound(failed, RUNS) < DELTA


@pytest.mark.parametrize("correlation", [0.3, 0.9])
def test_kn_plus_plus_for_a_small_zone(correlation):
    """Its guarantee is for epsilon to 0: variances are then estimated from many rounds."""
    problem = jb.correlated_gaussian([0.2] + [0.0] * 4, [1.0, 2.0, 0.5, 1.0, 1.0], correlation)
    assert upper_bound(failures(jb.KNPlusPlus(epsilon=0.2, delta=DELTA, n0=20), problem), RUNS) < DELTA


def test_the_check_can_fail():
    """A second stage with two thirds of h selects wrongly more often than delta."""
    problem, rule = jb.gaussian(MEANS["slippage"], SPREAD), jb.Rinott(epsilon=EPSILON, delta=DELTA)
    few = jb.Rinott(epsilon=EPSILON, delta=DELTA, h=2 / 3 * rule.resolved(problem).h)
    assert failures(few, problem) > DELTA * RUNS
