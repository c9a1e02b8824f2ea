"""Find the m arms with the largest values, in one run; ties go to the first arm, or to a random one.

Values are float32 `(K,)`, or `(K, M)` of M bandits, each of which is treated separately.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.ranking import sortable
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.random.tie_breaking import arm_turned, turned

__all__ = [
    "are_largest",
    "exchange",
    "exchanged",
    "is_largest",
    "kth_largest",
    "largest_of_others",
    "one_of_largest",
    "two_largest",
    "value_at",
]


def is_largest(values: jax.Array, m: Numeric) -> jax.Array:
    """Return a mask of the m largest values."""
    if isinstance(m, StaticInt) and m == 1:
        return _places(values) == jnp.argmax(values, axis=0)
    value, place = _mth_largest(values, m)
    return (values > value) | ((values == value) & (_places(values) <= place))


def largest_of_others(values: jax.Array, m: Numeric) -> jax.Array:
    """Return for each arm the m-th largest value of the other arms."""
    if isinstance(m, StaticInt) and m == 1:
        (largest, place), (second, _) = two_largest(values)
        return jnp.where(_places(values) == place, second, largest)
    mth, place = _mth_largest(values, m)
    after, _ = _next_largest(values, mth, place)
    return jnp.where((values > mth) | ((values == mth) & (_places(values) <= place)), after, mth)


def two_largest(values: jax.Array) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]:
    """Return the largest value and its position, and those of the largest of the others."""
    first = jnp.argmax(values, axis=0)
    others = jnp.where(_places(values) == first, -jnp.inf, values)
    return (jnp.max(values, axis=0), first), (jnp.max(others, axis=0), jnp.argmax(others, axis=0))


def exchange(values: jax.Array, chosen: jax.Array) -> jax.Array:
    """Update the mask of the m largest values after one value has changed.

    Args:
        values: float32 `(K,)`.
        chosen: bool `(K,)`, the mask before the change.
    """
    return _exchange(values, chosen)[0]


def exchanged(values: jax.Array, chosen: jax.Array) -> jax.Array:
    """Return the mask of the m largest values, bool `(K,)`; from `chosen`, one exchange for each difference."""
    start = _exchange(values, chosen)
    mask, _ = lax.while_loop(lambda found: found[1], lambda found: _exchange(values, found[0]), start)
    return mask


def value_at(values: jax.Array, place: jax.Array) -> jax.Array:
    """Return the value at a position of each bandit."""
    return jnp.max(jnp.where(_places(values) == place, values, -jnp.inf), axis=0)


def _mth_largest(values: jax.Array, m: Numeric) -> tuple[jax.Array, jax.Array]:
    """Return the m-th largest value and its position."""
    first = jnp.max(values, axis=0), jnp.argmax(values, axis=0).astype(jnp.int32)
    return lax.fori_loop(1, m, lambda _, last: _next_largest(values, *last), first)


def _next_largest(values: jax.Array, value: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the next largest value after the value at a position, and its position."""
    left = jnp.where((values < value) | ((values == value) & (_places(values) > place)), values, -jnp.inf)
    return jnp.max(left, axis=0), jnp.argmax(left, axis=0).astype(jnp.int32)


def _places(values: jax.Array) -> jax.Array:
    """Return the position of each arm, in a shape that broadcasts with the values."""
    return jnp.arange(len(values)).reshape(-1, *(1 for _ in values.shape[1:]))


def are_largest(values: jax.Array, m: jax.Array, among: jax.Array, ties: jax.Array | None = None) -> jax.Array:
    """Return a mask of the m largest values among some of many arms, bool `(K,)`; of all of these if they are fewer.

    Args:
        values: float32 or int32 `(K,)`, not NaN.
        m: int32 `()`, at least 0.
        among: bool `(K,)`, the arms that are compared.
        ties: int32 `(K,)`, all different: a tie goes to the arm with the larger number; None for the first arm.
    """
    ties = -jnp.arange(len(values)) if ties is None else ties
    kth = kth_largest(values, jnp.maximum(m, 1), among)
    above, level = among & (values > kth), among & (values == kth)
    missing = m - jnp.sum(above)
    return above | (level & (missing > 0) & (ties >= kth_largest(ties, jnp.maximum(missing, 1), level)))


def kth_largest(values: jax.Array, k: jax.Array, among: jax.Array) -> jax.Array:
    """Return the k-th largest value among some of many arms, `()`; the smallest if they are fewer.

    A threshold that k values reach is found bit by bit. This takes one pass over the arms for each bit of the spread
    of the values, and fewer passes if exactly k values reach the threshold earlier.

    Args:
        values: float32 or int32 `(K,)`, not NaN.
        k: int32 `()`, at least 1.
        among: bool `(K,)`, the arms that are compared.
    """
    bits = sortable(values)
    low = jnp.min(jnp.where(among, bits, jnp.uint32(2**32 - 1)))
    bits = jnp.where(among, bits, jnp.uint32(0))
    high = jnp.max(bits)

    def unfinished(search: tuple[jax.Array, jax.Array, jax.Array]) -> jax.Array:
        bit, _, reached = search
        return (bit > 0) & (reached > k)

    def decide_bit(search: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        bit, threshold, reached = search
        number = jnp.sum(bits >= threshold + bit)
        fits = (bit <= high - threshold) & (number >= k)  # the sum may pass the largest number there is
        return bit >> 1, jnp.where(fits, threshold + bit, threshold), jnp.where(fits, number, reached)

    first = jnp.uint32(2**31) >> lax.clz(high - low)  # the highest bit of the spread; none of 0
    _, threshold, _ = lax.while_loop(unfinished, decide_bit, (first, low, jnp.sum(among)))
    largest = jnp.inf if jnp.issubdtype(values.dtype, jnp.floating) else jnp.iinfo(values.dtype).max
    return jnp.min(jnp.where(among & (bits >= threshold), values, largest))


def _exchange(values: jax.Array, chosen: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Swap the last of the chosen arms for the first of the others if that ranks higher; return also whether."""
    place = jnp.arange(len(values))
    least = jnp.min(jnp.where(chosen, values, jnp.inf))
    last = jnp.max(jnp.where(chosen & (values == least), place, -1))
    most = jnp.max(jnp.where(chosen, -jnp.inf, values))
    first = jnp.min(jnp.where(~chosen & (values == most), place, len(values)))
    swapped = (most > least) | ((most == least) & (first < last))
    return chosen ^ (swapped & ((place == last) | (place == first))), swapped


def one_of_largest(values: jax.Array, words: jax.Array) -> jax.Array:
    """Return an arm with the largest value, int32 `()`; a random one of several.

    Args:
        values: float32 or int32 `(K,)`, not NaN.
        words: uint32 `(2,)`, random: the data of a key, or what `random.tie_breaking.reshuffle` makes of it.
    """
    place = turned(jnp.arange(len(values)), words)
    arm = arm_turned(jnp.min(jnp.where(values == jnp.max(values), place, MAX_COUNT)), words)
    return jnp.clip(arm, 0, len(values) - 1)  # changes nothing; it gives the compiler the range
