"""Gamma and Beta draws whose bits do not depend on the batch, from two words each."""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import exp, fast_max, log, no_fma
from jaxbandits.random.threefry import normal, open_uniform, threefry2x32

__all__ = ["beta", "gamma"]

# An attempt fails with probability below 0.05: 64 in a row fail with probability below 10^-83. NaN ends there too.
_ATTEMPTS = 64
# Where |c x| is smaller, the logarithm of the acceptance ratio would cancel. Its series has enough terms for an error
# below 1e-6 there.
_SMALL = 0.2
_SERIES = (-1 / 12, 1 / 15, -1 / 18, 1 / 21, -1 / 24, 1 / 27, -1 / 30)


def gamma(words: tuple[jax.Array, jax.Array], shape: jax.Array, stream: int = 0) -> tuple[jax.Array, jax.Array]:
    """Draw from Gamma(shape, 1) as a product G exp(L), which does not underflow for small shapes.

    Marsaglia and Tsang (2000), "A simple method for generating gamma variables". Below shape 1 it is a draw of shape +
    1 times U^(1/shape) (their section 6). The words are the key of the attempts.

    Args:
        words: two uint32 arrays, shape `(…)`.
        shape: float32 that broadcasts with them, positive and below 10^30.
        stream: number of the draw made from these words, below 2^20.

    Returns:
        G, and L <= 0, which is 0 from shape 1 on; float32, shape `(…)`.
    """
    batch = jnp.broadcast_shapes(words[0].shape, shape.shape)
    high, low = (jnp.broadcast_to(word, batch) for word in words)
    shape = jnp.broadcast_to(shape, batch)
    d = jnp.where(shape < 1, shape + 1, shape) - jnp.float32(1 / 3)
    c = jnp.float32(1 / 3) / jnp.sqrt(d)

    def words_of(attempt: jax.Array, part: int) -> tuple[jax.Array, jax.Array]:
        counter = jnp.full(batch, 3 * stream + part, jnp.uint32)
        return threefry2x32(high, low, jnp.broadcast_to(attempt, batch), counter)

    def attempt(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, drawn = carry
        x = normal(words_of(number, 0))
        y = no_fma(c * x)
        root = fast_max(1 + y, jnp.float32(0))
        cube = no_fma(root * no_fma(root * root))
        level = log(open_uniform(words_of(number, 1)[0]))
        accepted = (root > 0) & (level < _log_acceptance(x, y, d, root, cube))
        # (1 + y)^3 - 1, since for large shapes 1 + y would lose most digits of y.
        excess = no_fma(y * (3 + no_fma(y * (3 + y))))
        fresh = jnp.where(jnp.abs(y) < _SMALL, d + no_fma(d * excess), no_fma(d * cube))
        # A draw is never 0, so 0 means none yet: a separate mask could be computed in other bits than the draw.
        return number + jnp.uint32(1), jnp.where((drawn > 0) | ~accepted, drawn, fresh)

    def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        return (carry[0] < _ATTEMPTS) & ~jnp.all(carry[1] > 0)

    drawn = lax.while_loop(unfinished, attempt, (jnp.uint32(0), jnp.zeros(batch, jnp.float32)))[1]
    # Times the inverse: the compiler divides differently by a shape that many draws share.
    boost = no_fma(log(open_uniform(words_of(jnp.uint32(0), 2)[0])) * (1 / shape))
    return jnp.where(drawn > 0, drawn, jnp.nan), jnp.where(shape < 1, boost, 0)


def beta(words: tuple[jax.Array, jax.Array], a: jax.Array, b: jax.Array) -> jax.Array:
    """Draw from Beta(a, b): X / (X + Y) of two Gamma draws.

    Args:
        words: two uint32 arrays, shape `(…)`.
        a: float32 that broadcasts with them, positive and below 10^30.
        b: the same.

    Returns:
        float32 in [0, 1], shape `(…)`.
    """
    (x, log_x), (y, log_y) = gamma(words, a, 0), gamma(words, b, 1)
    most = fast_max(log_x, log_y)
    x, y = (no_fma(draw * exp(factor - most)) for draw, factor in ((x, log_x), (y, log_y)))
    return x / (x + y)


def _log_acceptance(x: jax.Array, y: jax.Array, d: jax.Array, root: jax.Array, cube: jax.Array) -> jax.Array:
    """Return x^2 / 2 + d (1 - v + log v) with v = (1 + y)^3; y = c x, d = 1 / (9 c^2), root = 1 + y, cube = v."""
    # d (1 - v + 3 log(1 + y)) = d (-9/2 y^2 + 3 sum_{n >= 4} (-1)^(n+1) y^n / n), and 9/2 d y^2 = x^2 / 2.
    series = jnp.zeros_like(y)
    for factor in reversed(_SERIES):
        series = no_fma(series * y) + jnp.float32(factor)
    square = no_fma(x * y)
    near = no_fma(no_fma(square * square) * series)
    slack = (1 - cube) + no_fma(3 * log(fast_max(root, jnp.float32(1e-30))))
    far = no_fma(no_fma(0.5 * x) * x) + no_fma(d * slack)
    return jnp.where(jnp.abs(y) < _SMALL, near, far)
