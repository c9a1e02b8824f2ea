"""Python's `if` and NumPy in a user's functions: one line with the function, the line of the file and what to use."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

ARMS = jb.bernoulli([0.3, 0.8])


class State(NamedTuple):
    pulls: jax.Array


class Rule:
    def init(self, problem, key):
        return State(jnp.zeros(problem.arms, jnp.int32))

    def step(self, problem, key, state):
        return State(state.pulls.at[jnp.argmin(state.pulls)].add(1))

    def done(self, state):
        return jnp.sum(state.pulls) >= 4

    def recommend(self, state):
        return jnp.arange(state.pulls.size) == 0


def own(**changes):
    return jb.pytree(dataclasses.dataclass(frozen=True)(type("Own", (Rule,), changes)))()


def if_(self, problem, key, state):
    return state if state.pulls[0] > 3 else State(state.pulls + 1)  # the line of if_


def while_(self, state):
    while state.pulls[0] < 3:  # the line of while_
        pass


def and_(self, state):
    return state.pulls[0] > 1 and state.pulls[1] > 1  # the line of and_


def several_(self, state):
    return 1 if state.pulls > 1 else 0  # the line of several_


def int_(self, problem, key, state):
    return State(state.pulls.at[int(jnp.argmin(state.pulls))].add(1))  # the line of int_


def numpy_(self, problem, key, state):
    pulls = np.array(state.pulls)  # the line of numpy_
    pulls[0] += 1
    return State(pulls)


def range_(self, state):
    return [True, False][state.pulls[0]]  # the line of range_


def shape_(self, state):
    return state.pulls[state.pulls > 0] > 0  # the line of shape_


def init_(self, problem, key):
    return State(jnp.zeros(2, jnp.int32)) if problem.mean[0] > 0.5 else None  # the line of init_


WRONG = {
    "step": [if_, int_, numpy_], "done": [while_, and_, range_, several_], "recommend": [shape_], "init": [init_],
}  # fmt: skip


def line_of(function):
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# the line of {function.__name__}"))


@pytest.mark.parametrize(("method", "function"), [(m, f) for m, fs in WRONG.items() for f in fs])
def test_it_is_one_line_that_names_the_place_and_the_remedy(method, function):
    match = rf"^Own\.{method}, line {line_of(function)} of .*test_tracing_errors\.py \(.*jnp\.where.*jax\.lax\.cond"
    algorithm = own(**{method: function})
    key = jax.random.key(0)
    for call in (lambda: jb.simulate(algorithm, ARMS, seeds=2), lambda: jb.run(algorithm, ARMS, key)):
        with pytest.raises(jb.UsageError, match=match) as error:
            call()
        assert "\n" not in str(error.value)


def test_other_errors_stay_as_they_are():
    """A mistake of Python's own is found best where it happened."""
    with pytest.raises(AttributeError, match="sums"):
        jb.simulate(own(done=lambda self, state: state.sums), ARMS, seeds=2)


def test_metrics_and_sessions_and_families_too():
    def big(problem, state, recommended):
        return 1 if state.pulls[0] > 1 else 0  # the line of big

    with pytest.raises(jb.UsageError, match=rf"the metric 'big', line {line_of(big)} of .*jnp\.where"):
        jb.simulate(own(), ARMS, seeds=2, metrics={"big": big})

    def update(self, state, arms, arm, reward):
        return state + 1 if reward > 0 else state  # the line of update

    methods = {
        "init": lambda self, arms, key: jnp.int32(0), "update": update,
        "select": lambda self, state, arms, key: jnp.argmin(arms.pulls),
        "done": lambda self, state, arms: jnp.bool_(False), "recommend": lambda self, state, arms: arms.pulls > 1,
    }  # fmt: skip
    with pytest.raises(jb.UsageError, match=rf"Own\.update, line {line_of(update)} of .*jnp\.where"):
        jb.AskTell(jb.algorithm(type("Own", (), methods))(), arms=2)


@pytest.mark.parametrize(
    ("method", "function", "match"),
    [
        ("step", lambda self, problem, state: state, r"step must take \(problem, key, state\), and takes \(problem, s"),
        ("done", lambda self: True, r"done must take \(state\), and takes \(\)"),
    ],
)
def test_methods_that_take_something_else_are_one_line(method, function, match):
    with pytest.raises(jb.UsageError, match=match):
        jb.simulate(own(**{method: function}), ARMS, seeds=2)


def test_masked_values_of_a_field_are_not_taken():
    cls = jb.pytree(dataclasses.make_dataclass("Own", [("weights", Any)], bases=(Rule,), frozen=True))
    with pytest.raises(jb.UsageError, match=r"Own\.weights has masked values"):
        jb.simulate(cls(np.ma.array([1.0, 2.0], mask=[True, False])), ARMS, seeds=2)
