"""All streams of randomness in one table, so that none can meet another.

A draw is a Threefry block under a key at a counter of two words (`bits.block`). Under one key, streams are
distinct since their high words are:

    high word          low word      stream
    0                  any           what JAX's own functions make of a key (`fold_in`, `split`, `uniform`, …): run keys
                                     from the root key, and a user's own draws from a run's key
    1 … 2^31 - 1       pull          rewards of arm `high - 1`; or the order of its items, where it has finitely many
    2^31 + arm         pull          costs of pulls, where a reward leaves no word for them
    0xFFFF0001         0, 1          the order of ties: of a whole run, and what makes those at a time
    0xFFFF0002         pull          rows of a table that all arms share; or the order of items that they share
    0xFFFF0003         batch         keys of batches of pulls; batch 0xFFFF0004: key of the costs that are drawn as sums
    0xFFFF0005         arm           arms that a reservoir gives a run
    0xFFFF0006         arm           their prices
    0xFFFF0007         time          posterior draws of Thompson sampling, tosses for one of two arms
    0xFFFF0008         hash          keys of grid cells that are to be independent
    0xFFFF0009         time          keys of the steps of a rule, for its own draws
    0xFFFF000A         pull          delays of rewards on a simulated platform, by the number of the pull in the run

Arms are fewer than `MOST_ARMS`: no arm's word is one of the last, and bytes of all arms add up within an int32. A
batch's key, and the words of a draw that needs more than two, key separate counters.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.random.threefry import KeyWords, block

__all__ = [
    "ARMS",
    "BATCHES",
    "CELLS",
    "DELAYS",
    "MOST_ARMS",
    "POSTERIOR",
    "PRICES",
    "SHARED_ROWS",
    "STEPS",
    "TIES",
    "batch_key",
    "cell_key",
    "cost_block",
    "costs_key",
    "reward_block",
    "root_key",
    "run_key",
    "step_key",
]

MOST_ARMS = 2**23
TIES = 0xFFFF0001
SHARED_ROWS = 0xFFFF0002
BATCHES = 0xFFFF0003
ARMS = 0xFFFF0005
PRICES = 0xFFFF0006
POSTERIOR = 0xFFFF0007
CELLS = 0xFFFF0008
STEPS = 0xFFFF0009
DELAYS = 0xFFFF000A
_COSTS_OF_PULLS = 1 << 31
_BATCH_OF_COSTS = 0xFFFF0004


def root_key(seed: int) -> jax.Array:
    """Return `jax.random.key(seed)`, for any seed in [0, 2^64); JAX's own forgets the bits from the 32nd on.

    Returns:
        A typed Threefry key, shape `()`.
    """
    words: Any = np.asarray([seed >> 32, seed & 0xFFFFFFFF], np.uint32)
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def run_key(root: jax.Array, seed: ArrayLike) -> jax.Array:
    """Return the key of run `seed`: `jax.random.fold_in`, for arrays too.

    Args:
        root: the typed root key, shape `()`.
        seed: whole numbers in [0, 2^32), shape `(…)`.

    Returns:
        Typed Threefry keys, shape `(…)`.
    """
    return _as_keys(block(root, jnp.uint32(0), jnp.asarray(seed).astype(jnp.uint32), rolled=True))


def cell_key(key: jax.Array, high: ArrayLike, low: ArrayLike) -> jax.Array:
    """Return the key of a run in a cell of a grid that is to be independent of all others.

    Args:
        key: the run's typed key, shape `(…)`.
        high: first word of a hash of the cell's values, uint32 `(…)`.
        low: second word.

    Returns:
        Typed Threefry keys, shape `(…)`.
    """
    first = _as_keys(block(key, jnp.uint32(CELLS), high, rolled=True))
    return _as_keys(block(first, jnp.uint32(CELLS), low, rolled=True))


def batch_key(key: jax.Array, batch: ArrayLike) -> jax.Array:
    """Return a key for the draws of one batch of a run.

    Args:
        key: the run's typed key, shape `(…)`.
        batch: int32, not negative, shape `(…)`.

    Returns:
        Typed Threefry keys, shape `(…)`.
    """
    return _as_keys(block(key, jnp.uint32(BATCHES), batch, rolled=True))


def step_key(key: jax.Array | KeyWords, time: jax.Array) -> jax.Array:
    """Return the keys of the steps that runs make at these times; keys and times as for `batch_key`."""
    return _as_keys(block(key, jnp.uint32(STEPS), time, rolled=True))


def costs_key(key: jax.Array, since: ArrayLike) -> jax.Array:
    """Return a key for costs that are drawn as sums, of the pulls from a time on; keys and times as for `batch_key`."""
    return batch_key(batch_key(key, jnp.uint32(_BATCH_OF_COSTS)), since)


def reward_block(
    key: jax.Array, arm: jax.Array, pull: ArrayLike, *, rolled: bool = False
) -> tuple[jax.Array, jax.Array]:
    """Return the two words of a reward.

    Args:
        key: the run's typed key, shape `(…)`.
        arm: int32, in [0, `MOST_ARMS`).
        pull: int32, not negative: how often the arm was pulled before.
        rolled: as in `block`.

    Returns:
        Two uint32 arrays of the broadcast shape.
    """
    return block(key, arm.astype(jnp.uint32) + jnp.uint32(1), pull, rolled=rolled)


def cost_block(key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the two words of a pull's cost, where the reward leaves none; as `reward_block`."""
    return block(key, arm.astype(jnp.uint32) | jnp.uint32(_COSTS_OF_PULLS), pull)


def _as_keys(words: tuple[jax.Array, jax.Array]) -> jax.Array:
    return jax.random.wrap_key_data(jnp.stack(jnp.broadcast_arrays(*words), axis=-1), impl="threefry2x32")
