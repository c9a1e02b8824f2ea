"""The rule that a comparison advises does on fresh runs what the comparison says of it."""

import numpy as np
import pytest
import scipy

import jaxbandits as jb

CLICKS = [0.04, 0.034, 0.032, 0.03, 0.028, 0.026, 0.024, 0.02]
QUESTIONS = {
    "three arms": (jb.bernoulli([0.7, 0.6, 0.5]), {}),
    "click rates": (jb.bernoulli(CLICKS), {"epsilon": 0.005}),
    "unequal variances": (jb.gaussian([1.0, 0.6, 0.4, 0.0], [0.3, 1.0, 0.5, 1.5]), {}),
    "heavy tails": (jb.pareto([1.4, 1.0, 0.9, 0.8], tail=2.2), {}),
    "three of twenty": (jb.bernoulli(np.linspace(0.95, 0.05, 20)), {"m": 3}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_advice_holds_for_fresh_runs(name):
    """2000 runs at another root seed: failures within delta, and mean pulls as in the comparison.

    False alarms: failures are compared with the most that delta allows with a probability below 1e-7, and the mean
    pulls with the comparison's, within 5.5 standard errors of the difference.
    """
    problem, asked = QUESTIONS[name]
    delta = 0.05
    found = jb.compare(problem, delta=delta, seeds=300, **asked)
    best = found.best
    assert best is not None
    fresh = jb.simulate(best.algorithm, problem, seeds=2000, root_seed=77)
    assert int((fresh.status != 0).sum()) == 0
    wrong = int((~fresh.correct).sum())
    assert wrong <= scipy.stats.binom.isf(1e-7, 2000, delta)
    pulls = fresh.pulls.to_numpy()
    error = np.hypot(pulls.std() / len(pulls) ** 0.5, best.pulls.std() / best.runs**0.5)
    assert abs(pulls.mean() - best.mean_pulls) < 5.5 * error
