"""Blocks of rounds: elimination that pulls an arm several times at once is the same run, to the last bit."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.engine.mapping import map_algorithm

pytestmark = pytest.mark.bits

MEANS = [0.6, 0.5, 0.45, 0.2, 0.0]
HEAVY = jb.student_t(MEANS, 2.5)
COINS = jb.bernoulli([0.9, 0.75, 0.5, 0.3])
SEVERAL = jb.bernoulli([[0.9, 0.6, 0.5], [0.3, 0.6, 0.2]])
CASES = {
    "ea": (jb.SuccessiveElimination(delta=0.2, estimator="ea", moment_c=0.05), HEAVY),
    "tea": (jb.SuccessiveElimination(delta=0.3, p=1.6, moment_b=0.04), HEAVY),
    "hoeffding": (jb.SuccessiveElimination(delta=0.2, estimator="hoeffding"), COINS),
    "two-point": (
        jb.SuccessiveElimination(delta=0.2, estimator="hoeffding"),
        jb.rademacher([-1.0, -1.5, -2.0], [2.0, 1.5, 1.0]),
    ),
    "mom": (jb.SuccessiveElimination(delta=0.9, estimator="mom", moment_c=3e-3), HEAVY),
    "successive rejects": (jb.SuccessiveRejects(budget=700), COINS),
    "successive rejects, tea": (jb.SuccessiveRejects(budget=700, estimator="tea", threshold=2.0), HEAVY),
    "sequential halving": (jb.SequentialHalving(budget=500), COINS),
    "sequential halving, forgetful": (jb.SequentialHalving(budget=500, reuse=False), COINS),
    "sar": (jb.SAR(budget=600, m=2), HEAVY),
    "sar of several": (jb.SAR(budget=400), SEVERAL),
}
# The others with the slow tests: two programs a case.
EACH_TIME = ("hoeffding",)
RUNS = 64
# What is seen of a run between two steps: not where a block stands.
SEEN = ("sums", "pulls", "survivors", "active", "left", "position", "round", "start", "time", "target", "own")


def in_all_runs(tree):
    return jax.tree.map(lambda x: jnp.broadcast_to(jnp.asarray(x)[..., None], (*jnp.shape(x), RUNS)), tree)


@functools.partial(jax.jit, static_argnames="blocks")
def moved(algorithm, problem, keys, state, stop, blocks):
    """States at `stop` pulls and the number of steps."""

    def live(state):
        return ~algorithm.done(state) & (state.time < stop)

    def step(carry):
        state, steps = carry
        moving = live(state)
        if blocks:
            state = algorithm.advance(problem, keys, state, moving, stop)
        else:
            state = algorithm.step(problem, keys, state, moving)
        return state, steps + moving

    return jax.lax.while_loop(lambda carry: jnp.any(live(carry[0])), step, (state, jnp.zeros(RUNS, jnp.int32)))


@jax.jit
def start(algorithm, problem, keys):
    return algorithm.init(problem, keys)


def until(algorithm, problem, keys, stop, blocks):
    return moved(algorithm, problem, keys, start(algorithm, problem, keys), stop, blocks)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in EACH_TIME)) for n in CASES])
def test_the_run_is_that_of_single_pulls(name):
    """Wherever one stops and looks: within a round, at its end, in what would have been a block."""
    algorithm, problem = CASES[name]
    algorithm = map_algorithm(algorithm.resolved(problem))
    keys = jax.random.split(jax.random.key(3), RUNS)
    wide = in_all_runs((algorithm, problem))
    for stop in (7, 61, 250, 10**6):
        slow, slow_steps = until(*wide, keys, stop, blocks=False)
        fast, fast_steps = until(*wide, keys, stop, blocks=True)
        for field in SEEN:
            jax.tree.map(np.testing.assert_array_equal, getattr(fast, field), getattr(slow, field))
        np.testing.assert_array_equal(wide[0].recommend(fast), wide[0].recommend(slow))
    assert np.asarray(slow.time).max() > 250  # the last stop is the runs' own end
    if name != "mom":
        assert fast_steps.sum() < 0.6 * slow_steps.sum()


@pytest.mark.slow
def test_a_run_that_stands_still_keeps_every_bit():
    algorithm, problem = CASES["ea"]
    algorithm = map_algorithm(algorithm)
    wide = in_all_runs((algorithm, problem))
    keys = jax.random.split(jax.random.key(4), RUNS)
    state, _ = until(*wide, keys, 33, blocks=True)
    moving = jnp.arange(RUNS) % 2 == 0
    after = jax.jit(lambda s: wide[0].advance(wide[1], keys, s, moving, 500))(state)
    for field in (*SEEN, "highest", "lowest", "ahead"):
        jax.tree.map(
            lambda new, old: np.testing.assert_array_equal(new[..., 1::2], old[..., 1::2]),
            getattr(after, field), getattr(state, field),
        )  # fmt: skip
    changed = (after.time != state.time) | (after.position != state.position)
    np.testing.assert_array_equal(changed, moving & ~wide[0].done(state))


@pytest.mark.slow
def test_single_pulls_may_follow_and_go_before():
    """Within a round too: where the engine stops, no block is under way."""
    algorithm, problem = CASES["two-point"]
    wide, keys = (
        in_all_runs((map_algorithm(algorithm.resolved(problem)), problem)),
        jax.random.split(jax.random.key(5), RUNS),
    )
    state, _ = until(*wide, keys, 40, blocks=True)
    pull = jax.jit(lambda state: wide[0].step(wide[1], keys, state))
    for _ in range(7):
        state = pull(state)
    state, _ = moved(*wide, keys, state, 151, blocks=True)
    slow, _ = until(*wide, keys, 151, blocks=False)
    assert (np.asarray(slow.time) == 151).mean() > 0.5
    for field in SEEN:
        jax.tree.map(np.testing.assert_array_equal, getattr(state, field), getattr(slow, field))
