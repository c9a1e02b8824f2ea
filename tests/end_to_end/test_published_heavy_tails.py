"""SE-delta and SR-T on the paper's S1 and S2 against independent reference values.

The means of SE-delta's pulls are known to 0.3% (one run's standard deviation is about 6%); of SR-T's errors, the
first comes from a NumPy program that ran it pull by pull 40 000 times, the others from 1500 runs. Every interval is of
six standard deviations: a right package fails with a probability below 1e-8.
"""

import jax
import numpy as np
import pytest

import jaxbandits as jb

pytestmark = pytest.mark.bits

RUNS = 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "delta", "pulls"),
    [("tea", 0.05, 7.88e4), ("ea", 0.1, 4.503e4), ("ea", 0.05, 8.99e4), ("tea", 0.1, 6.937e4)],
)
def test_pulls_on_s1(estimator, delta, pulls):
    algorithm = jb.SuccessiveElimination(delta=delta, estimator=estimator)
    found = jb.simulate(algorithm, jb.s1(), seeds=RUNS, lanes=160).pulls.values
    error = 6 * np.hypot(found.std() / np.sqrt(RUNS), 0.003 * pulls)
    assert abs(found.mean() - pulls) < error < 0.05 * pulls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "budget", "error", "known"),
    [
        (jb.s1, 100, 0.3878, 0.0024),
        (jb.s1, 400, 0.078, 0.007),
        (jb.s2, 800, 0.24, 0.011),
    ],
)
@pytest.mark.parametrize("estimator", ["ea", "tea"])
def test_errors_of_successive_rejects(make, budget, error, known, estimator):
    runs = 20_000
    data = jb.simulate(jb.SuccessiveRejects(budget=budget, estimator=estimator, harmonic="full"), make(), seeds=runs)
    found = float((~data.correct).mean())
    assert abs(found - error) < 6 * np.hypot(known, np.sqrt(error * (1 - error) / runs))


@pytest.mark.slow
def test_the_naive_radius_is_for_bounded_rewards_only():
    """On heavy tails the sub-Gaussian radius of the same standard deviation errs far more often than delta."""
    problem = jb.student_t([1.0, 0.0], 1.3)
    naive = jb.simulate(jb.SuccessiveElimination(delta=0.05, estimator="hoeffding", b=2.0), problem, seeds=2000)
    assert float((~naive.correct).mean()) > 0.1
    bounded = jb.simulate(
        jb.SuccessiveElimination(delta=0.05, estimator="hoeffding"), jb.bernoulli([0.7, 0.4]), seeds=2000
    )
    assert float((~bounded.correct).mean()) < 0.01


@pytest.mark.slow
def test_truncation_goes_by_the_samples_own_number():
    """TEA's thresholds b_i grow with i; cutting all t rewards at b_t would keep what b_i dropped, and say otherwise."""
    level = np.log(2 * 2 / 0.2)
    moment = 2.0
    algorithm = jb.SuccessiveElimination(delta=0.2, moment_b=moment)
    problem = jb.rademacher([3.0, 0.0], [3.0, 0.1])  # the first arm's reward is 3, always
    states = jb.trajectory(algorithm, problem, jax.random.key(0), 60)
    estimates = np.asarray(states.mean[:, 0])
    for step, pulls in enumerate(np.asarray(states.pulls[:, 0])):
        own = [3.0 * (np.sqrt(moment * i / level) >= 3.0) for i in range(1, pulls + 1)]
        last = [3.0 * (np.sqrt(moment * pulls / level) >= 3.0) for i in range(1, pulls + 1)]
        assert estimates[step] == pytest.approx(np.mean(own))
    assert np.mean(own) < np.mean(last)
