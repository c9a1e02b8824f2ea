"""Poisson and exponential arms: laws of rewards and of sums, moments, and the theory that their names bring with them.

Sampled tests have fixed seeds; each p-value fails a right package with 1e-8.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import gamma

import jaxbandits as jb
from jaxbandits import theory
from jaxbandits.algorithms.likelihood_ratio.glr_families import FAMILY_WORDS
from jaxbandits.cli import main
from jaxbandits.comparison import candidates
from jaxbandits.comparison.questions import question_of
from jaxbandits.problems.specs import parse_problem
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.posteriors import POSTERIORS

LEVEL = 1e-8
Z = stats.norm.isf(LEVEL / 2)
MEANS = [3.0, 2.0, 1.0]
BOTH = {"poisson": jb.poisson(MEANS), "exponential": jb.exponential(MEANS)}
both = pytest.mark.parametrize("name", BOTH)
#: Where the programs take long to compile.
one_each_time = pytest.mark.parametrize("name", ["poisson", pytest.param("exponential", marks=pytest.mark.slow)])


def sums(problem, count, runs, seed=0):
    """Sums of `count` rewards of every arm, `(K, runs)`."""
    keys = jax.random.split(jax.random.key(seed), runs)
    wide = jax.tree.map(lambda leaf: leaf[:, None], problem)
    shape = (problem.arms, runs)
    given = (jnp.zeros(runs, jnp.int32), jnp.full(shape, count, jnp.int32), jnp.zeros(shape, jnp.int32))
    return np.asarray(jax.jit(wide.sums)(keys, *given), np.float64)


@pytest.mark.bits
@both
def test_rewards_are_float32_and_none_is_negative(name):
    rewards = BOTH[name].rewards(jax.random.key(0), 7)
    assert rewards.dtype == jnp.float32
    assert (np.asarray(rewards) >= 0).all()
    assert BOTH[name].lowest_reward == 0
    assert np.isnan(BOTH[name].reward_range)


def test_exponential_rewards_are_as_fine_near_0_as_in_the_tail():
    """Where a reward is small or large, 20 float32 digits of the probability on its own side are right."""
    levels = np.concatenate([2.0 ** -np.arange(1.0, 64.0, 0.37), [0.4999, 0.2929]])
    place = np.round(levels * 2.0**33).clip(0, 2**32 - 1)
    rest = np.round((levels * 2.0**33 - place).clip(0) * 2.0**31)
    exact = (place + rest * 2.0**-31) * 2.0**-33
    for upper, law in ((0, stats.expon.sf), (1, stats.expon.cdf)):
        words = jnp.asarray(place, jnp.uint32), jnp.asarray(rest.astype(np.uint32) | np.uint32(upper << 31))
        drawn = np.asarray(jb.problems.Exponential.sample(words, jnp.float32(1)), np.float64)
        np.testing.assert_allclose(law(drawn), exact, rtol=4e-6)
    ends = [jnp.asarray(word, jnp.uint32) for word in np.asarray([(0, 0), (0, 2**31), (2**32 - 1, 2**32 - 1)]).T]
    drawn = np.asarray(jb.problems.Exponential.sample(tuple(ends), jnp.float32(2)), np.float64)
    np.testing.assert_allclose(drawn, [2 * 66 * np.log(2), 2 * 2.0**-66, 2 * np.log(2)], rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 1000])
@both
def test_sums_have_the_law_of_the_sum(name, count):
    drawn = sums(BOTH[name], count, 100_000)
    for arm, mean in enumerate(MEANS):
        if name == "exponential":
            assert stats.kstest(drawn[arm], stats.gamma(count, scale=mean).cdf).pvalue > LEVEL
        else:
            assert (drawn[arm] == np.round(drawn[arm])).all()
            law = stats.poisson(count * mean)
            edges = np.unique(law.ppf(np.linspace(0, 1, 60)[1:-1]))
            expected = np.diff(np.concatenate([[0], law.cdf(edges), [1]])) * drawn.shape[1]
            seen = np.bincount(np.searchsorted(edges, drawn[arm]), minlength=edges.size + 1)
            there = expected > 0
            assert stats.chisquare(seen[there], expected[there]).pvalue > LEVEL


@pytest.mark.parametrize("name", [pytest.param("poisson", marks=pytest.mark.slow), "exponential"])
def test_sums_agree_with_the_rewards_added_up(name):
    """In mean and variance, within the noise of both; the default loop adds up the entries of the table."""
    problem, runs, count = BOTH[name], 20_000, 5
    keys = jax.random.split(jax.random.key(3), runs)
    wide = jax.tree.map(lambda leaf: leaf[:, None], problem)
    shape = (problem.arms, runs)
    given = (keys, jnp.zeros(runs, jnp.int32), jnp.full(shape, count, jnp.int32), jnp.zeros(shape, jnp.int32))
    one_by_one = np.asarray(jax.jit(lambda *given: jb.Problem.sums(wide, *given))(*given), np.float64)
    for arm in range(3):
        assert stats.ks_2samp(one_by_one[arm], sums(problem, count, runs, 4)[arm]).pvalue > LEVEL


@both
def test_sums_of_many_rewards_pass_the_range_of_int32(name):
    """10^8 rewards of mean 100: a sum of 10^10, with its law; and none for a count of 0."""
    problem, count, runs = getattr(jb, name)([100.0, 99.0]), 10**8, 50_000
    drawn = sums(problem, count, runs)
    assert (drawn > 2**31).all()
    mean = count * np.asarray(problem.mean, np.float64)
    sd = np.sqrt(count * np.asarray(problem.variance, np.float64))
    standard = (drawn - mean[:, None]) / sd[:, None]
    assert (np.abs(standard.mean(axis=1)) < Z / np.sqrt(runs) + 0.002).all()  # float32 moves 10^10 by .005 sd at most
    np.testing.assert_allclose(standard.std(axis=1), 1, atol=Z / np.sqrt(2 * runs))
    assert (sums(problem, 0, 10) == 0).all()


@pytest.mark.slow
@both
def test_runs_draw_sums_beyond_the_range_of_int32(name):
    problem = getattr(jb, name)([100.0, 99.0])
    ds = jb.simulate(jb.OptMAI(budget=10**9, k=1), problem, seeds=20)  # sums at once
    assert ds.correct.all()
    assert (ds.pulls > 4 * 10**8).all()


@pytest.mark.slow
def test_counts_of_many_single_pulls_are_not_lost():
    """More than 2^31 events in pulls one by one: of int32 sums they would pass the end."""
    problem = jb.poisson([1e7, 0.9e7])
    state = jb.run(jb.Uniform(budget=1000), problem, jax.random.key(0))
    assert float(state.total.max()) == pytest.approx(500 * 1e7, rel=1e-4)
    np.testing.assert_allclose(state.mean, problem.mean, rtol=1e-4)


@both
@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0])
def test_moments(name, p):
    problem = getattr(jb, name)([0.02, 1.0, 40.0])
    for central in (False, True):
        found = problem.moments(p, central=central)
        for mean, value in zip(np.asarray(problem.mean, np.float64), found, strict=True):
            center = mean if central else 0.0
            if name == "poisson":
                k = np.arange(400)
                exact = np.sum(stats.poisson.pmf(k, mean) * np.abs(k - center) ** p)
            else:
                parts = [(0, center), (center, center + 5 * mean), (center + 5 * mean, 80 * mean)]
                exact = sum(
                    integrate.quad(lambda x, m=mean, c=center: abs(x - c) ** p * np.exp(-x / m) / m, *part)[0]
                    for part in parts
                )
            assert value == pytest.approx(exact, rel=1e-7)
    np.testing.assert_allclose(problem.moments(2, central=True), problem.variance, rtol=1e-6)


def test_moments_of_extreme_means():
    found = jb.poisson([0.0, 1e-30, 1e7]).moments(2, central=True)
    np.testing.assert_allclose(found, [0, 1e-30, 1e7], rtol=1e-6)
    means = np.asarray([1e-15, 1e14])
    np.testing.assert_allclose(jb.exponential(means).moments(1.5, central=False), means**1.5 * gamma(2.5), rtol=1e-6)
    assert np.isinf(BOTH["poisson"].tail_index).all()


@both
@pytest.mark.parametrize("estimator", ["ea", "tea", "mom"])
def test_robust_rules_ask_for_no_range(name, estimator):
    rule = jb.SuccessiveRejects(budget=3000, estimator=estimator)
    assert rule.resolved(BOTH[name]).estimator == estimator


@both
def test_rules_of_bounded_rewards_ask_for_a_range(name):
    problem = BOTH[name]
    with pytest.raises(
        jb.UsageError, match=r"UGapEc needs rewards in an interval, .* has heavier tails: give b"
    ) as error:
        jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), problem, seeds=2)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@both
def test_with_a_range_rules_of_bounded_rewards_run(name):
    assert jb.simulate(jb.UGapEc(epsilon=0.5, delta=0.1, b=5.0), BOTH[name], seeds=2).sizes["seed"] == 2


@pytest.mark.slow
@both
@pytest.mark.parametrize("estimator", ["ea", "tea", "mom"])
def test_rules_of_robust_means_find_the_best_arm(name, estimator):
    ds = jb.simulate(jb.SuccessiveRejects(budget=3000, estimator=estimator), BOTH[name], seeds=20)
    assert ds.correct.mean() > 0.5


@both
def test_the_family_is_the_one_that_the_problem_names(name):
    problem = BOTH[name]
    assert problem.bound_law == (name, 1.0)
    for rule in (jb.TrackAndStop(delta=0.1), jb.TTTS(delta=0.1), jb.UniformGLR(delta=0.1)):
        resolved = rule.resolved(problem)
        assert (resolved.family, resolved.threshold) == (name, "kk21")
        assert resolved.proved
    assert jb.EBTC(delta=0.1).resolved(problem).family == name
    with pytest.raises(jb.UsageError, match="stopping=lucb-gap is for family=bernoulli or gaussian"):
        jb.simulate(jb.TrackAndStop(delta=0.1, stopping="lucb-gap"), problem, seeds=2)


@pytest.mark.slow
@both
def test_track_and_stop_errs_less_than_delta(name):
    """With delta = 0.3: of 400 runs 120 may err, and more than 180 do with probability 1e-10 at most.

    The rule is the one with the family that the problem names.
    """
    problem = getattr(jb, name)([1.5, 1.0, 1.0])
    ds = jb.simulate(jb.TrackAndStop(delta=0.3), problem, seeds=400)
    assert int((~ds.correct).sum()) <= 180
    named = jb.TrackAndStop(delta=0.3, family=name)
    assert jb.TrackAndStop(delta=0.3).resolved(problem) == named.resolved(problem)
    # No fewer pulls than any algorithm needs, by the bound of the law itself.
    assert float(ds.pulls.mean()) > float(theory.pulls_lower_bound(np.asarray(problem.mean), 0.3, family=name))


def divergence(name, p, q):
    return p * np.log(p / q) + q - p if name == "poisson" else np.log(q / p) + p / q - 1


@pytest.mark.slow
@one_each_time
def test_lower_bounds_are_those_of_the_law(name):
    """With two arms T* is 1 / max_w of the weighted divergences to the pooled mean: looked for on a grid."""
    problem = getattr(jb, name)([3.0, 2.0])
    w = np.linspace(0, 1, 200_001)[1:-1]
    pooled = w * 3.0 + (1 - w) * 2.0
    best = np.max(w * divergence(name, 3.0, pooled) + (1 - w) * divergence(name, 2.0, pooled))
    expected = 0.8 * np.log(9) / best  # kl(0.1, 0.9)
    found = question_of(m=1).lower_bound(problem, 0.1)
    assert float(found.formula(*found.arguments)) == pytest.approx(expected, rel=1e-5)
    several = question_of(m=2).lower_bound(BOTH[name], 0.1)
    whole = float(theory.pulls_lower_bound(np.asarray(MEANS), 0.1, 2, family=name))
    assert float(several.formula(*several.arguments)) == pytest.approx(whole, rel=1e-5)


@pytest.mark.slow
@both
def test_lower_bounds_of_the_law_are_beside_runs(name):
    problem = getattr(jb, name)([3.0, 2.0])
    expected = float(theory.pulls_lower_bound(np.asarray([3.0, 2.0]), 0.1, family=name))
    ds = jb.simulate(jb.UniformGLR(delta=jb.axis([0.1, 0.2])), problem, seeds=20)
    shown = jb.with_theory(ds, "lower_bound")["lower_bound"]
    assert float(shown.sel(delta=0.1)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@both
def test_compare_knows_the_bound_and_takes_rules_that_fit(name, monkeypatch):
    few = ("ugape-c", "uniform-glr")
    monkeypatch.setattr(candidates, "REGISTRY", {word: candidates.REGISTRY[word] for word in few})
    problem = getattr(jb, name)([5.0, 1.0])
    found = jb.compare(problem, delta=0.2, seeds=40)
    expected = float(theory.pulls_lower_bound(np.asarray([5.0, 1.0]), 0.2, family=name))
    assert found.lower_bound == pytest.approx(expected, rel=1e-5)
    rows = {row.label: row for row in found.fixed_confidence}
    assert rows["uniform-glr"].proved
    assert rows["uniform-glr"].algorithm.resolved(problem).family == name
    assert any("ugape-c (" in reason for reason in found.left_out)


@pytest.mark.slow
@both
def test_command_line_specifications_and_axes(name, capsys):
    parsed = parse_problem(f"{name}:3,2,1")
    np.testing.assert_array_equal(parsed.mean, MEANS)
    assert main(["simulate", "uniform-glr", "--problem", f"{name}:9,1", "--set", "delta=0.2", "--seeds", "40"]) == 0
    assert capsys.readouterr().out
    algorithm = jb.UniformGLR(delta=0.2)
    family = getattr(jb, name)(jb.axis([[5.0, 1.0], [9.0, 1.0, 1.0]]))
    ds = jb.sweep(algorithm, family, seeds=20, max_pulls=10_000)
    alone = jb.simulate(algorithm, getattr(jb, name)([9.0, 1.0, 1.0]), seeds=20, max_pulls=10_000)
    np.testing.assert_array_equal(ds.pulls.isel(means=1), alone.pulls)  # padded arms change no bit
    several = getattr(jb, name)([[5.0, 1.0], [9.0, 4.0]])
    assert several.bandits == 2
    assert several.mean.tolist() == [5.0, 9.0, 1.0, 4.0]


@pytest.mark.slow
def test_exponential_arms_have_no_unit():
    """Runs are the same to the bit in units that are powers of two, from one end of the range to the other."""
    pulls = [
        jb.simulate(jb.TrackAndStop(delta=0.1), jb.exponential([3.0 * unit, unit]), seeds=30).pulls
        for unit in (2.0**-61, 1.0, 2.0**46)
    ]
    np.testing.assert_array_equal(pulls[0], pulls[1])
    np.testing.assert_array_equal(pulls[2], pulls[1])


@pytest.mark.slow
@both
def test_costs_of_a_pull_may_be_its_reward(name):
    problem = jb.with_costs(getattr(jb, name)([0.9, 0.2]), "reward")
    ds = jb.simulate(jb.Uniform(budget=2000), problem, seeds=50)
    assert float(ds.cost.mean()) == pytest.approx(1100, rel=1e-5)
    noise = np.sqrt(1000 * np.asarray(problem.variance, np.float64).sum() / 50)
    assert abs(float(ds.paid.mean()) - 1100) < Z * noise


def test_every_law_has_its_rule_and_its_degree():
    assert set(FAMILY_WORDS) == set(POSTERIORS)
    for law in FAMILIES.values():
        if law.degree is not None:
            mean, shift = jnp.float32(2.0), jnp.float32(0.5)
            doubled = law.divergence_by(2 * mean, 2 * shift)
            assert float(doubled) == pytest.approx(2.0**law.degree * float(law.divergence_by(mean, shift)), rel=1e-6)


def test_a_family_of_ones_own_may_name_any_law():
    @jb.problems.register_problem
    @dataclasses.dataclass(frozen=True)
    class Counts(jb.problems.Poisson):
        """Poisson counts of a user's own."""

    problem = Counts(jnp.asarray([4.0, 1.0]), name="mine")
    assert jb.TrackAndStop(delta=0.1).resolved(problem).family == "poisson"

    @jb.problems.register_problem
    @dataclasses.dataclass(frozen=True)
    class Odd(jb.problems.Poisson):
        """A law that nobody knows."""

        bound_law = ("cauchy", 1.0)

    with pytest.raises(jb.UsageError, match=r"bound_law must name one of bernoulli, .* got 'cauchy'") as error:
        jb.simulate(jb.TrackAndStop(delta=0.1), Odd(jnp.asarray([4.0, 1.0]), name="odd"), seeds=2)
    assert "\n" not in str(error.value)
