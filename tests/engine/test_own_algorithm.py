"""A user's own algorithm, written for one run, in the engine: the same runs, and axes over its leaves."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

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


def test_its_trajectory_stays_when_done():
    states = jb.trajectory(Race(0.3, 0.3), PROBLEM, jax.random.key(1), 200)
    last = jb.run(Race(0.3, 0.3), PROBLEM, jax.random.key(1))
    assert int(jnp.sum(states.pulls[-1])) == int(jnp.sum(last.pulls))
    assert np.asarray(states.own.alive[-1]).tolist() == np.asarray(last.own.alive).tolist()


def test_it_is_stopped_at_max_pulls():
    rows = jb.simulate(Race(0.1), jb.bernoulli([0.5, 0.5, 0.5]), seeds=2, max_pulls=90)
    assert (rows["status"] == 1).all()
    assert (rows["pulls"] == 90).all()
