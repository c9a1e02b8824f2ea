"""Normal arms with common random numbers: their law, their table, and what is refused. z-scores are below 6."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb
from jaxbandits.sweeps.spec import parse_problem

DRAWS = 50_000
PROBLEM = jb.correlated_gaussian([1.0, -0.5, 2.0], [1.0, 2.0, 0.5], [0.81, 0.49, 0.0])


@jax.jit
def wide_rewards(keys, pull):
    return jax.tree.map(lambda leaf: leaf[:, None], PROBLEM).rewards(keys, pull)


def test_moments_and_correlations_are_those_of_the_draws():
    rewards = np.asarray(wide_rewards(jax.random.split(jax.random.key(3), DRAWS), 4), np.float64)
    z = (rewards - np.asarray(PROBLEM.mean)[:, None]) / np.sqrt(np.asarray(PROBLEM.variance))[:, None]
    assert np.abs(z.mean(axis=1)).max() < 6 / np.sqrt(DRAWS)
    assert np.abs(z.var(axis=1) - 1).max() < 6 * np.sqrt(2 / DRAWS)
    assert np.abs(np.corrcoef(z)[np.triu_indices(3, 1)] - [0.63, 0.0, 0.0]).max() < 6 / np.sqrt(DRAWS)


def test_pulls_of_other_numbers_and_runs_are_unrelated():
    keys = jax.random.split(jax.random.key(4), DRAWS)
    now, later = (np.asarray(wide_rewards(keys, pull)) for pull in (0, 1))
    for one, other in ((now[0], later[0]), (now[0], later[1]), (now[0, 1:], now[1, :-1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 6 / np.sqrt(DRAWS)


@pytest.mark.bits
def test_rewards_and_sums_are_entries_of_the_table():
    key, counts, before = jax.random.key(8), jnp.asarray([3, 0, 1]), jnp.asarray([2, 5, 0])
    rewards, reward = jax.jit(PROBLEM.rewards), jax.jit(PROBLEM.reward)
    rows = np.stack([np.asarray(rewards(key, pull)) for pull in range(6)])
    for arm in range(3):
        assert reward(key, arm, 4) == rows[4, arm]
    sums = jax.jit(PROBLEM.sums)(key, jnp.int32(0), counts, before)
    np.testing.assert_allclose(sums, [rows[2:5, 0].sum(), 0, rows[0, 2]], rtol=1e-6)


def test_is_made_from_text_and_grids_and_refused_in_one_line():
    made = parse_problem("correlated-gaussian:means=1,0,correlation=0.3")
    np.testing.assert_array_equal(made.common, jb.correlated_gaussian([1.0, 0.0], correlation=0.3).common)
    family = jb.correlated_gaussian([1.0, 0.0], correlation=jb.axis([0.0, 0.5]))
    assert list(family.axes) == ["correlation"]
    for wrong in ({"correlation": 1.0}, {"correlation": -0.1}, {"sd": 0.0}, {"means": [[1.0, 0.0], [0.0, 1.0]]}):
        with pytest.raises(jb.UsageError):
            jb.correlated_gaussian(**{"means": [1.0, 0.0]} | wrong)
