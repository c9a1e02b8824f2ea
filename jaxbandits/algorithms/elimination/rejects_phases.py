"""The phases of Successive Rejects, as exact whole numbers.

Audibert, Bubeck, Munos (2010), "Best arm identification in multi-armed bandits", COLT, Figure 3.

At the end of phase k every surviving arm has n_k = ceil((n - K) / (H (K + 1 - k))) pulls, H = 1/2 + sum_{i=2}^K 1/i.
That is the ceiling of ceil((n - K) / H) / (K + 1 - k). Yu et al. (2018) take the whole harmonic sum.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import fast_max
from jaxbandits.arrays.uint64 import UInt64

__all__ = ["ceil_share", "rejects_share"]

# 32-bit words of 1 / H. Their error, times a whole number below 2^31, is below 2^-64. Such a multiple of 1 / H is whole
# or at least 2^-46 above a whole number, for up to 3000 arms (by continued fractions).
_WORDS = 3


def rejects_share(budget: jax.Array, count: jax.Array, width: int, *, half: bool = True) -> jax.Array:
    """Return ceil((n - K) / H), int32 `(…)`, by whole numbers only.

    Args:
        budget: n, int32 `(…)`, at least K.
        count: number of arms K, int32 `(…)`.
        width: at least K.
        half: whether the sum starts with 1/2, as for Audibert et al., or with 1.
    """
    spare = jnp.asarray(budget, jnp.int32) - count
    first, second, third = jnp.asarray(_inverse_sums(width, half))[:, fast_max(count, 1) - 1]
    # The words are slightly below 1 / H, so only whole products fall below their own floor: the ceiling is always the
    # floor plus 1.
    rest = UInt64.product(spare, third).high
    rest = UInt64.product(spare, second).plus(UInt64(jnp.zeros_like(rest), rest)).high
    whole = UInt64.product(spare, first).plus(UInt64(jnp.zeros_like(rest), rest)).high.astype(jnp.int32)
    return jnp.where(spare > 0, whole + 1, 0)


def ceil_share(share: jax.Array, left: jax.Array) -> jax.Array:
    """Return n_k, int32 `(…)`: the share over the arms left at the beginning of phase k, K + 1 - k, rounded up."""
    return (share - 1) // left + 1


@functools.lru_cache(maxsize=64)
def _inverse_sums(width: int, half: bool) -> np.ndarray:
    """Return 1 / H for 1, …, `width` arms, too small by about 2^-96: uint32 `(3, width)`, the highest word first."""
    bits = 64 * _WORDS
    total, words = -(1 << bits - 1) if half else 0, np.zeros((_WORDS, width), np.uint32)
    for i in range(1, width + 1):
        total += (1 << bits) // i  # H 2^192 is above this, by i at most
        if i > 1:
            inverse = -(-(1 << bits + 32 * _WORDS) // (total + i)) - 1  # below 2^96 / H
            words[:, i - 1] = [inverse >> shift & 0xFFFFFFFF for shift in (64, 32, 0)]
    return words
