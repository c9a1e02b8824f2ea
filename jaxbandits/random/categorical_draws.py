"""Draws of one of several outcomes with given probabilities, and of how often each comes in n draws."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import fast_max, fast_min, no_fma
from jaxbandits.random.binomial_draws import binomial
from jaxbandits.random.streams import batch_key

__all__ = ["draw_counts", "draw_outcome"]


def draw_outcome(word: jax.Array, chances: Sequence[jax.Array]) -> jax.Array:
    """Draw one of L outcomes.

    Args:
        word: uint32 `(…)`.
        chances: L float32 arrays that broadcast with it, the probabilities, which add up to 1.

    Returns:
        int32 `(…)`, in [0, L). Each probability but the largest is right to 2^-33, wherever the outcome is listed, and
        the largest one makes up for the others; an outcome of probability 0 does not come.
    """
    words = [_words(chance) for chance in chances]
    largest, most = jnp.int32(0), chances[0]
    for number, chance in enumerate(chances[1:], 1):
        largest, most = jnp.where(chance > most, number, largest), fast_max(chance, most)
    # The first words are those of the last outcome, and so on. Words are counted from the end of the range from which
    # the largest outcome is farther: both counts are sums of others than it, which add up to less than 2^32.
    outcome = jnp.zeros(jnp.broadcast_shapes(word.shape, *(chance.shape for chance in chances)), jnp.int32)
    before, after = words[0], sum(words[1:], jnp.uint32(0))
    for number in range(1, len(chances)):
        reached = jnp.where(number > largest, word < after, ~word >= before)
        outcome = outcome + reached.astype(jnp.int32)
        before, after = before + words[number], after - words[number]
    return outcome


def _words(chance: jax.Array) -> jax.Array:
    """Return how many of 2^32 words make up a probability below 1, uint32; of 1 any number."""
    below = fast_min(chance, jnp.float32(1 - 2.0**-24))
    return jnp.round(below * jnp.float32(2.0**32)).astype(jnp.uint32)


def draw_counts(key: jax.Array, draws: jax.Array, chances: Sequence[jax.Array]) -> list[jax.Array]:
    """Draw how often each of L outcomes comes: one binomial draw for each but the last.

    Args:
        key: typed keys, as for `binomial`.
        draws: int32 `(…)`, at least 0.
        chances: as for `draw_outcome`.

    Returns:
        L int32 arrays of the broadcast shape, which add up to `draws`.
    """
    tails = _tails(chances)
    counts = []
    for number, chance in enumerate(chances[:-1]):
        beyond, whole = tails[number + 1], 1 / tails[number]
        share = jnp.where(beyond > 0, fast_min(no_fma(chance * whole), jnp.float32(1)), 1)
        # 1 - share has lost the digits of rare later outcomes.
        rest = jnp.where(beyond > 0, no_fma(beyond * whole), 0)
        counts.append(binomial(batch_key(key, jnp.uint32(number)), draws, share, rest))
        draws = draws - counts[-1]
    return [*counts, draws]


def _tails(chances: Sequence[jax.Array]) -> list[jax.Array]:
    """Return the probability of each outcome or a later one, added up from the last, which loses no digits."""
    tails = [chances[-1]]
    for chance in reversed(chances[:-1]):
        tails.insert(0, chance + tails[0])
    return tails
