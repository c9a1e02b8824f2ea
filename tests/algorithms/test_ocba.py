"""OCBA's allocation of one increment, and settings that are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxbandits as jb

PULLS = jnp.asarray([12, 6, 5, 5, 4])


def arms(means, variances, pulls):
    """What a rule knows of arms with these means and variances."""
    means, variances = jnp.asarray(means), jnp.asarray(variances)
    return jb.Arms(
        pulls=pulls, time=jnp.sum(pulls), count=jnp.int32(pulls.size), b=None, total=means * pulls, mean=means,
        squares=variances * (pulls - 1),
    )  # fmt: skip


def test_an_increment_is_that_of_a_public_program():
    """Which minimises, and whose test has these numbers (sim-tools)."""
    known = arms([-1.2, -2.1, -3.4, -4.87, -6.05], [3.3, 2.0, 4.5, 5.3, 6.9], PULLS)
    planned = jb.OCBA(budget=400, increment=100).init(known, jax.random.key(0))
    assert planned.tolist() == [48, 38, 11, 2, 1]


@pytest.mark.parametrize("rule", [jb.OCBA(budget=400, increment=9), jb.OCBAm(budget=400, increment=9, m=2)])
@pytest.mark.parametrize(
    ("means", "variances"),
    [
        ([1.0, 1.0, 1.0, 0.0, 0.0], [0.2, 0.2, 0.2, 0.2, 0.2]),
        ([1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.2, 0.2, 0.2]),
        ([1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_ties_and_equal_rewards_leave_a_plan(rule, means, variances):
    planned = np.asarray(rule.init(arms(means, variances, PULLS), jax.random.key(0)))
    assert planned.sum() == 9
    assert planned.min() >= 0


def test_two_first_pulls_are_needed():
    with pytest.raises(jb.UsageError, match="initial must be at least 2, for a variance, got 1"):
        jb.OCBA(budget=100, initial=1)
