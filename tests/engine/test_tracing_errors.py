"""Python's `if` and NumPy in a user's functions: one line with the function, the line of the file and what to use."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

ARMS = jb.bernoulli([0.3, 0.8])


class Rule:
    def init(self, arms, key):
        return jnp.zeros(len(arms), jnp.int32)

    def update(self, state, arms, arm, reward):
        return state.at[arm].add(1)

    def select(self, state, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, state, arms):
        return arms.time >= 4

    def recommend(self, state, arms):
        return 0


def own(**changes):
    return jb.algorithm(type("Own", (Rule,), changes))()


def if_(self, state, arms, key):
    return 0 if arms.pulls[0] > 3 else 1  # the line of if_


def while_(self, state, arms):
    while arms.pulls[0] < 3:  # the line of while_
        pass


def and_(self, state, arms):
    return arms.pulls[0] > 1 and arms.pulls[1] > 1  # the line of and_


def several_(self, state, arms):
    return 1 if arms.pulls > 1 else 0  # the line of several_


def int_(self, state, arms, key):
    return int(jnp.argmin(arms.pulls))  # the line of int_


def numpy_(self, state, arms, arm, reward):
    pulls = np.array(state)  # the line of numpy_
    pulls[0] += 1
    return pulls


def range_(self, state, arms):
    return [True, False][arms.pulls[0]]  # the line of range_


def shape_(self, state, arms):
    return state[state > 0] > 0  # the line of shape_


def frozen_(self, state, arms, arm, reward):
    self.last = arm  # the line of frozen_
    return state


def init_(self, arms, key):
    return jnp.zeros(2, jnp.int32) if arms.mean[0] > 0.5 else None  # the line of init_


WRONG = {
    "select": [if_, int_], "update": [numpy_], "done": [while_, and_, range_, several_], "recommend": [shape_],
    "init": [init_],
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


@pytest.mark.parametrize(
    "state",
    [
        lambda self, arms, key: jnp.zeros(arms.count, jnp.int32),
        lambda self, arms, key: jnp.eye(arms.count),
        lambda self, arms, key: jnp.arange(arms.count),
        lambda self, arms, key: jax.random.uniform(key, (arms.count, 2)),
        lambda self, arms, key: jax.random.split(key, arms.count),
        lambda self, arms, key: jnp.tile(0, arms.count),
        lambda self, arms, key: arms.mean[: arms.count - 1],
    ],
)
def test_a_shape_by_the_number_of_arms_is_one_line_that_says_what_to_use(state):
    match = r"^Own\.init, line \d+ of .*test_tracing_errors\.py \(.*a shape.*only known during runs.*len\(arms\)"
    with pytest.raises(jb.UsageError, match=match) as error:
        jb.simulate(own(init=state), ARMS, seeds=2)
    assert "\n" not in str(error.value)


def test_a_shape_that_is_wrong_by_itself_stays_as_it_is():
    with pytest.raises(TypeError, match=r"got \(2\.5,\)"):
        jb.simulate(own(init=lambda self, arms, key: jnp.zeros(2.5)), ARMS, seeds=2)


def test_a_rule_that_keeps_something_on_itself_is_one_line():
    match = rf"^Own\.update, line {line_of(frozen_)} of .*py \(self\.last = arm.*'last', .* is a state, which init"
    with pytest.raises(jb.UsageError, match=match) as error:
        jb.simulate(own(update=frozen_), ARMS, seeds=2)
    assert "\n" not in str(error.value)


def test_other_errors_stay_as_they_are():
    """A mistake of Python's own is found best where it happened."""
    with pytest.raises(AttributeError, match="sums"):
        jb.simulate(own(done=lambda self, state, arms: arms.sums), ARMS, seeds=2)


def test_metrics_and_sessions_and_families_too():
    def big(problem, state, recommended):
        return 1 if state.pulls[0] > 1 else 0  # the line of big

    with pytest.raises(jb.UsageError, match=rf"the metric 'big', line {line_of(big)} of .*jnp\.where"):
        jb.simulate(own(), ARMS, seeds=2, metrics={"big": big})

    def update(self, state, arms, arm, reward):
        return state + 1 if reward > 0 else state  # the line of update

    with pytest.raises(jb.UsageError, match=rf"Own\.update, line {line_of(update)} of .*jnp\.where"):
        jb.AskTell(own(update=update), arms=2)


@pytest.mark.parametrize(
    ("method", "function", "match"),
    [
        ("select", lambda self, arms, key: 0, r"select must take \(state, arms, key\), got \(arms, key\)"),
        ("done", lambda self: True, r"done must take \(state, arms\), got \(\)"),
        ("select", lambda self, state, key, arms: 0, r"must take \(state, arms, key\), got \(state, key, arms\)"),
    ],
)
def test_methods_that_take_something_else_are_one_line(method, function, match):
    with pytest.raises(jb.UsageError, match=match):
        jb.simulate(own(**{method: function}), ARMS, seeds=2)


def test_masked_values_of_a_field_are_not_taken():
    cls = jb.algorithm(type("Own", (Rule,), {"__annotations__": {"weights": Any}}))
    with pytest.raises(jb.UsageError, match=r"Own\.weights has masked values"):
        jb.simulate(cls(np.ma.array([1.0, 2.0], mask=[True, False])), ARMS, seeds=2)
