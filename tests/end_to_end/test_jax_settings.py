"""JAX's settings, a user's to choose: under each of them what is run runs, with the same bits.

What is run under the package's own settings is compiled once for all, so that most of these tests compile nothing: a
setting that reached a program would have it traced anew, and fail there or show other bits.
"""

import contextlib
import dataclasses
import json
import subprocess
import sys
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.algorithms import REGISTRY
from jaxbandits.ask_tell.session import AskTell
from jaxbandits.cli import main
from jaxbandits.comparison.run_rows import compare
from jaxbandits.compilers.jax_settings import narrowed, own_settings

VALUES = {"epsilon": 0.5, "delta": 0.3, "budget": 60, "k": 2, "threshold": 0.5, "level": 0.5}
MEANS = [0.8, 0.3, 0.6]
RESERVOIRS = {"rcb-i": {}, "rcb-air": {}, "ucb-v-inf": {}, "ucb-air": {}, "siri": {"prices": "unit"}}
#: Two kinds of rule each time, one of which pulls in batches; all with the slow tests.
KINDS = ("successive-elimination", "ugape-c")
KEY = jax.random.key(3)
UGAPE = jb.UGapEc(epsilon=0.3, delta=0.2)
#: What a user may have chosen.
SETTINGS = {
    "jax_enable_x64": True,
    "jax_debug_nans": True,
    "jax_debug_infs": True,
    "jax_numpy_dtype_promotion": "strict",
    "jax_numpy_rank_promotion": "raise",
    "jax_transfer_guard": "disallow",
    "jax_threefry_partitionable": False,
    "jax_default_prng_impl": "rbg",
    "jax_random_seed_offset": 7,
    "jax_legacy_prng_key": "error",
    "jax_debug_key_reuse": True,
    "jax_check_tracer_leaks": True,
    "jax_disable_jit": True,
    "jax_explicit_x64_dtypes": "error",
    "jax_default_matmul_precision": "highest",
    "jax_log_compiles": True,
    "jax_high_dynamic_range_gumbel": True,
}


@contextlib.contextmanager
def setting(name, value):
    """A block in which one of JAX's settings is a user's."""
    before = jax.config.values[name]
    jax.config.update(name, value)
    try:
        yield
    finally:
        jax.config.update(name, before)


class State(NamedTuple):
    pulls: jax.Array
    sums: jax.Array


@jb.algorithm
class Turns:
    """An algorithm as a user writes it, who leaves dtypes to JAX; NaN until every arm has been asked for."""

    pulls: int = 9

    def init(self, arms: Any, key: Any) -> State:
        return State(jnp.zeros(len(arms), int), jnp.zeros(len(arms)))

    def update(self, state: State, arms: Any, arm: Any, reward: Any) -> State:
        return State(state.pulls.at[arm].add(1), state.sums.at[arm].add(reward))

    def select(self, state: State, arms: Any, key: Any) -> jax.Array:
        return state.pulls.sum() % len(arms)

    def done(self, state: State, arms: Any) -> jax.Array:
        return state.pulls.sum() >= self.pulls

    def recommend(self, state: State, arms: Any) -> jax.Array:
        return jnp.argmax(state.sums / state.pulls)


def arms():
    return jb.bernoulli(MEANS)


def session():
    found = AskTell(UGAPE, arms=3, key=5)
    for reward in np.random.default_rng(0).integers(0, 2, 8):
        found.tell(found.ask(), float(reward))
    return AskTell.from_json(found.to_json()).to_json()


def by_hand():
    """What a user asks of a problem."""
    return arms().reward(KEY, 1, 2), arms().mean, arms().variance


#: What is compared under every setting.
FEW = {
    "simulate": lambda: jb.simulate(UGAPE, arms(), 8),
    "sweep": lambda: jb.sweep(jb.UGapEc(epsilon=jb.axis([0.3, 0.5]), delta=0.2), arms(), 8, independent=True),
    "own": lambda: jb.simulate(Turns(), arms(), 8, metrics={"sum": lambda problem, state, arms: state.own.sums.sum()}),
    "gradient": lambda: jb.gradients.expected("pulls", UGAPE, arms(), seeds=16),
    "run": lambda: jb.run(Turns(), arms(), KEY),
    "trajectory": lambda: jb.trajectory(UGAPE, arms(), KEY, 5),
    "drawn": lambda: (jb.random_uniform(3, seed=5).mean, jb.random_beta(3, seed=5).mean),
    "by hand": by_hand,
    "theory": lambda: (jb.theory.h1(np.asarray(MEANS)), jb.theory.kl_bernoulli(0.3, 0.5)),
}
#: And what with 64 bits, beside that.
MORE = {
    "softened": lambda: jb.gradients.expected(
        "simple_regret", jb.gradients.softened(jb.UCBE(budget=20, a=2.0), 0.1), arms(), "a", seeds=16
    ),
    "parameter": lambda: jb.gradients.expected("pulls", UGAPE, arms(), "epsilon", seeds=16),
    "tune": lambda: (
        jb.tune(jb.UGapEb(budget=30, a=2.0), [arms()] * 4, "simple_regret", wrt=["a"], steps=2, seeds=8).history
    ),
    "adversary": lambda: jb.adversary(jb.UGapEb(budget=30, a=2.0), arms(), steps=1, seeds=8, judged_seeds=8).problem,
    "session": session,
    "repeat": lambda: jb.repeat(jb.simulate(UGAPE, arms(), 8)),
    "summary": lambda: jb.summary(jb.simulate(UGAPE, arms(), 8)),
    "theory beside": lambda: jb.with_theory(jb.simulate(UGAPE, arms(), 8)),
    "compare": lambda: [row.pulls for row in compare(arms(), budget=30, seeds=8).fixed_budget],
    "vmap": lambda: jax.vmap(lambda epsilon: jb.run(jb.UGapEc(epsilon=epsilon, delta=0.2), arms(), KEY))(
        np.float32([0.3, 0.5])
    ),
}

#: Those with programs that no other test here needs.
LONG = ("compare", "adversary", "softened", "tune", "vmap")


def bits(found):
    """All bits of arrays and texts, with their types; of a Dataset without the seconds it took."""
    if hasattr(found, "data_vars"):
        found = {name: found[name].to_numpy() for name in sorted(found.variables)}
    return [(str(leaf.dtype), leaf.shape, leaf.tobytes()) for leaf in map(np.asarray, jax.tree.leaves(found))]


@pytest.fixture(scope="module")
def usual():
    return {name: bits(make()) for name, make in FEW.items()}


#: The setting that users choose most; the others with the slow tests.
EACH_TIME = ("jax_enable_x64",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in EACH_TIME)) for name in SETTINGS]
)
def test_under_every_setting_the_bits_are_the_same(name, usual):
    with setting(name, SETTINGS[name]):
        found = {what: make() for what, make in FEW.items()}
    for what, one in found.items():
        assert bits(one) == usual[what], what


def test_neither_nan_nor_infinities_stop_what_is_compiled_under_their_checks(usual):
    metrics = {"nan": lambda problem, state, arms: jnp.log(-state.own.sums.sum())}
    jax.clear_caches()  # what is compiled already is not looked at
    with jax.debug_nans(True), jax.debug_infs(True):
        assert bits(by_hand()) == usual["by hand"]
        found = jb.simulate(Turns(), arms(), 8, metrics=metrics)
    assert np.any(np.isnan(found["nan"]))


@pytest.mark.parametrize("what", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in MORE])
def test_with_64_bits_on_everything_else_has_the_same_bits(what):
    with jax.enable_x64(True):
        found = bits(MORE[what]())
    assert found == bits(MORE[what]())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in KINDS)) for name in REGISTRY]
)
def test_with_64_bits_on_every_algorithm_has_the_same_bits(name):
    cls = REGISTRY[name]
    required = [field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING]
    longer = {"norm": 2.0} if cls is jb.LinGapE else {}  # than theta, whose length is above 1

    def made():
        algorithm = cls(**{field: VALUES[field] for field in required}, **longer)
        problem = jb.reservoir(beta=1.0, arms=3, **RESERVOIRS[name]) if name in RESERVOIRS else arms()
        return jb.simulate(algorithm, problem, seeds=2, max_pulls=None if cls.traits.in_batches else 100)

    with jax.enable_x64(True):
        found = bits(made())
    assert found == bits(made())


@pytest.mark.slow
def test_64_bit_arrays_of_a_user_are_cast_where_they_come_in():
    def made(number):
        problem = jb.gaussian(number([0.8, 0.3, 0.6]), number(0.5))
        algorithm = jb.UGapEc(epsilon=number(0.3), delta=number(0.2))
        live = AskTell(algorithm, arms=3)
        live.tell(live.ask(), 0.5)
        return jb.run(algorithm, problem, KEY), jb.simulate(algorithm, problem, 4)["pulls"].to_numpy(), live.done

    with jax.enable_x64(True):
        found = made(jnp.asarray)
        traced = jax.jit(lambda epsilon: jb.run(jb.UGapEc(epsilon=epsilon, delta=0.2), arms(), KEY))(jnp.asarray(0.3))
    assert bits(found) == bits(made(lambda x: x))
    assert bits(traced) == bits(jb.run(jb.UGapEc(epsilon=0.3, delta=0.2), arms(), KEY))


def test_the_precision_of_theory_is_still_that_of_the_question():
    with jax.enable_x64(True):
        assert jb.theory.h1(jnp.asarray(MEANS)).dtype == np.float64
    assert jb.theory.h1(jnp.asarray(MEANS)).dtype == np.float32


CODE = """
import jax, sys
jax.config.update(*{setting!r})
import jaxbandits as jb
found = jb.simulate(jb.UGapEc(epsilon=0.3, delta=0.2), jb.bernoulli([0.8, 0.3, 0.6]), 8)
print(found["pulls"].to_numpy().tolist())
"""


@pytest.mark.parametrize("name", ["jax_enable_x64", pytest.param("jax_numpy_dtype_promotion", marks=pytest.mark.slow)])
def test_a_setting_may_be_made_before_the_package_is_imported(name):
    code = CODE.format(setting=(name, SETTINGS[name]))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = jb.simulate(UGAPE, arms(), 8)["pulls"].to_numpy().tolist()
    assert json.loads(done.stdout) == expected


def test_the_command_line_runs_with_64_bits(capsys):
    command = ["simulate", "ugape-c", "--set", "epsilon=0.3", "--set", "delta=0.2", "--problem", "bernoulli:0.8,0.3"]
    told = []
    for wide in (True, False):
        with jax.enable_x64(wide):
            assert main([*command, "--seeds", "8", "--json"]) == 0
        told.append({k: v for k, v in json.loads(capsys.readouterr().out).items() if "second" not in k})
    assert told[0] == told[1]


def test_the_users_settings_are_back_afterwards_also_after_an_error():
    with jax.enable_x64(True), jax.numpy_rank_promotion("raise"):
        with pytest.raises(jb.UsageError):
            jb.simulate(UGAPE, arms(), seeds=0)
        assert jnp.asarray(0.5).dtype == np.float64
        with pytest.raises(ValueError, match="rank_promotion"):
            jnp.zeros(2) + jnp.zeros((2, 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda problem, x: jb.simulate(UGAPE, problem, seeds=2),
        lambda problem, x: jb.compare(problem, delta=x),
        lambda problem, x: jb.AskTell(UGAPE, arms=2),
        lambda problem, x: jb.gradients.expected("error", UGAPE, problem, wrt="delta", seeds=2),
    ],
)
def test_what_runs_is_refused_in_one_line_inside_a_traced_function(call):
    problem = arms()

    def traced(x):
        call(problem, x)
        return x

    with pytest.raises(jb.UsageError, match=r"^runs need values, and arrays have none inside jax\.jit"):
        jax.jit(traced)(0.1)


def test_a_block_within_another_changes_nothing():
    with own_settings(), own_settings():
        assert jnp.asarray(0.5).dtype == np.float32
    with jax.enable_x64(True), own_settings("jax_enable_x64"):
        assert jnp.asarray(0.5).dtype == np.float64


def test_only_arrays_of_64_bits_become_narrower():
    with jax.enable_x64(True):
        wide = (jnp.asarray(0.1), jnp.asarray(3), KEY, np.float64(0.1), 2, "word", jnp.float32(1))
    found = narrowed(wide[:5])
    assert (found[0].dtype, found[1].dtype) == (np.float32, np.int32)
    assert found[2] is KEY
    assert found[3:] == wide[3:5]


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_a_users_mesh_does_not_reach_a_sweep(kind):
    """JAX refused the sweep's own mesh under another one."""
    rule = jb.Uniform(budget=6)
    before, pulls = jb.simulate(rule, arms(), seeds=2), jb.run(rule, arms(), KEY).pulls
    mesh = jax.make_mesh((1,), ("users",), (jax.sharding.AxisType[kind],))
    with jax.set_mesh(mesh):
        problem = arms()
        assert jb.simulate(rule, arms(), seeds=2).equals(before)
        assert (jax.jit(lambda key: jb.run(rule, problem, key).pulls)(KEY) == pulls).all()
        assert jax.sharding.get_abstract_mesh() == mesh.abstract_mesh
