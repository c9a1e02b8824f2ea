"""The m arms with the largest values, of one run; of equal ones the first."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.arrays.known import Known

__all__ = ["exchange", "is_largest"]


def is_largest(values: jax.Array, m: Numeric) -> jax.Array:
    """Return a mask of the m largest values, bool `(K,)`; each is compared with each, where m is not known to be 1."""
    place = jnp.arange(len(values))
    if isinstance(m, Known) and m == 1:
        return place == jnp.argmax(values)
    own, other = values[:, None], values[None]
    before = (other > own) | ((other == own) & (place[None] < place[:, None]))
    return jnp.sum(before, axis=1) < m


def exchange(values: jax.Array, chosen: jax.Array) -> jax.Array:
    """Return the mask of the m largest values where one value has changed since `chosen` was it.

    Args:
        values: float32 `(K,)`.
        chosen: bool `(K,)`, the m largest values but for one that has changed.
    """
    place = jnp.arange(len(values))
    least = jnp.min(jnp.where(chosen, values, jnp.inf))
    last = jnp.max(jnp.where(chosen & (values == least), place, -1))
    most = jnp.max(jnp.where(chosen, -jnp.inf, values))
    first = jnp.min(jnp.where(~chosen & (values == most), place, len(values)))
    swapped = (most > least) | ((most == least) & (first < last))
    return chosen ^ (swapped & ((place == last) | (place == first)))
