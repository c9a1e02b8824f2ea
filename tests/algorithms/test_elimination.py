"""Rules that say which arms stay: what the engine does with them, and what it refuses."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine import elimination_rule
from jaxbandits.statistics.robust_means import Catoni, MedianOfMeans, TruncatedMean
from tests.algorithms.one_run_rules import OwnRace, OwnRejects

KEY = jax.random.key(8)
NORMAL = jb.gaussian([0.9, 0.5, 0.4, 0.1, -0.3], 0.4)


def mean(problem, arm, first, last, key=KEY):
    return np.mean([float(problem.reward(key, arm, pull)) for pull in range(first, last)])


def without_methods(rule, **changes):
    return jb.algorithm(type("Changed", (rule,), {"__doc__": "Changed.", **changes}))


class Phases:
    """Drops the worst arm after every third round."""

    rounds = staticmethod(lambda arms: 3)

    def keep(self, arms, key):
        return arms.active & (jnp.arange(len(arms)) != jnp.argmin(jnp.where(arms.active, arms.mean, jnp.inf)))


@pytest.mark.parametrize("reuse", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_means_are_those_of_the_rewards_that_count(reuse):
    rule = without_methods(Phases, reuse=reuse)()
    state = jb.run(rule, NORMAL, KEY)
    alive = list(range(5))
    for phase in range(1, 5):
        seen = {arm: mean(NORMAL, arm, 0 if reuse else 3 * phase - 3, 3 * phase) for arm in alive}
        alive.remove(min(seen, key=seen.get))
    assert np.flatnonzero(state.answer).tolist() == alive
    assert sorted(state.pulls.tolist()) == [3, 6, 9, 12, 12]
    assert int(state.time) == 42
    np.testing.assert_array_equal(state.active, state.answer)
    if reuse:
        np.testing.assert_allclose(state.mean, [mean(NORMAL, a, 0, n) for a, n in enumerate(state.pulls)], rtol=1e-5)


@pytest.mark.slow
def test_zero_rounds_are_a_look_at_once():
    rule = without_methods(Phases, rounds=lambda self, arms: jnp.where(arms.left == 4, 0, 2))()
    state = jb.run(rule, NORMAL, KEY)
    assert sorted(state.pulls.tolist()) == [2, 2, 4, 6, 6]
    states = jb.trajectory(rule, NORMAL, KEY, 30)
    np.testing.assert_array_equal(states.pulls[-1], state.pulls)
    runs = jb.simulate(rule, NORMAL, 3, metrics={"left": lambda problem, state, answer: state.left})
    assert runs.pulls.values.tolist() == [20] * 3
    assert runs.left.values.tolist() == [1] * 3


def test_a_rule_that_drops_nothing_goes_on():
    rule = without_methods(Phases, keep=lambda self, arms, key: arms.active, rounds=lambda self, arms: 0)()
    assert int(jb.run(rule, NORMAL, KEY, max_pulls=23).time) == 23


@pytest.mark.slow
def test_an_elimination_may_be_looked_at_in_between():
    runs = jb.simulate(OwnRace(delta=0.5), NORMAL, 20, checkpoints=[7, 40, 10**5])
    assert runs.pulls.sel(pulls_limit=7).values.tolist() == [7] * 20 if "pulls_limit" in runs.dims else True
    alone = jb.simulate(OwnRace(delta=0.5), NORMAL, 20)
    np.testing.assert_array_equal(runs.pulls.isel({runs.pulls.dims[-1]: -1}), alone.pulls)


def test_its_own_state_is_in_the_order_of_the_problem():
    state = jb.run(OwnRace(delta=0.5), NORMAL, KEY)
    assert state.own["looks"] == state.own["of"].max()
    np.testing.assert_array_equal(state.own["of"] == state.own["looks"], state.own["of"] == state.own["of"][0])
    assert state.answer.sum() <= 2
    assert bool(state.answer[0])


CATONI = Catoni(jnp.float32(1), jnp.float32(-2), jnp.float32(2))


@pytest.mark.parametrize(
    "estimator",
    [
        TruncatedMean(jnp.float32(0.2), jnp.float32(0.1)),
        pytest.param(MedianOfMeans(jnp.int32(3), slots=3), marks=pytest.mark.slow),
        pytest.param(CATONI, marks=pytest.mark.slow),
    ],
)
def test_a_rule_may_have_an_estimator(estimator):
    rule = without_methods(Phases, mean_estimator=lambda self, arms: estimator)()
    runs = jb.simulate(rule, NORMAL, 5)
    for seed in (0, 3):
        key = jax.random.fold_in(jax.random.key(0), seed)
        np.testing.assert_array_equal(jb.run(rule, NORMAL, key).answer, runs.recommended[seed])


def test_an_estimator_that_reads_all_earlier_rewards_has_no_session():
    rule = without_methods(Phases, mean_estimator=lambda self, arms: CATONI)()
    with pytest.raises(jb.UsageError, match="reads all earlier rewards again"):
        jb.AskTell(rule, arms=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"select": lambda self, arms, key: 0}, "has keep, so that arms are pulled in turn, and select"),
        ({"due": lambda self, arms: True}, "must have one of the methods rounds .* and due"),
        ({"rounds": lambda self, arms: 2.5}, r"rounds must return a number of rounds, int32 \(\), got"),
        ({"keep": lambda self, arms, key: arms.mean}, "keep: the arms that stay must be bool"),
        ({"keep": lambda self, arms, key: arms.active & False}, "keep kept no arm: at least one has to stay"),
        ({"init": lambda self, arms, key: 0, "rounds": lambda self, state, arms: 2,
          "keep": lambda self, state, arms, key: arms.active}, "keep must return the new state and the arms that stay"),
        ({"mean_estimator": lambda self, arms: "mom"}, "mean_estimator must return a MeanEstimator, got str"),
        ({"second_moments": True}, "its first round pulls each once, so initial_pulls must be 1"),
    ],
)  # fmt: skip
def test_what_no_elimination_does_is_refused_in_one_line(changes, message):
    for made in (lambda rule: jb.run(rule, NORMAL, KEY), lambda rule: jb.simulate(rule, NORMAL, 2)):
        with pytest.raises(jb.UsageError, match=message) as error:
            made(without_methods(Phases, **changes)())
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_rule_makes_the_runs_of_the_built_in_one():
    """Normal rewards have no ties."""
    runs = [jb.simulate(rule, NORMAL, 50) for rule in (OwnRejects(budget=200), jb.SuccessiveRejects(budget=200))]
    for name in ("pulls", "recommended"):
        np.testing.assert_array_equal(runs[0][name], runs[1][name])


@pytest.mark.slow
@pytest.mark.parametrize("rule", [jb.SuccessiveElimination(delta=0.3), OwnRace(delta=0.5)])
def test_looks_of_all_runs_at_once_have_the_same_bits(rule):
    """Elsewhere than on CPU a look without a loop is not made for a few runs at a time."""
    expected = jb.simulate(rule, NORMAL, 40, lanes=20)
    with override_lowering("gpu"), mock.patch.object(elimination_rule, "where_sparse", side_effect=AssertionError):
        found = jb.simulate(rule, NORMAL, 40, lanes=20)
    for variable in expected.data_vars:
        np.testing.assert_array_equal(found[variable], expected[variable], err_msg=variable)
