"""Phases of fixed-budget algorithms, as traced arrays over phases; arms first, runs last."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.rejects_phases import rejects_share
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger

__all__ = ["rejects_pulls"]


def rejects_pulls(budget: jax.Array, count: jax.Array, axis: int, *, half: bool = True) -> jax.Array:
    """Return Successive Rejects' n_k = ceil((n - K) / (H (K + 1 - k))), H = 1/2 + sum_{i=2}^K 1/i, exact integers.

    Audibert, Bubeck, Munos (2010), Figure 3. Yu et al. (2018) take the whole harmonic sum, without `half`. Whole
    numbers are computed with alone: n_k is the ceiling of ceil((n - K) / H) / (K + 1 - k).

    Args:
        budget: n, int32 `(…)`, at least K.
        count: number of arms K that exist, int32 or float32 `(…)`.
        axis: length of the axis of phases, at least K.
        half: whether the sum starts with 1/2.

    Returns:
        int32 `(axis, …)`: entry k - 1 is n_k for k = 1, …, K - 1; 0 after that.
    """
    count = jnp.asarray(count).astype(jnp.int32)
    share = rejects_share(budget, count, axis, half=half)
    phase = arms.index(axis, jnp.shape(share)) + 1
    left = larger(count + 1 - phase, 1)
    return jnp.where(phase < count, (share - 1) // left + 1, 0)
