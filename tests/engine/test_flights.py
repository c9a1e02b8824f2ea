"""Pulls in flight: a slow program of the platform decides the same, and without them nothing changes."""

import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine.flights import flight_of
from jaxbandits.random.streams import root_key, run_key
from jaxbandits.random.threefry import key_words
from jaxbandits.sweeps.plan import make_plan
from tests.reward_tables import tables
from tests.slow_platform import Lucb, Ugape, Wander, reference

PROBLEM = jb.gaussian([0.8, 0.5, 0.0], sd=0.5)
SEEDS, PULLS = 10, 3000


@jb.algorithm
class Wanders:
    """Pulls a random arm with probability one half, and else that with the largest index; remembers the last reward."""

    budget: int

    def init(self, arms, key):
        return jnp.float32(0.0)

    def select(self, last, arms, key):
        toss, which = jax.random.split(key)
        index = arms.mean + 1 / jnp.sqrt(arms.pulls) + 0 * last
        other = jax.random.randint(which, (), 0, arms.count)
        return jnp.where(jax.random.uniform(toss) < 0.5, other, jnp.argmax(index))

    def update(self, last, arms, arm, reward):
        return reward.astype(jnp.float32)

    def done(self, last, arms):
        return (arms.time >= self.budget) | (last > 1.9)

    def recommend(self, last, arms):
        return jnp.argmax(arms.mean)


RULES = {
    "ugape": (jb.UGapEc(epsilon=0.2, delta=0.1, b=1.0), lambda: Ugape(0.2, 0.1)),
    "lucb": (jb.LUCB(epsilon=0.2, delta=0.1, b=1.0), lambda: Lucb(0.2, 0.1)),
    "wanders": (Wanders(budget=100), lambda: Wander(100)),
}


@functools.cache
def seen_rewards():
    """Rewards and keys of the runs, arms in the order of each run, and their places."""
    keys = run_key(root_key(0), np.arange(SEEDS, dtype=np.uint32))
    rewards, places = tables(PROBLEM, keys, pulls=PULLS)
    return np.asarray(rewards), np.asarray(places), keys


def delays_of(key, batch, delay):
    drawn = flight_of(batch, delay).delay(key_words(key), jnp.arange(2 * PULLS, dtype=jnp.int32))
    return np.asarray(drawn)


def told_pulls(problem, state, recommended):
    return state.pulls


def runs_that_agree(name, batches, delays):
    """Return the runs of a grid, after checking that they are those of the reference in every cell."""
    rule, slow = RULES[name]
    metrics = {"arms_told": told_pulls}
    ds = jb.sweep(rule, PROBLEM, SEEDS, batch=jb.axis(batches), delay=jb.axis(delays), metrics=metrics)
    rewards, places, keys = seen_rewards()
    for batch in batches:
        for delay in delays:
            cell = ds.sel(batch=batch, delay=str(delay) if isinstance(delay, str) else delay)
            for seed in range(SEEDS):
                run = cell.sel(seed=seed)
                found = reference(
                    slow(),
                    rewards[seed][:, np.argsort(places[seed])],
                    keys[seed],
                    delays_of(keys[seed], batch, delay),
                    batch,
                )
                asked, told, elapsed, of_arms = found
                assert (int(run.pulls), int(run.told), int(run.elapsed)) == (asked.sum(), told, elapsed), (batch, delay)
                np.testing.assert_array_equal(run.arms_told, of_arms[places[seed]])
    return ds


def same(one, other):
    for name in one.data_vars:
        np.testing.assert_array_equal(one[name].to_numpy(), other[name].to_numpy(), err_msg=name)


def test_a_rule_of_two_arms_decides_as_a_slow_program_and_without_flights_no_bit_changes():
    ds = runs_that_agree("lucb", [1, 5], [0, 7])
    plain = jb.simulate(RULES["lucb"][0], PROBLEM, SEEDS, metrics={"arms_told": told_pulls})
    alone = ds.sel(batch=1, delay=0)
    same(plain, alone)
    np.testing.assert_array_equal(alone.told, plain.pulls)
    assert (ds.told <= ds.pulls).all()
    assert (ds.pulls <= ds.elapsed).all()
    assert (ds.sel(delay=7).told < ds.sel(delay=7).pulls).any()


@pytest.mark.slow
def test_a_users_rule_that_draws_and_remembers_decides_as_a_slow_program_with_random_delays():
    ds = runs_that_agree("wanders", [1, 3], ["geometric:6", "geometric:0.5"])
    assert (ds.pulls <= 100).all()  # what is in flight does not pass the budget


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("delays", [[0, 1, 40], ["geometric:6"], ["uniform:3,12"]])
def test_every_rule_decides_as_a_slow_program_of_the_platform(name, delays):
    runs_that_agree(name, [1, 2, 7], delays)


@pytest.mark.slow
@pytest.mark.bits
@pytest.mark.parametrize("delay", [9, "uniform:3,12"])
@pytest.mark.parametrize("rule", [jb.UGapEc(epsilon=0.2, delta=0.1), jb.EBTCI(delta=0.2), Wanders(budget=60)])
def test_lanes_chunks_devices_and_other_cells_change_no_bit(rule, delay):
    problem = jb.bernoulli([0.7, 0.5, 0.5, 0.3])
    grid = jb.sweep(rule, problem, 40, batch=jb.axis([1, 4]), delay=jb.axis([0, delay]))
    alone = jb.simulate(rule, problem, 40, batch=4, delay=delay, lanes=7, chunk=5, devices=1)
    same(grid.sel(batch=4, delay=str(delay) if isinstance(delay, str) else delay), alone)
    same(alone.isel(seed=[3]), jb.simulate(rule, problem, 1, first_seed=3, batch=4, delay=delay))


@pytest.mark.slow
def test_padded_arms_checkpoints_and_limits_hold_in_flight():
    rule, sizes = jb.UGapEc(epsilon=0.3, delta=0.1), jb.axis([3, 4, 7])
    padded = jb.sweep(rule, jb.linear(n=sizes), 30, batch=2, delay=5)
    for arms in sizes.values:
        same(padded.sel(n=arms).isel(arm=slice(arms)), jb.simulate(rule, jb.linear(n=arms), 30, batch=2, delay=5))
    curve = jb.simulate(rule, PROBLEM, 30, batch=2, delay=5, checkpoints=[20, 41])
    assert ((curve.told == curve.checkpoint) | (curve.status == 0)).all()
    assert (curve.pulls >= curve.told).all()
    limited = jb.simulate(rule, PROBLEM, 30, batch=2, delay=5, max_pulls=50)
    assert (limited.pulls <= 50).all()
    cut = limited.isel(seed=limited.status == 1)
    assert cut.sizes["seed"] > 0
    assert (cut.told == cut.pulls).all()
    # First pulls: two batches and the delay. The last of the 47 others begins the 24th batch, and comes 7 pulls later.
    np.testing.assert_array_equal(cut.elapsed, 4 + 5 + 2 * -(-(46 + 2 + 5) // 2))
    plain, alone = (jb.simulate(rule, PROBLEM, 30, max_pulls=50, **more) for more in ({}, {"batch": 1}))
    same(plain, alone)


@pytest.mark.slow
def test_rules_that_ask_for_many_pulls_wait_as_their_requests_say():
    for rule in (jb.SuccessiveRejects(budget=103), jb.MedianElimination(epsilon=0.5, delta=0.2)):
        same(jb.simulate(rule, PROBLEM, 9), jb.simulate(rule, PROBLEM, 9, batch=10, delay=25))
    metrics = {"arms_told": told_pulls}
    races = jb.simulate(jb.SuccessiveElimination(delta=0.2), PROBLEM, 30, batch=2, delay=9, metrics=metrics)
    for seed in range(30):
        pulls = races.arms_told.sel(seed=seed).to_numpy()
        left = [(pulls > number).sum() for number in range(pulls.max())]
        assert races.elapsed.sel(seed=seed) == sum(2 * -(-number // 2) + 9 for number in left)
    uniform = jb.simulate(jb.Uniform(budget=50), PROBLEM, 5, batch=8, delay=9)
    np.testing.assert_array_equal(uniform.elapsed, 8 + 9 + 64)  # first pulls; six batches and the delay
    halving = jb.simulate(jb.SequentialHalving(budget=60), jb.linear(n=4), 5, batch=8, delay=9)
    np.testing.assert_array_equal(halving.elapsed, 2 * (32 + 9))
    np.testing.assert_array_equal(halving.waits, 2)
    assert "waits" not in uniform
    for seed in range(30):
        assert races.waits.sel(seed=seed) == races.arms_told.sel(seed=seed).max()


@pytest.mark.parametrize(("delay", "mean", "most"), [("geometric:6", 6, 140), ("uniform:3,12", 7.5, 12), ("7", 7, 7)])
def test_delays_have_their_law(delay, mean, most):
    law = flight_of(1, delay if ":" in delay else int(delay))
    drawn = np.asarray(law.delay(key_words(jax.random.key(3)), jnp.arange(200_000, dtype=jnp.int32)), np.float64)
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - mean) <= 5.5 * error
    assert drawn.max() <= most
    if delay.startswith("geometric"):
        np.testing.assert_allclose(np.mean(drawn >= 12), (6 / 7) ** 12, atol=5.5 * 0.5 / np.sqrt(len(drawn)))


@pytest.mark.parametrize(
    ("rule", "options", "why"),
    [
        (jb.LUCB(epsilon=0.2, delta=0.1), {"batch": 0}, "batch must be a whole number from 1 to 65,536, got 0"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"batch": 1.5}, "batch must be a whole number from 1 to 65,536, got 1.5"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"delay": -1}, "a delay must be a whole number, at least 0, got -1"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"delay": "geom:3"}, "a delay is a number of pulls, geometric:MEAN or"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"delay": "uniform:5,2"}, "from the smaller number to the larger, got 5 and"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"delay": 10**6}, "may have 1,000,002 pulls in flight, more than 65,536"),
        (jb.LUCB(epsilon=0.2, delta=0.1), {"delay": jb.axis([1, 2], name="arm")}, "an axis cannot be called 'arm'"),
        (jb.KUBE(budget=50.0), {"batch": 2}, "KUBE pays for each pull"),
        (jb.RCBAIR(budget=50.0), {"batch": 2}, "RCBAIR takes ever more arms"),
        (jb.SuccessiveRejects(budget=99), {"delay": "geometric:6"}, "SuccessiveRejects waits for the last of many"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_line(rule, options, why):
    with pytest.raises(jb.UsageError) as refused:
        jb.simulate(rule, jb.bernoulli([0.7, 0.5, 0.4]), 10, **options)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_rule_that_does_not_see_pulls_in_flight_is_named_in_a_warning():
    problem = jb.bernoulli([0.7, 0.5, 0.4])
    page = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
    blind = [
        jb.TTUCB(delta=0.1), jb.EBTC(delta=0.1), jb.AnytimeEBTC(budget=50), jb.LilUCB(delta=0.1), jb.FC2FB(budget=50),
        jb.OCBA(budget=50), jb.OCBAm(budget=50, m=1), jb.ST2(delta=0.1, epsilon=0.2), jb.LSA(budget=50, threshold=0.45),
        jb.LUCBG(delta=0.1, threshold=0.45), jb.LUCB(0.2, 0.1, radius="betting"),
        jb.UGapEc(0.2, 0.1, radius="empirical-bernstein"),
    ]  # fmt: skip
    told_only = page[page.index("The next arm of") : page.index("A warning names them")]
    for rule in blind:
        name = f"jb.{type(rule).__name__}"
        assert f"`{name if rule.given('radius') is None else rule.radius}`" in told_only
        with pytest.warns(UserWarning, match=f"{type(rule).__name__} decides on its next arm by told rewards only"):
            make_plan(rule, problem, 10, batch=2)
        make_plan(rule, problem, 10, batch=1, delay=0)  # nothing is in flight when it selects
    linear = jb.LinGame(delta=0.1, features=np.eye(3))  # its methods take rows of an array by number
    for rule in (jb.EBTCI(delta=0.1), jb.TTTS(delta=0.1), jb.TrackAndStop(delta=0.1), jb.LUCB(0.2, 0.1, m=2), linear):
        make_plan(rule, problem, 10, delay="geometric:5")
