"""KN, KN++ and Rinott against independent programs in double precision, and what they refuse."""

import math

import jax
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from tests.reward_tables import reward_table

RUNS = 20
TABLE = np.random.default_rng(3).normal([1.0, 0.4, 0.3, 0.0], [1.0, 2.0, 0.5, 1.0], size=(500, 4))


def rewards_of(problem, seed, pulls):
    """The first rewards of a run, float64 `(pulls, K)`."""
    return np.asarray(reward_table(problem, jax.random.fold_in(jax.random.key(0), seed), pulls=pulls), np.float64)


def kn(x, epsilon, delta, n0, *, updates):
    """Pulls, answer, and how near the nearest decision was: Kim and Nelson's steps, on rewards `(n, K)`."""
    count, active, nearest = x.shape[1], list(range(x.shape[1])), np.inf
    pulls = np.zeros(count, int)
    for n in range(1, len(x) + 1):
        pulls[active] = n
        if n < n0:
            continue
        used = n if updates else n0
        eta = ((2 * delta / (count - 1)) ** (-2 / (used - 1)) - 1) / 2
        mean, width = x[:n].mean(axis=0), {}
        for i in active:
            for other in active:
                squares = 2 * eta * (used - 1) * np.var(x[:used, i] - x[:used, other], ddof=1)
                width[i, other] = max(0.0, epsilon / (2 * n) * (squares / epsilon**2 - n))
        nearest = min([nearest, *(abs(mean[other] - mean[i] - w) for (i, other), w in width.items() if i != other)])
        active = [i for i in active if all(mean[i] >= mean[other] - width[i, other] for other in active)]
        if len(active) == 1:
            return pulls, active[0], nearest
    raise AssertionError("more rewards are needed")


UPDATES = [(jb.KN, False), pytest.param(jb.KNPlusPlus, True, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("rule", "updates"), UPDATES)
def test_kn_runs_are_those_of_an_independent_program(rule, updates):
    problem = jb.correlated_gaussian([1.0, 0.7, 0.6, 0.0], [1.0, 2.0, 0.5, 1.0], 0.4)
    each = {"each": lambda problem, state, answer: state.pulls}
    ds = jb.simulate(rule(epsilon=0.4, delta=0.2, n0=6), problem, RUNS, metrics=each)
    near = 0
    for seed in range(RUNS):
        pulls, answer, nearest = kn(rewards_of(problem, seed, 3000), 0.4, 0.2, 6, updates=updates)
        near += nearest < 1e-5
        if nearest >= 1e-5:
            assert ds.each[seed].values.tolist() == pulls.tolist()
            assert np.flatnonzero(ds.recommended[seed].values).tolist() == [answer]
    assert near <= 2
    assert len(np.unique(ds.pulls)) > RUNS / 2


def test_rinott_runs_are_those_of_an_independent_program():
    """h of the tests, so that the number of the second stage's pulls follows from the first one's rewards alone."""
    problem, h = jb.empirical(TABLE), 2.5
    each = {"each": lambda problem, state, answer: state.pulls}
    ds = jb.simulate(jb.Rinott(epsilon=0.5, delta=0.1, n0=8, h=h), problem, RUNS, metrics=each)
    for seed in range(RUNS):
        x = rewards_of(problem, seed, 600)
        wanted = [max(8, math.ceil((h / 0.5) ** 2 * v)) for v in np.var(x[:8], axis=0, ddof=1)]
        assert np.abs(ds.each[seed].values - wanted).max() <= 1  # a ceiling of a number that is nearly whole
        means = [x[:n, arm].mean() for arm, n in enumerate(ds.each[seed].values)]
        assert np.flatnonzero(ds.recommended[seed].values).tolist() == [int(np.argmax(means))]
    assert (ds.steps == 2).all()


@pytest.mark.slow
def test_a_run_ends_where_all_means_are_equal():
    """Arms that always pay the same: no difference varies, and no arm can leave."""
    ds = jb.simulate(jb.KN(epsilon=0.1, delta=0.1, n0=3), jb.bernoulli([1.0, 1.0, 1.0]), 4)
    assert (ds.status == 0).all()
    assert (ds.steps == 3).all()


def test_h_is_that_of_delta_first_pulls_and_arms():
    problem = jb.gaussian(np.linspace(1, 0, 10))
    assert jb.Rinott(epsilon=0.5, delta=0.05).resolved(problem).h == jb.theory.rinott_constant(10, 20, 0.05)


def test_what_has_no_guarantee_is_refused():
    normal, rule = jb.gaussian([1.0, 0.0]), jb.Rinott(epsilon=0.5, delta=0.1)
    with pytest.raises(jb.UsageError, match="simulated independently"):
        jb.simulate(rule, jb.correlated_gaussian([1.0, 0.0]), 2)
    with pytest.raises(jb.UsageError, match="n0 must be at least 2"):
        jb.simulate(jb.KN(epsilon=0.5, delta=0.1, n0=1), normal, 2)
    with pytest.raises(jb.UsageError, match=r"delta must be below 1 - 1/K = 0\.5, got 0\.5"):
        jb.simulate(jb.KN(epsilon=0.5, delta=0.5), normal, 2)
    with pytest.raises(jb.UsageError, match=r"give h=jb\.theory\.rinott_constant"):
        jb.AskTell(rule, arms=2)
    with pytest.raises(jb.UsageError, match="normal rewards"):
        rule.check_suitable(jb.bernoulli([0.5, 0.4]), 1)
    rule.check_suitable(jb.gaussian([0.8, 0.3]), 1)
    with pytest.raises(jb.UsageError, match=r"the lead is 0\.4"):
        rule.check_suitable(jb.gaussian([0.4, 0.0, -3.0]), 1)


@pytest.mark.slow
def test_rinott_pulls_as_often_as_the_law_of_its_variances_says():
    """The mean is exact, from a chi-square law; false alarm below 1e-6. One arm mostly has its n0 pulls and no more."""
    sd, n0, h, runs = np.asarray([0.2, 1.0, 2.0]), 6, 2.9, 40_000
    each = {"each": lambda problem, state, answer: state.pulls}
    ds = jb.simulate(
        jb.Rinott(epsilon=0.7, delta=0.1, n0=n0, h=h), jb.gaussian([1.0, 0.5, 0.0], sd), runs, metrics=each
    )
    number = np.arange(n0, 5000)[:, None]  # E N = n0 + sum over n >= n0 of P(N > n)
    exact = n0 + stats.chi2.sf(number * (n0 - 1) / (h * sd / 0.7) ** 2, n0 - 1).sum(axis=0)
    error = ds.each.std("seed").values / np.sqrt(runs)
    assert (np.abs(ds.each.mean("seed").values - exact) < 5 * error + 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "updates"), [(jb.KN, False), (jb.KNPlusPlus, True)])
def test_kn_has_the_law_of_an_independent_program_where_sums_are_drawn(rule, updates):
    """Pulls and wrong answers on independent arms, within 4.5 standard errors of the difference."""
    means, sd, runs = np.asarray([0.5, 0.0, 0.0, -0.2]), np.asarray([1.0, 2.0, 0.5, 1.0]), 1500
    ds = jb.simulate(rule(epsilon=0.5, delta=0.2, n0=8), jb.gaussian(means, sd), 20_000)
    rng, pulls, wrong = np.random.default_rng(5), [], []
    for _ in range(runs):
        made, answer, _ = kn(rng.normal(means, sd, size=(1500, 4)), 0.5, 0.2, 8, updates=updates)
        pulls.append(made.sum())
        wrong.append(answer != 0)
    for ours, theirs in [(ds.pulls.values, pulls), (~ds.recommended.values[:, 0], wrong)]:
        error = np.sqrt(np.var(ours) / len(ours) + np.var(theirs) / runs)
        assert abs(np.mean(ours) - np.mean(theirs)) < 4.5 * error
