"""The generator is JAX's own Threefry, word for word; keys of another kind are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from scipy import stats

from jaxbandits.random.threefry import block, key_words, open_uniform, uniform

pytestmark = pytest.mark.bits


def test_block_is_threefry_of_jax_word_for_word():
    random = np.random.default_rng(0)
    keys = random.integers(0, 2**32, (60, 2), dtype=np.uint64).astype(np.uint32)
    counters = random.integers(0, 2**32, (60, 2), dtype=np.uint64).astype(np.uint32)
    extremes = np.asarray([[0, 0], [2**32 - 1, 2**32 - 1], [0, 1], [1, 0]], np.uint32)
    keys, counters = np.concatenate([keys, extremes]), np.concatenate([counters, extremes[::-1]])
    typed = jax.random.wrap_key_data(keys, impl="threefry2x32")
    found = np.stack(block(typed, counters[:, 0], counters[:, 1]), axis=-1)
    np.testing.assert_array_equal(found, np.stack(block(typed, *counters.T, rolled=True), axis=-1))
    for key, counter, words in zip(keys, counters, found, strict=True):
        np.testing.assert_array_equal(words, threefry_2x32(jnp.asarray(key), jnp.asarray(counter)))


def test_published_words():
    # Threefry-2x32, 20 rounds: the known answers of the Random123 distribution.
    for key, counter, answer in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ):
        typed = jax.random.wrap_key_data(np.asarray(key, np.uint32), impl="threefry2x32")
        words = block(typed, np.uint32(counter[0]), np.uint32(counter[1]))
        assert tuple(int(word) for word in words) == answer


def test_counters_may_be_signed_and_broadcast():
    keys = jax.random.split(jax.random.key(1), 3)
    arm = jnp.arange(4, dtype=jnp.int32)[:, None]
    table = np.stack(block(keys, arm, 7))
    assert table.shape == (2, 4, 3)
    np.testing.assert_array_equal(table[:, 2, 1], block(keys[1], np.uint32(2), np.uint32(7)))
    minus_one = block(keys[0], jnp.int32(-1), jnp.int32(-(2**31)))
    np.testing.assert_array_equal(minus_one, block(keys[0], jnp.uint32(2**32 - 1), jnp.uint32(2**31)))
    np.testing.assert_array_equal(jax.jit(block)(keys, arm, 7), table)


def test_keys_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="typed"):
        block(jnp.zeros(2, jnp.uint32), 0, 0)
    with pytest.raises(TypeError, match="threefry2x32"):
        block(jax.random.key(0, impl="rbg"), 0, 0)
    with pytest.raises(TypeError, match="threefry2x32"):
        key_words(jax.random.split(jax.random.key(0, impl="unsafe_rbg"), 2))


def test_ends_of_the_uniforms():
    words = jnp.asarray([0, 1, 255, 256, 2**31, 2**32 - 257, 2**32 - 1], jnp.uint32)
    half_open, open_below = np.asarray(uniform(words)), np.asarray(open_uniform(words))
    assert half_open.dtype == open_below.dtype == np.float32
    np.testing.assert_array_equal(half_open, np.float32([0, 0, 0, 2**-24, 0.5, 1 - 2**-23, 1 - 2**-24]))
    np.testing.assert_array_equal(open_below[:5], np.float32([2**-33, 2**-32, 255 * 2**-32, 2**-24, 0.5]))
    assert open_below[-1] == 1
    assert (np.diff(open_below) >= 0).all()
    assert np.isfinite(np.log(open_below)).all()


def test_uniforms_are_uniform():
    """False alarm below 1e-6: four chi-square tests of 1000 cells and one correlation, at 1e-7 each."""
    words = block(jax.random.key(2), jnp.arange(400_000), 0)
    for word in words:
        for transform in (uniform, open_uniform):
            counts = np.histogram(np.asarray(transform(word)), bins=1000, range=(0, 1))[0]
            assert stats.chisquare(counts).pvalue > 1e-7
    assert stats.pearsonr(*(np.asarray(uniform(word), np.float64) for word in words)).pvalue > 1e-7
