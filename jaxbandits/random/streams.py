"""All streams of randomness in one table, so that none can meet another.

A draw is a Threefry block under a key at a counter of two words (`bits.block`). Under one key two streams are apart
since their high words are:

    high word          low word      stream
    0                  any           what JAX's own functions make of a key (`fold_in`, `split`, `uniform`, …): run keys
                                     from the root key, and a user's own draws from a run's key
    1 … 2^31 - 1       pull          rewards of arm `high - 1`
    2^31 + arm         pull          costs of pulls, where a reward leaves no word for them
    0xFFFF0001         0             the order of ties
    0xFFFF0002         pull          rows of a table that all arms share
    0xFFFF0003         batch         keys of batches of pulls, and of the costs of all pulls together (batch 0xFFFF0004)
    0xFFFF0005         arm           arms that a reservoir gives a run
    0xFFFF0006         arm           their prices
    0xFFFF0007         time          posterior draws of Thompson sampling
    0xFFFF0008         hash          keys of grid cells that are to be independent

Below a batch's key, and below the words of a draw that needs more than two of them, stand counters of their own.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.random.bits import block

__all__ = ["ARMS", "BATCHES", "COSTS_OF_RUN", "POSTERIOR", "PRICES", "SHARED_ROWS", "TIES", "cell_key", "run_key"]

TIES = 0xFFFF0001
SHARED_ROWS = 0xFFFF0002
BATCHES = 0xFFFF0003
COSTS_OF_RUN = 0xFFFF0004  # a batch number
ARMS = 0xFFFF0005
PRICES = 0xFFFF0006
POSTERIOR = 0xFFFF0007
CELLS = 0xFFFF0008


def run_key(root: jax.Array, seed: ArrayLike) -> jax.Array:
    """The key of run `seed`: `jax.random.fold_in`, for arrays too.

    Args:
        root: the typed root key, shape `()`.
        seed: whole numbers in [0, 2^32), shape `(…)`.

    Returns:
        Typed Threefry keys, shape `(…)`.
    """
    return _as_keys(block(root, jnp.uint32(0), jnp.asarray(seed).astype(jnp.uint32), rolled=True))


def cell_key(key: jax.Array, high: ArrayLike, low: ArrayLike) -> jax.Array:
    """The key of a run in a cell of a grid that is to be independent of all others.

    Args:
        key: the run's typed key, shape `(…)`.
        high: first word of a hash of the cell's values, uint32 `(…)`.
        low: second word.

    Returns:
        Typed Threefry keys, shape `(…)`.
    """
    first = _as_keys(block(key, jnp.uint32(CELLS), high, rolled=True))
    return _as_keys(block(first, jnp.uint32(CELLS), low, rolled=True))


def _as_keys(words: tuple[jax.Array, jax.Array]) -> jax.Array:
    return jax.random.wrap_key_data(jnp.stack(words, axis=-1), impl="threefry2x32")
