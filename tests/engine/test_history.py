"""Runs that start from counts of pulls made before."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.problems.pull_history import History

PROBLEM = jb.bernoulli([0.6, 0.5, 0.2])


def started(pulls, successes, problem=PROBLEM):
    return dataclasses.replace(problem, history=History.of_counts(pulls, successes))


@pytest.mark.parametrize(
    "rule",
    [
        jb.UGapEc(epsilon=0.05, delta=0.1),
        pytest.param(jb.LUCBPlusPlus(epsilon=0, delta=0.1), marks=pytest.mark.slow),
        pytest.param(jb.UniformGLR(delta=0.1), marks=pytest.mark.slow),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_a_run_goes_on_from_its_own_counts_as_if_it_had_not_ended(rule):
    key = jax.random.key(3)
    whole, half = jb.run(rule, PROBLEM, key), jb.run(rule, PROBLEM, key, max_pulls=60)
    assert int(whole.time) > 60
    assert int(half.time) <= 60
    other = jb.run(rule, started(half.pulls, half.total), key)
    for name in ("pulls", "total", "time", "answer"):
        assert np.array_equal(getattr(whole, name), getattr(other, name)), name


def test_arms_with_too_few_pulls_are_pulled_first():
    rule = jb.UGapEc(epsilon=0.3, delta=0.1, variance=True)  # two pulls of each arm
    state = jb.run(rule, started([0, 1, 900], [0, 1, 180]), jax.random.key(0), max_pulls=904)
    assert state.pulls.tolist()[2] == 900
    assert state.time == 904
    assert float(state.squares[2]) == pytest.approx(144.0)


def test_squares_are_those_of_the_rewards():
    rewards = np.repeat([0.0, 1.0], [13, 4])
    assert float(History.of_counts([17, 2], [4, 1]).squares[0]) == pytest.approx(17 * rewards.var(), rel=1e-6)


def test_rounds_of_lucb_are_no_fewer_than_the_pulls_of_any_arm():
    state = jb.run(jb.LUCB(epsilon=0.1, delta=0.1), started([500, 40, 3], [300, 20, 0]), jax.random.key(0), 545)
    assert int(state.own.round) == 501


@pytest.mark.slow
def test_sweeps_run_from_counts_and_cannot_be_repeated_from_their_text():
    ds = jb.simulate(jb.UGapEc(epsilon=0.1, delta=0.1), started([500, 500, 500], [300, 250, 100]), seeds=20)
    assert int(ds.pulls.min()) >= 1500
    assert "cannot_be_repeated" in ds.attrs["spec"]


@pytest.mark.parametrize(
    "rule",
    [
        jb.SuccessiveElimination(delta=0.1),
        jb.LUCB(epsilon=0.1, delta=0.1, radius="betting"),
        jb.UniformGLR(delta=0.1, stopping="betting"),
        jb.TrackAndStop(delta=0.1, tracking="c"),
        jb.LilUCB(delta=0.1),
        jb.HoeffdingRace(epsilon=0.1, delta=0.1),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_rules_that_must_see_each_reward_are_refused_by_name(rule):
    with pytest.raises(jb.UsageError, match=f"{type(rule).__name__} cannot start from counts"):
        jb.simulate(rule, started([9, 9, 9], [3, 3, 3]), seeds=2)
