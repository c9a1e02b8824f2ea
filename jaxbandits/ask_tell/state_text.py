"""States as JSON data, to the last bit."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["from_plain", "to_plain"]


def to_plain(leaf: jax.Array) -> dict[str, object]:
    """Return an array as JSON data: every float32 is a decimal that reads back exactly, and inf and nan are texts."""
    array = np.asarray(_words(leaf))
    values = [str(x) if isinstance(x, float) and not np.isfinite(x) else x for x in array.reshape(-1).tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def from_plain(plain: dict[str, Any], like: jax.ShapeDtypeStruct) -> object:
    """Return the array of such data; a ValueError says that `like` has another shape or dtype."""
    expected = jax.eval_shape(_words, like)
    if (plain["dtype"], tuple(plain["shape"])) != (str(expected.dtype), expected.shape):
        raise ValueError("another state")
    floating = jnp.issubdtype(expected.dtype, jnp.floating)
    values = [float(x) if floating else x for x in plain["values"]]
    array = np.asarray(values, expected.dtype).reshape(expected.shape)
    return jax.random.wrap_key_data(jnp.asarray(array), impl="threefry2x32") if like.dtype != expected.dtype else array


def _words(leaf: jax.Array) -> jax.Array:
    """Return the leaf, or the words of a key: a randomised algorithm keeps its key in the state."""
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
