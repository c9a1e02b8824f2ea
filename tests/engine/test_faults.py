"""What a user's own algorithm must not do while it runs: it ends in one line, and was a wrong number or a hang."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxbandits as jb

ARMS = jb.bernoulli([0.3, 0.8, 0.5])
KEY = jax.random.key(0)


class Base:
    """Pulls an arm 15 times."""

    def select(self, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, arms):
        return arms.time >= 15

    def recommend(self, arms):
        return jnp.argmax(arms.mean)


def own(**changes):
    return jb.algorithm(type("Own", (Base,), changes))()


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


@pytest.mark.parametrize("number", [-1, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 40, -4))])
def test_an_arm_that_is_not_there_is_one_line(number):
    """Arm -1 drew rewards of no arm, counted for the last one: status 0, and an answer that was judged."""
    refused(own(select=lambda self, arms, key: jnp.int32(number)), r"Own pulled an arm outside 0 … 2")


def test_one_pull_of_many_is_enough_and_the_run_is_named():
    def select(self, arms, key):
        return jnp.where((arms.time == 7) & (self.x == 2), arms.count, jnp.argmin(arms.pulls))

    cls = jb.algorithm(type("Own", (Base,), {"__annotations__": {"x": Any}, "select": select}))
    assert (jb.simulate(cls(1.0), ARMS, seeds=3).status == 0).all()
    with pytest.raises(jb.UsageError, match=r"outside 0 … 2.*\(the run with seed 100, x=2.0\)"):
        jb.sweep(cls(jb.axis([1.0, 2.0])), ARMS, seeds=1, first_seed=100)


@pytest.mark.slow
def test_an_arm_of_several_that_is_not_there_is_one_line():
    refused(
        own(select=lambda self, arms, key: jnp.stack([jnp.int32(0), arms.count])), r"Own pulled an arm outside 0 … 2"
    )


def test_a_session_names_the_arm_that_is_not_there():
    session = jb.AskTell(own(select=lambda self, arms, key: jnp.int32(-1)), arms=3)
    for _ in range(2):
        session.tell(session.ask(), 0.5)
    with pytest.raises(jb.UsageError, match="Own requests arm -1: arms are numbered from 0 to 2"):
        session.tell(session.ask(), 0.5)


BACK = {
    "all fewer": lambda self, arms, key: -arms.pulls,
    "one fewer": lambda self, arms, key: jnp.where(jnp.arange(len(arms)) == 1, -1, 2),
    "later": lambda self, arms, key: jnp.where(arms.time > 9, -1, 1) * jnp.ones(len(arms), jnp.int32),
    "fewer batches": lambda self, arms, key: jb.Batches(jnp.ones(len(arms), jnp.int32), jnp.int32(-1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("request_", BACK)
def test_fewer_than_no_pulls_are_one_line_and_no_hang(request_):
    wrong = {"select": None, "slots": 2 if "batches" in request_ else 1, "done": lambda self, arms: jnp.bool_(False)}
    refused(own(request=BACK[request_], **wrong), "Own took pulls back: it asked for fewer than no pulls of an arm")


def test_traced_runs_cannot_be_refused_and_end():
    """Under `jit` a run has no value to look at: it stops before the fault."""
    wrong = own(select=None, request=BACK["all fewer"])
    assert jax.jit(lambda key: jb.run(wrong, ARMS, key).pulls)(KEY).tolist() == [1, 1, 1]
