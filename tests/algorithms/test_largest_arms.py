"""The m largest of many arms, found bit by bit, against sorting; with ties, and runs that differ in all of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.algorithms.largest_arms import are_largest, kth_largest
from jaxbandits.algorithms.uniform_sampling.joint_rounds import one_of, tie_numbers
from jaxbandits.transform import map_runs
from jaxbandits.transform.operation import computed_once

ARMS, RUNS = 300, 40
RANDOM = np.random.default_rng(3)
VALUES = {
    "counts": RANDOM.integers(0, 40, (ARMS, RUNS)).astype(np.int32),
    "floats": np.where(RANDOM.random((ARMS, RUNS)) < 0.2, -0.0, RANDOM.normal(size=(ARMS, RUNS))).astype(np.float32),
    "all of int32": RANDOM.integers(-(2**31), 2**31, (ARMS, RUNS)).astype(np.int32),
    "equal": np.zeros((ARMS, RUNS), np.float32),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("ties", [False, True])
def test_the_largest_are_those_of_sorting(values, ties):
    x, m = VALUES[values], np.arange(RUNS, dtype=np.int32) * 5
    among = np.arange(RUNS) + RANDOM.integers(0, 60, (ARMS, RUNS)) > 20
    seeds = RANDOM.integers(0, 2**32, (2, RUNS)).astype(np.uint32)
    order = np.asarray(jax.jit(map_runs(lambda seed: tie_numbers(seed, 7, ARMS)))(seeds))
    assert all(len(np.unique(order[:, run])) == ARMS for run in range(RUNS))
    order = order if ties else -np.broadcast_to(np.arange(ARMS, dtype=np.int32)[:, None], x.shape)
    found = np.asarray(jax.jit(map_runs(are_largest))(x, m, among, order))
    kth = np.asarray(jax.jit(map_runs(kth_largest))(x, np.maximum(m, 1), among))
    first = np.asarray(jax.jit(map_runs(one_of))(x, among, order))
    for run in range(RUNS):
        ranked = sorted(np.flatnonzero(among[:, run]), key=lambda arm: (-float(x[arm, run]), -int(order[arm, run])))
        assert set(np.flatnonzero(found[:, run])) == set(ranked[: m[run]])
        assert kth[run] == x[ranked[min(max(m[run], 1), len(ranked)) - 1], run]
        if ties:
            assert first[run] == ranked[0]


def test_ties_are_broken_anew_and_evenly():
    """Which of 3 comes first in two rankings: each of 9 as often; false alarm below 1e-8."""
    seeds = RANDOM.integers(0, 2**32, (2, 9000)).astype(np.uint32)

    def first(seed, number):
        return jnp.argmax(tie_numbers(seed, number, 3))

    one, other = (np.asarray(map_runs(lambda seed, n=n: first(seed, n))(seeds)) for n in (0, 1))
    counts = np.bincount(3 * one + other, minlength=9)
    assert (abs(counts - 1000) < 6 * np.sqrt(1000)).all()


def test_what_a_run_has_once_is_kept_before_it_meets_the_arms():
    """XLA:CPU would compute the logarithm for each arm."""

    def radius(t, pulls):
        return jnp.sqrt(jnp.log(t) / pulls)

    def barriers():
        return str(jax.make_jaxpr(map_runs(radius))(jnp.ones(4), jnp.ones((3, 4)))).count("optimization_barrier")

    assert barriers() == 0
    with computed_once(True):
        assert barriers() == 1
