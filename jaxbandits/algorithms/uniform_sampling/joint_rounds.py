"""What rules share that pull all their arms equally often, round by round, and drop some after each; of one run.

Ties of fresh rewards are broken anew in every round: in one order for all rounds an arm that is put first where it ties
would be put first again. So these rules break all ties by numbers of their own, and see the arms as the problem has
them.
"""

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.random.tie_breaking import reshuffle, turned

__all__ = ["as_count", "first_seed", "one_of", "tie_numbers"]

#: A ceiling that rounding of float32 formulas cannot lift.
_BELOW = 1 - 1e-6
#: A float32 that is an int32, and more than a batch may have.
_TOO_MANY = 2.0**31 - 128


def as_count(number: jax.Array) -> jax.Array:
    """Return a formula's number, rounded up to a whole one, at least 1; int32, what has no room in it as too large."""
    return jnp.clip(jnp.ceil(number * _BELOW), 1, _TOO_MANY).astype(jnp.int32)


def first_seed(key: jax.Array) -> jax.Array:
    """Return what makes the tie numbers of a run, uint32 `(2,)`."""
    return jax.random.bits(key, (2,))


def tie_numbers(seed: jax.Array, number: jax.Array | int, arms: int) -> jax.Array:
    """Return a random number of each arm, int32 `(K,)`: different ones, not negative, and others for each ranking.

    Args:
        seed: uint32 `(2,)`, of `first_seed`.
        number: int32 `()`, of the ranking.
        arms: the length of the arrays.
    """
    return turned(jnp.arange(arms), reshuffle(seed, jnp.int32(number))) & MAX_COUNT


def one_of(values: jax.Array, among: jax.Array, ties: jax.Array) -> jax.Array:
    """Return the arm with the largest value of some arms, int32 `()`; of equal ones that with the larger tie number."""
    floating = jnp.issubdtype(values.dtype, jnp.floating)
    values = jnp.where(among, values, -jnp.inf if floating else jnp.iinfo(values.dtype).min)
    return jnp.argmax(jnp.where(among & (values == jnp.max(values)), ties, -1))
