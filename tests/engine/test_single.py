"""One run on its own is the engine's row, and its trajectory leads to its last state, bit for bit."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.engine.mapping import map_algorithm
from tests.same_bits import assert_same_bits

pytestmark = pytest.mark.bits

ROOT, SEEDS, MAX_PULLS = 11, 4, 400
# One of each kind; what one step of a trajectory is, is the same for all.
KINDS = ("ugape-c", "lucb", "successive-elimination", "successive-rejects", "adaptive-top-k", "clucb")
KEY, STEPS = jax.random.key(5), 300
VALUES = {"epsilon": 0.5, "delta": 0.3, "budget": 100, "k": 2, "threshold": 0.5, "level": 0.5}
FIRST_BATCH = {"median-elimination": 10_000, "exp-gap-elimination": 10_000}  # pulls that a limit must not be below
PROBLEMS = {
    "bernoulli": jb.bernoulli([0.3, 0.8, 0.4, 0.6, 0.5]),
    "gaussian": jb.gaussian([0.0, 1.0, -1.0, 0.5, 0.25], sd=0.5),
    "beta": jb.beta([1.0, 4.0, 2.0, 3.0, 2.0], 2.0),
    "reservoir": jb.reservoir(beta=1.0),
    "unit reservoir": jb.reservoir(beta=1.0, prices="unit"),
}


def example(name):
    """The algorithm with its defaults, and values for what has none."""
    cls = REGISTRY[name]
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    given = {name: VALUES[name] for name in required}
    if cls is jb.SuccessiveElimination:  # radii so small that it stops soon
        given |= {"estimator": "ea", "moment_c": 1e-3}
    if cls in (jb.AdaptiveTopK, jb.CLUCB, jb.ImprovedTopK):  # so coarse that it stops soon
        given |= {"epsilon": 1.0, "delta": 0.3}
    if cls is jb.LinGapE:
        given |= {"norm": 2.0}  # theta has the length 1.22
    if cls is jb.MABPPR:  # not straight to the final round
        given |= {"n_final": 1.5, "c1": 0.01}
    return cls(**given)


def cases():
    """Every algorithm, one of them each time; the other laws, which differ only in the draw, with two of them."""
    drawn = {"rcb-i": "reservoir", "rcb-air": "reservoir", "ucb-v-inf": "reservoir", "ucb-air": "reservoir"}
    drawn["siri"] = "unit reservoir"
    for name in REGISTRY:
        law = drawn.get(name, "bernoulli")
        yield pytest.param(name, law, id=f"{name}-{law}", marks=[pytest.mark.slow] * (name != "ugape-c"))
    yield pytest.param("ugape-c", "gaussian", id="ugape-c-gaussian", marks=pytest.mark.slow)
    yield pytest.param("lucb", "beta", id="lucb-beta", marks=pytest.mark.slow)


@pytest.mark.parametrize(("name", "law"), list(cases()))
def test_a_run_alone_is_the_engines_row(name, law):
    algorithm, problem, limit = example(name), PROBLEMS[law], FIRST_BATCH.get(name, MAX_PULLS)
    rows = jb.simulate(algorithm, problem, seeds=SEEDS, root_seed=ROOT, max_pulls=limit)
    recommend = (lambda state: state.answer) if isinstance(algorithm, Rule) else jax.jit(algorithm.recommend)
    for seed in range(SEEDS):
        state = jb.run(algorithm, problem, jax.random.fold_in(jax.random.key(ROOT), seed), limit)
        assert int(jnp.sum(state.pulls)) == int(rows["pulls"][seed])
        np.testing.assert_array_equal(recommend(state), rows["recommended"][seed])


@functools.cache
def states_of(name):
    return jb.trajectory(example(name), PROBLEMS["bernoulli"], KEY, STEPS)


def after(states, step):
    return jax.tree.map(lambda x: x[step], states)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "ugape-c")) for n in KINDS])
def test_a_trajectory_leads_to_the_last_state_and_stays_there(name):
    states = states_of(name)
    total = np.sum(states.pulls, axis=1)
    steps = int(np.argmax(total == total[-1]))
    assert 0 < steps < STEPS
    assert np.all(np.diff(total[: steps + 1]) > 0)
    last = jb.run(example(name), PROBLEMS["bernoulli"], KEY, MAX_PULLS)
    for step in (steps, steps + 1, STEPS):
        assert_same_bits(after(states, step), last)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_compiled_and_uncompiled_steps_have_the_same_bits(name):
    algorithm, problem = map_algorithm(example(name)), PROBLEMS["bernoulli"]
    state = algorithm.init(problem, KEY)
    for step in range(3):
        assert_same_bits(after(states_of(name), step), algorithm.state_of(state))
        state = algorithm.step(problem, KEY, state)


@pytest.mark.slow
def test_a_run_stops_at_max_pulls():
    state = jb.run(jb.UGapEc(epsilon=0.0, delta=0.1), jb.bernoulli([0.5, 0.5]), jax.random.key(0), 30)
    assert int(state.time) == 30


@pytest.mark.slow
def test_a_trajectory_starts_after_the_first_pulls():
    states = jb.trajectory(jb.Uniform(budget=10), jb.bernoulli([0.2, 0.5, 0.7]), jax.random.key(0), 2)
    assert np.asarray(states.time).tolist() == [3, 4, 5]
    assert states.pulls.shape == (3, 3)
