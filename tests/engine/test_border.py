"""A user's own algorithm is looked at once: what is wrong with it is one line, and nothing is guessed from names."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.ask_tell.session import AskTell
from jaxbandits.status import MOST_IDLE

PROBLEM = jb.bernoulli([0.3, 0.8, 0.5])
KEY = jax.random.key(0)


class Turns:
    """Pulls the arms in turn, five times each: wrong in more than 7% of runs, so in none of 200 with P < 1e-6."""

    def select(self, arms, key):
        return arms.time % arms.count

    def done(self, arms):
        return arms.time >= 15

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


class State(NamedTuple):
    sums: jax.Array  # float32 (K,)


class Remembers(Turns):
    """The same with a state of its own."""

    def init(self, arms, key):
        return State(jnp.zeros(len(arms)))

    def update(self, state, arms, arm, reward):
        return State(state.sums.at[arm].add(reward))

    def select(self, state, arms, key):
        return arms.time % arms.count

    def done(self, state, arms):
        return arms.time >= 15

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


def own(base=Turns, /, *, register=jb.algorithm, fields=(), **changes):
    """A class with some fields, each a name and its default, and some methods or attributes of its own."""
    named = {"__annotations__": dict.fromkeys((name for name, _ in fields), Any), **dict(fields), **changes}
    return register(dataclasses.dataclass(frozen=True)(type("Own", (base,), named)))


def a_line(problem, algorithm, match, runs=("simulate", "run", "trajectory")):
    calls = {
        "simulate": lambda: jb.simulate(algorithm, problem, seeds=2),
        "run": lambda: jb.run(algorithm, problem, KEY),
        "trajectory": lambda: jb.trajectory(algorithm, problem, KEY, 3),
    }
    for run in runs:
        with pytest.raises(jb.UsageError, match=match) as error:
            calls[run]()
        assert "\n" not in str(error.value)


@dataclasses.dataclass
class Plain:
    sums: jax.Array


WRONG = {
    "numbers for a mask": (Turns, {"recommend": lambda self, arms: arms.mean}, r"recommend, unless .* float32 \(3,\)"),
    "an arm as a float": (Turns, {"select": lambda self, arms, key: jnp.max(arms.mean)}, "must return an arm"),
    "done for each arm": (Turns, {"done": lambda self, arms: arms.pulls > 9}, r"must be bool \(\), got bool \(3,\)"),
    "done as a number": (Turns, {"done": lambda self, arms: arms.time}, r"done must be bool \(\), got int32"),
    "a tolerance that is not there": (Turns, {"traits": jb.Traits(tolerance="slack")}, "which it has not"),
    "keys of another generator": (
        Remembers, {"init": lambda self, arms, key: jax.random.key(0, impl="rbg")}, "the state must have keys",
    ),
    "no pytree as a state": (
        Remembers, {"init": lambda self, arms, key: Plain(jnp.zeros(3))}, "must be an array or a pytree",
    ),
    "sums that change type": (
        Remembers,
        {"init": lambda self, arms, key: State(jnp.zeros(3, jnp.int32)),
         "update": lambda self, state, arms, arm, reward: State(state.sums + 0.5)},
        r"update: the state's `sums` must stay int32 \(3,\) as in init, got float32 \(3,\)",
    ),
    "sums that grow": (
        Remembers, {"update": lambda self, state, arms, arm, reward: State(jnp.append(state.sums, 1))},
        r"`sums` must stay float32 \(3,\) as in init, got float32 \(4,\)",
    ),
    "no state": (
        Remembers,
        {"init": lambda self, arms, key: None, "update": lambda self, state, arms, arm, reward: State(arms.mean)},
        "as that of init, None, got State of sums",
    ),
    "an empty state": (
        Remembers,
        {"init": lambda self, arms, key: [], "update": lambda self, state, arms, arm, reward: arm},
        r"as that of init, an empty list, got int32 \(\)",
    ),
    "another state": (
        Remembers, {"update": lambda self, state, arms, arm, reward: (state.sums,)},
        "update must return a state built as that of init, State of sums, got tuple",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_breaks_the_protocol_is_one_line(what):
    base, changes, match = WRONG[what]
    a_line(PROBLEM, own(base, **changes)(), match)


class OfOnesOwn(Turns):
    def __init__(self, budget):
        self.budget = budget


class OfTuples(NamedTuple):
    budget: int


@pytest.mark.parametrize(("cls", "match"), [(OfOnesOwn, "__init__ of its own"), (OfTuples, "is a tuple")])
def test_a_class_that_makes_its_own_instances_is_one_line(cls, match):
    with pytest.raises(jb.UsageError, match=rf"^{cls.__name__} .*{match}.* annotated field, such as budget: int$"):
        jb.algorithm(cls)


class Steps:
    """Written as algorithms once were: it draws its own rewards."""

    def init(self, problem, key):
        return problem.rewards(key, 0)

    def step(self, problem, key, state):
        return state

    def done(self, state):
        return jnp.bool_(True)

    def recommend(self, state):
        return state > 0


RULE = r"is not an algorithm: write it as a rule of jb\.algorithm, help\(jaxbandits\.algorithms\.protocol\)"


@pytest.mark.parametrize("register", [jb.pytree, jax.tree_util.register_dataclass, lambda cls: cls])
def test_what_draws_its_own_rewards_is_to_be_a_rule(register):
    cls = own(Steps, register=register)
    a_line(PROBLEM, cls(), f"^Own {RULE}$")
    a_line(PROBLEM, cls, f"^the class Own {RULE}$")
    for refused in (cls(), own(register=register)()):  # the methods alone do not make a rule
        with pytest.raises(jb.UsageError, match=RULE):
            AskTell(refused, arms=3)
        with pytest.raises(jb.UsageError, match=RULE):
            jb.gradients.expected("pulls", refused, PROBLEM, seeds=2)


def test_the_name_of_the_protocol_that_is_gone_says_what_is_in_its_place():
    with pytest.raises(AttributeError, match=r"no jaxbandits\.Algorithm any more: .* jb\.algorithm .*protocol\)$"):
        jb.Algorithm  # noqa: B018


def test_old_names_of_arguments_say_the_new_ones():
    with pytest.raises(jb.UsageError, match=r"^expected: told_anew= is now refit_algorithm=$"):
        jb.gradients.expected("pulls", jb.Uniform(budget=9), PROBLEM, told_anew=True)
    with pytest.raises(jb.UsageError, match=r"^Traits: dearness= is now relative_cost=$"):
        jb.Traits(dearness=2.0)


def test_what_is_no_algorithm_is_one_line():
    a_line(
        PROBLEM, own(own(), register=lambda cls: cls)(), "Own is not a pytree: put @jb.algorithm above its class, too"
    )
    a_line(PROBLEM, own(fields=[("rule", "greedy")])(), r"Own\.rule must be a number or an array, got 'greedy'")
    a_line(PROBLEM, own(), r"Own\(…\), not its class")
    a_line(PROBLEM, jb.UGapEc, r"UGapEc\(…\), not its class")
    a_line(PROBLEM, own(fields=[("slack", -1.0)], traits=jb.Traits(tolerance="slack"))(), "tolerance slack must be")
    a_line(jb.bernoulli([[0.1, 0.2], [0.3, 0.4]]), own()(), "explores one bandit, the problem has 2", ["simulate"])
    with pytest.raises(jb.UsageError, match="unknown criterion 'exakt'; did you mean 'exact'"):
        jb.Traits(criterion="exakt")


@pytest.mark.parametrize("wrong", [[0.1, 0.2], (0.1,), None, True, "0.1", {"axis": [0.1]}])
def test_a_built_in_parameter_is_one_number(wrong):
    with pytest.raises(jb.UsageError, match="UGapEc: epsilon must be") as error:
        jb.UGapEc(epsilon=wrong, delta=0.1)
    assert "\n" not in str(error.value)


def test_an_array_is_not_taken_for_a_grid():
    several = jb.UGapEc(epsilon=np.asarray([0.1, 0.2]), delta=0.1)
    a_line(PROBLEM, several, r"epsilon must be one number, got shape \(2,\): for a grid, jb.axis")
    with pytest.raises(jb.UsageError, match="one number"):
        AskTell(several, arms=3)


@pytest.mark.parametrize("wrong", [np.asarray(-0.1), jnp.float32(-0.1), jnp.float32(np.nan)])
def test_an_array_of_one_number_is_looked_at_too(wrong):
    a_line(PROBLEM, jb.UGapEc(epsilon=wrong, delta=0.1), r"epsilon must be finite and at least 0, got (-0\.1|nan)$")
    with pytest.raises(jb.UsageError, match="epsilon must be"):
        AskTell(jb.UGapEc(epsilon=wrong, delta=0.1), arms=3)


def test_a_session_looks_at_it_too():
    with pytest.raises(jb.UsageError, match=r"Own\.recommend.* bool \(3,\)"):
        AskTell(own(recommend=lambda self, arms: arms.mean)(), arms=3)


def test_nothing_is_taken_from_the_names_of_fields():
    """An epsilon-greedy that is wrong one time in seven was right every time: its epsilon was the tolerance."""
    names = ["epsilon", "criterion", "anytime", "budget", "k", "m", "spends", "few_steps", "multi_bandit", "b"]
    plain = jb.simulate(own()(), PROBLEM, seeds=200)
    named = jb.simulate(own(fields=[(name, 0.6) for name in names])(), PROBLEM, seeds=200)
    assert 0 < plain.correct.sum() < 200
    np.testing.assert_array_equal(named.correct, plain.correct)
    np.testing.assert_array_equal(named.pulls, plain.pulls)
    assert named.status.max() == 0


def test_traits_are_what_is_declared():
    plain = jb.simulate(own()(), PROBLEM, seeds=200)
    with_slack = own(fields=[("slack", 0.0)], traits=jb.Traits(tolerance="slack"))
    near = jb.sweep(with_slack(jb.axis([0.0, 0.31])), PROBLEM, seeds=200)
    np.testing.assert_array_equal(near.correct[0], plain.correct)
    np.testing.assert_array_equal(near.correct[1], plain.simple_regret <= 0.31)
    assert near.correct[1].sum() > plain.correct.sum()
    aggregate = jb.simulate(own(traits=jb.Traits(criterion="aggregate"))(), PROBLEM, seeds=2)
    assert "mean of the best K means" in aggregate.correct.attrs["criterion"]
    with pytest.raises(jb.UsageError, match="cannot be evaluated before it ends"):
        jb.simulate(own(traits=jb.Traits(anytime=False))(), PROBLEM, seeds=2, checkpoints=[5])


@pytest.mark.parametrize("name", REGISTRY)
def test_every_epsilon_and_number_of_arms_of_the_registry_is_declared(name):
    cls = REGISTRY[name]
    names = {f.name for f in dataclasses.fields(cls)}
    assert cls.traits.tolerance == next((name for name in ("gamma", "epsilon") if name in names), None)
    if cls.traits.answers != "any":
        assert cls.traits.answers == next((name for name in ("m", "k") if name in names), 1)
    if spends := cls.traits.spends:
        assert spends in {f.name for f in dataclasses.fields(cls)}


class Idle:
    """Asks for pulls of all arms once in so many steps, and keeps how often it was asked."""

    def init(self, arms, key):
        return jnp.int32(0)

    def absorb(self, state, arms, counts, sums):
        return state + 1

    def request(self, state, arms, key):
        return jnp.where((state + 1) % self.every == 0, 1, 0) * jnp.ones(len(arms), jnp.int32)

    def done(self, state, arms):
        return arms.time >= 9

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


def test_a_run_without_pulls_ends_with_a_status_of_its_own():
    idle = own(Idle, every=10**9)()
    with pytest.warns(UserWarning, match=rf"^{type(idle).__name__}: 3 runs made 10,000 steps in a row without a pull"):
        ds = jb.simulate(idle, PROBLEM, seeds=3)
    assert ds.status.values.tolist() == [2, 2, 2]
    assert ds.steps.values.tolist() == [MOST_IDLE] * 3
    alone = jb.run(idle, PROBLEM, KEY)
    assert int(alone.own) == MOST_IDLE
    assert not alone.ended

    known = jb.summary(ds)
    assert (int(known["censored"]), int(known["stalled"]), bool(known["at_least"])) == (3, 3, True)
    assert "3 of 3 runs were truncated at max_pulls, or, 3 of them, as they pulled no more" in known.attrs["censored"]


@pytest.mark.slow
def test_steps_without_a_pull_are_counted_anew_after_one():
    """A pull every 6000 steps is slow, not stuck: one of each arm before, and two more."""
    slow = own(Idle, every=6000)()
    ds = jb.simulate(slow, PROBLEM, seeds=2)
    assert ds.status.values.tolist() == [0, 0]
    assert ds.steps.values.tolist() == [12_000, 12_000]
    assert jb.run(slow, PROBLEM, KEY).pulls.tolist() == [3, 3, 3]


def test_numbers_of_arms_share_a_program_and_it_is_told_how_many_there_are():
    """Some arms of a table are there only to fill it up."""
    last = own(recommend=lambda self, arms: jnp.arange(len(arms)) == arms.count - 1, shuffle_arms=False)()
    grid = jb.sweep(last, jb.one_sparse(n=jb.axis([3, 4])), seeds=2)
    for n in (3, 4):
        assert grid.recommended.sel(n=n).values[:, :n].argmax(axis=1).tolist() == [n - 1, n - 1]


@pytest.mark.slow
def test_traced_leaves_pass():
    cls = own(fields=[("scale", 1.0)])
    run = functools.partial(jb.run, problem=PROBLEM, key=KEY)
    alone = run(cls(2.0)).pulls
    np.testing.assert_array_equal(jax.jit(lambda scale: run(cls(scale)).pulls)(2.0), alone)
    np.testing.assert_array_equal(jax.vmap(lambda scale: run(cls(scale)).pulls)(jnp.arange(2.0))[0], alone)
    built_in = lambda epsilon: jb.run(jb.UGapEc(epsilon=epsilon, delta=0.1), PROBLEM, KEY).pulls  # noqa: E731
    np.testing.assert_array_equal(jax.vmap(built_in)(jnp.asarray([0.9]))[0], built_in(0.9))
