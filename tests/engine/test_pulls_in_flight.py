"""Pulls in flight count as pulls that gave the present mean."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.engine.pulls_in_flight import count_pending
from jaxbandits.statistics.arm_statistics import ArmStatistics

PENDING = jnp.asarray([[0, 3], [2, 0], [1, 1]], jnp.int32)


def told(*, integer, pulls=7):
    """Statistics of three arms in two runs, with variances."""
    random = np.random.default_rng(0)
    rewards = random.integers(0, 3, (pulls, 3, 2)) if integer else random.random((pulls, 3, 2), np.float32)
    found = ArmStatistics.first(jnp.asarray(rewards[0]), None, variance=True)
    for reward in rewards[1:]:
        found = found.add_each(jnp.asarray(reward), jnp.ones((3, 2), bool))
    return found


@pytest.mark.parametrize("integer", [False, True])
def test_pulls_and_time_grow_while_means_and_variances_stay(integer):
    before = told(integer=integer)
    seen = jax.jit(count_pending)(before, PENDING)
    np.testing.assert_array_equal(seen.pulls, before.pulls + PENDING)
    np.testing.assert_array_equal(seen.time, before.time + PENDING.sum(axis=0))
    np.testing.assert_array_equal(seen.mean, before.mean)
    np.testing.assert_allclose(seen.variance(), before.variance(), rtol=1e-6)
    np.testing.assert_allclose(seen.inverse_root, 1 / np.sqrt(seen.pulls), rtol=1e-6)
    np.testing.assert_allclose(seen.total, before.total + PENDING * before.mean, atol=1e-5)
    np.testing.assert_allclose(seen.total / seen.pulls, seen.mean, atol=1e-6)


@pytest.mark.parametrize("integer", [False, True])
def test_arms_without_a_pull_in_flight_keep_every_bit(integer):
    before = told(integer=integer)
    seen = jax.jit(count_pending)(before, PENDING)
    np.testing.assert_array_equal(np.asarray(before.total, np.float32)[PENDING == 0], seen.total[PENDING == 0])
    if integer:  # as float32, for the parts of rewards in flight
        before, seen = (dataclasses.replace(x, moments=x.moments._replace(total=None)) for x in (before, seen))
    for old, new in zip(jax.tree.leaves(before.moments), jax.tree.leaves(seen.moments), strict=True):
        np.testing.assert_array_equal(np.asarray(old)[PENDING == 0], np.asarray(new)[PENDING == 0])
        assert old.dtype == new.dtype


def test_arms_without_a_reward_count_as_pulled_and_keep_the_mean_0():
    seen = count_pending(ArmStatistics.none(2, (), integer=False, one_by_one=True), jnp.asarray([0, 2]))
    assert (seen.pulls.tolist(), seen.mean.tolist(), seen.total.tolist()) == ([0, 2], [0.0, 0.0], [0.0, 0.0])
