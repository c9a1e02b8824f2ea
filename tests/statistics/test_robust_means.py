"""Estimators of means against slow float64 references, and the inequalities that their radii stand on."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, stats

import jaxbandits as jb
from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.errors import UsageError
from jaxbandits.statistics.robust_means import MOST_BATCHES, Catoni, EmpiricalMean, MedianOfMeans, TruncatedMean

ARMS = 3
REWARDS = np.random.default_rng(0).standard_t(1.5, (400, ARMS)).astype(np.float32)


@jax.jit
def fed(estimator, rewards):
    """The sums after rewards `(n, K)`, one at a time."""
    count = rewards.shape[1]

    def add(sums, numbered):
        number, reward = numbered
        slot = estimator.slot(jnp.arange(count), number, count)
        term = estimator.term(reward, number)
        new = jax.tree.map(lambda x: x[slot], sums).plus(term)
        return jax.tree.map(lambda x, value: x.at[slot].set(value), sums, new), None

    empty = CompensatedSum.of(jnp.zeros(estimator.slots * count))
    return jax.lax.scan(add, empty, (jnp.arange(1, len(rewards) + 1), jnp.asarray(rewards)))[0]


@jax.jit
def estimated(estimator, sums, number):
    return estimator.estimates(sums, number)


def psi(x, p):
    return np.sign(x) * np.log1p(np.abs(x) + np.abs(x) ** p / p)


def test_empirical_mean():
    sums = fed(EmpiricalMean(), REWARDS)
    np.testing.assert_allclose(EmpiricalMean().estimates(sums, jnp.int32(400)), REWARDS.mean(0, np.float64), rtol=1e-6)


@pytest.mark.parametrize("power", [0.0, 0.5, 0.7])
def test_truncated_mean_cuts_each_reward_by_its_own_number(power):
    cut = np.float32(0.9)
    estimator = TruncatedMean(jnp.log(cut), jnp.float32(power))
    kept = np.abs(REWARDS) <= cut * np.arange(1, 401)[:, None] ** power
    expected = np.where(kept, REWARDS, 0).mean(0, np.float64)
    np.testing.assert_allclose(estimated(estimator, fed(estimator, REWARDS), 400), expected, rtol=1e-5)
    by_the_last = np.where(np.abs(REWARDS) <= cut * 400**power, REWARDS, 0).mean(0)
    assert power == 0 or np.abs(expected - by_the_last).max() > 0.01


@pytest.mark.parametrize("batches", [1, 2, 3, 8, 11, MOST_BATCHES])
@pytest.mark.parametrize("number", [1, 2, 7, 8, 33, 250, 400])
def test_median_of_means(batches, number):
    estimator = MedianOfMeans(jnp.int32(batches))
    rewards = REWARDS[:number]
    means = [rewards[batch::batches].mean(0, np.float64) for batch in range(min(batches, number))]
    np.testing.assert_allclose(
        estimated(estimator, fed(estimator, rewards), number), np.median(means, axis=0), rtol=1e-5, atol=1e-6
    )


def test_median_of_means_with_ties():
    estimator = MedianOfMeans(jnp.int32(4))
    for values in ([5, 4, 1, 1], [1, 1, 1, 1], [2, 2, 1, 1], [3, 1, 1, 1], [3, 3, 3, 1], [-1, -1, 0, 0]):
        rewards = np.asarray([values, values[::-1]], np.float32).T
        np.testing.assert_array_equal(
            estimated(estimator, fed(estimator, rewards), 4), [np.median(values)] * 2, err_msg=str(values)
        )


def catoni(level, spread, p, count=ARMS):
    return Catoni(jnp.float32(level), jnp.log(jnp.float32(spread)), jnp.float32(p), jnp.zeros(count))


@pytest.mark.parametrize("p", [1.2, 1.5, 1.8, 2.0])
@pytest.mark.parametrize(
    "number", [60, pytest.param(64, marks=pytest.mark.slow), 65, pytest.param(400, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("level", [pytest.param(0.5, marks=pytest.mark.slow), 1.5])
def test_catoni_finds_the_root(p, number, level):
    estimator = catoni(level, 2.0, p)
    alpha = (p * level / ((p - 1) * number * 2.0 * 2 ** (2 - p))) ** (1 / p)
    looked = jax.jit(
        lambda: estimator.looked(
            lambda pull: jnp.asarray(REWARDS)[jnp.minimum(pull[:, 0], 399)], jnp.int32(number), jnp.ones(ARMS, bool)
        )
    )()
    rewards = REWARDS[:number].astype(np.float64)
    for arm in range(ARMS):
        x = rewards[:, arm]
        root = optimize.brentq(lambda y, x=x: psi(alpha * (x - y), p).sum(), x.min(), x.max())
        assert abs(float(looked.last[arm]) - root) < 2e-4 / alpha
    assert not np.allclose(looked.last, rewards.mean(0), atol=1e-3)


@pytest.mark.parametrize(("p", "level", "offset"), [(2.0, 4.5, 1e6), (1.2, 1.0, 1e5)])
def test_catoni_ends_far_from_zero(p, level, offset):
    """Float32 does not hold the root to the wanted precision there: the nearest number is the estimate."""
    rewards, passes = (REWARDS[:200] + offset).astype(np.float32), []

    def counted():
        passes.append(None)
        if len(passes) > 1000:
            raise RuntimeError("the root is not found")

    def look(pull):
        jax.debug.callback(counted)
        return jnp.asarray(rewards)[jnp.minimum(pull[:, 0], 199)]

    near = dataclasses.replace(catoni(level, 2.0, p), last=jnp.full(ARMS, offset, jnp.float32))
    looked = jax.jit(lambda: near.looked(look, jnp.int32(200), jnp.ones(ARMS, bool)))()
    alpha = (p * level / ((p - 1) * 200 * 2.0 * 2 ** (2 - p))) ** (1 / p)
    for arm in range(ARMS):
        x = rewards[:, arm].astype(np.float64)
        root = optimize.brentq(lambda y, x=x: psi(alpha * (x - y), p).sum(), x.min(), x.max())
        assert abs(float(looked.last[arm]) - root) <= np.spacing(np.float32(offset))


def test_catoni_leaves_unwanted_arms_alone():
    estimator = catoni(1.5, 2.0, 2.0)
    wanted = jnp.asarray([True, False, True])
    looked = estimator.looked(lambda pull: jnp.asarray(REWARDS)[pull[:, 0] % 400], jnp.int32(200), wanted)
    np.testing.assert_array_equal(np.asarray(looked.last) == 0, ~np.asarray(wanted))


@pytest.mark.parametrize("p", [1.05, 1.2, 1.5, 1.8, 2.0])
def test_inequalities_of_catonis_radius(p):
    x = np.concatenate([np.linspace(-30, 30, 20_001), np.logspace(-8, 8, 4001), -np.logspace(-8, 8, 4001)])
    power = np.abs(x) ** p / p
    least, most = -np.log(1 - x + power), np.log(1 + x + power)
    assert np.all(psi(x, p) <= most + 1e-15 * (1 + np.abs(most)))  # NumPy's logarithm errs by units in the last place
    assert np.all(psi(x, p) >= least - 1e-15 * (1 + np.abs(least)))
    h = np.linspace(-10, 10, 401)[:, None]
    right = np.abs(h) ** p + p * np.abs(h) ** (p - 1) * np.sign(h) * x + 2 ** (2 - p) * np.abs(x) ** p
    assert np.all(np.abs(x + h) ** p <= right * (1 + 1e-12) + 1e-12)
    # Steps with slope 1 come nearer to the root because no slope is 2 or more; Newton's, because slopes change little.
    size = np.abs(x[x != 0])
    slope = (1 + size ** (p - 1)) / (1 + size + size**p / p)
    assert np.all(slope < 2)
    assert np.all((np.abs(slope - 1) <= 2 * size ** (p - 1))[size < 0.5])


@pytest.mark.parametrize("p", [1.1, 1.5, 2.0])
def test_catonis_radius_solves_its_equation(p):
    level, spread = 3.0, 0.7
    estimator = catoni(level, spread, p)
    fewest = level * (p / (p - 1)) ** 2
    for number in np.ceil(fewest * np.asarray([1.05, 2, 10, 1e4])).astype(int):
        alpha = (p * level / ((p - 1) * number * spread * 2 ** (2 - p))) ** (1 / p)
        r = float(estimator.radius(jnp.int32(number)))
        right = level / (number * alpha) + alpha ** (p - 1) * (2 ** (2 - p) * spread + r**p) / p
        assert r == pytest.approx(right, rel=1e-4)
    assert float(estimator.radius(jnp.int32(int(fewest) - 1))) == np.inf
    if p == 2:  # the familiar sqrt(2 C level / n) where n is large
        assert r == pytest.approx(np.sqrt(2 * spread * level / number), rel=0.01)


@pytest.mark.parametrize(("p", "dof"), [(2.0, 2.5), pytest.param(1.5, 1.8, marks=pytest.mark.slow)])
def test_catonis_radius_holds(p, dof):
    """Errors beyond it are rarer than 2 exp(-level) in 4000 runs; false alarm 1e-8."""
    level, number, runs = 2.0, 100, 4000
    problem = jb.student_t([0.3, -0.2], dof)
    spread = problem.moments(p, central=True).max()
    key = jax.random.split(jax.random.key(3, impl="threefry2x32"), runs)
    both = jnp.broadcast_to(jnp.arange(2)[:, None], (2, runs))

    def look(key, both):
        shaped = jax.tree.map(lambda x: jnp.broadcast_to(x[:, None], (2, runs)), problem)
        estimator = Catoni(*(jnp.full(runs, x, jnp.float32) for x in (level, np.log(spread), p)), jnp.zeros((2, runs)))
        looked = estimator.looked(
            functools.partial(shaped.reward, key, both), jnp.full(runs, number), jnp.ones((2, runs), bool)
        )
        return looked.last, looked.radius(jnp.full(runs, number))

    estimates, radius = jax.jit(look)(key, both)
    wrong = int((jnp.abs(estimates[0] - 0.3) > radius).sum())
    assert stats.binomtest(wrong, runs, 2 * np.exp(-level), alternative="greater").pvalue > 1e-8
    assert np.std(estimates[0]) < 0.6 * float(radius[0])


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["catoni", "ea", "tea", "mom"])
def test_elimination_with_every_estimator(estimator):
    """Errors are rarer than delta; false alarm 1e-8."""
    algorithm = jb.SuccessiveElimination(delta=0.2, estimator=estimator, p=1.7)
    problem = jb.student_t([2.0, 0.0, -1.0], 2.2, 0.3)
    data = jb.simulate(algorithm, problem, seeds=100, max_pulls=200_000)
    assert (data.status == 0).all()
    assert stats.binomtest(int((~data.correct).sum()), 100, 0.2, alternative="greater").pvalue > 1e-8


@pytest.mark.slow
def test_catoni_needs_far_fewer_pulls_than_the_others_where_the_variance_is_known():
    problem = jb.student_t([2.0, 0.0, -1.0], 3.0)
    means = {
        estimator: float(
            jb.simulate(jb.SuccessiveElimination(delta=0.05, estimator=estimator), problem, seeds=20).pulls.mean()
        )
        for estimator in ("tea", "mom", "catoni")
    }
    assert means["catoni"] < means["tea"] / 5
    assert means["catoni"] < means["mom"] / 5


def test_bad_input():
    with pytest.raises(UsageError, match="at most 192 batches"):
        jb.simulate(jb.SuccessiveElimination(delta=1e-10, estimator="mom", moment_c=1.0), jb.s1(), seeds=1)
    with pytest.raises(UsageError, match="batches must be a whole number"):
        jb.SuccessiveRejects(budget=100, estimator="mom", batches=0)
    with pytest.raises(UsageError, match="infinite"):
        jb.simulate(jb.SuccessiveElimination(delta=0.1, estimator="catoni"), jb.student_t([1.0, 0.0], 1.5), seeds=1)
    with pytest.raises(UsageError, match="looks at all earlier rewards"):
        jb.AskTell(jb.SuccessiveElimination(delta=0.1, estimator="catoni", moment_c=1.0), arms=3)
    with pytest.raises(UsageError, match="needs moment_c"):
        jb.AskTell(jb.SuccessiveElimination(delta=0.1, estimator="mom"), arms=3)
