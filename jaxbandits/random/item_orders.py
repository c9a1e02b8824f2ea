"""Random orders of the items of a finite population: the sort of a random word for each item.

Every order is equally likely, but for words that are equal: of two items the first comes first with a probability that
exceeds 1/2 by 2^-33 (2^-32 among the items of one arm).
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.arms import index
from jaxbandits.random.streams import SHARED_ROWS, reward_block
from jaxbandits.random.threefry import block

__all__ = ["arm_words", "item_order", "item_words", "sorted_last"]

_TOP = 1 << 31


def item_words(key: jax.Array, items: int) -> jax.Array:
    """Return a random word for each item, which all arms share: uint32 `(N, …)`, of the runs' typed keys `(…)`."""
    return block(key, jnp.uint32(SHARED_ROWS), index(items, key.shape), rolled=True)[0]


def arm_words(key: jax.Array, arms: int, items: int) -> jax.Array:
    """Return a random word for each item of each arm, uint32 `(K, N, …)`."""
    return reward_block(key, index(arms, (1, *key.shape)), index(items, key.shape)[None], rolled=True)[0]


def item_order(key: jax.Array, items: int) -> jax.Array:
    """Return the item at each place of the runs' orders, int32 `(N, …)`."""
    words = item_words(key, items)
    places = jnp.broadcast_to(index(items, key.shape), words.shape)
    return lax.sort((words, places), dimension=0, is_stable=True, num_keys=1)[1]


def sorted_last(words: jax.Array, values: jax.Array, missing: jax.Array) -> jax.Array:
    """Return values in the order of their words, the missing ones last.

    Args:
        words: uint32 `(K, N, …)`.
        values: float32 `(K, N, …)`.
        missing: bool `(K, N, …)`.
    """
    late = (words >> 1) | jnp.where(missing, jnp.uint32(_TOP), jnp.uint32(0))
    return lax.sort((late, values), dimension=1, is_stable=True, num_keys=1)[1]
