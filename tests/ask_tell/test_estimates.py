"""What a session says of its arms: intervals at all times, confidence, shares of traffic, pulls to come."""

import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.statistics.family_intervals import interval_by_divergence
from jaxbandits.statistics.glr_boundaries import exponential_family_level
from jaxbandits.statistics.glr_unknown_variance import radius_at_all_times

RULE = jb.UGapEc(epsilon=0.2, delta=0.1)
MEANS = [0.8, 0.5, 0.2]


def played(pulls, key=0, rule=RULE, **options):
    """A session after some pulls of Bernoulli arms, or at its end."""
    session, random = jb.AskTell(rule, arms=3, key=key, **options), np.random.default_rng(key)
    while not session.done and session.pulls.sum() < pulls:
        arm = session.ask()
        session.tell(arm, float(random.random() < MEANS[arm]))
    return session


def threshold(x):
    """T(x) of Kaufmann and Koolen (2021): the least of z (h^-1(1 + x) + ln(2 zeta(2)) + 2 ln(1 / ln z)), z <= 3/2."""
    y = np.linspace(1, 4 * (1 + x), 10**6)
    inverse = y[np.searchsorted(y - np.log(y), 1 + x)]
    z = np.linspace(1.001, 1.5, 10**5)
    return np.min(z * (inverse + np.log(np.pi**2 / 3) - 2 * np.log(np.log(z))))


def test_intervals_are_those_of_the_formula():
    session = played(150)
    number, mean = session.pulls, session.means
    level = 3 * np.log1p(np.log(number))
    lower, upper = session.intervals(0.01).T
    for q in (lower, upper):
        divergence = mean * np.log(mean / q) + (1 - mean) * np.log((1 - mean) / (1 - q))
        spent = number * divergence - level
        np.testing.assert_allclose(spent, threshold(np.log(3 / 0.01)), rtol=1e-3)
    assert np.all(session.intervals() >= lower[:, None] - 1)
    wide = played(150, bounded=False).intervals(0.01)
    np.testing.assert_allclose(wide[:, 1] - mean, np.sqrt(spent[0] + level) / np.sqrt(2 * number), rtol=1e-3)
    scaled = jb.AskTell(jb.UGapEc(epsilon=0.2, delta=0.1), arms=2, reward_range=4.0)
    assert scaled.intervals().tolist() == [[0, 4], [0, 4]]
    with pytest.raises(jb.UsageError, match="delta must"):
        session.intervals(1.0)


@pytest.mark.slow
def test_intervals_hold_at_all_times_at_once():
    """Of 20,000 arms, at most delta leave their interval in 500 pulls; the bound is not tight."""
    random, runs, delta = np.random.default_rng(0), 20_000, 0.05
    session = jb.AskTell(jb.UGapEc(epsilon=0.1, delta=0.1), arms=2, prior={"pulls": [1, 1], "means": [0, 1]})
    number = np.arange(1, 501)
    for mean in (0.5, 0.05):
        mean_of = np.cumsum(random.random((runs, len(number))) < mean, axis=1) / number
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = mean_of * np.log(mean_of / mean), (1 - mean_of) * np.log((1 - mean_of) / (1 - mean))
        divergence = sum(np.nan_to_num(part) for part in parts)
        lower, _ = session._intervals(np.log(1 / delta)).T  # of one pull with the reward 1: N d(1, q) = -ln q
        level = -np.log(lower[1])
        outside = np.any(number * divergence - 3 * np.log1p(np.log(number)) > level, axis=1)
        assert outside.mean() < delta / 2


def test_confidence_grows_with_the_pulls_and_is_that_of_a_proof_in_the_end():
    assert played(2).confidence == 0
    found = [played(pulls).confidence for pulls in (60, 300)]
    assert found[0] <= found[1]
    session = played(10**5)
    assert session.done
    assert session.confidence >= 0.9
    mask, ends = session.recommendation, session.intervals(1 - session.confidence + 1e-6)
    if session.confidence > 0.9:
        assert np.min(ends[mask, 0]) >= np.max(ends[~mask, 1]) - 0.2
    with pytest.raises(jb.UsageError, match="another criterion"):
        _ = jb.AskTell(jb.APT(budget=90, threshold=0.5), arms=3).confidence


def test_a_class_of_ones_own_has_no_proof_unless_it_says_so():
    """It had that of the rule that it was made from, though it stopped after 20 pulls."""

    @jb.algorithm
    class Hasty(jb.LUCB):
        def done(self, state, arms):
            return arms.time >= 20

    @jb.algorithm
    class Proved(Hasty):
        proved = True

    for rule, confidence in ((Hasty, 0.0), (Proved, 0.9)):
        session = jb.AskTell(rule(epsilon=0.1, delta=0.1), arms=2)
        while not session.done:
            session.tell(session.ask(), 0.5)
        assert session.confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("rule", "confidence"),
    [
        (jb.AdaptiveTopK(k=1, budget=40), 0),
        (jb.AdaptiveTopK(k=1, epsilon=0.5, delta=0.1, scale=0.1), 0),
        (jb.AdaptiveTopK(k=1, epsilon=0.5, delta=0.1), 0.9),
        (jb.CLUCB(k=1, budget=40), 0),
        (jb.UGapEc(epsilon=0.5, delta=0.1, c=0.01), 0),
        (jb.UnionBound(epsilon=0.5, delta=0.1, estimator="mom", c3=1.0), 0),
    ],
)
def test_a_run_that_is_not_proved_has_the_confidence_of_its_intervals(rule, confidence):
    """It had 1 - delta where a budget ended the run, with a delta that nobody gave, and without a proof."""
    session = jb.AskTell(rule, arms=3)
    while not session.done:
        session.tell(session.ask(), 0.5)
    assert session.confidence == pytest.approx(confidence)


@pytest.mark.parametrize(("norm", "said"), [(1.0, True), (1.5, False)])
def test_a_theta_that_is_longer_than_its_limit_is_said(norm, said):
    session = jb.AskTell(jb.LinGapE(delta=0.1, epsilon=0.5, norm=norm), arms=3)
    while not session.done:
        session.tell(session.ask(), 0.8)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert session.confidence >= 0.9
    wanted = ["LinGapE: norm=1 must be at least the length of theta, 1.38564: nothing is proved"] if said else []
    assert [str(one.message) for one in found] == wanted


@pytest.mark.parametrize("rule", [jb.AdaptiveTopK, jb.ImprovedTopK])
def test_a_proof_for_rewards_up_to_1_is_none_for_larger_ones(rule):
    """Of 20 sessions of rewards up to 10, 3 were wrong, with a confidence of 0.99."""
    with pytest.warns(UserWarning, match=f"{rule.__name__}: delta is proved for rewards of range 1, not of 10"):
        session = jb.AskTell(rule(k=1, epsilon=0.5, delta=0.1), arms=3, reward_range=10.0)
    while not session.done:
        session.tell(session.ask(), 5.0)
    assert session.confidence == 0


@pytest.mark.parametrize(
    ("rule", "setting"),
    [
        (jb.KLLUCB(epsilon=0.1, delta=0.1), ""),
        (jb.KLRace(epsilon=0.1, delta=0.1), ""),
        (jb.BernsteinRace(epsilon=0.1, delta=0.1), ""),
        (jb.EBTCI(delta=0.1, family="bernoulli"), " with family=bernoulli"),
    ],
)
def test_bounds_of_rewards_in_an_interval_are_not_for_others(rule, setting):
    """Of 99 sessions of normal rewards, 8 were wrong, with a confidence of 0.99; simulate refused such rewards."""
    name = type(rule).__name__
    with pytest.raises(jb.UsageError, match=rf"^{name}{setting} needs rewards in \[0, b\]: leave out bounded$"):
        jb.AskTell(rule, arms=2, bounded=False)
    assert not jb.AskTell(rule, arms=2).done


def test_a_rule_that_cannot_go_on_has_not_the_confidence_of_its_end():
    """Rinott's second stage is (h s / epsilon)^2 pulls of each arm, here 10^11: no arm is known to be the best."""
    session = jb.AskTell(jb.Rinott(epsilon=1e-3, delta=0.05, h=3.0), arms=3, bounded=False, reward_range=1000.0)
    random = np.random.default_rng(0)
    while not session.done:
        pulls = session.ask(20)
        session.tell([pull.id for pull in pulls], 100 * random.standard_normal(len(pulls)))
    assert session.pulls.tolist() == [20, 20, 20]
    assert session.confidence == jb.AskTell.from_json(session.to_json()).confidence == 0


def test_shares_of_traffic_are_those_of_the_next_pulls():
    session = played(50)
    before, shares = session.to_json(), session.probabilities(20)
    assert session.to_json() == before
    np.testing.assert_array_equal(shares * 20, np.bincount([arm for _, arm in session.ask(20)], minlength=3))
    waiting = jb.AskTell(RULE, arms=3)
    np.testing.assert_allclose(waiting.probabilities(), np.ones(3) / 3)
    waiting.ask(3)
    assert waiting.probabilities().tolist() == [0, 0, 0]


@pytest.mark.slow
def test_expected_pulls_are_those_of_sessions_that_go_on():
    session = played(40)
    found = session.expected_pulls(seeds=400)
    assert found == session.expected_pulls(seeds=400)
    text, means, more = session.to_json(), session.means, []
    for seed in range(12):
        again, random = jb.AskTell.from_json(text), np.random.default_rng(seed)
        while not again.done:
            arm = again.ask()
            again.tell(arm, float(random.random() < means[arm]))
        more.append(again.pulls.sum() - 40)
    spread = np.std(more, ddof=1) / np.sqrt(len(more))
    assert abs(np.mean(more) - found.mean) < 6 * spread
    assert found.low < found.mean < found.high
    assert found.truncated == 0
    assert session.expected_pulls(seeds=400, most=3) == (np.inf, np.inf, np.inf, 1.0)
    assert played(10**5).expected_pulls() == (0, 0, 0, 0)


ENDLESS = """
import jaxbandits as jb
session = jb.AskTell(jb.UGapEc(epsilon=0.0, delta=0.1), arms=2, prior={"pulls": [9, 9], "means": [0.5, 0.5]})
session.expected_pulls(seeds=1000, most=1)
print("compiled", flush=True)
session.expected_pulls(seeds=1000, most=2**30)
"""


def test_ctrl_c_ends_the_runs_of_expected_pulls():
    """They went on behind Python, which did not end before them."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout.readline() == "compiled\n"
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
        finally:
            process.kill()


def test_expected_pulls_are_a_function_of_the_session():
    session = played(40)
    found = session.expected_pulls(seeds=20)
    assert found == session.expected_pulls(seeds=20)
    assert 0 < found.low <= found.mean <= found.high
    assert session.expected_pulls(seeds=20, most=3) == (np.inf, np.inf, np.inf, 1.0)


def test_expected_pulls_compile_in_silence(capfd):
    """The simplifier of XLA went round in circles, and wrote errors to stderr."""
    rule = jb.UniformGLR(delta=0.1, epsilon=0.6, family="exponential")
    session = jb.AskTell(rule, arms=3, bounded=False, prior={"pulls": [6] * 3, "means": [4, 1.5, 0.4]})
    assert session.expected_pulls(seeds=3, most=3) == (np.inf, np.inf, np.inf, 1.0)
    assert not capfd.readouterr().err


def test_expected_pulls_of_rounds_count_what_waits():
    session = jb.AskTell(jb.SequentialHalving(budget=120), arms=3)
    session.tell(session.ask(3), [0.0, 0.5, 1.0])
    total = session.expected_pulls(seeds=2).mean
    session.tell(session.ask(3)[1:], [0.5, 1.0])  # the first one of the round is missing
    assert session.expected_pulls(seeds=2).mean == total - 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jb.AskTell(RULE, arms=3).expected_pulls(), "tell the first pulls"),
        (lambda: jb.AskTell(jb.RCB(budget=9.0), arms=3).expected_pulls(), "pulls have costs"),
        (lambda: played(10).expected_pulls(seeds=0), "seeds must be"),
        (lambda: played(10).probabilities(0), "must be a whole number"),
        (lambda: played(10**5).probabilities(3), "the session is done"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, message):
    with pytest.raises(jb.UsageError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def log_martingale(rewards, mean, c=4.0):
    """Lai's martingale of normal rewards with unknown variance, from its formula."""
    n, center = len(rewards), np.mean(rewards)
    squares, off = np.sum((rewards - center) ** 2), n * (center - mean) ** 2
    return -0.5 * np.log1p(n / c) + n / 2 * np.log((squares + off) / (squares + off * c / (n + c)))


@pytest.mark.parametrize(("n", "sd", "delta"), [(12, 3.0, 0.3), (60, 0.01, 0.05), (1500, 250.0, 1e-6)])
def test_intervals_of_unknown_variances_are_where_the_martingale_is_small(n, sd, delta):
    rewards = sd * (7.0 + np.random.default_rng(n).standard_normal(n))
    radius = radius_at_all_times(np.asarray([n]), np.asarray([n * np.var(rewards)]), np.log(3 / delta))[0]
    for side in (-1, 1):
        assert log_martingale(rewards, np.mean(rewards) + side * radius) == pytest.approx(np.log(3 / delta), rel=1e-6)


def test_they_hold_at_all_times():
    """P(a false alarm) < 1e-6: 4,000 sequences of 300, each outside at some time with probability 0.1 at most."""
    rewards = np.random.default_rng(5).standard_normal((4000, 300))
    n = np.arange(1, 301)
    mean = np.cumsum(rewards, axis=1) / n
    squares = np.maximum(np.cumsum(rewards**2, axis=1) - n * mean**2, 0)
    radius = radius_at_all_times(np.broadcast_to(n, squares.shape), squares, np.log(10))
    outside = np.mean(np.any(np.abs(mean) > radius, axis=1))
    assert 0.02 < outside < 0.1 + 4.9 * np.sqrt(0.09 / 4000)


UNKNOWN = [
    jb.KN(delta=0.05, epsilon=1.0),
    jb.KNPlusPlus(delta=0.05, epsilon=1.0),
    jb.EBTCI(delta=0.05, family="gaussian-unknown-variance"),
    jb.SuccessiveRejects(budget=60),
]


def told(rule, rewards, **options):
    session = jb.AskTell(rule, arms=rewards.shape[1], bounded=False, **options)
    for reward in rewards:
        if session.done:
            break
        session.tell(arm := session.ask(), reward[arm])
    return session


@pytest.mark.parametrize(
    "rule",
    [pytest.param(rule, marks=[pytest.mark.slow] * isinstance(rule, jb.EBTCI)) for rule in UNKNOWN],
    ids=lambda rule: type(rule).__name__,
)
def test_equal_arms_of_unknown_variances_are_not_told_apart(rule):
    """P(a false alarm) < 1e-6: the confidence of either session reaches 1 - 1e-7 with that probability, 1e-7."""
    for seed in (1, 2):
        session = told(rule, 100 * np.random.default_rng(seed).standard_normal((60, 3)))
        assert session.confidence < 1 - 1e-7
        widths = np.diff(session.intervals(), axis=1)[:, 0]
        assert np.all(widths[session.pulls > 12] < 1000)
        assert np.all(widths > 50)


DIVERGENCES = {
    "poisson": lambda m, q: q - m + (m * np.log(m / q) if m else 0),
    "exponential": lambda m, q: m / q - 1 + np.log(q / m),
}


def of_family(rule, family):
    """A session after 60 rewards of 20 or so, and some more of the second arm."""
    session = jb.AskTell(rule(delta=0.05, family=family), arms=2, bounded=False)
    for reward in np.random.default_rng(5).gamma(4, 5, 60).round().tolist():
        arm = session.ask()
        session.tell(arm, reward + 3 * arm)  # arms alike would need a great many pulls
    return session


FAMILIES = [
    (jb.UniformGLR, "poisson"),
    (jb.UniformGLR, "exponential"),
    (jb.EBTCI, "poisson"),
    (jb.EBTCI, "exponential"),
]


@pytest.mark.parametrize(
    ("rule", "family"), [FAMILIES[0], *(pytest.param(*of, marks=pytest.mark.slow) for of in FAMILIES[1:])]
)
def test_rewards_of_a_family_without_a_range_have_intervals_of_the_family(rule, family):
    session = of_family(rule, family)
    level = 3 * np.log1p(np.log(session.pulls)) + float(exponential_family_level(np.float32(np.log(2 / 0.05))))
    again = jb.AskTell.from_json(session.to_json())
    np.testing.assert_array_equal(again.intervals(), session.intervals())
    for arm, ends in enumerate(session.intervals()):
        assert ends[0] < session.means[arm] < ends[1]
        for end in ends:
            found = session.pulls[arm] * DIVERGENCES[family](session.means[arm], end)
            assert found == pytest.approx(level[arm], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "family"), FAMILIES)
def test_the_rest_is_simulated_with_rewards_of_the_family(rule, family):
    rest = of_family(rule, family).expected_pulls(seeds=50)
    assert 0 < rest.mean < 1e6
    assert rest.low < rest.high


def test_intervals_of_families_at_their_edges():
    low, high = interval_by_divergence("poisson", np.asarray([0.0, 1e-2, 5.0, 1e7]), np.asarray([0.5, 0.3, 1e-10, 2.0]))
    assert low[0] == 0
    assert high[0] == 0.5
    for m, d, ends in zip([1e-2, 5.0, 1e7], [0.3, 1e-10, 2.0], np.transpose([low, high])[1:], strict=True):
        for q in ends:
            x = (q - m) / m
            assert m * (x - np.log1p(x)) == pytest.approx(d, rel=1e-3)
    low, high = interval_by_divergence("exponential", np.asarray([3.0, 2.0, 0.0]), np.asarray([800.0, 1e-9, 1.0]))
    assert low[0] == pytest.approx(3 / 807.7, rel=1e-3)
    np.testing.assert_array_equal(np.isinf(high), [True, False, True])
    np.testing.assert_allclose([low[1], high[1]], [2 / (1 + 2e-9**0.5), 2 / (1 - 2e-9**0.5)], rtol=1e-8)


def test_a_unit_of_the_rewards_changes_nothing():
    rewards = np.random.default_rng(3).standard_normal((40, 3)) + np.asarray([0, 0, 3])
    one, other = (told(jb.KN(delta=0.05, epsilon=unit), unit * rewards) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(other.intervals(), 1024 * one.intervals(), rtol=1e-6)
    assert other.confidence == pytest.approx(one.confidence, abs=1e-6)
    again = jb.AskTell.from_json(one.to_json())
    np.testing.assert_array_equal(again.intervals(), one.intervals())


def test_prior_rewards_whose_variance_is_not_known_count_in_no_interval():
    prior = {"pulls": [40, 40], "means": [9.0, 9.0]}
    rewards = np.random.default_rng(7).poisson(3.0, (60, 2)).astype(float)
    session = told(jb.Uniform(budget=140), rewards, prior=prior)
    count = session.pulls - 40
    means = (session.means * session.pulls - 40 * 9.0) / count
    assert np.all(count > 15)
    np.testing.assert_allclose(np.mean(session.intervals(), axis=1), means, rtol=1e-6)


@pytest.mark.slow
def test_a_range_that_is_given_is_used():
    rewards = np.random.default_rng(3).standard_normal((30, 3))
    rule = jb.EBTCI(delta=0.05, family="gaussian-unknown-variance")
    session = told(rule, rewards, reward_range=2.0)
    level = 3 * np.log1p(np.log(session.pulls)) + float(exponential_family_level(np.float32(np.log(3 / 0.05))))
    np.testing.assert_allclose(
        np.diff(session.intervals(), axis=1)[:, 0], 2 * np.sqrt(2 * level / session.pulls), rtol=1e-4
    )


@pytest.mark.slow
def test_the_rest_is_simulated_with_the_variances_so_far():
    rules = [jb.EBTCI(delta=0.05, epsilon=unit, family="gaussian-unknown-variance") for unit in (1.0, 1024.0)]
    rewards = 4 * np.random.default_rng(8).standard_normal((24, 3))
    one, other = (
        told(rule, rewards * unit).expected_pulls(seeds=40) for rule, unit in zip(rules, (1, 1024), strict=True)
    )
    assert one == other
    with pytest.warns(UserWarning, match="half of reward_range"):
        of_range = told(rules[0], rewards, reward_range=1.0).expected_pulls(seeds=40)
    assert one.mean > 1.3 * of_range.mean  # whose further rewards have the variance 1/4, not some 16
    session = told(rules[0], np.full((6, 3), 3.0))
    with pytest.raises(jb.UsageError, match="needs two rewards of each arm that differ"):
        session.expected_pulls()


def test_rewards_that_vary_by_more_than_the_range_are_named():
    session = jb.AskTell(jb.UGapEc(epsilon=0.01, delta=0.05), arms=2, bounded=False)
    session.tell(session.ask(), 0.0)
    session.tell(session.ask(), 0.0)
    for reward in (-30.0, 30.0, 20.0, -20.0):
        if not session.done:
            session.tell(session.ask(), reward)
    with pytest.warns(UserWarning, match=r"the rewards of arm \d have a standard deviation of .* at most 0.5, half of"):
        assert session.confidence <= 1
    assert session.confidence <= 1  # it is said once


def test_a_proof_for_a_lead_of_epsilon_is_none_of_the_answer():
    rewards = np.random.default_rng(4).standard_normal((400, 3))
    session = told(jb.KN(delta=0.05, epsilon=0.5), rewards)
    assert session.done
    assert session.confidence < 0.9
    assert told(jb.EBTCI(delta=0.05, epsilon=0.5, family="gaussian-unknown-variance"), rewards).confidence >= 0.95
