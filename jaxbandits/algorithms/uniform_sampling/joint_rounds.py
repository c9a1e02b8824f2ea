"""Helpers for rules that pull their arms equally often, round by round, and drop some after each; for one run.

Every round has fresh rewards and needs a new random order for ties. With one order for all rounds, an arm that wins a
tie would win the next one too. So these rules draw tie numbers for every round, and keep the problem's order of arms.
"""

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.random.tie_breaking import reshuffle, turned

__all__ = ["as_count", "first_seed", "one_of", "tie_numbers"]

#: The factor before a ceiling, so that rounding errors of float32 formulas cannot raise it.
_BELOW = 1 - 1e-6
#: A float32 that is exact in int32, and more than a batch may have.
_TOO_MANY = 2.0**31 - 128


def as_count(number: jax.Array) -> jax.Array:
    """Round a formula's number up to int32, at least 1; a number that does not fit becomes one that is refused."""
    return jnp.clip(jnp.ceil(number * _BELOW), 1, _TOO_MANY).astype(jnp.int32)


def first_seed(key: jax.Array) -> jax.Array:
    """Return the seed of the tie numbers of a run, uint32 `(2,)`."""
    return jax.random.bits(key, (2,))


def tie_numbers(seed: jax.Array, number: jax.Array | int, arms: int) -> jax.Array:
    """Return a random number for each arm, int32 `(K,)`: distinct, not negative, and different in each ranking.

    Args:
        seed: uint32 `(2,)`, of `first_seed`.
        number: int32 `()`, the number of the ranking.
        arms: the length of the arrays.
    """
    return turned(jnp.arange(arms), reshuffle(seed, jnp.int32(number))) & MAX_COUNT


def one_of(values: jax.Array, among: jax.Array, ties: jax.Array) -> jax.Array:
    """Return the arm with the largest value among some, int32 `()`; a tie goes to the larger tie number."""
    floating = jnp.issubdtype(values.dtype, jnp.floating)
    values = jnp.where(among, values, -jnp.inf if floating else jnp.iinfo(values.dtype).min)
    return jnp.argmax(jnp.where(among & (values == jnp.max(values)), ties, -1))
