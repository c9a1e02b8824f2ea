"""Numbers that must not lie: sums and counts far beyond 2^24, variances beside a large mean."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.statistics.arm_statistics import ArmStatistics
from tests.same_bits import assert_same_bits


def pulled(rewards, variance=False):
    """Statistics of two arms after `rewards` (pulls, 2), one pull of each arm after the other."""
    state = ArmStatistics.first(rewards[0], None, variance=variance)

    def body(state, row):
        for arm in range(2):
            state = state.add(jnp.int32(arm), row[arm])
        return state, None

    return jax.jit(lambda state, rest: jax.lax.scan(body, state, rest)[0])(state, rewards[1:])


@pytest.mark.parametrize(
    ("reward", "most_error"), [(np.float32(0.1), 1e-6), pytest.param(np.int32(3), 0, marks=pytest.mark.slow)]
)
def test_thirty_million_pulls_of_one_arm(reward, most_error):
    pulls = 30_000_000

    @jax.jit
    def run(reward):
        first = ArmStatistics.first(jnp.stack([reward, reward]), None)
        return jax.lax.fori_loop(1, pulls, lambda _, state: state.add(jnp.int32(1), reward), first)

    state = run(reward)
    assert state.pulls.tolist() == [1, pulls]
    assert int(state.time) == pulls + 1
    if most_error:
        total = float(state.moments.total.high[1]) + float(state.moments.total.low[1])
        assert abs(total / (pulls * float(reward)) - 1) < 1e-8  # the low part is rounded 3e7 times, the same way
    else:
        assert state.total.tolist() == [3, 3 * pulls]
    assert abs(float(state.mean[1]) - float(reward)) <= most_error * float(reward)
    np.testing.assert_allclose(state.inverse_root[1], pulls**-0.5, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.bits  # runs for long
def test_the_mean_still_moves_after_thirty_million_pulls():
    """After 3e7 rewards of 0, as many of 1 bring the mean to 1/2; a plain float32 sum would stop at 2^24."""
    pulls = 30_000_000
    for one in (np.int32(1), np.float32(1)):

        @jax.jit
        def run(one):
            state = ArmStatistics.first(jnp.stack([one, 0 * one]), None)
            return jax.lax.fori_loop(
                1, 2 * pulls, lambda i, state: state.add(jnp.int32(1), jnp.where(i < pulls, 0 * one, one)), state
            )

        assert float(run(one).mean[1]) == 0.5


def test_a_plain_sum_would_be_caught():
    plain = jax.jit(lambda x: jax.lax.fori_loop(0, 30_000_000, lambda _, total: total + x, jnp.float32(0)))
    assert float(plain(jnp.float32(1))) == 2**24


def test_a_compensated_sum_keeps_twice_the_digits():
    random = np.random.default_rng(0)
    terms = (random.normal(size=20_000) * 10.0 ** random.uniform(-6, 6, 20_000)).astype(np.float32)
    start = CompensatedSum.of(jnp.float32(0))
    found = jax.jit(lambda terms: jax.lax.scan(lambda total, x: (total.plus(x), None), start, terms)[0])(terms)
    exact = terms.astype(np.float64).sum()
    assert abs(float(found.high) + float(found.low) - exact) < 2.0**-40 * np.abs(terms).sum(dtype=np.float64)
    assert float(found.high) == np.float32(float(found.high) + float(found.low))
    # Cancellation down to nothing leaves what plain float32 sums have long lost.
    some = np.float32([1e8, 1, -1e8, 1e-3])
    found = jax.jit(lambda terms: jax.lax.scan(lambda total, x: (total.plus(x), None), start, terms)[0])(some)
    assert float(found.high) == np.float32(1 + float(np.float32(1e-3)))


def test_integer_sums_are_exact():
    rewards = np.random.default_rng(1).integers(-(2**16), 2**16, (5000, 2)).astype(np.int32)
    state = pulled(rewards)
    assert state.total.dtype == jnp.int32
    np.testing.assert_array_equal(state.total, rewards.sum(axis=0))
    np.testing.assert_allclose(state.mean, rewards.mean(axis=0), rtol=1e-6)
    assert state.pulls.tolist() == [5000, 5000]
    assert int(state.time) == 10_000


@pytest.mark.parametrize(
    ("mean", "sd", "tolerance"), [(0.0, 1.0, 1e-5), (0.5, 0.1, 1e-5), (1000.0, 0.1, 2e-3), (-1000.0, 5.0, 1e-4)]
)
def test_variance_is_that_of_numpy(mean, sd, tolerance):
    random = np.random.default_rng(2)
    rewards = random.normal(mean, [sd, 2 * sd], (20_000, 2)).astype(np.float32)
    state = pulled(rewards, variance=True)
    exact = rewards.astype(np.float64).var(axis=0, ddof=1)
    np.testing.assert_allclose(state.variance(), exact, rtol=tolerance)
    np.testing.assert_allclose(state.mean, rewards.astype(np.float64).mean(axis=0), rtol=1e-6, atol=1e-6)


def test_variance_of_few_rewards():
    rewards = np.float32([[0, 1], [1, 1], [1, 1]])
    two, three = pulled(rewards[:2], variance=True), pulled(rewards, variance=True)
    np.testing.assert_allclose(two.variance(), [0.5, 0], rtol=1e-6)
    np.testing.assert_allclose(three.variance(), [1 / 3, 0], rtol=1e-6)
    whole = pulled(rewards.astype(np.int32), variance=True)
    np.testing.assert_allclose(whole.variance(), [1 / 3, 0], rtol=1e-6)


@pytest.mark.parametrize("kind", [np.int32, np.float32])
@pytest.mark.parametrize("variance", [False, True])
def test_what_did_not_happen_changes_no_bit(kind, variance):
    random = np.random.default_rng(3)
    rewards = random.normal(0.3, 100, (50, 2)).astype(kind)
    state = pulled(rewards, variance=variance)
    # `add` in a program of its own, and by hand.
    for add in (ArmStatistics.add, jax.jit(ArmStatistics.add)):
        assert_same_bits(add(state, jnp.int32(1), kind(77), False), state)
    assert_same_bits(state.add_each(kind([5, -7]), jnp.zeros(2, bool)), state)
    one = state.add_each(kind([5, -7]), jnp.asarray([False, True]))
    assert one.pulls.tolist() == [50, 51]
    assert int(one.time) == 101
    assert_same_bits(one, state.add(jnp.int32(1), kind(-7)))


@pytest.mark.bits
def test_a_batch_has_the_bits_of_its_runs():
    random = np.random.default_rng(4)
    rewards = random.normal(0.3, 1, (30, 9)).astype(np.float32)
    pulls = random.integers(0, 4, (30, 9)).astype(np.int32)
    live = random.random((30, 9)) < 0.8
    first = random.normal(size=(4, 9)).astype(np.float32)

    @jax.jit
    def run(first, pulls, rewards, live):
        state = ArmStatistics.first(first, None, variance=True)
        return jax.lax.scan(lambda state, row: (state.add(*row), None), state, (pulls, rewards, live))[0]

    together = run(first, pulls, rewards, live)
    for one in range(9):
        alone = run(first[:, one], pulls[:, one], rewards[:, one], live[:, one])
        assert_same_bits(jax.tree.map(lambda x, one=one: np.asarray(x)[..., one], together), alone)


def test_padded_arms_have_no_pulls():
    mask = np.asarray([True, True, False])
    state = ArmStatistics.first(np.float32([1, 2, 3]), mask, variance=True)
    state = state.add_each(np.float32([3, 2, 1]), mask)
    assert state.pulls.tolist() == [2, 2, 0]
    assert int(state.time) == 4
    assert np.isfinite(np.asarray(state.variance())).all()
    np.testing.assert_allclose(state.mean[:2], [2, 2])


def test_variances_of_huge_rewards_are_finite():
    """So that what is computed with them need not be looked at for infinities and NaN."""
    known = ArmStatistics.first(jnp.asarray([3e38, -3e38], jnp.float32), None, variance=True)
    for reward in (-3e38, 3e38, 3e38):
        known = known.add_each(jnp.full(2, reward, jnp.float32), jnp.ones(2, bool))
    assert np.isfinite(known.variance()).all()
    assert (known.variance() > 2.0**95).all()
