"""Rules of `jb.algorithm`: each run has its own bits, whatever is beside it; what comes out is in the problem's order.

Sampled tests have fixed seeds; each states the probability that a fresh seed would fail it although all is right.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine import binding
from jaxbandits.engine.compilation import compile_clock
from tests.algorithms.one_run_rules import RULES, Careless, Halving, OwnLUCB, OwnUCBE, OwnUGapEc

ROOT, SEEDS = 4, 24
PROBLEMS = {
    "bernoulli": jb.bernoulli([0.9, 0.6, 0.5]),
    "normal": jb.gaussian([0.5, 0.45, 0.2, 0.1, 0.0, -0.2, -0.3], 0.5),
    "many": jb.bernoulli(np.linspace(0.95, 0.05, 20)),
}
#: Draws, has a state of its own, and asks for two arms a step.
EACH_TIME = ("careless",)
OUT = ("pulls", "steps", "status", "recommended")


def key_of(seed):
    return jax.random.fold_in(jax.random.key(ROOT), seed)


def assert_same(runs, others):
    for name in OUT:
        arms = min(runs[name].shape[-1], others[name].shape[-1])
        columns = (..., slice(arms)) if name == "recommended" else ...
        np.testing.assert_array_equal(runs[name].values[columns], others[name].values[columns], err_msg=name)


@pytest.mark.slow  # one careless rule each time: tests/engine/test_careless_rules.py
@pytest.mark.bits
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("rule", RULES)
def test_a_run_has_its_own_bits(rule, problem):
    """Alone, and with few others and more arms: one program for both of the last, since each is optimised for users."""
    rule, problem = RULES[rule], PROBLEMS[problem]
    wider = problem if rule is RULES["gaps"] else problem.padded(problem.arms + 6)
    runs = jb.simulate(rule, problem, SEEDS, root_seed=ROOT)
    assert_same(runs, jb.simulate(rule, wider, SEEDS, root_seed=ROOT, lanes=7))
    for seed in (0, 17):
        state = jb.run(rule, problem, key_of(seed))
        assert int(state.time) == int(runs.pulls[seed])
        np.testing.assert_array_equal(state.answer, runs.recommended[seed])


@pytest.mark.parametrize(
    "rule",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in EACH_TIME)) for name in RULES if name != "gaps"],
)
def test_numbers_of_arms_share_a_program(rule):
    with compile_clock() as clock:
        runs = jb.sweep(RULES[rule], jb.linear(n=jb.axis([3, 5, 6])), 11, root_seed=ROOT)
    assert clock.programs == 1
    for n in (3, 6):
        assert_same(jb.simulate(RULES[rule], jb.linear(n=n), 11, root_seed=ROOT), runs.sel(n=n))


@pytest.mark.slow
def test_what_cannot_be_padded_is_compiled_for_each_number_of_arms():
    with compile_clock() as clock:
        runs = jb.sweep(RULES["gaps"], jb.linear(n=jb.axis([3, 5])), 11, root_seed=ROOT)
    assert clock.programs == 2
    for n in (3, 5):
        assert_same(jb.simulate(RULES["gaps"], jb.linear(n=n), 11, root_seed=ROOT), runs.sel(n=n))


@pytest.mark.slow
def test_whether_a_rule_can_be_padded_is_asked_once_for_all_cells(monkeypatch):
    asked, traced, why = [], [], binding.why_unpaddable

    def noted(rule, problem, numbers):
        asked.append(problem.arms)
        traced.append(numbers)
        return why(rule, problem, numbers)

    monkeypatch.setattr(binding, "why_unpaddable", noted)
    jb.sweep(OwnUCBE(budget=30, a=jb.axis([0.5, 1.0, 2.0])), jb.linear(n=jb.axis([3, 4, 5])), 2)
    assert asked == [8]  # the width that all of them have
    assert traced == [(3, 4, 5)]
    asked.clear()
    jb.sweep(OwnUCBE(budget=30, a=jb.axis([0.5, 1.0, 2.0])), jb.linear(n=4), 2)
    assert not asked
    # A user's code may have changed by the next call, the package's has not.
    for rule, again in ((OwnUCBE(budget=30, a=1.0), [8]), (jb.UCBE(budget=30, a=1.0), [])):
        jb.sweep(rule, jb.linear(n=jb.axis([3, 5])), 2)
        asked.clear()
        jb.sweep(rule, jb.linear(n=jb.axis([3, 5])), 2)
        assert asked == again


@pytest.mark.slow
def test_what_is_followed_with_few_arms_and_not_with_the_room_for_more_is_not_padded():
    class Late(OwnUCBE):
        def select(self, arms, key):
            return jnp.argmin(arms.pulls) if len(arms) > 25 else jnp.argmax(arms.mean)

    late = jb.algorithm(Late)(budget=60, a=1.0)
    runs = jb.sweep(late, jb.linear(n=jb.axis([17, 18])), 5, root_seed=ROOT)
    for n in (17, 18):
        assert_same(jb.simulate(late, jb.linear(n=n), 5, root_seed=ROOT), runs.sel(n=n))


@pytest.mark.slow
def test_ties_are_fair_whatever_the_order_of_the_arms():
    """Of three best arms each is returned as often, and as often in another order; false alarm below 1e-6."""
    runs, p = 100_000, 1 / 3
    for means in ([0.7, 0.7, 0.7, 0.2], [0.2, 0.7, 0.7, 0.7]):
        found = jb.simulate(OwnUCBE(budget=40, a=1.0), jb.bernoulli(means), runs, root_seed=ROOT)
        share = found.recommended.values[:, np.asarray(means) > 0.5].mean(axis=0)
        error = np.sqrt(p * (1 - p) / runs)
        assert np.all(np.abs(share - share.mean()) < 5.5 * error)
    failures = []
    for means in (jb.abm(4).mean, jb.abm(4).mean[::-1]):
        found = jb.simulate(OwnUCBE(budget=200, a=1.0), jb.bernoulli(np.asarray(means)), runs, root_seed=ROOT)
        failures.append(1 - found.correct.mean().item())
    error = np.sqrt(2 * failures[0] * (1 - failures[0]) / runs)
    assert abs(failures[0] - failures[1]) < 5.5 * error


def test_arms_may_stay_in_the_order_of_the_problem():
    class Ordered(OwnUCBE):
        shuffle_arms = False

        def done(self, arms):
            return arms.time >= arms.count

    ordered = jb.algorithm(Ordered)(budget=1, a=1.0)
    runs = jb.simulate(ordered, jb.bernoulli([1.0, 1.0, 1.0]), 50)
    assert runs.recommended.values[:, 0].all()  # the first of three equal means


def test_metrics_and_states_are_in_the_order_of_the_problem():
    problem = jb.bernoulli([0.95, 0.5, 0.05])
    metrics = {
        "pulls_of": lambda problem, state, answer: state.pulls,
        "mean_of": lambda problem, state, answer: state.mean,
        "score_of": lambda problem, state, answer: state.own["score"],
        "same": lambda problem, state, answer: jnp.all(state.answer == answer),
    }
    found = jb.simulate(Careless(budget=60, c=0.5), problem, SEEDS, root_seed=ROOT, metrics=metrics)
    assert found.same.all()
    np.testing.assert_array_equal(found.pulls_of.sum("arm"), found.pulls)
    for seed in (0, 5):
        state = jb.run(Careless(budget=60, c=0.5), problem, key_of(seed))
        np.testing.assert_array_equal(state.pulls, found.pulls_of[seed])
        np.testing.assert_array_equal(state.own["score"], found.score_of[seed])
        for arm in range(3):  # the means are those of the problem's table of rewards
            rewards = [int(problem.reward(key_of(seed), arm, pull)) for pull in range(int(state.pulls[arm]))]
            assert state.mean[arm] == np.float32(sum(rewards)) / np.float32(len(rewards))


@pytest.mark.slow
def test_a_trajectory_ends_as_the_run():
    rule, problem = RULES["lucb"], PROBLEMS["bernoulli"]
    state = jb.run(rule, problem, key_of(2))
    states = jb.trajectory(rule, problem, key_of(2), 2000)
    np.testing.assert_array_equal(states.pulls[-1], state.pulls)
    assert int(states.time[0]) == 3
    assert np.all(np.diff(states.time) >= 0)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in EACH_TIME))
        for name, rule in RULES.items()
        if not rule.in_batches
    ],
)
def test_a_session_pulls_what_the_run_pulls(rule):
    rule, problem, key = RULES[rule], jb.bernoulli([0.95, 0.6, 0.05]), key_of(3)
    state, seen = jb.run(rule, problem, key), np.zeros(3, int)
    session = jb.AskTell(rule, arms=3, key=key)
    while not session.done:
        arm = session.ask()
        session.tell(arm, int(problem.reward(key, arm, int(seen[arm]))))
        seen[arm] += 1
        if seen.sum() == 20:
            session = jb.AskTell.from_json(session.to_json(), rule)
    np.testing.assert_array_equal(seen, state.pulls)
    np.testing.assert_array_equal(session.recommendation, state.answer)


def test_a_session_of_batches_ends():
    session, told = jb.AskTell(Halving(budget=60), arms=4, key=1), np.zeros(4, int)
    while not session.done:
        arm = session.ask()
        session.tell(arm, float(arm == 2))
        told[arm] += 1
    assert session.recommendation.tolist() == [False, False, True, False]
    assert told[2] > 7
    assert told.sum() <= 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "built_in"),
    [
        (OwnUGapEc(epsilon=0.1, delta=0.05), jb.UGapEc(epsilon=0.1, delta=0.05)),
        (OwnLUCB(epsilon=0.1, delta=0.05), jb.LUCB(epsilon=0.1, delta=0.05)),
        (OwnUCBE(budget=400, a=2.0), jb.UCBE(budget=400, a=2.0)),
    ],
    ids=["ugape-c", "lucb", "ucb-e"],
)
def test_a_rule_makes_the_runs_of_the_built_in_one(own, built_in):
    """They see the same rewards and differ by ties alone, of which normal arms have few."""
    problem = jb.gaussian([0.6, 0.3, 0.2, 0.1], 0.5)
    runs = [jb.simulate(rule, problem, 200, root_seed=ROOT) for rule in (own, built_in)]
    np.testing.assert_allclose(runs[0].pulls.mean(), runs[1].pulls.mean(), rtol=0.02)
    assert (runs[0].recommended == runs[1].recommended).all("arm").mean() > 0.95
