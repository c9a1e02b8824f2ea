"""Laws of joint pulls: one click at most, and blocks that pay together; p-values of fixed seeds, against 1e-8."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb

KEYS = jax.random.split(jax.random.key(6, impl="threefry2x32"), 20_000)
FALSE_ALARM = 1e-8


@jax.jit
def sums(problem, keys, count):
    """Sums of `count` `(K,)` joint pulls under each key, `(K, R)`."""
    runs = keys.shape[0]
    wide = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:, None], (*leaf.shape, runs)), problem)
    count = jnp.broadcast_to(count[:, None], (count.shape[0], runs))
    return wide.sums(keys, jnp.zeros(runs, jnp.int32), count, jnp.zeros_like(count))


def drawn(problem, count, keys=KEYS):
    return np.asarray(sums(problem, keys, jnp.asarray(count, jnp.int32))).astype(np.int64)


@pytest.mark.parametrize("pulled", [[1, 1, 1], pytest.param([1, 0, 1], marks=pytest.mark.slow)])
def test_one_click_is_multinomial(pulled):
    """The law of the whole vector for a few pulls; arms that are not pulled never pay, and leave the others theirs."""
    weights, pulls = np.asarray([0.2, 0.5, 0.1]), 3
    found = drawn(jb.one_click(weights), pulls * np.asarray(pulled))
    cells = np.append(weights * pulled, 1 - np.sum(weights * pulled))
    counts = [c for c in itertools.product(range(pulls + 1), repeat=3) if sum(c) <= pulls]
    law = np.asarray([stats.multinomial.pmf([*c, pulls - sum(c)], pulls, cells) for c in counts])
    number = np.asarray([(found == np.asarray(c)[:, None]).all(0).sum() for c in counts])
    assert number.sum() == len(KEYS)
    assert not number[law == 0].any()
    assert stats.chisquare(number[law > 0], len(KEYS) * law[law > 0]).pvalue > FALSE_ALARM


@pytest.mark.slow
def test_one_click_pays_one_arm_of_a_thousand_at_most():
    weights = np.random.default_rng(0).dirichlet(np.ones(1000)) * 0.8
    found = drawn(jb.one_click(weights), np.ones(1000), KEYS[:50])
    assert set(found.sum(0)) == {0, 1}
    many = drawn(jb.one_click(weights), np.full(1000, 200_000), KEYS[:50])
    assert (many.sum(0) < 200_000).all()
    mean, pulls = weights * 50 * 200_000, 50 * 200_000
    z = (many.sum(1) - mean) / np.sqrt(mean * (1 - weights) + 1e-9 * pulls)
    assert np.abs(z).max() < 7  # 1000 arms: false alarm 3e-9
    assert stats.chi2.sf(np.sum(z**2), 1000) > FALSE_ALARM
    certain = drawn(jb.one_click([0.25, 0.75, 0.0]), [100, 100, 100])
    np.testing.assert_array_equal(certain.sum(0), 100)


def test_a_rare_arm_pays_beside_a_common_one():
    """The common one's share of what both are paid is 1 in float32, and the rare one was never paid."""
    pulls, rare = 2 * 10**9, 2.0**-27
    found = drawn(jb.one_click([0.5, rare]), [pulls, pulls])[1].sum()
    assert stats.poisson(len(KEYS) * pulls * rare).cdf([found - 1, found]) == pytest.approx(0.5, abs=0.5 - FALSE_ALARM)


def test_blocks_pay_together():
    """X_i = [U < w_i]: nested counts, and the covariances of nested events; the last block is smaller."""
    weights, pulls = np.asarray([0.6, 0.6, 0.3, 0.5, 0.2, 0.0, 0.4]), 40
    problem = jb.blocks(weights, 3)
    assert problem.correlation == 5
    found = drawn(problem, np.full(7, pulls))
    for block in (found[:3], found[3:6], found[6:]):
        assert (np.diff(block, axis=0) <= 0).all()
    np.testing.assert_array_equal(found[0], found[1])
    block = np.arange(7) // 3
    together = np.where(block[:, None] == block, np.minimum(weights[:, None], weights), np.outer(weights, weights))
    covariance = pulls * (together - np.outer(weights, weights))
    # Of 49 covariances of 20 000 draws; a standard error is at most sqrt(2 var_i var_j / n).
    error = np.sqrt(2 * np.outer(np.diag(covariance), np.diag(covariance)) / len(KEYS))
    assert (np.abs(np.cov(found) - covariance) <= 7 * error + 1e-12).all()
    marginal = np.bincount(found[6], minlength=pulls + 1)
    law = len(KEYS) * stats.binom.pmf(np.arange(pulls + 1), pulls, 0.4)
    common = law > 20
    table = [np.append(x[common], x[~common].sum()) for x in (marginal, law)]
    assert stats.chisquare(*table).pvalue > FALSE_ALARM
    some = drawn(problem, pulls * np.asarray([1, 0, 1, 0, 1, 1, 0]))
    assert not some[[1, 3, 6]].any()
    np.testing.assert_array_equal(some[[0, 2, 4]], found[[0, 2, 4]])  # the same draws, whoever is looked at


def test_v_bounds_the_variance_of_every_set():
    random = np.random.default_rng(3)
    weights = np.sort(random.random(20))[::-1]
    for size in (1, 2, 5):
        block = np.arange(20) // size
        events = np.where(block[:, None] == block, np.minimum(weights[:, None], weights), np.outer(weights, weights))
        covariance = events - np.outer(weights, weights)
        v = jb.blocks(weights, size).correlation
        sets = random.random((2000, 20)) < random.random((2000, 1))
        assert (np.einsum("si,ij,sj->s", sets, covariance, sets) <= v * (sets @ weights) + 1e-12).all()
    assert jb.one_click([0.3, 0.3]).correlation == 1
    assert jb.bernoulli([0.3, 0.3]).correlation == 1


PADDED = [
    (jb.one_click([0.2, 0.1, 0.3]), 21),
    (jb.one_click([0.3, 0.3]), 3),
    (jb.blocks([0.6, 0.5, 0.3, 0.2, 0.2, 0.1, 0.3], 3), 17),
    (jb.blocks([0.6, 0.5], 4), 9),
]


@pytest.mark.bits
@pytest.mark.parametrize(
    ("problem", "most"), [PADDED[0], *(pytest.param(*p, marks=pytest.mark.slow) for p in PADDED[1:])]
)
def test_a_padded_problem_draws_the_same(problem, most):
    """What lets numbers of arms be swept by a mask, however many more there are."""
    for width in (1 << (problem.arms - 1).bit_length(), most):
        count = np.where(np.arange(width) < problem.arms, 300, 0)
        found = drawn(problem.padded(width), count)
        np.testing.assert_array_equal(found[: problem.arms], drawn(problem, count[: problem.arms]))
        assert not found[problem.arms :].any()


def test_a_table_of_joint_rewards_has_a_known_v():
    half = np.asarray([0.0, 1.0])
    together = np.stack([half, half], axis=1)
    # Var(X + X) = 4/4, E = 1; with the n - 1 of a sample of n = 2 000 twice 1/2.
    assert jb.estimate_correlation(np.tile(together, (1000, 1))) == pytest.approx(1.0, abs=1e-3)
    rare = (np.arange(2000) < 100)[:, None] * np.ones(5)
    assert jb.estimate_correlation(rare) == pytest.approx(5 * 0.95 * 2000 / 1999, rel=1e-9)
    opposed = np.stack([half, 1 - half], axis=1)
    assert jb.estimate_correlation(np.tile(opposed, (1000, 1))) == 1.0
    independent = np.random.default_rng(0).random((100_000, 6)) < 0.1
    assert jb.estimate_correlation(independent) == pytest.approx(1, abs=0.05)
    assert jb.estimate_correlation(np.zeros((5, 3))) == 1.0
    joint = jb.empirical(rare + np.eye(2000)[:, :5], joint=True)
    assert joint.correlation == pytest.approx(jb.estimate_correlation(rare + np.eye(2000)[:, :5]), rel=1e-5)
    assert jb.empirical(rare, joint=False).correlation == 1.0


BAD = [
    (lambda: jb.one_click([0.6, 0.6]), "at most 1, not 1.2"),
    (lambda: jb.one_click([0.6, -0.1]), "got -0.1 at arm 1"),
    (lambda: jb.one_click([[0.1, 0.1], [0.1, 0.1]]), "one bandit"),
    (lambda: jb.blocks([0.1, 0.2], 2), "arm 1 has 0.2 after 0.1"),
    (lambda: jb.blocks([0.1, 1.2], 1), "got 1.2 at arm 1"),
    (lambda: jb.blocks([0.1, 0.1], 0), r"size of a block must be a whole number from 1 to 2\^31 - 1, got 0"),
    (lambda: jb.blocks([0.1, 0.1], "two"), "size of a block"),
    (lambda: jb.estimate_correlation([[1.0, 0.0]]), "at least two rows"),
    (lambda: jb.estimate_correlation([[1.0, 0.0], [0.0, -2.0]]), "arm 1 must .* at least 0, got -2.0 at row 1"),
    (lambda: jb.estimate_correlation([[1.0, 0.0], [np.nan, 2.0]]), "arm 0 must .* at least 0, got nan at row 1"),
    (lambda: jb.estimate_correlation([["a", "b"], ["c", "d"]]), "must be numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_block_of_one_means_nothing():
    np.testing.assert_array_equal(jb.blocks([0.1, 0.9], 1).probability, np.float32([0.1, 0.9]))


@pytest.mark.parametrize(
    "problem",
    [
        jb.one_click([0.3, 0.25, 0.1, 0.2]),
        pytest.param(jb.blocks([0.3, 0.25, 0.1, 0.1], 2), marks=pytest.mark.slow),
    ],
)
def test_different_numbers_of_pulls_are_joint_as_often_as_the_fewest(problem):
    """Each arm's sum is binomial of its own count; sums depend on each other by the joint pulls alone."""
    count = np.asarray([90, 30, 8, 0])
    found = drawn(problem, count)
    assert not found[3].any()
    for arm in range(3):
        number = np.bincount(found[arm], minlength=count[arm] + 1)
        law = len(KEYS) * stats.binom.pmf(np.arange(count[arm] + 1), count[arm], problem.probability[arm])
        common = law > 20
        table = [np.append(x[common], x[~common].sum()) for x in (number, law)]
        assert stats.chisquare(*table).pvalue > FALSE_ALARM
    p = np.asarray(problem.probability, np.float64)
    together = 0.25 if isinstance(problem, jb.problems.Blocks) else 0.0
    covariance = 8 * (together - p[0] * p[1])
    error = np.sqrt(2 * 90 * 0.21 * 30 * 0.1875 / len(KEYS))
    assert abs(np.cov(found[:2])[0, 1] - covariance) < 7 * error
    np.testing.assert_array_equal(drawn(problem, [8, 8, 8, 0], KEYS[:99])[2], found[2, :99])


@pytest.mark.slow
@pytest.mark.parametrize("problem", [jb.one_click([0.3, 0.2, 0.1]), jb.blocks([0.3, 0.2, 0.1], 2)])
def test_a_rule_of_different_numbers_of_pulls_keeps_its_promise(problem):
    """More than 35 wrong answers of 100 have a probability below 1e-10 at delta = 0.1."""
    found = jb.simulate(jb.Rinott(epsilon=0.05, delta=0.1), problem, seeds=100)
    assert int((~found.correct).sum()) <= 35
