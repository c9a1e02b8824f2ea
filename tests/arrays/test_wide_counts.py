"""Counts of two words against Python's whole numbers, at and around every border."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.uint64 import UInt64

COUNTS = np.asarray(
    sorted({min(abs(2**power + step), 2**31 - 1) for power in (0, 15, 16, 30, 31) for step in (-2, -1, 0, 1)})
)
WORDS = np.asarray([0, 1, 2**16 - 1, 2**16, 2**31, 2**32 - 1])


def pairs(first, second):
    return (x.ravel() for x in np.meshgrid(first, second))


def test_products_and_sums_are_exact():
    a, b = pairs(COUNTS, COUNTS)
    product = jax.jit(UInt64.product)(a.astype(np.int32), b.astype(np.int32))
    np.testing.assert_array_equal(product.to_numpy(), a * b)
    total = jax.jit(UInt64.plus)(product, UInt64.of(jnp.asarray(a, jnp.int32)))
    np.testing.assert_array_equal(total.to_numpy(), a * b + a)
    thrice = jax.jit(UInt64.times)(product, np.full(a.shape, 3, np.int32))
    fits = 3.0 * a * b < 2**63
    np.testing.assert_array_equal(thrice.to_numpy()[fits], (3 * (a * b))[fits])
    high, low = pairs(WORDS, WORDS)
    words = UInt64.product(jnp.asarray(high, jnp.uint32), jnp.asarray(low, jnp.uint32))
    whole = [int(x) * int(y) for x, y in zip(high, low, strict=True)]
    assert [(int(h) << 32) + int(w) for h, w in zip(words.high, words.low, strict=True)] == whole


def test_caps_and_floats():
    a, b = pairs(COUNTS, COUNTS)
    product = UInt64.product(jnp.asarray(a, jnp.int32), jnp.asarray(b, jnp.int32))
    np.testing.assert_array_equal(product.capped(), np.minimum(a * b, MAX_COUNT))
    np.testing.assert_array_equal(product.capped(MAX_COUNT - 1), np.minimum(a * b, MAX_COUNT - 1))
    assert product.capped().dtype == jnp.int32
    np.testing.assert_allclose(product.as_float(), (a * b).astype(np.float32), rtol=1.2e-7)
