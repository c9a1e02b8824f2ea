"""Poisson draws from two random words each, exact for every mean, whose bits do not depend on the batch.

* Below `SWITCH_MEAN` a draw is the quantile at one uniform number, by sequential search. The number is known by its
  distance from the nearer end (`bits.from_nearer_end`). From the lower end, probabilities are summed from 0 upward.
  From the upper end, they are summed from far above the mean downward. Sums of positive terms lose no digits:
  both tails are right to 2^-64.
* From there on by transformed rejection: algorithm PTRS of Hörmann (1993), "The transformed rejection method for
  generating Poisson random variables", Insurance: Mathematics and Economics 12. An attempt succeeds with a probability
  of 0.7 to 0.87. Its hat is a little too low: the ratio should be at most 1, and reaches 1.0056 for means from 10 on
  (measured). NumPy's generator has the law that follows. The hat is raised here by `_RAISED`, and the law is exact.
  Probabilities are those of Loader (2000), "Fast and accurate computation of binomial probabilities", in which nothing
  cancels. In float32, log(k!) of k = 10^6 has an error of 1.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import exp, fast_max, log, log1pmx, no_fma
from jaxbandits.random.threefry import from_nearer_end, open_uniform, threefry2x32

__all__ = ["SWITCH_MEAN", "poisson"]

SWITCH_MEAN = 10.0
# Steps of a search per check whether all draws have ended.
_STEPS = 4
# A probability this small beside the level ends the search for the first term of the upper tail.
_NEGLIGIBLE = 2.0**-30
# An attempt fails with probability below 0.3: 64 in a row fail with probability below 10^-33. NaN ends there too.
_ATTEMPTS = 64
# Width of a number that is added to a draw before it is rounded down. It smooths the float32 grid of the draw, 2^-11
# for a mean of 10^7. The law is exact for every width while the hat is above the ratio.
_JITTER = 2.0**-4
_RAISED = 1.025
# log Gamma(z) = (z - 1/2) log z - z + log(2 pi) / 2 + t c(t), t = 1/z in (0, 1]: coefficients of c, fitted at Chebyshev
# nodes; the error is below 1e-7.
_STIRLING = (0.0833332667, 4.68049355e-06, -0.00282925646, 0.000188621454, 0.000582815712, -0.000218725497)


def poisson(words: tuple[jax.Array, jax.Array], mean: jax.Array) -> jax.Array:
    """Draw from the Poisson law, a pure function of the words and the mean.

    Args:
        words: two uint32 arrays, shape `(…)`.
        mean: float32 that broadcasts with them, at least 0 and below 10^18.

    Returns:
        Whole numbers as float32, shape `(…)`; from 2^24 on to the nearest float32. NaN where the mean is.
    """
    batch = jnp.broadcast_shapes(words[0].shape, mean.shape)
    high, low = (jnp.broadcast_to(word, batch) for word in words)
    mean = jnp.broadcast_to(mean, batch)
    small = mean < SWITCH_MEAN
    searched = _quantile((high, low), jnp.where(small, mean, 0))
    return jnp.where(small, searched, _by_rejection((high, low), jnp.where(small, SWITCH_MEAN, mean), small))


def _quantile(words: tuple[jax.Array, jax.Array], mean: jax.Array) -> jax.Array:
    """Return the draw of a mean below `SWITCH_MEAN`, by search."""
    level, word = from_nearer_end(words)
    upper = word >> jnp.uint32(31) == 1
    enough = level * jnp.float32(_NEGLIGIBLE)
    Rising = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]
    Falling = tuple[jax.Array, jax.Array, jax.Array, jax.Array]

    def up(state: Rising) -> Rising:
        """Add P(X = k) to P(X <= k) until the lower end's level, or until the upper tail is negligible."""
        k, term, below, found, first = state
        for _ in range(_STEPS):
            ended = jnp.where(upper, (term < enough) & (k >= mean), below >= level)
            fresh = ended & (found < 0)
            found, first = jnp.where(fresh, k, found), jnp.where(fresh, term, first)
            k = k + 1
            term = no_fma(term * no_fma(mean * (1 / k)))
            below = below + term
        return k, term, below, found, first

    def down(state: Falling) -> Falling:
        """Add up P(X >= k) until it reaches the upper end's level."""
        k, term, above, found = state
        for _ in range(_STEPS):
            above = above + term
            found = jnp.where((found < 0) & ((above >= level) | (k <= 0)), k, found)
            term = no_fma(term * no_fma(k * inverse))
            k = k - 1
        return k, term, above, found

    none, nothing = jnp.full_like(mean, -1.0), jnp.zeros_like(mean)
    inverse = 1 / fast_max(mean, jnp.float32(1e-30))
    term = exp(-mean)
    _, _, _, found, first = lax.while_loop(
        lambda state: jnp.any(state[3] < 0), up, (jnp.float32(0), term, term, none, nothing)
    )
    start = (found, first, nothing, jnp.where(upper, none, found))
    return lax.while_loop(lambda state: jnp.any(state[3] < 0), down, start)[3]


def _by_rejection(words: tuple[jax.Array, jax.Array], mean: jax.Array, settled: jax.Array) -> jax.Array:
    """Return the draw of a mean from `SWITCH_MEAN` on, by rejection; 0 where `settled`."""
    b = 0.931 + no_fma(2.53 * jnp.sqrt(mean))
    a = no_fma(0.02483 * b) - 0.059
    hat = (1.1239 + 1.1328 / (b - 3.4)) * jnp.float32(_RAISED * np.sqrt(2 * np.pi)) * mean
    whole = jnp.floor(mean)
    part = mean - whole

    def attempt(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        number, drawn = carry
        place, toss = threefry2x32(*words, jnp.broadcast_to(number, mean.shape), jnp.zeros(mean.shape, jnp.uint32))
        # The distance of a uniform number from the nearer end of [0, 1], in (0, 1/2), on the grid of 2^-25.
        near = (((place >> jnp.uint32(7)) & jnp.uint32(0xFFFFFF)).astype(jnp.float32) + 0.5) * jnp.float32(2.0**-25)
        width = a / near
        moved = no_fma((2 * width + b) * (0.5 - near))
        moved = jnp.where(place >> jnp.uint32(31) == 1, moved, -moved)
        # Bits of the words that the floats do not use.
        spare = ((place & jnp.uint32(0x7F)) << jnp.uint32(8)) | (toss & jnp.uint32(0xFF))
        jitter = (spare.astype(jnp.float32) - jnp.float32(2.0**14 - 0.5)) * jnp.float32(2.0**-15 * _JITTER)
        below = jnp.floor(moved + (part + 0.43 + jitter))
        # k = whole + below, z = k + 1, and P(X = k) = sqrt(z / (2 pi)) / mean exp(-z f(mean / z - 1) - c(1/z) / z) with
        # f(x) = x - log(1 + x).
        k = whole + below
        z = fast_max(k + 1, jnp.float32(1))
        inverse = 1 / z
        less = no_fma((part - (below + 1)) * inverse)
        lost = no_fma(z * log1pmx(less, fast_max(mean * inverse, jnp.float32(1e-30))))
        series = jnp.zeros_like(z)
        for factor in reversed(_STIRLING):
            series = no_fma(series * inverse) + jnp.float32(factor)
        slope = no_fma(width / near) + b  # of the transformation: its density is the inverse
        level = log(open_uniform(toss) * (hat * jnp.sqrt(inverse)) / slope)
        accepted = (k >= 0) & (level + (lost + no_fma(series * inverse)) <= 0)
        # A draw is at least 0, so -1 means none yet: a separate mask could be computed in other bits than the draw.
        return number + jnp.uint32(1), jnp.where((drawn >= 0) | ~accepted, drawn, k)

    def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
        return (carry[0] < _ATTEMPTS) & ~jnp.all(carry[1] >= 0)

    start = jnp.where(settled, jnp.zeros_like(mean), -1)
    drawn = lax.while_loop(unfinished, attempt, (jnp.uint32(0), start))[1]
    return jnp.where(drawn >= 0, drawn, jnp.nan)
