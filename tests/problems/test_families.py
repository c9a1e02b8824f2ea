"""Rewards of every family: their law by sampling, their bits, and the input that is refused.

Sampled tests have fixed seeds; for all of them together a fresh seed would fail with probability below 1e-5 if the laws
are right (each z and chi-square test is at 1e-8, two-sided).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.problems import REGISTRY

LEVEL = 1e-8
Z = stats.norm.isf(LEVEL / 2)
DRAWS = 400_000

FAMILIES = {
    "bernoulli": jb.bernoulli([0.1, 0.5, 0.93]),
    "gaussian": jb.gaussian([-2.0, 0.0, 5.0], [0.5, 1.0, 3.0]),
    "beta": jb.beta([0.5, 2.0, 8.0], [0.5, 5.0, 1.0]),
    "rademacher": jb.rademacher([0.0, 0.45, -1.0], [1.0, 0.45, 3.0]),
    "poisson": jb.poisson([0.3, 4.0, 700.0]),
    "exponential": jb.exponential([0.3, 1.0, 500.0]),
    "negative binomial": jb.negative_binomial([0.5, 4.0, 700.0], [1.0, 0.3, 50.0]),
    "categorical": jb.categorical([1.0, 2.0, 5.0], [[0.5, 0.25, 0.25], [0.0, 0.9, 0.1], [0.001, 0.0, 0.999]]),
    "gaussian mixture": jb.gaussian_mixture([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]], [0.0, 9.0], [1.0, 0.1]),
}
LAWS = {
    "gaussian": stats.norm([-2.0, 0.0, 5.0], [0.5, 1.0, 3.0]),
    "beta": stats.beta([0.5, 2.0, 8.0], [0.5, 5.0, 1.0]),
    "exponential": stats.expon(scale=[0.3, 1.0, 500.0]),
}
#: Drawn by programs that take long to compile; `tests/random` has the laws and the bits of their draws.
LONG = ("beta", "poisson", "negative binomial", "rademacher")
short_ones = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in FAMILIES]
)


def sample(problem, draws=DRAWS, seed=0):
    """Rewards `(K, draws)`, one run per draw."""
    keys = jax.random.split(jax.random.key(seed), draws)
    wide = jax.tree.map(lambda leaf: leaf[..., None], problem)
    return np.asarray(jax.jit(lambda keys: wide.rewards(keys, 3))(keys), np.float64)


@short_ones
def test_mean_and_variance_are_those_of_the_draws(name):
    problem = FAMILIES[name]
    draws = DRAWS
    rewards = sample(problem, draws)
    mean, variance = np.asarray(problem.mean, np.float64), np.asarray(problem.variance, np.float64)
    error = rewards.mean(axis=1) - mean
    assert (np.abs(error) <= Z * np.sqrt(variance / draws) + 1e-6).all()
    squares = (rewards - mean[:, None]) ** 2
    noise = squares.std(axis=1) / np.sqrt(draws)
    assert (np.abs(squares.mean(axis=1) - variance) <= Z * noise + 1e-6 * variance).all()


@pytest.mark.parametrize("name", LAWS)
def test_continuous_laws(name):
    rewards = sample(FAMILIES[name], draws=50_000)
    for arm in range(3):
        law = LAWS[name].cdf
        cdf = lambda x, arm=arm, law=law: law(np.broadcast_to(x[:, None], (*x.shape, 3)))[:, arm]  # noqa: E731
        assert stats.kstest(rewards[arm], cdf).pvalue > LEVEL


def test_two_point_rewards_are_the_two_points():
    rewards = sample(FAMILIES["rademacher"])
    assert set(np.unique(rewards[0])) == {0.0, 1.0}
    assert set(np.unique(rewards[1])) == {float(np.float32(0.45))}
    assert set(np.unique(rewards[2])) == {-1.0, 3.0}


def test_gaussian_tails_reach_far_enough_and_are_finite():
    problem = jb.gaussian([0.0, 0.0])
    words = [jnp.asarray([0, 1, 2**32 - 1], jnp.uint32), jnp.zeros(3, jnp.uint32)]
    drawn = np.asarray(problem.sample(tuple(words), problem.location[0], problem.sd[0]))
    smallest = np.asarray([2.0**-33, 2.0**-32])
    np.testing.assert_allclose(drawn[:2], np.sqrt(-2 * np.log(smallest)), rtol=1e-6)
    assert drawn[2] == 0
    rewards = sample(problem, draws=1_000_000).ravel()
    for threshold in (3.0, 4.0):
        assert stats.binomtest(int((rewards > threshold).sum()), len(rewards), stats.norm.sf(threshold)).pvalue > LEVEL


@pytest.mark.parametrize("p", [0.0, 1e-12, 1e-9, 1e-7, 0.3, 0.5, 1 - 6e-8, 1.0])
def test_bernoulli_is_exact_to_the_last_of_62_bits(p):
    """The draw is 1 exactly when the 62-bit number of two words lies below p 2^62, whatever the size of p."""
    problem = jb.bernoulli([p, 0.5])
    probability = float(problem.probability[0])
    threshold = int(probability * 2**62)  # exact: a float32 has 24 digits
    numbers = {min(max(threshold + shift, 0), 2**62 - 1) for shift in (-(2**40), -2, -1, 0, 1, 2, 2**40)}
    numbers |= {0, 1, 2**31 - 1, 2**31, 2**61, 2**62 - 1}
    for number in numbers:
        words = tuple(jnp.uint32(word << 1) for word in divmod(number, 2**31))
        assert int(problem.sample(words, problem.probability[0])) == (number < threshold), number


@pytest.mark.parametrize("p", [1e-6, 1e-4])
def test_rare_events_come_as_often_as_they_should(p):
    """A uniform of 24 bits would draw p = 1e-6 as 1.01e-6: the test sees a difference of 2% at 1e-4 and 15% at 1e-6."""
    problem = jb.bernoulli([p, 1 - p])
    runs, pulls = 4096, 1000

    @jax.jit
    def ones(keys):
        wide = jax.tree.map(lambda leaf: leaf[..., None], problem)
        start = jnp.zeros((2, runs), jnp.int32)
        return jax.lax.fori_loop(0, pulls, lambda pull, total: total + wide.rewards(keys, pull), start).sum(axis=1)

    rare, common = np.asarray(ones(jax.random.split(jax.random.key(1), runs)))
    assert stats.binomtest(int(rare), runs * pulls, float(problem.probability[0])).pvalue > LEVEL
    assert stats.binomtest(int(runs * pulls - common), runs * pulls, 1 - float(problem.probability[1])).pvalue > LEVEL


@pytest.mark.bits
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n not in ("bernoulli", "gaussian", "rademacher"))) for n in FAMILIES],
)
def test_a_reward_is_an_entry_of_the_table(name):
    """The same bits one by one, in vectors of several lengths, in a row of the table and in a batch of runs."""
    problem = FAMILIES[name]
    keys = jax.random.split(jax.random.key(4), 6)
    pulls = jnp.asarray([0, 1, 2, 1000, 2**24 + 1, 2**31 - 2], jnp.int32)
    row = jax.jit(lambda key, pull: problem.rewards(key, pull))
    table = np.stack([[np.asarray(row(key, pull)) for pull in pulls] for key in keys])  # run, pull, arm
    assert table.dtype == (np.int32 if problem.integer_rewards else np.float32)
    assert len(np.unique(table[..., 0])) > 1
    one = jax.jit(lambda key, arm, pull: problem.reward(key, arm, pull))
    for run in (0, 5):
        for arm in range(3):
            for place, pull in enumerate(pulls):
                assert one(keys[run], jnp.int32(arm), pull) == table[run, place, arm]
    for width in (2, 3, 5, 6):
        arm = jnp.arange(width, dtype=jnp.int32) % 3
        found = one(keys[:width], arm, pulls[:width])
        np.testing.assert_array_equal(found, [table[i, i, i % 3] for i in range(width)])
    wide = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[..., None], (*leaf.shape, 6)), problem)
    expected = [[table[i, i, arm] for i in range(6)] for arm in range(3)]
    np.testing.assert_array_equal(jax.jit(wide.rewards)(keys, pulls), expected)


@short_ones
def test_rewards_of_different_pulls_arms_and_runs_are_unrelated(name):
    """Correlations of 20 000 pairs, each at 1e-8."""
    problem = FAMILIES[name]
    keys = jax.random.split(jax.random.key(9), 20_000)
    wide = jax.tree.map(lambda leaf: leaf[..., None], problem)
    table = jax.jit(wide.rewards)
    now, later = (np.asarray(table(keys, pull), np.float64) for pull in (0, 1))
    for one, other in ((now[0], later[0]), (now[0], now[2]), (now[0], later[2]), (now[0, 1:], now[0, :-1])):
        assert stats.pearsonr(one, other).pvalue > LEVEL


@pytest.mark.bits
@short_ones
def test_padding_adds_masked_arms_and_keeps_the_others(name):
    problem = FAMILIES[name]
    padded = problem.padded(8)
    assert padded.arms == 8
    assert padded.mask.tolist() == [True] * 3 + [False] * 5
    assert padded.name == problem.name
    np.testing.assert_array_equal(padded.mean[:3], problem.mean)
    np.testing.assert_array_equal(padded.variance[:3], problem.variance)
    np.testing.assert_array_equal(padded.reward_range, problem.reward_range)
    key = jax.random.key(0)
    rewards = np.asarray(jax.jit(padded.rewards)(key, 5))
    np.testing.assert_array_equal(rewards[:3], jax.jit(problem.rewards)(key, 5))
    assert np.isfinite(rewards).all()
    assert problem.padded(3).mask.all()


@pytest.mark.bits
def test_padding_several_bandits():
    problem = jb.bernoulli([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_array_equal(problem.probability, np.float32([0.1, 0.4, 0.2, 0.5, 0.3, 0.6]))
    padded = problem.padded(4)
    assert padded.bandits == 2
    assert padded.mask.tolist() == [True] * 6 + [False] * 2
    np.testing.assert_array_equal(
        padded.probability.reshape(4, 2)[:3].T, np.float32([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    )


def test_ranges_of_the_rewards():
    assert float(jb.bernoulli([0.1, 0.2]).reward_range) == 1
    assert float(jb.beta([1.0, 2.0], 1.0).reward_range) == 1
    # Rewards in [0, b] are (b/2)-sub-Gaussian, as normal rewards are with b = 2 sd.
    assert float(jb.gaussian([0.0, 1.0], [0.5, 1.5]).reward_range) == 3
    assert float(jb.rademacher([0.2, 0.3], [0.4, 0.9]).reward_range) == 1  # within [0, 1], as in the paper
    assert jb.rademacher([0.2, 0.3], [0.4, 0.9]).lowest_reward == 0
    assert float(jb.rademacher([-1.0, 0.0], [0.0, 2.0]).reward_range) == 3
    assert jb.rademacher([2.0, 3.0], [4.0, 9.0]).lowest_reward == 2


NAN, INF = float("nan"), float("inf")
REFUSED = [
    (lambda: jb.bernoulli([0.5, 1.2]), r"\[0, 1\], got 1.2 at arm 1"),
    (lambda: jb.bernoulli([-0.1, 0.2]), "got -0.1 at arm 0"),
    (lambda: jb.bernoulli([0.5, NAN]), "finite, got nan"),
    (lambda: jb.bernoulli([0.5, INF]), "finite, got inf"),
    (lambda: jb.bernoulli([0.5]), "at least 2 arms, got 1"),
    (lambda: jb.bernoulli([]), "at least 2 arms, got 0"),
    (lambda: jb.bernoulli([[0.5], [0.4]]), "at least 2 arms, got 1 in each row: for a column .* use np.ravel"),
    (lambda: jb.bernoulli(0.5), "list of numbers"),
    (lambda: jb.bernoulli(None), "list of numbers"),
    (lambda: jb.bernoulli(np.full((2, 2, 2), 0.5)), "3 dimensions"),
    (lambda: jb.bernoulli([[0.5, 0.4], [0.3]]), "must be numbers"),
    (lambda: jb.bernoulli("abc"), "must be numbers"),
    (lambda: jb.bernoulli(["a", "b"]), "must be numbers"),
    (lambda: jb.bernoulli(), "missing"),
    (lambda: jb.gaussian([0.0, 1.0], 0.0), "sd must be positive and finite, got 0"),
    (lambda: jb.gaussian([0.0, 1.0], [1.0, -1.0]), "got -1.0 at arm 1"),
    (lambda: jb.gaussian([0.0, 1.0], NAN), "finite"),
    (lambda: jb.gaussian([0.0, 1.0], [1.0, 1.0, 1.0]), "one number, or one per arm"),
    (lambda: jb.gaussian([0.0, 1.0], "wide"), "sd must be numbers, got 'wide'"),
    (lambda: jb.gaussian([0.0, -INF]), "finite"),
    (lambda: jb.beta([0.0, 1.0], 1.0), "positive and finite, got 0.0 at arm 0"),
    (lambda: jb.beta([1.0, 1.0], [1.0, -2.0]), "positive and finite, got -2.0 at arm 1"),
    (lambda: jb.negative_binomial([1.0, 2e7], 1.0), "negative binomial means must be from 0 to 10,000,000, got 2e"),
    (lambda: jb.negative_binomial([1.0, 2.0], [1.0, 0.0]), "size must be from 0.001 to 1,000,000, got 0.0 at arm 1"),
    (lambda: jb.categorical([1, 2], [[0.5, 0.6], [0.5, 0.5]]), r"of arm 0 must be at least 0 and add up to 1, got \[0"),
    (
        lambda: jb.categorical([1, 2], [[1.5, -0.5], [0.5, 0.5]]),
        r"of arm 0 must be at least 0 and add up to 1, got \[1",
    ),
    (lambda: jb.categorical([1, 2], [0.5, 0.5]), r"must have a row for each of two arms or more, .* got shape \(2,\)"),
    (lambda: jb.categorical([1, 2, 3], [[0.5, 0.5], [0.5, 0.5]]), r"must be 2 numbers, or 2 x 2, got shape \(3,\)"),
    (lambda: jb.categorical([1, 1], [[0.5, 0.5], [0.1, 0.9]]), "values must differ, got 1 only"),
    (lambda: jb.gaussian_mixture([[0.5, 0.5], [1, 0]], [0, INF]), "means must be finite"),
    (lambda: jb.gaussian_mixture([[0.5, 0.5], [1, 0]], [0, 1], [1, 0]), "sd must be .*positive"),
    (lambda: jb.poisson([1.0, -0.5]), "Poisson means must be from 0 to 10,000,000, .* got -0.5 at arm 1"),
    (lambda: jb.poisson([2e7, 1.0]), "beyond which float32 does not hold every count, got 2e\\+07 at arm 0"),
    (lambda: jb.poisson([1.0, NAN]), "finite, got nan"),
    (lambda: jb.poisson([1.0, INF]), "finite, got inf"),
    (lambda: jb.poisson([1.0]), "at least 2 arms, got 1"),
    (lambda: jb.poisson("abc"), "must be numbers"),
    (lambda: jb.exponential([1.0, 0.0]), "Exponential means must be positive and finite, got 0.0 at arm 1"),
    (lambda: jb.exponential([-1.0, 1.0]), "positive and finite, got -1.0 at arm 0"),
    (lambda: jb.exponential([1.0, INF]), "finite, got inf"),
    (lambda: jb.exponential(1.0), "list of numbers"),
    (lambda: jb.rademacher([0.0, 0.5], [1.0, 0.4]), "below the low ones, got 0.4 at arm 1"),
    (lambda: jb.rademacher([0.0, 0.5], [1.0, NAN]), "finite"),
    (lambda: jb.abm(0), "1 to 7, got 0"),
    (lambda: jb.abm(8), "1 to 7, got 8"),
    (lambda: jb.abm("one"), "1 to 7, got one"),
    (lambda: jb.gabillon(4), "1 to 3, got 4"),
    (lambda: jb.one_sparse(n=2.5), "whole number"),
    (lambda: jb.one_sparse(best=1.5), "got 1.5 at arm 0"),
    (lambda: jb.linear(n=1), "must be a whole number from 2 to "),
    (lambda: jb.linear(high=NAN), "finite"),
    (lambda: jb.polynomial(power=0.0), "power must be positive"),
    (lambda: jb.polynomial(power=NAN), "power must be positive"),
    (lambda: jb.random_uniform(n=0), "must be a whole number from 2 to "),
    (lambda: jb.random_uniform(seed=1.5), "random-uniform: seed must be a whole number from 0 to .* got 1.5"),
    (lambda: jb.random_uniform(seed=2**32), r"seed must be a whole number from 0 to 2\^32 - 1, got 4294967296"),
    (lambda: jb.random_beta(seed=-1), r"seed must be a whole number from 0 to 2\^32 - 1, got -1"),
    (lambda: jb.bernoulli(["0.5", "0.7"]), "must be numbers, got"),
    (lambda: jb.gaussian([0.0, 1.0], 1e39), "sd at arm 0 must be a float32 number, .* got 1e\\+39"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused_in_one_line(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_every_problem_of_the_registry_can_be_made(tmp_path):
    workers = tmp_path / "workers.csv"
    workers.write_text("accuracy\n0.9\n0.6\n", encoding="utf-8")
    clicks = tmp_path / "clicks.csv"
    clicks.write_text("impressions,clicks\n100,3\n200,2\n", encoding="utf-8")
    returns = tmp_path / "returns.csv"
    returns.write_text("a,b\n1,2\n3,5\n", encoding="utf-8")
    arguments = {
        "empirical": ([[1.0, 2.0], [3.0, 5.0]],), "csv": (returns,), "data": ("market-returns",),
        "bernoulli": ([0.1, 0.2],), "gaussian": ([0.1, 0.2],), "beta": ([1.0, 2.0], 1.0),
        "correlated-gaussian": ([0.1, 0.2],),
        "rademacher": ([0.0, 0.1], [1.0, 1.0]), "abm": (1,), "gabillon": (2,), "karnin": (5,),
        "student-t": ([0.1, 0.2], 3.0), "pareto": ([1.0, 2.0], 2.5), "symmetric-pareto": ([0.0, 1.0], 2.5),
        "log-normal": ([0.0, 0.1], 1.0), "weibull": ([1.0, 2.0], 0.5),
        "poisson": ([1.0, 2.0],), "exponential": ([1.0, 2.0],), "negative-binomial": ([1.0, 2.0], 1.0),
        "categorical": ([0, 1, 2], [[0.2, 0.3, 0.5], [1, 0, 0]]), "gaussian-mixture": ([[0.5, 0.5], [1, 0]], [0, 1]),
        "workers": (workers,), "one-click": ([0.1, 0.2],), "blocks": ([0.2, 0.1], 2), "clicks": (clicks,),
        "matrix": (returns,),
    }  # fmt: skip
    for name, make in REGISTRY.items():
        if name.startswith("reservoir"):  # test_reservoirs
            continue
        problem = make(*arguments.get(name, ()))
        assert problem.name
        assert problem.mask is None
        assert problem.mean.shape == problem.variance.shape == (problem.arms,)
        assert problem.mean.dtype == jnp.float32
        assert problem.reward_range.shape == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.bernoulli([1 - 1e-8, 0.5]), "0.99999999 at arm 0 is 1 as a float32 number"),
        (lambda: jb.bernoulli([0.5, 0.5 + 1e-8]), "differ by 1e-08, but the spacing of float32 numbers there is 6e-08"),
        (lambda: jb.gaussian([1000.0, 1000.0001]), "0.0001, but the spacing of float32 numbers there is 6.1e-05"),
        (lambda: jb.gaussian([[0, 1], [1e9, 1e9 + 1]]), "move the values towards 0, or farther from each other"),
        (lambda: jb.bernoulli([0.5, 0.5 + 1e-8]), "round the values to 6 digits"),
        (lambda: jb.gaussian([1e8, 1e8 + 80], sd=8.0), "Gaussian sd: 8 at arm 0, but the spacing of float32"),
        (lambda: jb.student_t([0.0, 1e8, 1e8], 3.0), "Student t scale: 1 at arm 1"),
    ],
)
def test_means_that_float32_cannot_hold_are_refused(make, message):
    with pytest.raises(jb.UsageError, match=message):
        make()


def test_means_that_float32_holds_well_enough_are_taken():
    for means in ([1000.0, 1000.01], [1e-9, 2e-9], [0.5, 0.5], [1 - 2**-24, 1 - 2**-23], np.linspace(0, 1, 100_001)):
        np.testing.assert_allclose(jb.gaussian(means).mean, means, rtol=1e-7)
    assert jb.synthetic(p=6, n=1000, k=100).arms == 1000  # a named instance is what float32 makes of its formula


def test_a_problem_padded_twice_has_no_more_arms_than_before():
    wider = jb.bernoulli([0.7, 0.5]).padded(3).padded(8)
    assert wider.mask.tolist() == [True] * 2 + [False] * 6
