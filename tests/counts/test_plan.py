"""Plans from counts: confidence, further pulls, what comes next, and what the command prints."""

import functools
import json

import jax
import numpy as np
import pytest
import scipy

import jaxbandits as jb
from jaxbandits.cli import main
from jaxbandits.counts.further_pulls import FurtherPulls
from jaxbandits.problems.posterior_arms import BetaPosterior, BoundedPosterior, NormalPosterior
from jaxbandits.problems.pull_history import History

COUNTS = {"arm": ["A", "B", "C"], "n": [400, 300, 0], "clicks": [80, 15, 0]}

#: A posterior and keys to problems drawn from it, in one program.
realised = jax.jit(lambda posterior, keys: posterior.realised(keys))


@pytest.fixture(scope="module")
def found():
    return jb.plan(COUNTS, delta=0.1, epsilon=0.05, rules=["lucb-pp"], draws=19, budget=500, value=2.0)


@pytest.mark.slow
def test_the_anytime_confidence_is_that_of_the_test_of_the_rules():
    counts = {"n": [500, 400, 300], "clicks": [300, 150, 120]}
    found = jb.plan(counts, rules=[])
    assert 1e-6 < found.test.delta < 0.05
    assert found.answer == "decided"
    problem = jb.problems.Bernoulli(jax.numpy.asarray([0.6, 0.4, 0.4]), history=History.of_counts(*counts.values()))
    for factor, stops in ((1.01, True), (0.99, False)):
        rule = jb.UniformGLR(delta=found.test.delta * factor, family="bernoulli", threshold="gk16")
        state = jb.run(rule, problem, jax.random.key(0), max_pulls=1200)
        assert bool(state.ended) == stops


@pytest.mark.parametrize(("successes", "smaller"), [([3000, 900], "smaller ones"), ([300, 150], "none smaller")])
def test_it_is_said_where_the_test_would_stop_with_smaller_deltas(successes, smaller):
    """By hand 2 t exp(-W), with W the pulls times the divergences from the pooled mean: 10^-500, and 10^-22."""
    pulls = np.full(2, max(successes) * 4 // 3)
    rates, pooled = np.asarray(successes) / pulls, sum(successes) / pulls.sum()
    cost = pulls @ (scipy.special.rel_entr(rates, pooled) + scipy.special.rel_entr(1 - rates, 1 - pooled))
    found = jb.plan({"n": pulls, "clicks": successes}, rules=[])
    assert found.test.delta == pytest.approx(np.exp(max(np.log(2 * pulls.sum()) - cost, -200)), rel=1e-6)
    assert f"would stop now with delta {found.test.delta:.3g}, and with {smaller}." in " ".join(str(found).split())


def test_no_arm_without_pulls_is_passed_over():
    found = jb.plan(COUNTS, rules=[])
    assert found.test.delta == 1
    assert found.best == "A"
    assert found.arms[2].best > 0.7
    assert "C has a smaller expected loss" in " ".join(str(found).split())


def test_what_a_plan_says(found):
    assert found.answer == "undecided"
    assert found.next_arm == "C"  # the one without pulls comes first
    assert found.horizon == 60
    assert sum(found.next_shares.values()) == pytest.approx(1)
    (rule,) = found.rules
    low, high = rule.interval
    assert low <= rule.median <= high
    assert np.all(np.diff(rule.more[np.isfinite(rule.more)]) >= 0)
    assert found.undecided_by_budget == pytest.approx(1 - np.mean(rule.more <= 500))
    assert "worth" in str(found)
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["rules"][0]["rule"] == "lucb-pp"
    panels = found.picture().axes
    assert [panel.get_xlabel() for panel in panels][1] == "further pulls"


def test_the_interval_is_made_of_order_statistics_of_the_next_run():
    one = FurtherPulls("x", jb.LUCB(epsilon=0.1, delta=0.1), np.arange(1.0, 200), 500, 0.0)
    assert one.interval == (10, 190)  # 180 of the 200 places of a further run are between them
    assert one.median == 100
    cut = FurtherPulls("x", one.rule, np.where(one.more > 150, np.inf, one.more), 150, 0.0)
    assert cut.interval == (10, np.inf)
    assert cut.as_dict()["interval"] == [10, None]


def test_equivalent_arms():
    found = jb.plan({"n": [9000, 9000, 9000], "clicks": [450, 452, 90]}, epsilon=0.02, rules=[])
    assert found.equivalent == ["arm 1", "arm 2"]
    assert found.answer in ("decided", "equivalent")
    assert "equivalent within 0.02: arm 1, arm 2" in " ".join(str(found).split())
    assert jb.plan({"n": [9000, 9000], "clicks": [450, 452]}, rules=[]).answer == "undecided"


def test_a_prior_may_be_an_array():
    listed, array = (jb.plan(COUNTS, prior=prior, rules=[]) for prior in ([2.0, 9.0], np.asarray([2.0, 9.0])))
    assert str(listed) == str(array)
    for other in (np.float64(2.0), np.ones((2, 2)), (1, [2, 3])):
        with pytest.raises(jb.UsageError, match="two positive numbers"):
            jb.plan(COUNTS, prior=other, rules=[])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": ["successive-elimination"]}, "successive-elimination: it must see each reward"),
        ({"rules": ["sequential-halving"]}, "sequential-halving does not find the best arm with a given confidence"),
        ({"rules": ["lil-ucb"], "epsilon": 0.1}, "lil-ucb: it must see each reward, or choose all"),
        ({"rules": ["lucbb"]}, "did you mean 'lucb'"),
        ({"rules": "lucb"}, "rules must be a list of names"),
        (
            {"rules": [jb.LUCB(epsilon=0.1, delta=0.1)]},
            "rules must be a list of names, such as ['lucb-pp'], got [LUCB(",
        ),
        ({"rules": 3}, "rules must be a list of names, such as ['lucb-pp'], got 3"),
        ({"delta": 1.5}, "delta must lie strictly between 0 and 1"),
        ({"prior": "flat"}, "prior must be uniform, jeffreys or two positive numbers"),
        ({"prior": (1, -1)}, "prior must be positive"),
        ({"max_pulls": 3}, "max_pulls must be at least 4, so that every arm may have two pulls, got 3"),
        ({"draws": 5}, "draws must be a whole number from 19"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(jb.UsageError) as error:
        jb.plan(COUNTS, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("pulls", "failures"), [(400_000_000, (11, 77)), (20_000_000, (22, 87))])
def test_the_anytime_confidence_of_coins_near_one_is_that_of_the_failures(pulls, failures):
    """Two arms change places where successes and failures do."""
    high = jb.plan({"pulls": [pulls] * 2, "successes": [pulls - failed for failed in failures]}, rules=[]).test
    low = jb.plan({"pulls": [pulls] * 2, "successes": [*failures]}, rules=[]).test
    assert high.statistic == pytest.approx(low.statistic, rel=1e-6)
    # From first principles: 2 N (d(p, m) + d(q, m)) / 2 with m in the middle, of Poisson laws at this distance.
    p, q = failures
    middle = (p + q) / 2
    assert low.statistic == pytest.approx(p * np.log(p / middle) + q * np.log(q / middle), rel=1e-5)


@pytest.mark.parametrize("far", [1e5, 1e6])
def test_the_anytime_confidence_of_normal_rewards_does_not_depend_on_where_zero_is(far):
    for gap in (0.04, 0.09):
        moved, plain = (
            jb.plan({"n": [10_000] * 2, "mean": [x + gap, x], "sd": [1.0, 1.0]}, rewards="normal", rules=[]).test
            for x in (far, 0.0)
        )
        assert moved.statistic == pytest.approx(plain.statistic, rel=1e-4)
        assert moved.delta == pytest.approx(plain.delta, rel=1e-3)


@pytest.mark.slow
def test_small_means_of_bounded_rewards_are_simulated_as_they_are():
    """The further pulls N of each arm until 2 N d reaches the threshold of the test, at the means."""
    counts = {"n": [2_000_000] * 2, "mean": [0.05, 0.02], "sd": [1.0, 0.7]}
    settings = {"rewards": "bounded", "rules": ["uniform-glr"], "draws": 19, "max_pulls": 20_000_000}
    found = jb.plan(counts, reward_range=1000.0, **settings).rules[0]

    def lacks(pulls):
        p, q = 5e-5, 2e-5
        middle = (p + q) / 2
        statistic = pulls * (p * np.log(p / middle) + q * np.log(q / middle))
        return statistic - float(jb.theory.glr_threshold(2 * pulls, 2, 0.05, "kk21"))

    wanted = 2 * scipy.optimize.brentq(lacks, 1e6, 1e8) - 4_000_000
    assert found.median == pytest.approx(wanted, rel=0.1)


def test_a_range_beside_which_rewards_vanish_is_refused():
    counts = {"n": [2_000_000] * 2, "mean": [0.05, 0.02], "sd": [1.0, 0.7]}
    with pytest.raises(jb.UsageError, match="reward_range 1e\\+06: simulated arms need a mean of at least 10"):
        jb.plan(counts, rewards="bounded", reward_range=1e6, rules=[])
    keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(7), seed))(np.arange(2000))
    leaves = [np.float32(x)[:, None] for x in ([5e-5, 2e-5], [2e6, 2e6], [2e6, 2e6], [1e-6, 0.5e-6])]
    drawn = realised(BoundedPosterior(*leaves), keys)
    assert np.asarray(drawn.mean).mean(axis=1) == pytest.approx([5e-5, 2e-5], rel=0.01)
    assert np.asarray(drawn.variance).mean(axis=1) == pytest.approx([1e-6, 0.5e-6], rel=0.01)


def test_draws_are_those_of_the_posterior():
    keys = jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(7), seed))(np.arange(40_000))
    a, b = np.asarray([3.0, 81.0]), np.asarray([50.0, 400.0])
    drawn = realised(BetaPosterior(*(np.float32(x)[:, None] for x in (a, b))), keys)
    p = np.asarray(drawn.probability, np.float64)
    mean, variance = a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)
    assert np.all(np.abs(p.mean(axis=1) - mean) < 5.5 * np.sqrt(variance / 40_000))
    assert p.var(axis=1) == pytest.approx(variance, rel=0.06)
    assert np.array_equal(drawn.supremum, p.max(axis=0).astype(np.float32))
    center, weight, freedom, spread = (np.float32(x) for x in ([0.3, 0.6], [9, 90], [12, 93], [0.04, 0.01]))
    leaves = [x[:, None] for x in (center, weight, freedom, spread)]
    normal = realised(NormalPosterior(*leaves), keys)
    scale = np.sqrt(spread / weight * freedom / (freedom - 2))  # Student's law
    assert np.all(np.abs(np.asarray(normal.location).mean(axis=1) - center) < 5.5 * scale / 200)
    assert np.asarray(normal.location).std(axis=1) == pytest.approx(scale, rel=0.05)
    variance = spread * freedom / (freedom - 2)
    assert (np.asarray(normal.sd) ** 2).mean(axis=1) == pytest.approx(variance, rel=0.05)
    bounded = realised(BoundedPosterior(*leaves), keys)
    assert np.asarray(bounded.mean) == pytest.approx(np.clip(np.asarray(normal.location), 1e-7, 1 - 1e-5), abs=1e-6)


def test_the_command_prints_text_json_and_a_picture(tmp_path, capsys):
    (tmp_path / "counts.csv").write_text("arm,n,clicks\nA,400,80\nB,300,15\n")
    command = ["plan", "--data", str(tmp_path / "counts.csv"), "--rules", "none"]
    assert main([*command, "--out", str(tmp_path / "p.png"), "--prior", "1,9"]) == 0
    assert "Answer: A is the best, with confidence 0.95 at all times." in capsys.readouterr().out
    assert (tmp_path / "p.png").stat().st_size > 10_000
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"] == "A"
    assert main([*command, "--prior", "1,x"]) == 2
    assert "--prior takes uniform, jeffreys or two numbers" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("rewards", ["bounded", "normal"])
def test_other_rewards(rewards):
    counts = {"n": [400, 300, 350], "mean": [0.62, 0.55, 0.3], "sd": [0.1, 0.12, 0.05]}
    scaled = {**counts, "mean": [10 * x for x in counts["mean"]], "sd": [10 * x for x in counts["sd"]]}
    rules = ["eb-tci"] if rewards == "normal" else ["eb-tci", "ugape-c", "kl-lucb"]
    one = jb.plan(counts, rewards=rewards, epsilon=0.02, rules=rules, draws=39)
    ten = jb.plan(scaled, rewards=rewards, reward_range=10, epsilon=0.2, rules=rules, draws=39)
    assert one.best == ten.best == "arm 1"
    assert one.arms[0].best == pytest.approx(ten.arms[0].best, abs=1e-6)
    assert one.test.delta == pytest.approx(ten.test.delta, rel=1e-3)
    for rule, other in zip(one.rules, ten.rules, strict=True):
        assert rule.median == pytest.approx(other.median, rel=0.1, abs=20)
        assert rule.wrong < 0.1


@pytest.mark.parametrize(
    ("delta", "said"), [(0.05, "0.95"), (1e-4, "0.9999"), (1.2e-4, "1 - 0.00012"), (1e-10, "1 - 1e-10")]
)
def test_the_confidence_that_was_asked_for_is_not_rounded_to_1(delta, said):
    text = " ".join(str(jb.plan([[900, 800], [900, 100]], delta=delta, rules=[])).split())
    assert f"arm 1 is the best, with confidence {said} at all times." in text
    assert f"; {said} was asked for." in text


def test_the_posterior_probability_of_equivalent_arms_is_not_rounded_to_1():
    found = jb.plan([[10**6, 5 * 10**5]] * 2, delta=1e-10, epsilon=0.005, rules=[])
    assert "Answer: equivalent within 0.005, with posterior probability 1 - 1e-10: arm 1, arm 2." in " ".join(
        str(found).split()
    )


@functools.cache
def planned(origin, unit):
    means = [origin + unit * x for x in (3.0, 1.8, 1.0)]
    counts = {"n": [30, 30, 32], "mean": means, "sd": [unit] * 3}
    settings = {"rewards": "normal", "epsilon": 0.1 * unit, "rules": ["eb-tci"], "draws": 39, "max_pulls": 1000}
    return jb.plan(counts, delta=1e-7, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(("origin", "unit"), [(1e7, 1.0), (-1e9, 1.0), (0.0, 1e-21), (0.0, 1e21)])
def test_normal_rewards_may_lie_far_from_0_and_have_any_unit(origin, unit):
    """The same counts in another unit, from another origin: float32 has no squares of such rewards."""
    one, other = planned(0.0, 1.0), planned(origin, unit)
    assert 1e-6 < one.test.delta < 1
    assert other.test.delta == pytest.approx(one.test.delta, rel=1e-3)
    assert other.rules[0].median == pytest.approx(one.rules[0].median, rel=0.1)
    assert other.next_shares == pytest.approx(one.next_shares, abs=0.1)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_the_order_of_the_rows_changes_nothing_where_leaders_tie(order):
    """The test was of the first of the tied arms, and the answer named the one with the most pulls."""
    counts = {"arm": ["A", "B", "C"], "pulls": [1000, 100_000, 500], "successes": [500, 50_000, 245]}
    plan = jb.plan({name: [column[i] for i in order] for name, column in counts.items()}, epsilon=0.15, rules=[])
    assert (plan.best, plan.answer) == ("B", "decided")
    assert plan.test.delta == pytest.approx(1.1166e-06, rel=1e-4)
