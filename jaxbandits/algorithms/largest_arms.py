"""The m arms with the largest values, of one run, of each bandit; of equal ones the first.

Values are float32 `(K,)`, or `(K, M)` of M bandits: what is said of the arms of one holds for each.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.arrays.known import Known

__all__ = ["exchange", "is_largest", "largest_of_others"]


def is_largest(values: jax.Array, m: Numeric) -> jax.Array:
    """Return a mask of the m largest values."""
    if isinstance(m, Known) and m == 1:
        return _places(values) == jnp.argmax(values, axis=0)
    value, place = _mth_largest(values, m)
    return (values > value) | ((values == value) & (_places(values) <= place))


def largest_of_others(values: jax.Array, m: Numeric) -> jax.Array:
    """Return for each arm the m-th largest value of the other arms."""
    if isinstance(m, Known) and m == 1:
        mth, largest = jnp.max(values, axis=0), is_largest(values, m)
        return jnp.where(largest, jnp.max(jnp.where(largest, -jnp.inf, values), axis=0), mth)
    mth, place = _mth_largest(values, m)
    after, _ = _next_largest(values, mth, place)
    return jnp.where((values > mth) | ((values == mth) & (_places(values) <= place)), after, mth)


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


def _mth_largest(values: jax.Array, m: Numeric) -> tuple[jax.Array, jax.Array]:
    """Return the m-th largest value and its place."""
    first = jnp.max(values, axis=0), jnp.argmax(values, axis=0).astype(jnp.int32)
    return lax.fori_loop(1, m, lambda _, last: _next_largest(values, *last), first)


def _next_largest(values: jax.Array, value: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the value that comes next after one at a place, and its place."""
    left = jnp.where((values < value) | ((values == value) & (_places(values) > place)), values, -jnp.inf)
    return jnp.max(left, axis=0), jnp.argmax(left, axis=0).astype(jnp.int32)


def _places(values: jax.Array) -> jax.Array:
    """Return the place of each arm, so that it broadcasts with the values."""
    return jnp.arange(len(values)).reshape(-1, *(1 for _ in values.shape[1:]))
