"""A user's own algorithm, written for one run, in the engine: the same runs, and axes over its leaves."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

PROBLEM = jb.bernoulli([0.3, 0.8, 0.5])
ROOT, SEEDS = 2, 5


class RaceState(NamedTuple):
    sums: jax.Array  # float32 (K,)
    alive: jax.Array  # bool (K,)


@jb.algorithm
class Race:
    """Pulls every arm that is left, and drops those whose Hoeffding interval lies below another one."""

    delta: Any
    scale: Any = 1.0

    def init(self, arms, key):
        return RaceState(arms.total.astype(jnp.float32), jnp.ones(len(arms), bool))

    def request(self, state, arms, key):
        return state.alive.astype(jnp.int32)

    def absorb(self, state, arms, counts, sums):
        total = state.sums + sums
        radius = self.scale * jnp.sqrt(jnp.log(4 * arms.count * arms.pulls**2 / self.delta) / (2 * arms.pulls))
        mean = total / arms.pulls
        lowest = jnp.max(jnp.where(state.alive, mean - radius, -jnp.inf))
        return RaceState(total, state.alive & (mean + radius >= lowest))

    def done(self, state, arms):
        return jnp.sum(state.alive) == 1

    def recommend(self, state, arms):
        return state.alive


@pytest.mark.slow
def test_the_engine_runs_it_as_it_runs_alone():
    rows = jb.simulate(Race(0.1), PROBLEM, seeds=SEEDS, root_seed=ROOT)
    assert (rows["status"] == 0).all()
    for seed in range(SEEDS):
        state = jb.run(Race(0.1), PROBLEM, jax.random.fold_in(jax.random.key(ROOT), seed))
        assert int(jnp.sum(state.pulls)) == int(rows["pulls"][seed])
        np.testing.assert_array_equal(state.own.alive, rows["recommended"][seed])


def test_its_leaves_span_a_grid():
    grid = jb.sweep(Race(jb.axis([0.01, 0.3]), scale=jb.axis([0.5, 1.0])), PROBLEM, seeds=SEEDS, root_seed=ROOT)
    assert dict(grid.sizes) == {"delta": 2, "scale": 2, "seed": SEEDS, "arm": 3}
    for delta in (0.01, 0.3):
        for scale in (0.5, 1.0):
            cell = grid.sel(delta=delta, scale=scale)
            pulls = [
                int(jnp.sum(jb.run(Race(delta, scale), PROBLEM, jax.random.fold_in(jax.random.key(ROOT), s)).pulls))
                for s in range(SEEDS)
            ]
            assert cell["pulls"].values.tolist() == pulls
    assert (grid["pulls"].sel(delta=0.01) > grid["pulls"].sel(delta=0.3)).all()


@pytest.mark.slow
def test_its_trajectory_stays_when_done():
    states = jb.trajectory(Race(0.3, 0.3), PROBLEM, jax.random.key(1), 200)
    last = jb.run(Race(0.3, 0.3), PROBLEM, jax.random.key(1))
    assert int(jnp.sum(states.pulls[-1])) == int(jnp.sum(last.pulls))
    assert np.asarray(states.own.alive[-1]).tolist() == np.asarray(last.own.alive).tolist()


def test_it_is_stopped_at_max_pulls():
    rows = jb.simulate(Race(0.1), jb.bernoulli([0.5, 0.5, 0.5]), seeds=2, max_pulls=90)
    assert (rows["status"] == 1).all()
    assert (rows["pulls"] == 90).all()


class Least:
    """Pulls the arm with the fewest pulls, 20 in all."""

    def init(self, arms, key):
        return jnp.float32(0)

    def update(self, state, arms, arm, reward):
        return state

    def select(self, state, arms, key):
        return jnp.argmin(arms.pulls)

    def done(self, state, arms):
        return arms.time >= 20

    def recommend(self, state, arms):
        return jnp.argmax(arms.mean)


def least(**methods):
    """Make a rule of `Least` with other methods."""
    return jb.algorithm(type("Rule", (Least,), {"__module__": __name__, **methods}))()


#: Of 3 and of 5 arms: one program has room for 8.
THREE_AND_FIVE = [PROBLEM, jb.bernoulli([0.2, 0.5, 0.9, 0.3, 0.1])]


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"done": lambda self, state, arms: arms.mean > 0}, r"Rule.done must be bool \(\), got bool \(3,\)"),
        ({"recommend": lambda self, state, arms: "the best"}, "Rule.recommend, .* got str"),
        ({"select": lambda self, state, arms, key: 0 if arms.mean[0] > 0 else 1}, "a Python if"),
        ({"init": lambda self, arms, key: "none"}, "Rule.init: the state must be an array"),
        ({"update": lambda *_: jnp.zeros(2)}, r"Rule.update: the state must stay float32 \(\) as in init"),
        ({"update": lambda *_: (0, 0)}, r"a state built as that of init, float32 \(\), got tuple of \[0\], \[1\]"),
    ],
)
def test_a_wrong_method_is_refused_in_one_line_in_a_grid_over_numbers_of_arms(methods, said):
    with pytest.raises(jb.UsageError, match=said):
        jb.sweep(least(**methods), THREE_AND_FIVE, seeds=2)


@pytest.mark.slow
def test_a_table_with_fewer_entries_than_one_program_has_room_for():
    weights = np.arange(1.0, 7.0)
    runs = jb.sweep(
        least(select=lambda self, state, arms, key: jnp.argmin(arms.pulls * weights[: len(arms)])), THREE_AND_FIVE, 2
    )
    assert (runs.pulls == 20).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of_arms", "wanted"),
    [
        (lambda n: [jnp.float32(i) for i in range(n)], [0, 1, 2]),  # a leaf for each arm
        (lambda n: jnp.zeros((2,) * n), np.zeros((2, 2, 2))),  # an axis for each arm
        (lambda n: jnp.arange(n * (n - 1) // 2), [0, 1, 2]),  # an entry for each pair, of which there are three
        (lambda n: jnp.zeros((0, n)), np.zeros((0, 3))),
        (lambda n: None, None),
    ],
)
def test_states_of_any_form_are_shown_as_they_are(of_arms, wanted):
    made = least(init=lambda self, arms, key: of_arms(len(arms)))
    for seed in range(3):  # each has an order of the arms
        own = jb.run(made, PROBLEM, jax.random.key(seed)).own
        np.testing.assert_array_equal(np.asarray(own), np.asarray(wanted))
    assert (jb.sweep(made, THREE_AND_FIVE, seeds=2).pulls == 20).all()
