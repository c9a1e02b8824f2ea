"""A pull asked of a problem by hand: Python's numbers serve, and what is not in the table is one line."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

KEY = jax.random.key(3)
PROBLEMS = [
    jb.bernoulli([0.3, 0.8, 0.5]),
    jb.gaussian([0.3, 0.8, 0.5]),
    jb.empirical([[1, 2, 3], [4, 5, 7], [2, 2, 2.5]]),
    jb.one_click([0.2, 0.3, 0.1]),
    jb.with_costs(jb.bernoulli([0.3, 0.8, 0.5]), [0.1, 0.2, 0.3], random=True),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_python_numbers_are_taken(problem):
    expected = problem.rewards(KEY, 5)
    for kind in (int, np.int64, np.uint8, jnp.int32):
        for arm in range(3):
            assert problem.reward(KEY, kind(arm), kind(5)) == expected[arm]
            assert problem.payoff(KEY, kind(arm), kind(5))[0] == expected[arm]
    np.testing.assert_array_equal(problem.reward(KEY, [0, 2], [5, 5]), expected[np.asarray([0, 2])])


@pytest.mark.parametrize("arm", [3, -1, 40, 1.0, "1", None, [0, 3], np.ma.masked])
def test_arms_that_are_not_there_are_one_line(arm):
    """Arm 3 of three was arm 2 with other rewards, and arm -1 one that never pays."""
    for pull in (PROBLEMS[0].reward, PROBLEMS[0].payoff):
        with pytest.raises(jb.UsageError, match="arm must be a whole number from 0 to 2, got"):
            pull(KEY, arm, 5)


@pytest.mark.parametrize("pull", [-1, 2**31, 1.5])
def test_pulls_that_are_not_there_are_one_line(pull):
    with pytest.raises(jb.UsageError, match=r"pull must be a whole number from 0 to 2\^31 - 1, got"):
        PROBLEMS[0].reward(KEY, 1, pull)


def test_what_is_traced_is_looked_at_as_far_as_it_is_known():
    reward = PROBLEMS[0].reward
    with pytest.raises(jb.UsageError, match="arm must be a whole number from 0 to 2, got float32"):
        jax.jit(lambda arm: reward(KEY, arm, 5))(1.0)
    with pytest.raises(jb.UsageError, match="arm must be a whole number from 0 to 2, got 3"):
        jax.jit(lambda pull: reward(KEY, 3, pull))(1)
    assert jax.jit(lambda arm: reward(KEY, arm, 5))(1) == reward(KEY, 1, 5)


def test_a_key_that_is_none_is_said_so():
    with pytest.raises(TypeError, match="a key must be typed"):
        PROBLEMS[0].reward(0, 1, 5)
