"""Medians over batches of their sums."""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.compiler_forms import in_blocks

__all__ = ["middle_sums"]


def middle_sums(sums: jax.Array, number: jax.Array) -> jax.Array:
    """Twice the median over batches: the sum of the two middle values, or twice the middle one.

    Args:
        sums: int32 or float32 `(Q, …)`, by batch; int32 below 2^30.
        number: int32, of a shape that broadcasts with the others: the batches there are, at least 1.

    Returns:
        The type of `sums`, `(…)`.
    """
    most = jnp.max(number)

    def row(sums: jax.Array, batch: jax.Array | int) -> jax.Array:
        return lax.dynamic_index_in_dim(sums, batch, 0, keepdims=False)

    def middle(sums: jax.Array) -> jax.Array:
        """By the rank of each: a few batches are compared in pairs faster than they are sorted."""

        def add(batch: jax.Array | int, total: jax.Array) -> jax.Array:
            value = row(sums, batch)

            def count(other: jax.Array | int, rank: jax.Array) -> jax.Array:
                before = (row(sums, other) < value) | ((row(sums, other) == value) & (other < batch))
                return rank + (before & (other < number)).astype(jnp.int32)

            rank = lax.fori_loop(0, most, count, jnp.zeros(value.shape, jnp.int32))
            for place in ((number - 1) // 2, number // 2):
                total = total + jnp.where((rank == place) & (batch < number), value, 0)
            return total

        return lax.fori_loop(0, most, add, jnp.zeros_like(sums[0]))

    if sums.ndim < 3:
        return middle(sums)

    def of_arms(arm: jax.Array) -> jax.Array:
        return middle(lax.dynamic_slice_in_dim(sums, arm[0, 0], arm.shape[0], 1))

    return in_blocks(of_arms, jnp.broadcast_to(arms.index(sums.shape[1], sums.shape[2:]), sums.shape[1:]))
