"""Operations that compilers of kernels know have the values of those that they stand for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.platform_lowering import override_lowering
from jaxbandits.engine.on_chip.pallas_lowering import lower_for_pallas
from jaxbandits.random.streams import reward_block
from jaxbandits.random.threefry import KeyWords, key_words

X = np.random.default_rng(0).normal(size=(5, 16)).astype(np.float32) * 3
X[2, :4] = [0.5, -0.5, -0.2, -0.0]
#: What Triton or Mosaic of JAX 0.10.2 lack.
UNKNOWN = {
    "slice",
    "dynamic_slice",
    "stack",
    "unstack",
    "reduce_or",
    "reduce_and",
    "cumsum",
    "round",
    "clz",
    "scatter",
    "gather",
}


def names(jaxpr):
    """The primitives of a program, and of what it calls."""
    found = {equation.primitive.name for equation in jaxpr.eqns}
    for equation in jaxpr.eqns:
        for parameter in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(parameter, "jaxpr", parameter)
            found |= names(inner) if hasattr(inner, "eqns") else set()
    return found


def loop(x):
    """A loop of unknown length that carries a mask and reads what never changes."""

    def take_out(carry):
        mask, left = carry
        best = arms.largest(jnp.where(mask, -jnp.inf, x))
        return mask | (x == best), left - 1

    return lax.while_loop(lambda carry: jnp.any(carry[1] > 0), take_out, (x > 4, jnp.full(x.shape[1:], 3)))


def keys(x):
    """A loop of unknown length that carries a row of keys, and takes another row now and then."""
    words = lax.bitcast_convert_type(jnp.stack([x[0], x[1], x[2], x[3]]), jnp.uint32)
    two = jax.random.wrap_key_data(words.reshape(2, -1, 2), impl="threefry2x32")

    def other(carry):
        return jnp.where(carry[1] == 2, two[1], carry[0]), carry[1] - 1

    left = lax.bitcast_convert_type(x[4], jnp.int32) & 3
    return jax.random.key_data(lax.while_loop(lambda carry: jnp.any(carry[1] > 0), other, (two[0], left))[0])


FUNCTIONS = {
    "keys": keys,
    "rows": lambda x: (x[0], x[3], x[1] > 0, list(x)),
    "a row that is found": lambda x: lax.dynamic_index_in_dim(x, jnp.argmax(x[:, 0]), 0, keepdims=False),
    "stacks": lambda x: (
        jnp.stack([x[1], x[4], x[0]]),
        jnp.stack([x[0] > 0, x[1] > 0]),
        jnp.concatenate([x[:1], x[2:3]]),
    ),
    "rounding": jnp.round,
    "masks": lambda x: (jnp.any(x > 4, axis=0), jnp.all(x > -4, axis=0), jnp.where(x > 0, x > 1, x < -1)),
    "running sums": lambda x: jnp.cumsum(x > 0, axis=0),
    "unsigned": lambda x: [f(lax.bitcast_convert_type(x, jnp.uint32), axis=0) for f in (jnp.max, jnp.min)],
    "leading zeros": lambda x: [
        lax.clz(jnp.concatenate([lax.bitcast_convert_type(x, dtype), jnp.arange(48, dtype=dtype).reshape(3, 16)]))
        for dtype in (jnp.int32, jnp.uint32)
    ],
    "sums in order": arms.total,
    "a choice": lambda x: lax.cond(x[0, 0] > 0, lambda x: (x + 1, x > 0), lambda x: (x, x > 1), x),
    "loops": loop,
    "numbers alone": lambda x: x > jnp.where(~jnp.asarray(False), 1.0, 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_the_same(name):
    function = FUNCTIONS[name]
    with override_lowering("chip"):
        written = lambda x: lower_for_pallas(function, x)  # noqa: E731
        left = names(jax.make_jaxpr(written)(X).jaxpr) & UNKNOWN
        found = jax.jit(written)(X)
    assert not left - ({"slice", "dynamic_slice"} if name in ("a row that is found", "a choice") else set())
    expected = jax.jit(function)(X)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(other).view(np.uint8), np.asarray(one).view(np.uint8))


def test_words_stand_for_keys():
    key = jax.random.split(jax.random.key(3), 4)
    words = KeyWords(*key_words(key))
    assert words.shape == key.shape
    arm = jnp.arange(4)
    np.testing.assert_array_equal(reward_block(key, arm, 7), reward_block(words, arm, 7))
