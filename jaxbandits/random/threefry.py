"""Counter-based random words: one Threefry-2x32 block per draw, a pure function of a key and a two-word counter.

Source: Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3", Threefry-2x32 with 20 rounds:
the block cipher behind JAX's own generator. It is unrolled here, because JAX rolls it into a loop on CPU. That is
several times slower for the one block per pull that a bandit needs. A test checks that both give the same words.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.random import threefry2x32_p
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import fast_max, log, no_fma
from jaxbandits.arrays.pytrees import is_key, pytree
from jaxbandits.compilers.xla_cpu import barrier, barrier_pair

__all__ = [
    "KeyWords",
    "block",
    "fine_uniform",
    "fine_uniform_and_word",
    "from_nearer_end",
    "key_words",
    "normal",
    "open_uniform",
    "threefry2x32",
    "turn_cosine",
    "uniform",
]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
# Skein's key-schedule parity constant, 32-bit form.
_PARITY = 0x1BD11BDA


@pytree
@dataclasses.dataclass(frozen=True)
class KeyWords:
    """Typed keys as their words, for code that cannot hold typed keys: `key_words` accepts it in place of the keys."""

    high: jax.Array  # uint32 (…)
    low: jax.Array  # uint32 (…)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the keys."""
        return self.high.shape


def key_words(key: jax.Array | KeyWords) -> tuple[jax.Array, jax.Array]:
    """Return the two words of a typed Threefry key.

    Args:
        key: typed keys (`jax.random.key`), shape `(…)`, or their `KeyWords`.

    Returns:
        Two uint32 arrays of shape `(…)`.

    Raises:
        TypeError: if `key` is not a typed Threefry key.
    """
    if isinstance(key, KeyWords):
        return key.high, key.low
    if not (hasattr(key, "dtype") and is_key(key)):
        raise TypeError("a key must be typed: use jax.random.key(seed), not jax.random.PRNGKey(seed)")
    data = jax.random.key_data(key)
    if data.shape != (*key.shape, 2):
        raise TypeError(f"keys must use the threefry2x32 generator, got {jax.random.key_impl(key)}")
    return data[..., 0], data[..., 1]


@functools.partial(jax.jit, inline=True)
def threefry2x32(
    key_high: jax.Array, key_low: jax.Array, counter_high: jax.Array, counter_low: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Encrypt a counter: 20 rounds of Threefry-2x32 (Salmon et al. 2011, section 4.2).

    Args:
        key_high: uint32, any shape that broadcasts with the others.
        key_low: uint32.
        counter_high: uint32.
        counter_low: uint32.

    Returns:
        Two words, uint32, of the broadcast shape.
    """
    schedule = (key_high, key_low, key_high ^ key_low ^ jnp.uint32(_PARITY))
    high, low = counter_high + schedule[0], counter_low + schedule[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            high = high + low
            low = (low << jnp.uint32(rotation)) | (low >> jnp.uint32(32 - rotation))
            low = low ^ high
        high = high + schedule[(group + 1) % 3]
        low = low + schedule[(group + 2) % 3] + jnp.uint32(group + 1)
    return high, low


def block(
    key: jax.Array | KeyWords, counter_high: ArrayLike, counter_low: ArrayLike, *, rolled: bool = False
) -> tuple[jax.Array, jax.Array]:
    """Return two random words for one counter under one key.

    Args:
        key: typed Threefry keys, shape broadcasting with the counters.
        counter_high: 32-bit integers; for example the arm.
        counter_low: 32-bit integers; for example the number of the pull.
        rolled: use JAX's own loop over the rounds, for draws made once a run. Words are the same, and it is slower. But
            the compiler cannot copy the cipher into each use of them (in loops over a few arms that took minutes).

    Returns:
        Two uint32 arrays of the broadcast shape.
    """
    words = (*key_words(key), _as_word(counter_high), _as_word(counter_low))
    if not rolled:
        return threefry2x32(*words)
    # The primitive needs operands of one shape, also under `vmap` over some of them: each gets a zero made from all.
    nothing = (words[0] ^ words[1] ^ words[2] ^ words[3]) & jnp.uint32(0)
    high, low = threefry2x32_p.bind(*(word | nothing for word in words))
    return high, low


def uniform(word: jax.Array) -> jax.Array:
    """Return a float32 on the grid of multiples of 2^-24 in [0, 1): P(uniform < p) is p rounded up to the grid."""
    return (word >> jnp.uint32(8)).astype(jnp.float32) * jnp.float32(2.0**-24)


def open_uniform(word: jax.Array) -> jax.Array:
    """Return a float32 in (0, 1] that keeps 24 significant bits down to 2^-33, for logarithms and powers."""
    # (word + 1/2) / 2^32: the conversion rounds to nearest, so small words keep all their bits.
    return fast_max(word.astype(jnp.float32), jnp.float32(0.5)) * jnp.float32(2.0**-32)


def fine_uniform(words: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Return a float32 in (0, 1] from the first word that keeps 24 significant bits down to 2^-64.

    The mean of a law with tail index near 1 depends on uniforms that small. The bits below the first word come from the
    cipher with the two words as key, so that the second word stays free for another use.
    """
    # A logarithm uses it several times, and XLA:CPU would encipher again for each use.
    return barrier(_fine(words))


def fine_uniform_and_word(words: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Return `fine_uniform`, and the second word."""
    return barrier_pair(_fine(words), words[1])


def from_nearer_end(words: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Return the distance of a uniform number from the nearer end of [0, 1], and a word.

    The top bit of the word is 1 where the nearer end is 1.

    Rare events near 0 and near 1 are then equally fine: 24 significant bits down to 2^-64.

    Returns:
        A float32 in (0, 1/2], and a uint32.
    """
    whole = words[0].astype(jnp.float32) + (words[1] << jnp.uint32(1)).astype(jnp.float32) * jnp.float32(2.0**-32)
    return barrier_pair(fast_max(whole, jnp.float32(2.0**-33)) * jnp.float32(2.0**-33), words[1])


def _fine(words: tuple[jax.Array, jax.Array]) -> jax.Array:
    below, _ = threefry2x32(*words, jnp.zeros_like(words[0]), jnp.ones_like(words[0]))
    whole = words[0].astype(jnp.float32) + below.astype(jnp.float32) * jnp.float32(2.0**-32)
    return fast_max(whole, jnp.float32(2.0**-33)) * jnp.float32(2.0**-32)


def turn_cosine(word: jax.Array) -> jax.Array:
    """Return cos(2 pi V) of the uniform V = word / 2^32, float32, within 2e-7."""
    # Quarter turns, and the rest of one, between -1/2 and 1/2.
    shifted = word + jnp.uint32(1 << 29)
    quarter = shifted >> jnp.uint32(30)
    rest = (shifted & jnp.uint32((1 << 30) - 1)).astype(jnp.int32) - jnp.int32(1 << 29)
    x = no_fma(rest.astype(jnp.float32) * jnp.float32(np.pi / 2 * 2.0**-30))
    # Negative, so that no compiler can know the sign of what `no_fma` shields.
    square = -no_fma(x * x)
    cosine, sine = jnp.full_like(x, 1 / 40320), jnp.full_like(x, 1 / 362880)
    for factorial in (720, 24, 2, 1):  # Taylor's series in -x^2
        cosine = no_fma(cosine * square) + jnp.float32(1 / factorial)
    for factorial in (5040, 120, 6, 1):
        sine = no_fma(sine * square) + jnp.float32(1 / factorial)
    size = jnp.where(quarter & 1 == 1, x * sine, cosine)
    return jnp.where((quarter == 1) | (quarter == 2), -size, size)


def normal(words: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Return a standard normal float32 from two words, by Box and Muller (1958); tails reach 6.7 sd."""
    uniform, angle = barrier_pair(open_uniform(words[0]), words[1])
    return jnp.sqrt(-2.0 * log(uniform)) * turn_cosine(angle)


def _as_word(counter: ArrayLike) -> jax.Array:
    counter = jnp.asarray(counter)
    if counter.dtype == jnp.uint32:
        return counter
    if counter.dtype == jnp.int32:
        return lax.bitcast_convert_type(counter, jnp.uint32)
    return counter.astype(jnp.uint32)
