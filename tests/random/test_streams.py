"""Streams of randomness do not meet: neither each other nor what JAX's own functions make of the same key."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import jaxbandits as jb
from jaxbandits.random import streams
from jaxbandits.random.threefry import block

pytestmark = pytest.mark.bits

KEY = jax.random.key(5)
MANY = 100_000


def words(pair):
    """Two words each as one number."""
    high, low = (np.asarray(word, np.uint64).reshape(-1) for word in jnp.broadcast_arrays(*pair))
    return high << np.uint64(32) | low


def own_keys(key, number=MANY):
    """The words of the keys that a user makes of a run's key."""
    data = jax.random.key_data(jax.vmap(lambda t: jax.random.fold_in(key, t))(jnp.arange(number)))
    return words((data[:, 0], data[:, 1]))


def test_rewards_are_apart_from_keys_that_are_made_of_the_run_key():
    pulls = jnp.arange(MANY, dtype=jnp.int32)
    rewards = [words(streams.reward_block(KEY, jnp.int32(arm), pulls)) for arm in range(3)]
    rewards.append(words(streams.cost_block(KEY, jnp.int32(0), pulls)))
    everything = np.concatenate([own_keys(KEY), *rewards])
    assert len(np.unique(everything)) == len(everything)  # 64 bits: by chance two of 500 000 meet with 7e-9
    # As the reward of arm 0 was once drawn.
    assert np.array_equal(words(block(KEY, 0, pulls)), own_keys(KEY))


@pytest.mark.slow
def test_a_draw_of_the_users_own_is_unrelated_to_a_beta_reward():
    """Chi-square of an 8 by 8 table, p > 1e-8. The words of a Beta reward are a key, and were the user's."""
    arms = jb.beta([2.0, 1.0], 3.0)
    time = jnp.arange(MANY, dtype=jnp.int32)
    rewards = jax.jit(jax.vmap(lambda t: arms.reward(KEY, jnp.int32(0), t)))(time)
    coins = jax.jit(jax.vmap(lambda t: jax.random.uniform(jax.random.fold_in(KEY, t))))(time)
    table = np.histogram2d(stats.rankdata(rewards), np.asarray(coins) * MANY, bins=8)[0]
    assert stats.chi2_contingency(table).pvalue > 1e-8


def test_a_run_with_the_root_key_shares_nothing_with_the_run_keys_of_a_sweep():
    run_keys = jax.random.key_data(streams.run_key(KEY, jnp.arange(MANY)))
    rewards = words(streams.reward_block(KEY, jnp.int32(0), jnp.arange(MANY, dtype=jnp.int32)))
    assert not np.intersect1d(words((run_keys[:, 0], run_keys[:, 1])), rewards).size


def test_run_keys_are_those_of_fold_in():
    seeds = np.asarray([0, 1, 7, 2**31 - 1])
    made = jax.random.key_data(streams.run_key(KEY, seeds))
    for seed, data in zip(seeds, made, strict=True):
        np.testing.assert_array_equal(jax.random.key_data(jax.random.fold_in(KEY, seed)), data)


def test_streams_have_high_words_of_their_own():
    named = [streams.TIES, streams.SHARED_ROWS, streams.BATCHES, streams.ARMS, streams.PRICES, streams.POSTERIOR]
    named.append(streams.CELLS)
    assert len(set(named)) == len(named)
    assert min(named) > 2**31 + streams.MOST_ARMS  # the costs of pulls end below


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1])
def test_root_keys_are_those_of_jax_while_it_has_them(seed):
    np.testing.assert_array_equal(
        jax.random.key_data(streams.root_key(seed)), jax.random.key_data(jax.random.key(seed))
    )


def test_root_seeds_of_64_bits_are_told_apart():
    found = {seed: jb.simulate(jb.UCBE(budget=60, a=1.0), jb.bernoulli([0.5, 0.4]), 20, root_seed=seed).recommended
             for seed in (0, 2**32, 2**64 - 1)}  # fmt: skip
    assert len({values.to_numpy().tobytes() for values in found.values()}) == 3
    sessions = [jb.AskTell(jb.UCBE(budget=9, a=1.0), arms=9, key=seed).ask(9) for seed in (0, 2**32)]
    first, second = ([arm for _, arm in pulls] for pulls in sessions)
    assert first != second


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, True, "7"])
def test_other_root_seeds_are_refused(seed):
    with pytest.raises(jb.UsageError, match="root_seed must be a whole number from 0 to 2"):
        jb.simulate(jb.UCBE(budget=60, a=1.0), jb.bernoulli([0.5, 0.4]), 2, root_seed=seed)


def test_rewards_of_several_pulls_by_vmap():
    arms, pulls = jb.bernoulli([0.3, 0.6, 0.5]), jnp.arange(5, dtype=jnp.int32)
    each = np.stack([arms.rewards(KEY, pull) for pull in pulls])
    np.testing.assert_array_equal(jax.vmap(lambda pull: arms.rewards(KEY, pull))(pulls), each)
