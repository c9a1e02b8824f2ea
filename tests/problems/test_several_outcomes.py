"""Categorical, Gaussian-mixture and negative binomial arms: laws of rewards and of sums, moments, and runs.

Sampled tests have fixed seeds; each p-value fails a right package with 1e-8.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.engine.compilation import compile_clock
from jaxbandits.problems.specs import parse_problem
from jaxbandits.random.categorical_draws import draw_outcome

LEVEL, RUNS = 1e-8, 100_000
STARS = [[0.1, 0.1, 0.2, 0.25, 0.35], [0.3, 0.0, 0.3, 0.0, 0.4]]
RATINGS = jb.categorical([1, 2, 3, 4, 5], STARS)
WEIGHTS, CENTERS, SPREADS = np.asarray([[0.9, 0.1], [0.4, 0.6]]), np.asarray([0.0, 6.0]), np.asarray([1.0, 2.0])
DELAYS = jb.gaussian_mixture(WEIGHTS, CENTERS, SPREADS)
MEANS, SIZES = [0.4, 30.0], [2.5, 0.7]
ORDERS = jb.negative_binomial(MEANS, SIZES)


def drawn(problem, count=0):
    """Rewards `(K, RUNS)`, or sums of `count` rewards."""
    keys = jax.random.split(jax.random.key(2), RUNS)
    wide = jax.tree.map(lambda leaf: leaf[..., None], problem)
    none = jnp.zeros((problem.arms, RUNS), jnp.int32)
    if not count:
        return np.asarray(jax.jit(lambda keys: wide.rewards(keys, 5))(keys), np.float64)
    return np.asarray(jax.jit(wide.sums)(keys, none[0], none + count, none), np.float64)


def p_value(seen, chances):
    """Of a chi-square test of whole numbers against their probabilities from 0 on; the rest is one more number."""
    chances = np.append(chances, max(1 - chances.sum(), 0))
    counts = np.bincount(np.minimum(seen.astype(int), chances.size - 1), minlength=chances.size)
    assert not counts[chances == 0].any()
    common = chances * seen.size > 20
    counts, chances = (np.append(x[common], x[~common].sum()) for x in (counts, chances))
    kept = chances > 0
    return stats.chisquare(counts[kept], seen.size * chances[kept]).pvalue


def test_each_value_comes_with_its_probability():
    for rewards, chances in zip(drawn(RATINGS), STARS, strict=True):
        assert p_value(rewards, np.asarray([0, *chances])) > LEVEL


def test_sums_of_values_have_the_law_of_the_sum():
    for sums, chances in zip(drawn(RATINGS, 7), STARS, strict=True):
        law = np.ones(1)
        for _ in range(7):
            law = np.convolve(law, [0, *chances])
        assert p_value(sums, law) > LEVEL


@pytest.mark.parametrize("rare", [3e-8, 1e-7])
def test_a_rare_last_value_comes_in_sums_as_often_as_it_should(rare):
    """1 - rare as a float32 is 1 - 6e-8 and 1 - 1.2e-7: sums by that share had 2 and 1.2 times as many."""
    law = stats.binom(10**8, float(np.float32(rare))).pmf(np.arange(50))
    for values, chances in (([0, 1], [1 - rare, rare]), ([0, 0, 1], [0.5, 0.5 - rare, rare])):
        for sums in drawn(jb.categorical(values, [chances, chances]), 10**8):
            assert p_value(sums, law) > LEVEL


@pytest.mark.parametrize("count", [pytest.param(0, marks=pytest.mark.slow), 9])
def test_counts_have_the_negative_binomial_law(count):
    number = max(count, 1)
    for seen, mean, size in zip(drawn(ORDERS, count), MEANS, SIZES, strict=True):
        law = stats.nbinom(number * size, size / (size + mean))
        assert p_value(seen, law.pmf(np.arange(int(law.isf(1e-6))))) > LEVEL


def test_mixtures_have_the_law_of_their_components():
    for rewards, weights in zip(drawn(DELAYS), WEIGHTS, strict=True):

        def mixed(x, weights=weights):
            return weights @ stats.norm.cdf((np.asarray(x)[None] - CENTERS[:, None]) / SPREADS[:, None])

        assert stats.kstest(rewards, mixed).pvalue > LEVEL
    for sums, weights in zip(drawn(DELAYS, 4), WEIGHTS, strict=True):
        slow = stats.binom(4, weights[1])

        def law(x, slow=slow):
            return sum(
                slow.pmf(n) * stats.norm.cdf((np.asarray(x) - 6.0 * n) / np.sqrt(4 - n + 4.0 * n)) for n in range(5)
            )

        assert stats.kstest(sums, law).pvalue > LEVEL


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_moments(p):
    for central in (False, True):
        mean = np.asarray([0.1 * 6, 0.6 * 6]) * central
        grid = np.linspace(-30, 40, 2_000_001)
        density = [w @ stats.norm.pdf((grid - CENTERS[:, None]) / SPREADS[:, None]) for w in WEIGHTS / SPREADS]
        exact = [np.trapezoid(d * np.abs(grid - m) ** p, grid) for d, m in zip(density, mean, strict=True)]
        np.testing.assert_allclose(DELAYS.moments(p, central=central), exact, rtol=1e-6)
        for problem, law in ((ORDERS, stats.nbinom), (RATINGS, None)):
            found = problem.moments(p, central=central)
            for arm in range(2):
                numbers = np.arange(20_000 if law else 6)
                chances = (
                    law(SIZES[arm], SIZES[arm] / (SIZES[arm] + MEANS[arm])).pmf(numbers) if law else [0, *STARS[arm]]
                )
                center = np.dot(chances, numbers) * central
                assert found[arm] == pytest.approx(np.dot(chances, np.abs(numbers - center) ** p), rel=1e-6)


def test_moments_of_counts_of_any_size():
    """The sum goes on in blocks beyond 200,000 counts: second moments are known exactly."""
    for mean, size in ((1e7, 1e-3), (1e7, 1e6), (3e4, 0.5), (0.0, 1.0), (1e-6, 1e-3)):
        problem = jb.negative_binomial([mean, 1.0], [size, 1.0])
        variance = float(np.float32(mean)) + float(np.float32(mean)) ** 2 / float(np.float32(size))
        assert problem.moments(2, central=True)[0] == pytest.approx(variance, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mixtures", "counts"])
def test_robust_rules_take_counts_and_mixtures(name):
    problem = {"mixtures": DELAYS, "counts": ORDERS}[name]
    found = jb.simulate(jb.SuccessiveRejects(budget=2000, estimator="mom"), problem, seeds=20)
    assert found.correct.all()


@pytest.mark.slow
def test_a_rule_of_bounded_rewards_takes_ratings():
    assert jb.simulate(jb.LUCB(epsilon=0.2, delta=0.1), RATINGS, seeds=20).correct.mean() > 0.8


def test_counts_and_mixtures_have_no_range():
    for problem in (DELAYS, ORDERS):
        with pytest.raises(jb.UsageError, match="heavier tails: give b"):
            jb.simulate(jb.LUCB(epsilon=0.2, delta=0.1), problem, seeds=2)
        assert jb.SuccessiveRejects(budget=2000, estimator="mom").resolved(problem).estimator == "mom"
    assert jb.categorical([0, 1], [[0.3, 0.7], [0.5, 0.5]]).bound_law == ("bernoulli", 1.0)
    assert RATINGS.bound_law is None
    assert parse_problem("negative-binomial:3,2;size=2").variance.tolist() == [7.5, 4.0]


@pytest.mark.slow
def test_numbers_of_arms_share_a_program():
    few, more = ([[0.4, 0.3, 0.3]] * arms + [[0.2, 0.4, 0.4]] for arms in (2, 4))
    problems = {"few": jb.categorical([0, 1, 3], few), "more": jb.categorical([0, 1, 3], more)}
    with compile_clock() as clock:
        both = jb.sweep(jb.UCBE(budget=60, a=1.0), problems, 11)
    assert clock.programs == 1
    for name, problem in problems.items():
        alone = jb.simulate(jb.UCBE(budget=60, a=1.0), problem, 11)
        np.testing.assert_array_equal(alone.recommended, both.recommended.sel(problem=name)[:, : problem.arms])


@pytest.mark.parametrize("chance", [1e-8, 8e-8, 1e-6, 1e-4])
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_rare_outcome_comes_as_often_wherever_it_is_listed(chance, place):
    """Exactly, of all words that can draw it; as a difference of numbers near 1 or 1/2 it came too seldom or never."""
    laws = {"first": [chance, 1 - chance], "middle": [0.5, chance, 0.5 - chance], "last": [1 - chance, chance]}
    chances, rare = laws[place], laws[place].index(chance)
    centre = {"first": 2**32, "middle": 2**31, "last": 0}[place]
    words = np.arange(max(centre - 2**20, 0), min(centre + 2**20, 2**32), dtype=np.uint64).astype(np.uint32)
    drawn = draw_outcome(jnp.asarray(words), [jnp.float32(one) for one in chances])
    assert int((drawn == rare).sum()) == pytest.approx(chance * 2**32, abs=0.6 + 1e-6 * chance * 2**32)
