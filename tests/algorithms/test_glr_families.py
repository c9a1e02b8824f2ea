"""Rules that a likelihood ratio test stops: what they take from a problem, several deltas, no run for ever."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.likelihood_ratio.optimal_tracking import Tracked
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.comparison.guarantees import value
from jaxbandits.comparison.questions import question_of
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.statistics.arm_statistics import variance_by_pulls
from jaxbandits.statistics.optimal_proportions import proportions
from tests.same_bits import assert_same_bits

COINS = jb.bernoulli([0.7, 0.5, 0.4])
KEY = jax.random.fold_in(jax.random.key(1), 4)
RULES = {
    "uniform-glr": jb.UniformGLR, "best-challenger": jb.BestChallenger, "track-and-stop": jb.TrackAndStop,
    "ttts": jb.TTTS, "t3c": jb.T3C, "eb-tc": jb.EBTC, "eb-tci": jb.EBTCI, "ttucb": jb.TTUCB,
}  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "family", "threshold"),
    [
        (COINS, "bernoulli", "gk16"),
        (jb.gaussian([0.5, 0.0], sd=0.3), "gaussian", "kk21-gaussian"),
        (jb.gaussian([0.5, 0.0], sd=[0.3, 0.1]), "gaussian", "kk21-gaussian"),
        (jb.beta([2.0, 1.0], 1.0), "gaussian", "kk21-gaussian"),
    ],
)
def test_family_and_threshold_suit_the_problem(problem, family, threshold):
    rule = jb.TTUCB(delta=0.1).resolved(problem)
    assert (rule.family, rule.threshold_word, rule.proved) == (family, threshold, True)
    assert not jb.TTUCB(delta=0.1, threshold="heuristic").resolved(problem).proved
    assert jb.TTUCB(delta=0.1, threshold="gk16").prepared().family == "bernoulli"
    assert jb.TTUCB(delta=0.1).prepared().family == "gaussian"
    assert jb.TTUCB(delta=0.1, threshold="student-mixture").prepared().family == "gaussian-unknown-variance"


CLICKS = np.asarray([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("name", RULES)
def test_a_table_of_zeros_and_ones_is_as_bernoulli_arms_with_its_means(name):
    table, coins = jb.empirical(CLICKS), jb.bernoulli(CLICKS.mean(0))
    assert table.bound_law == coins.bound_law == table.padded(5).bound_law
    found, wanted = (RULES[name](delta=0.1).resolved(problem) for problem in (table, coins))
    assert (found.family, found.threshold) == (wanted.family, wanted.threshold) == ("bernoulli", "gk16")
    assert question_of(m=1).lower_bound(table, 0.1).formula is question_of(m=1).lower_bound(coins, 0.1).formula
    assert value(question_of(m=1).lower_bound(table, 0.1)) == pytest.approx(
        value(question_of(m=1).lower_bound(coins, 0.1))
    )


@pytest.mark.parametrize(
    "problem",
    [
        jb.empirical(CLICKS, joint=True),
        jb.empirical(CLICKS / 2),
        jb.empirical(2 * CLICKS),
        jb.empirical(1 - 2 * CLICKS),
        jb.empirical(np.vstack([CLICKS, [[0.5, 0.5, 1.0]]]), name="bernoulli clicks"),
    ],
    ids=["joint", "halves", "twos", "signs", "a half among them"],
)
def test_other_tables_name_no_law(problem):
    rule = jb.EBTCI(delta=0.1).resolved(problem)
    assert problem.bound_law is None
    assert question_of(m=1).lower_bound(problem, 0.1) is None
    assert (rule.family, rule.threshold) == ("gaussian", "kk21-gaussian")


@pytest.mark.parametrize("joint", [False, True])
def test_rewards_in_an_interval_may_take_the_family_bernoulli(joint):
    """With the largest reward for b, since the likelihood ratio holds for rewards in [0, b]."""
    rule = jb.EBTCI(delta=0.1, family="bernoulli")
    for problem, b in ((jb.empirical(CLICKS / 2, joint=joint), None), (jb.empirical(CLICKS / 2 + 2, joint=joint), 2.5)):
        found = rule.resolved(problem)
        assert (found.family, found.threshold, found.b) == ("bernoulli", "kk21", b)
    assert rule.resolved(jb.rademacher([1.0, 2.0], [3.0, 2.5])).b == 3.0
    assert rule.resolved(jb.rademacher([0.2, 0.3], [0.4, 0.9])).b is None
    assert jb.EBTCI(delta=0.1, family="bernoulli", b=4.0).resolved(jb.rademacher([1.0, 2.0], [3.0, 2.5])).b == 4.0
    with pytest.raises(jb.UsageError, match="needs rewards of at least 0"):
        rule.resolved(jb.empirical(CLICKS - 0.5, joint=joint))


@pytest.mark.slow
def test_a_table_of_zeros_and_ones_needs_the_pulls_of_bernoulli_arms():
    """Two means of some 400 runs, whose standard deviations are below half the mean, are within a fifth."""
    rule = jb.EBTCI(delta=0.1)
    table, coins = (jb.simulate(rule, p, seeds=400) for p in (jb.empirical(CLICKS), jb.bernoulli(CLICKS.mean(0))))
    assert float(table.pulls.mean()) == pytest.approx(float(coins.pulls.mean()), rel=0.2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jb.TTUCB(delta=0.1, family="gaussian", threshold="gk16"), "is proved for family=bernoulli, not for"),
        (
            lambda: jb.TTUCB(delta=0.1, threshold="bounded").resolved(jb.gaussian([0.5, 0.1], sd=1.0)),
            "is proved for family=bernoulli, not for family=gaussian",
        ),
        (lambda: jb.TTUCB(delta=0.1, threshold="kk22"), "kk21"),
        (lambda: jb.TTUCB(delta=0.1, family="bernouli"), "bernoulli"),
        (lambda: jb.TTUCB(delta=0.1, share="idz"), "TTUCB: share must be a number or ids, got 'idz'$"),
        (lambda: jb.TTUCB(delta=0.1).resolved(jb.s1()), "heavier tails"),
        (
            lambda: jb.TTUCB(delta=0.1, family="bernoulli").resolved(jb.gaussian([0.5, 0.1], sd=1.0)),
            "family=bernoulli needs rewards of at least 0",
        ),
        (
            lambda: jb.TTUCB(delta=0.1, family="gaussian-unknown-variance").resolved(COINS),
            "threshold=student-mixture needs normal rewards, and bernoulli .* has others",
        ),
        (
            lambda: jb.TTUCB(delta=0.1, family="gaussian-unknown-variance", threshold="kk21"),
            "is proved for family=bernoulli or exponential or gaussian or poisson, not for",
        ),
        (
            lambda: jb.TrackAndStop(delta=0.1, family="gaussian-unknown-variance").resolved(COINS),
            "TrackAndStop: threshold=student-mixture needs normal rewards",
        ),
        (lambda: jb.EBTC(delta=0.1).check(257, 1), "at most 256 arms, got 257"),
    ],
)
def test_what_cannot_be_is_one_line(make, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@recent_programs(100)
def to_the_end(algorithm, problem, key, state, most=20_000):
    def going(state):
        return ~algorithm.done(state) & (state.time < most)

    return jax.lax.while_loop(going, lambda state: algorithm.step(problem, key, state), state)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow, pytest.mark.bits] * (n != "uniform-glr")) for n in RULES]
)
def test_a_run_goes_on_to_a_smaller_delta_as_if_it_had_had_it_from_the_start(name):
    large, small = (RULES[name](delta=delta).resolved(COINS) for delta in (0.1, 0.01))
    assert "delta" in large.traits.stops_by
    large, small = MappedRule(large), MappedRule(small)
    start = jax.jit(small.init)(COINS, KEY)
    first = to_the_end(large, COINS, KEY, start)
    found = to_the_end(small, COINS, KEY, first)
    wanted = to_the_end(small, COINS, KEY, start)
    assert int(wanted.time) > int(first.time)
    assert_same_bits(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_equal_best_means_end_at_max_pulls(name):
    data = jb.simulate(RULES[name](delta=0.001), jb.bernoulli([0.5, 0.5, 0.1]), seeds=4, max_pulls=300)
    assert data.status.values.tolist() == [1] * 4
    assert data.pulls.values.tolist() == [300] * 4


@pytest.mark.slow
def test_ttts_never_hangs_however_sure_it_is():
    """The posterior of the best arm is all but certain from the start on: no draw has another best arm."""
    problem = jb.gaussian([100.0, 0.0, 0.0], sd=1.0)
    data = jb.simulate(jb.TTTS(delta=1e-30, resamplings=3, threshold="heuristic"), problem, seeds=5, max_pulls=50)
    assert (data.status == 0).all()
    assert (data.pulls <= 8).all()


def test_normal_rewards_stop_at_the_statistic_of_the_paper():
    """min over i of (mu_b - mu_i) / sqrt(1/N_b + 1/N_i) exceeds sqrt(2 c), in standard deviations."""
    algorithm = jb.UniformGLR(delta=0.05, epsilon=0.1)
    problem = jb.gaussian([0.4, 0.0, 0.1], sd=0.5)
    states = jb.trajectory(algorithm, problem, KEY, 400)
    done = np.asarray(states.ended)
    mean, pulls = (np.asarray(x, float) for x in (states.mean, states.pulls))
    statistic = []
    for mu, n in zip(mean, pulls, strict=True):
        b = mu.argmax()
        rest = np.arange(3) != b
        statistic.append(((mu[b] - mu[rest] + 0.1) / 0.5 / np.sqrt(1 / n[b] + 1 / n[rest])).min())
    level = jax.jit(lambda t: jb.theory.glr_threshold(t, 3, 0.05, "kk21-gaussian"))(pulls.sum(1))
    bound = np.sqrt(2 * np.asarray(level, float))
    assert done.any()
    np.testing.assert_array_equal(done, np.asarray(statistic) > bound)


@pytest.mark.slow
@pytest.mark.bits
def test_an_epsilon_of_zero_in_a_grid_is_an_epsilon_of_zero():
    for family in ("bernoulli", "gaussian"):
        alone = jb.simulate(jb.EBTC(delta=0.1, family=family), COINS, seeds=40)
        grid = jb.sweep(jb.EBTC(delta=0.1, epsilon=jb.axis([0.0, 0.1]), family=family), COINS, seeds=40)
        np.testing.assert_array_equal(alone.pulls, grid.pulls.sel(epsilon=0.0))
        assert grid.pulls.sel(epsilon=0.1).mean() < alone.pulls.mean()


@pytest.mark.slow
def test_shares_in_a_grid_with_ids():
    grid = jb.sweep(jb.EBTC(delta=0.1, share=jb.axis(["ids", 0.5])), COINS, seeds=10)
    alone = jb.simulate(jb.EBTC(delta=0.1, share="ids"), COINS, seeds=10)
    np.testing.assert_array_equal(grid.pulls[0], alone.pulls)
    assert (jb.repeat(alone).pulls == alone.pulls).all()


def errors_of_weights(algorithm, problem, steps, runs=16):
    """How far w* of every step is from where rounds lead, in the largest coordinate, `(run, step)`."""
    algorithm = algorithm.resolved(problem)

    @jax.jit
    def one(key):
        states = jb.trajectory(algorithm, problem, key, steps)

        def error(state):
            means = algorithm.scaled_means(state)
            best = means == jnp.max(means)
            lead = None if algorithm.epsilon == 0 else jnp.float32(algorithm.epsilon)
            variances = variance_by_pulls(state.squares, state.pulls) if algorithm.second_moments else None
            exact = proportions(algorithm.rewards, means, epsilon=lead, variances=variances, rounds=16)
            return jnp.where(best.sum() > 1, 0.0, jnp.abs(exact.weights - state.own.weights).max())

        return jax.vmap(error)(states)

    return np.asarray(jax.vmap(one)(jax.random.split(jax.random.key(3), runs)))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("family", [None, "gaussian-unknown-variance"])
def test_w_star_is_found_from_that_of_the_last_pull(epsilon, family):
    """Within 1e-4 but for some steps at the start of a run."""
    problem = jb.bernoulli([0.5, 0.45, 0.43, 0.4])
    if family is not None:
        problem = jb.gaussian([0.5, 0.45, 0.43, 0.4], [0.2, 0.5, 0.05, 0.6])
    assert issubclass(jb.TrackAndStop, Tracked)
    errors = errors_of_weights(jb.TrackAndStop(delta=1e-6, epsilon=epsilon, family=family), problem, 2000)
    assert (errors[:, 50:] < 1e-4).mean() > 0.99
    assert np.quantile(errors[:, 500:], 0.999) < 1e-4
