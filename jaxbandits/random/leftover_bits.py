"""A 0/1 cost from words that its pull's reward has left over, in place of a separate block.

A Bernoulli reward is drawn from the first of its block's two words, and depends on the upper bits only. The second word
and the first one's lowest byte are still random, so a cost needs no other block of the cipher. Costs that are drawn
otherwise have a separate block (`streams.cost_block`). The gain is the line `costs from spare words` of
`python experiments/benchmarks/compiler_forms.py`.
"""

import jax
import jax.numpy as jnp

__all__ = ["bernoulli_from_bits"]


def bernoulli_from_bits(probability: jax.Array, fresh: jax.Array, spare: jax.Array) -> jax.Array:
    """Return whether an event of the given probability happens, to 39 bits.

    Args:
        probability: float32 `(…)`, in [0, 1].
        fresh: uint32 `(…)`: a word from which nothing was drawn.
        spare: uint32 `(…)`: a word whose lowest byte is unused.

    Returns:
        bool `(…)`.
    """
    scaled = probability * jnp.float32(2.0**31)
    threshold = scaled.astype(jnp.int32)
    # A probability below 2^-7 has bits below the compared ones: the byte rounds it.
    byte = (spare & jnp.uint32(0xFF)).astype(jnp.float32)
    threshold += (byte < (scaled - threshold.astype(jnp.float32)) * 256).astype(jnp.int32)
    return ((fresh >> jnp.uint32(1)).astype(jnp.int32) < threshold) | (probability >= 1)
