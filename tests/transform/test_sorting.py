"""Sorting of few entries in pairs has the order of JAX, also of zeros, infinities and NaN."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxbandits.transform.equations import map_runs

#: Zeros of both signs, infinities, NaN of both signs and with other words, numbers below the normal ones, and others.
WORDS = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC00001, 1, 0x80000001, 0x3F800000, 0xBF800000]
FUNCTIONS: dict[str, Callable[[jax.Array], object]] = {
    "sort": lambda x: lax.sort((x, jnp.arange(len(x)), jnp.isnan(x)), num_keys=1),
    "argsort": lambda x: (jnp.argsort(x), jnp.argsort(x, descending=True)),
    "largest": lambda x: lax.top_k(x, 3),
    "all by size": lambda x: lax.top_k(x, len(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("count", [1, 2, 11, 40])
def test_every_number_has_the_place_that_jax_gives_it(name: str, count: int) -> None:
    function = FUNCTIONS[name] if count > 2 or name != "largest" else FUNCTIONS["all by size"]
    words = np.random.default_rng(count).choice(np.asarray(WORDS, np.uint32), (count, 300))
    for x in (jnp.asarray(words.view(dtype)) for dtype in (np.float32, np.int32, np.uint32)):
        expected = jax.vmap(function, in_axes=-1, out_axes=-1)(x)
        for found, wanted in zip(jax.tree.leaves(map_runs(function)(x)), jax.tree.leaves(expected), strict=True):
            assert found.dtype == wanted.dtype
            assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


def test_other_types_are_sorted_by_jax() -> None:
    def function(x: jax.Array, key: jax.Array) -> object:
        small = [x.astype(dtype) for dtype in (jnp.float16, jnp.bfloat16, jnp.int8, jnp.uint16)]
        return (
            lax.sort((x, *small), num_keys=1),
            lax.sort((x, lax.complex(x, -x))),
            jax.random.permutation(key, lax.complex(x, x)),
        )

    x, keys = jax.random.normal(jax.random.key(1), (9, 7)), jax.random.split(jax.random.key(2), 7)
    expected = jax.vmap(function, in_axes=-1, out_axes=-1)(x, keys)
    for found, wanted in zip(jax.tree.leaves(map_runs(function)(x, keys)), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_few_entries_need_no_sorting(name: str) -> None:
    x = jnp.zeros((12, 7))
    operations = str(jax.make_jaxpr(map_runs(FUNCTIONS[name]))(x))
    assert " sort[" not in operations
    assert " top_k[" not in operations
