"""What a user's own algorithm must not do while it runs: it ends in one line, and was a wrong number or a hang."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

import jaxbandits as jb

ARMS = jb.bernoulli([0.3, 0.8, 0.5])
KEY = jax.random.key(0)


class State(NamedTuple):
    pulls: jax.Array  # int32 (K,)
    sums: jax.Array  # float32 (K,)


class Rule:
    """Pulls the arm that `arm` names, 15 times."""

    def init(self, problem, key):
        return State(jnp.zeros(problem.arms, jnp.int32), jnp.zeros(problem.arms))

    def step(self, problem, key, state):
        arm = self.arm(problem, state)
        reward = problem.reward(key, arm, state.pulls[arm])
        return State(state.pulls.at[arm].add(1), state.sums.at[arm].add(reward))

    def done(self, state):
        return jnp.sum(state.pulls) >= 15

    def recommend(self, state):
        return jnp.arange(state.pulls.size) == jnp.argmax(state.sums)


def own(base=Rule, /, **changes):
    return jb.pytree(dataclasses.dataclass(frozen=True)(type("Own", (base,), changes)))()


def refused(algorithm, match, problem=ARMS):
    calls = (
        lambda: jb.simulate(algorithm, problem, seeds=3),
        lambda: jb.run(algorithm, problem, KEY),
        lambda: jb.trajectory(algorithm, problem, KEY, 20),
    )
    for call in calls:
        with pytest.raises(jb.UsageError, match=match) as error:
            call()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("number", [3, 40, -1, -4])
def test_an_arm_that_is_not_there_is_one_line(number):
    """Arm -1 drew rewards of no arm, counted for the last one: status 0, and an answer that was judged."""
    refused(own(arm=lambda self, problem, state: jnp.int32(number)), r"Own pulled an arm outside 0 … 2")


def test_one_pull_of_many_is_enough_and_the_run_is_named():
    def arm(self, problem, state):
        outside = (jnp.sum(state.pulls) == 7) & (self.x == 2)
        return jnp.where(outside, problem.arms, jnp.argmin(state.pulls))

    field = dataclasses.make_dataclass("Own", [("x", Any)], bases=(Rule,), frozen=True, namespace={"arm": arm})
    cls = jb.pytree(field)
    assert (jb.simulate(cls(1.0), ARMS, seeds=3).status == 0).all()
    with pytest.raises(jb.UsageError, match=r"outside 0 … 2.*\(the run with seed 100, x=2.0\)"):
        jb.sweep(cls(jb.axis([1.0, 2.0])), ARMS, seeds=1, first_seed=100)


def test_arms_of_a_rule_are_looked_at_too():
    def rule(arm):
        @jb.algorithm
        class Own:
            def select(self, arms, key):
                return jnp.int32(arm)

            def done(self, arms):
                return arms.time >= 15

            def recommend(self, arms):
                return jnp.argmax(arms.mean)

        return Own()

    with pytest.raises(jb.UsageError, match=r"Own pulled an arm outside 0 … 2"):
        jb.simulate(rule(3), ARMS, seeds=3)
    session = jb.AskTell(rule(-1), arms=3)
    for _ in range(2):
        session.tell(session.ask(), 0.5)
    with pytest.raises(jb.UsageError, match="Own asks for arm -1: arms are numbered from 0 to 2"):
        session.tell(session.ask(), 0.5)


BACK = {
    "fewer": lambda self, problem, key, state: State(state.pulls - 1, state.sums),
    "up and down": lambda self, problem, key, state: State(
        jnp.where(state.pulls[0] == 0, state.pulls + 1, state.pulls - 1), state.sums
    ),
    "more than an int32": lambda self, problem, key, state: State(state.pulls + 10**9, state.sums),
}


@pytest.mark.parametrize("step", BACK)
def test_pulls_that_fall_are_one_line_and_no_hang(step):
    refused(own(step=BACK[step], done=lambda self, state: jnp.bool_(False)), "Own took pulls back")


def test_pulls_that_begin_below_zero_are_one_line():
    def init(self, problem, key):
        return State(jnp.full(problem.arms, -3), jnp.zeros(problem.arms))

    refused(own(init=init, arm=lambda self, problem, state: jnp.argmin(state.pulls)), "Own took pulls back")


def test_traced_runs_cannot_be_refused_and_end():
    """Under `jit` a run has no value to look at: it stops before the fault."""
    wrong = own(step=BACK["fewer"])
    assert jax.jit(lambda key: jb.run(wrong, ARMS, key).pulls)(KEY).tolist() == [0, 0, 0]
