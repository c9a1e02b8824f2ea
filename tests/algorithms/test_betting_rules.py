"""Rules with intervals by betting: what they decide, what they refuse, their promise, and their pulls.

A right rule passes each statistical test with probability above 1 - 1e-6, for practically every seed.
"""

import jax
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.statistics.betting import CELLS
from tests.betting_bounds import bounds
from tests.bounded_laws import LAWS
from tests.guarantees.promises import upper_bound

RADII = ("empirical-bernstein", "betting")
DELTA = 0.1
TABLE = np.random.default_rng(2).beta([8, 6, 5, 4], [2, 4, 5, 6], (40, 4)).astype(np.float32)
#: Each time a rule that chooses by its intervals; the race by betting has its reference in `test_references`.
OFTEN = (("lucb", "empirical-bernstein"),)


def rules(radius, **values):
    """Each rule with intervals of one kind."""
    return {
        "lucb": jb.LUCB(radius=radius, **values),
        "ugape-c": jb.UGapEc(radius=radius, **values),
        "race": jb.BettingRace(radius=radius, **values),
    }


def intervals(radius, rewards, delta, b=1.0):
    """The intervals of each arm by its rewards so far, one sequence at a time."""
    level, cells = np.float32(np.log(2 * len(rewards) / delta)), CELLS if radius == "betting" else 0
    ends = [[x[-1] for x in bounds(np.asarray(seen, np.float32) / np.float32(b), level, cells)] for seen in rewards]
    return b * np.asarray(ends).T


@pytest.mark.parametrize(
    ("name", "radius"),
    [
        pytest.param(name, radius, marks=[pytest.mark.slow] * ((name, radius) not in OFTEN))
        for name in ("lucb", "ugape-c", "race")
        for radius in RADII
    ],
)
def test_a_run_has_the_intervals_of_its_rewards(name, radius):
    """Rewards in [0, 5], drawn again."""
    problem, key = jb.empirical(5 * TABLE[:, :3]), jax.random.key(3)
    rule = rules(radius, epsilon=0.0, delta=0.3, b=5.0)[name]
    state = jb.run(rule, problem, key, max_pulls=60)
    table = np.stack([problem.rewards(key, pull) for pull in range(int(state.pulls.max()))])
    rewards = [table[:pulls, arm] for arm, pulls in enumerate(state.pulls)]
    np.testing.assert_allclose([np.mean(x) for x in rewards], state.mean, rtol=1e-5)
    lower, upper = intervals(radius, rewards, 0.3, b=5.0)
    np.testing.assert_allclose(state.own.intervals.lower, lower, atol=1e-5)
    np.testing.assert_allclose(state.own.intervals.upper, upper, atol=1e-5)
    assert (lower > 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("radius", RADII)
def test_arms_are_found_and_several_too(radius):
    problem = jb.beta([16.0, 12.0, 8.0, 4.0], [4.0, 8.0, 12.0, 16.0])
    for name, rule in rules(radius, epsilon=0.1, delta=0.1, m=2).items():
        data = jb.simulate(rule, problem, seeds=5)
        assert (data.status == 0).all(), name
        assert data.correct.all(), name


@pytest.mark.slow
@pytest.mark.parametrize("radius", RADII)
def test_problems_of_several_sizes_share_a_program_and_runs_keep_their_pulls(radius):
    """Arms that do not exist are left out."""
    rule = jb.LUCB(epsilon=0.2, delta=0.1, radius=radius)
    few, many = jb.bernoulli([0.95, 0.2]), jb.bernoulli([0.95, 0.2, 0.1, 0.1])
    both = jb.sweep(rule, [few, many], seeds=5)
    for place, problem in enumerate((few, many)):
        alone = jb.simulate(rule, problem, seeds=5)
        np.testing.assert_array_equal(both.isel(problem=place).pulls, alone.pulls)


UNBOUNDED = [jb.gaussian([0.5, 0.3], 0.1), jb.poisson([1.0, 2.0])]


@pytest.mark.parametrize("problem", UNBOUNDED, ids=["gaussian", "poisson"])
@pytest.mark.parametrize(
    "rule",
    [
        jb.LUCB(epsilon=0.1, delta=0.1, radius="betting", b=1.0),
        jb.UGapEc(epsilon=0.1, delta=0.1, radius="empirical-bernstein", b=1.0),
        jb.BettingRace(epsilon=0.1, delta=0.1, b=1.0),
        jb.UniformGLR(epsilon=0.1, delta=0.1, family="gaussian", stopping="betting", b=1.0),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_rewards_without_a_largest_value_are_refused(rule, problem):
    with pytest.raises(jb.UsageError, match=r"by betting needs rewards in \[0, b\]"):
        jb.simulate(rule, problem, seeds=2)


def test_other_rewards_outside_the_interval_are_refused():
    rule = jb.BettingRace(epsilon=0.1, delta=0.1)
    with pytest.raises(jb.UsageError, match="may be negative"):
        jb.simulate(rule, jb.empirical(TABLE - 0.5), seeds=2)
    with pytest.raises(jb.UsageError, match=r"reach 1, and b is 0\.5"):
        jb.simulate(jb.LUCB(epsilon=0.1, delta=0.1, radius="betting", b=0.5), jb.bernoulli([0.5, 0.4]), seeds=2)
    with pytest.raises(jb.UsageError, match="by betting needs rewards in"):
        jb.AskTell(rule, arms=3, bounded=False)
    session = jb.AskTell(rule, arms=3)
    with pytest.raises(jb.UsageError, match="outside"):
        session.tell(session.ask(), 1.5)
    with pytest.raises(jb.UsageError, match="variance has radii of its own"):
        jb.UGapEc(epsilon=0.1, delta=0.1, variance=True, radius="betting")
    with pytest.raises(jb.UsageError, match="threshold is for stopping=glr"):
        jb.UniformGLR(delta=0.1, threshold="kk21", stopping="betting")


ABOVE = jb.empirical(TABLE + 2)


def test_rewards_that_begin_above_zero_are_scaled_by_the_largest():
    assert jb.LUCB(epsilon=0.1, delta=0.1, radius="betting").resolved(ABOVE).b == pytest.approx(TABLE.max() + 2)


@pytest.mark.slow
def test_the_best_is_found_where_rewards_begin_above_zero():
    data = jb.simulate(jb.BettingRace(epsilon=0.1, delta=0.1), ABOVE, seeds=10)
    assert data.correct.all()


@pytest.mark.slow
def test_all_deltas_share_runs_of_a_rule_that_stops_by_betting():
    """A run stops later for a smaller delta, on the same path of pulls, and as it does alone."""
    problem = jb.beta([8.0, 5.0, 2.0], [2.0, 5.0, 8.0])
    rule = jb.UniformGLR(delta=jb.axis([0.001, 0.05, 0.3]), stopping="betting")
    pulls = jb.sweep(rule, problem, seeds=20).pulls.transpose("delta", "seed").to_numpy()
    assert (np.diff(pulls, axis=0) <= 0).all()
    alone = jb.simulate(jb.UniformGLR(delta=0.05, stopping="betting"), problem, seeds=20)
    np.testing.assert_array_equal(pulls[1], alone.pulls)


def promise_on(rule, problem, runs=3000):
    data = jb.simulate(rule, problem, seeds=runs, root_seed=17)
    assert (data.status == 0).all()
    assert upper_bound(int((~data.correct).sum()), runs) <= DELTA


def two_arms(name):
    """A table of a law and of one whose mean is lower by 0.16; rewards in [0, 1]."""
    rng = np.random.default_rng(4)
    draws = LAWS[name].draw(rng, (2000,))
    better = draws if draws.mean() > 0.3 else np.where(rng.random(2000) < 0.3, np.float32(1), draws)
    return jb.empirical(np.stack([better, better * np.float32(1 - 0.16 / better.mean())], axis=1), joint=False)


STOPPED = {
    f"{name} {radius}": rule for radius in RADII for name, rule in rules(radius, epsilon=0.15, delta=DELTA).items()
} | {"uniform-glr": jb.UniformGLR(epsilon=0.15, delta=DELTA, family="gaussian", stopping="betting")}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("rule", STOPPED.values(), ids=STOPPED)
def test_fails_less_often_than_delta_on_bounded_laws(rule, name):
    promise_on(rule, two_arms(name))


COINS, CLICKS = [0.6, 0.5, 0.4], [0.05, 0.03, 0.01]
PAIRS = {
    "lucb": (jb.LUCB(epsilon=0.0, delta=0.05), jb.LUCB(epsilon=0.0, delta=0.05, radius="empirical-bernstein")),
    "lucb betting": (jb.LUCB(epsilon=0.0, delta=0.05), jb.LUCB(epsilon=0.0, delta=0.05, radius="betting")),
    "ugape-c": (jb.UGapEc(epsilon=0.0, delta=0.05), jb.UGapEc(epsilon=0.0, delta=0.05, radius="empirical-bernstein")),
    "elimination": (jb.SuccessiveElimination(delta=0.05), jb.BettingRace(epsilon=0.0, delta=0.05)),
    "stopping": (jb.UniformGLR(delta=0.05, stopping="lucb-gap"), jb.UniformGLR(delta=0.05, stopping="betting")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_betting_takes_no_more_pulls_than_hoeffding_on_coins_and_half_on_clicks(name):
    """Measured are a half and less, and a tenth and less: means of 20 runs are far enough from the limits."""
    by_hoeffding, by_betting = PAIRS[name]
    for means, most in ((COINS, 1.1), (CLICKS, 0.5)):
        problem = jb.bernoulli(means)
        ours, theirs = (float(jb.simulate(r, problem, seeds=20).pulls.mean()) for r in (by_betting, by_hoeffding))
        assert ours <= most * theirs
