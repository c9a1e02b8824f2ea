"""Gamma and Beta draws whose bits do not depend on the batch, from two words each."""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.numerics import exp, log, rounded
from jaxbandits.random.bits import normal, open_uniform, threefry2x32

__all__ = ["beta", "log_gamma"]


def log_gamma(words: tuple[jax.Array, jax.Array], shape: jax.Array, stream: int = 0) -> jax.Array:
    """The logarithm of a Gamma(shape, 1) draw, which does not underflow for small shapes.

    Marsaglia and Tsang (2000), "A simple method for generating gamma variables", with a draw of shape + 1 times
    U^(1/shape) below shape 1 (their section 6). The words are the key of the attempts.

    Args:
        words: two uint32 arrays, shape `(…)`.
        shape: float32 that broadcasts with them, positive.
        stream: number of the draw made from these words, below 2^20.

    Returns:
        float32, shape `(…)`.
    """
    batch = jnp.broadcast_shapes(words[0].shape, shape.shape)
    high, low = (jnp.broadcast_to(word, batch) for word in words)
    shape = jnp.broadcast_to(shape, batch)
    d = jnp.where(shape < 1, shape + 1, shape) - jnp.float32(1 / 3)
    c = jnp.float32(1 / 3) / jnp.sqrt(d)

    def words_of(attempt: jax.Array, part: int) -> tuple[jax.Array, jax.Array]:
        counter = jnp.full(batch, 3 * stream + part, jnp.uint32)
        return threefry2x32(high, low, jnp.broadcast_to(attempt, batch), counter)

    def attempt(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        number, accepted, result = carry
        x = normal(words_of(number, 0))
        root = 1 + rounded(c * x)
        positive = root > 0
        log_v = 3 * log(jnp.where(positive, root, 1))
        v = rounded(root * rounded(root * root))
        level = log(open_uniform(words_of(number, 1)[0]))
        bound = rounded(rounded(0.5 * x) * x) + (d + rounded(d * (log_v - v)))
        new = positive & (level < bound) & ~accepted
        return number + jnp.uint32(1), accepted | new, jnp.where(new, log(d) + log_v, result)

    start = (jnp.uint32(0), jnp.zeros(batch, bool), jnp.zeros(batch, jnp.float32))
    drawn = lax.while_loop(lambda carry: ~jnp.all(carry[1]), attempt, start)[2]
    boost = log(open_uniform(words_of(jnp.uint32(0), 2)[0])) / shape
    return drawn + jnp.where(shape < 1, boost, 0)


def beta(words: tuple[jax.Array, jax.Array], a: jax.Array, b: jax.Array) -> jax.Array:
    """A Beta(a, b) draw: X / (X + Y) of two Gamma draws, from their logarithms.

    Args:
        words: two uint32 arrays, shape `(…)`.
        a: float32 that broadcasts with them, positive.
        b: the same.

    Returns:
        float32 in [0, 1], shape `(…)`.
    """
    return 1 / (1 + exp(log_gamma(words, b, 1) - log_gamma(words, a, 0)))
