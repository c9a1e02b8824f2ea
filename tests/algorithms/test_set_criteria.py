"""The criteria for answers of any number of arms, against sets of arms by their definitions."""

import itertools
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms.set_criteria import SET_CRITERIA

MEANS = (0.9, 0.75, 0.6, 0.5, 0.2)
PROBLEM = jb.bernoulli(MEANS)
ALL = [np.asarray(mask) for mask in itertools.product((False, True), repeat=len(MEANS))]


def right_answers(name, tolerance, fields):
    """The sets of arms that a criterion calls right."""
    asked = SimpleNamespace(traits=SimpleNamespace(tolerance=tolerance), **fields)
    judged = [bool(SET_CRITERIA[name](asked, PROBLEM, jnp.asarray(mask))) for mask in ALL]
    return {tuple(np.flatnonzero(mask)) for mask, right in zip(ALL, judged, strict=True) if right}


@pytest.mark.parametrize(
    ("name", "tolerance", "fields", "expected"),
    [
        ("above-threshold", None, {"threshold": 0.55}, ["012"]),
        ("above-threshold", None, {"threshold": 0.6}, ["012"]),
        ("above-threshold", "epsilon", {"threshold": 0.55, "epsilon": 0.1}, ["01", "012", "013", "0123"]),
        ("one-above-threshold", None, {"threshold": 0.7}, ["0", "1"]),
        ("one-above-threshold", None, {"threshold": 0.95}, [""]),
        ("all-good", None, {"epsilon": 0.2}, ["01"]),
        ("all-good", None, {"epsilon": 0.3}, ["012"]),  # an arm on the line is good, whatever float32 makes of it
        ("all-good", "gamma", {"epsilon": 0.2, "gamma": 0.1}, ["01", "012"]),
        ("all-good", None, {"epsilon": 0.4, "multiplicative": True}, ["012"]),
        ("all-good", "gamma", {"epsilon": 0.4, "gamma": 0.7, "multiplicative": True}, ["012", "0123", "0124", "01234"]),
    ],
)
def test_right_answers(name, tolerance, fields, expected):
    assert right_answers(name, tolerance, fields) == {tuple(map(int, arms)) for arms in expected}


@pytest.mark.parametrize(("threshold", "epsilon", "mean"), [(0.3, 0.1, 0.2), (0.15, 0.05, 0.1), (0.55, 0.1, 0.45)])
def test_an_arm_at_the_end_of_the_tolerance_may_be_returned(threshold, epsilon, mean):
    problem = jb.bernoulli([mean, 0.9, threshold + epsilon])
    asked = SimpleNamespace(traits=SimpleNamespace(tolerance="epsilon"), threshold=threshold, epsilon=epsilon)
    judged = [bool(SET_CRITERIA["above-threshold"](asked, problem, np.asarray(a))) for a in ([1, 1, 1], [0, 1, 1])]
    assert judged == [True, True]
    assert not SET_CRITERIA["above-threshold"](asked, problem, np.asarray([1, 1, 0]))  # at threshold + epsilon


@jb.algorithm
class All:
    """Returns all arms."""

    budget: int
    traits = jb.Traits(criterion="above-threshold", answers="any")

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= self.budget

    def recommend(self, arms):
        return arms.pulls > 0


@jb.algorithm
class AllAbove(All):
    """With the field that its criterion reads."""

    threshold: float = 0.1


def test_a_rule_of_ones_own_is_judged_by_name():
    assert jb.simulate(AllAbove(budget=8), PROBLEM, 2).correct.all()
    with pytest.raises(jb.UsageError, match="All: its criterion needs a field 'threshold'"):
        jb.simulate(All(budget=8), PROBLEM, 2)
    with pytest.raises(jb.UsageError, match="'all-good' needs answers='any', got 1"):
        jb.Traits(criterion="all-good")


@pytest.mark.slow
def test_the_first_pulls_may_find_several_good_arms_of_which_one_is_returned():
    """With a threshold below the range of the rewards, all arms are good at once."""
    problem = jb.gaussian([0.1, -0.1, -0.3], 0.3)
    largest = {"largest": lambda problem, state, answer: jnp.argmax(state.mean)}
    ds = jb.simulate(jb.HDoCFirst(delta=0.5, threshold=-3.0, b=0.5), problem, seeds=50, metrics=largest)
    assert (ds.pulls == 3).all()
    assert ds.correct.all()
    assert (ds.recommended.sum("arm") == 1).all()
    np.testing.assert_array_equal(ds.recommended.argmax("arm"), ds.largest)
    assert jb.simulate(jb.HDoC(delta=0.5, threshold=-3.0, b=0.5), problem, seeds=1).recommended.sum() != 1
