"""Rules of `jb.algorithm` that are wrong: one clear line, and nothing lost. And what follows without another line."""

import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from tests.algorithms.one_run_rules import RULES, Halving, OwnLUCB, OwnUCBE, OwnUGapEc

PROBLEM = jb.bernoulli([0.3, 0.8, 0.5])


class Base:
    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 30

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def rule(**methods):
    """Make a rule of `Base` with other methods."""
    return jb.algorithm(type("Rule", (Base,), {"__module__": __name__, **methods}))()


class Stateful:
    """The two methods of a state of one's own, and the others with it."""

    @staticmethod
    def methods(**changed):
        own = {
            "init": lambda self, arms, key: {"n": jnp.int32(0)},
            "update": lambda self, state, arms, arm, reward: {"n": state["n"] + 1},
            "select": lambda self, state, arms, key: jnp.argmin(arms.pulls),
            "done": lambda self, state, arms: arms.time >= 30,
            "recommend": lambda self, state, arms: jnp.argmax(arms.mean),
        }
        return own | changed


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"select": lambda self, arms, key: jnp.max(arms.mean)}, "select must return an arm"),
        ({"select": lambda self, arms, key: arms.pulls[None]}, "select must return an arm"),
        ({"select": lambda self, arms: 0}, r"select must take \(arms, key\)"),
        ({"done": lambda self, arms: arms.time}, "done must be bool"),
        ({"recommend": lambda self, arms: arms.mean}, "recommend"),
        ({"recommend": lambda self, arms: arms.mean[:2] > 0}, "recommend"),
        pytest.param({"select": lambda self, arms, key: arms.count}, "outside", marks=pytest.mark.slow),
        pytest.param(
            {"select": lambda self, arms, key: jnp.stack([jnp.int32(0), jnp.int32(-1)])},
            "outside",
            marks=pytest.mark.slow,
        ),
        ({"select": lambda self, arms, key: jnp.argmax(arms.variance)}, "second_moments"),
        (Stateful.methods(update=lambda self, s, arms, arm, reward: {"n": s["n"] * 1.0}), "must stay int32"),
        (Stateful.methods(update=lambda self, s, arms, arm, reward: (s["n"],)), "state built as that of init"),
        (Stateful.methods(init=lambda self, arms, key: {"n": "none"}), "must be an array"),
    ],
)
def test_a_wrong_method_is_refused_in_one_line(methods, said):
    with pytest.raises(jb.UsageError, match=said):
        jb.simulate(rule(**methods), PROBLEM, 5)


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"done": None}, "no method 'done'"),
        ({"select": None}, "must have one of the methods select"),
        ({"request": lambda self, arms, key: arms.pulls}, "must have one of the methods select"),
        ({"init": lambda self, arms, key: 0}, "both of the methods init and update"),
    ],
)
def test_a_class_that_is_no_rule_is_refused(methods, said):
    with pytest.raises(jb.UsageError, match=said):
        rule(**methods)


PREFERRED, TABLE = np.asarray([10.0, 0.0, 0.0]), jnp.asarray([1.0, 0.5, 0.25])


@pytest.mark.parametrize("select", [
    lambda self, arms, key: jnp.argmax(arms.mean + PREFERRED),
    lambda self, arms, key: jnp.argmax(arms.mean + jnp.asarray((10.0, 0.0, 0.0))),
    lambda self, arms, key: jnp.argmax(jax.jit(lambda x: x + PREFERRED)(arms.mean)),
    lambda self, arms, key: jnp.argmax(arms.mean * TABLE[arms.time % 3]),  # by chance of the same length
])  # fmt: skip
def test_an_array_from_outside_that_may_be_of_the_arms_is_refused(select):
    """Its values went to other arms in each run, without a word; the same array as a plain field was refused."""
    for start in (lambda rule: jb.simulate(rule, PROBLEM, seeds=1), lambda rule: jb.AskTell(rule, 3)):
        with pytest.raises(jb.UsageError, match=r"shape \(3,\) from outside, and there are 3 arms"):
            start(rule(select=select))
        start(rule(select=select, shuffle_arms=False))


@pytest.mark.parametrize("select", [
    lambda self, arms, key: jnp.argmax(arms.mean + np.log1p(np.arange(len(arms)))),
    lambda self, arms, key: jnp.argmax(np.eye(len(arms), dtype=np.float32) @ arms.mean),
    lambda self, arms, key: jnp.argmax(arms.mean + np.ones(3)),
])  # fmt: skip
def test_an_array_that_a_rule_makes_for_its_arms_is_taken(select):
    jb.simulate(rule(select=select), PROBLEM, seeds=1)
    jb.AskTell(rule(select=select), 3)


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_random_numbers_from_outside_jax_are_refused(draw):
    """All runs shared one number, drawn while the method was traced."""
    with pytest.raises(jb.UsageError, match=r"draw with jax\.random and a key of the run"):
        jb.simulate(rule(select=lambda self, arms, key: jnp.int32(draw() < 0.5)), PROBLEM, seeds=1)


def test_numbers_of_a_state_are_arrays_from_the_first_step_on():
    """`~True` is -2 in Python: the message was of a type that nobody had written."""
    flags = Stateful.methods(
        init=lambda self, arms, key: {"flag": True, "n": 0},
        update=lambda self, s, arms, arm, reward: {"flag": ~s["flag"], "n": s["n"].astype(jnp.int32) + 1},
    )
    state = jb.run(rule(**flags), PROBLEM, jax.random.key(0))
    assert int(state.own["n"]) == 30 - PROBLEM.arms
    assert bool(state.own["flag"]) == ((30 - PROBLEM.arms) % 2 == 0)


def test_several_values_are_an_axis():
    with pytest.raises(jb.UsageError, match=r"budget must be a number or an array, .* jb.axis\(\[1, 2\]\)"):
        OwnUCBE(budget=[1, 2], a=1.0)


def test_a_batch_that_takes_pulls_back_is_refused():
    wrong = {"select": None, "request": lambda self, arms, key: -arms.pulls - 1}
    with pytest.raises(jb.UsageError, match="took pulls back"):
        jb.simulate(rule(**wrong), PROBLEM, 5)


@pytest.mark.slow
def test_a_batch_without_a_pull_stalls():
    nothing = {"select": None, "request": lambda self, arms, key: arms.pulls * 0, "initial_pulls": 0}
    with pytest.warns(UserWarning, match="3 runs made 10,000 steps"):
        runs = jb.simulate(rule(**nothing), PROBLEM, 3)
    assert (runs.status == 2).all()


def test_a_range_of_rewards_is_needed_where_it_is_read():
    reads = {"select": lambda self, arms, key: jnp.argmax(arms.mean + arms.reward_range * arms.inverse_root)}
    assert (jb.simulate(rule(**reads), PROBLEM, 5).pulls == 30).all()
    with pytest.raises(jb.UsageError, match="heavy tails"):
        jb.simulate(rule(**reads), jb.student_t([0.5, 0.2], dof=3), 5)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [50, 51])
def test_no_step_passes_the_limit_of_pulls(limit):
    """From 3 pulls on two at a time, the limit is met at 51 and not passed at 50."""
    runs = jb.simulate(OwnLUCB(epsilon=0.0, delta=0.1), PROBLEM, 20, max_pulls=limit)
    assert (runs.pulls == limit - (limit - 3) % 2).all()
    assert (runs.status == 1).all()
    with pytest.raises(jb.UsageError, match="more than max_pulls"):
        jb.simulate(Halving(budget=500), PROBLEM, 5, max_pulls=100)


def test_an_arm_that_is_asked_for_twice_gives_two_rewards():
    twice = {"select": lambda self, arms, key: jnp.zeros(2, jnp.int32), "shuffle_arms": False}
    problem = jb.gaussian([0.0, 1.0])
    state = jb.run(rule(**twice), problem, jax.random.key(7))
    rewards = [float(problem.reward(jax.random.key(7), 0, pull)) for pull in range(int(state.pulls[0]))]
    assert int(state.pulls[0]) == 29  # two at the first step, and 14 times two
    np.testing.assert_allclose(state.total[0], np.sum(rewards), rtol=1e-5)


def test_words_and_switches_are_part_of_the_program():
    @jb.algorithm
    class Switched:
        budget: int
        greedy: bool = False
        mode: str = "least"

        def select(self, arms, key):
            return jnp.argmax(arms.mean) if self.greedy else jnp.argmin(arms.pulls)

        def done(self, arms):
            return arms.time >= self.budget

        def recommend(self, arms):
            return jnp.argmax(arms.mean) if self.mode == "least" else jnp.argmin(arms.mean)

    pulls = {"n": lambda problem, state, answer: jnp.max(state.pulls)}
    assert (jb.simulate(Switched(budget=30), PROBLEM, 9, metrics=pulls).n == 10).all()
    assert (jb.simulate(Switched(budget=30, greedy=True), PROBLEM, 9, metrics=pulls).n > 10).any()
    worst = jb.simulate(Switched(budget=3000, mode="most"), PROBLEM, 9)
    assert worst.recommended.values[:, 0].all()


@pytest.mark.slow
def test_a_grid_a_store_and_a_curve_follow(tmp_path):
    rule = OwnUCBE(budget=jb.axis([30, 60]), a=jb.axis([0.5, 2.0]))
    runs = jb.sweep(rule, PROBLEM, 20, store=tmp_path / "runs.zarr")
    assert dict(runs.sizes)["a"] == 2
    assert (runs.pulls.sel(budget=60) == 60).all()
    again = jb.repeat(runs.sel(a=2.0, budget=60).isel(seed=slice(3, 5)), algorithm=rule)
    np.testing.assert_array_equal(again.recommended, runs.recommended.sel(a=2.0, budget=60).isel(seed=slice(3, 5)))
    curve = jb.simulate(OwnUGapEc(epsilon=0.3, delta=0.1), PROBLEM, 20, checkpoints=[10, 50])
    assert (curve.pulls.isel(checkpoint=0) == 10).all()


@pytest.mark.slow
def test_gradients_follow():
    """In a parameter of the law, as of the built-in rule, which sees the same rewards."""
    problem = jb.gaussian([0.6, 0.2], 0.5)
    found = [
        jb.gradients.expected("pulls", rule, problem, seeds=1000)
        for rule in (RULES["ugape-c"], jb.UGapEc(epsilon=0.2, delta=0.1))
    ]
    np.testing.assert_allclose(found[0].gradient, found[1].gradient, rtol=0.05)


@jb.algorithm
class Declared(Base):
    budget: int
    rate: float = 0.5
    loose: Any = 1
    limit: int | None = None
    text: "int" = 3
    prior: jax.Array = jb.parameter(default=0.0, per_arm=True)

    def done(self, arms):
        return arms.time >= self.budget


@pytest.mark.parametrize("made", [lambda x: x, lambda x: jb.axis([7, x]), jnp.float32, np.float32, np.asarray])
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("budget", 100.5, "budget must be a whole number, got 100.5"),
        ("budget", np.nan, "budget must be a whole number, got nan"),
        ("budget", np.inf, "budget must be a whole number, got inf"),
        ("limit", 2.5, "limit must be a whole number, got 2.5"),
        ("text", 2.5, "text must be a whole number, got 2.5"),
        ("rate", np.nan, "rate must be a number, got nan"),
        ("loose", np.nan, "loose must be a number, got nan"),
        ("prior", np.nan, "prior must be a number, got nan"),
    ],
)
def test_numbers_that_a_field_is_not_for_are_refused(made, name, value, said):
    def run():
        jb.sweep(Declared(**{"budget": 9, name: made(value)}), PROBLEM, seeds=2, max_pulls=100)

    with pytest.raises(jb.UsageError, match=f"^Declared: {said}$"):
        run()


def test_numbers_are_refused_at_every_entry():
    wrong = Declared(budget=jnp.float32(100.5))
    for call in (
        lambda: jb.AskTell(wrong, arms=3),
        lambda: jb.run(wrong, PROBLEM, jax.random.key(0)),
        lambda: jb.simulate(wrong, PROBLEM, seeds=2, max_pulls=100),
        lambda: jb.sweep(
            Declared(budget=jb.axis([jnp.float32(9), jnp.float32(100.5)])), PROBLEM, seeds=2, max_pulls=100
        ),
        lambda: jb.simulate(Declared(budget=9, prior=np.asarray([0.0, np.nan, 0.0])), PROBLEM, seeds=2, max_pulls=100),
    ):
        with pytest.raises(jb.UsageError, match=r"^Declared: (budget|prior) must be a .*number, got (100.5|nan)$"):
            call()


@pytest.mark.slow
def test_other_numbers_are_taken():
    for given in ({"budget": 9.0}, {"budget": np.int32(9)}, {"budget": jnp.int32(9)}, {"budget": jb.axis([9, 12])}):
        assert jb.sweep(Declared(**given), PROBLEM, seeds=2, max_pulls=100).pulls.min() == 9
    for rate in (1, -2.5, 1e30, np.float64(0.1), jnp.float32(3.5), np.inf, jb.axis([0.5, 1.5])):
        assert jb.sweep(Declared(budget=9, rate=rate, loose=rate), PROBLEM, seeds=2, max_pulls=100).pulls.min() == 9
    with pytest.raises(jb.UsageError, match="Declared has no derivative in budget, an integer or a choice"):
        jb.gradients.expected("pulls", Declared(budget=9), PROBLEM, wrt="budget", seeds=10)
