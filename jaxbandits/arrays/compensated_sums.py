"""Accurate sums: of many float32 terms, and of whole numbers."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.pytrees import pytree

__all__ = ["CompensatedSum", "IntSum", "Sums", "compensated_total", "sums_of"]


@pytree
@dataclasses.dataclass(frozen=True)
class CompensatedSum:
    """A float32 sum with its rounding error beside it: about 48 significant bits (Knuth's two-sum)."""

    high: jax.Array  # float32 (K, …)
    low: jax.Array  # float32 (K, …)

    @classmethod
    def of(cls, value: jax.Array) -> Self:
        """Return the sum of one term."""
        return cls(high=value, low=jnp.zeros_like(value))

    @property
    def value(self) -> jax.Array:
        """Return the nearest float32."""
        return self.high

    def plus(self, value: jax.Array) -> Self:
        """Return the sum with one more term, elementwise."""
        high = self.high + value
        back = high - self.high
        error = (self.high - (high - back)) + (value - back)
        low = self.low + error
        # Renormalise, so that `high` alone is the nearest float32.
        nearest = high + low
        return type(self)(high=nearest, low=low - (nearest - high))


@pytree
@dataclasses.dataclass(frozen=True)
class IntSum:
    """An exact sum of whole numbers, below 2^31; used as a `CompensatedSum`, at a fraction of its cost."""

    value: jax.Array  # int32 (…)

    @classmethod
    def of(cls, value: jax.Array) -> Self:
        """Return the sum of one term."""
        return cls(value.astype(jnp.int32))

    def plus(self, value: jax.Array) -> Self:
        """Return the sum with one more term, elementwise."""
        return type(self)(self.value + value.astype(jnp.int32))

    @property
    def high(self) -> jax.Array:
        """Return the nearest float32."""
        return self.value.astype(jnp.float32)


#: Sums of rewards, of floats or of counts.
Sums = CompensatedSum | IntSum


def sums_of(value: jax.Array) -> Sums:
    """Return the sums of one term `(…)`, whole where its type is."""
    whole = jnp.issubdtype(value.dtype, jnp.integer)
    return IntSum.of(value) if whole else CompensatedSum.of(value.astype(jnp.float32))


def compensated_total(x: jax.Array) -> jax.Array:
    """Return the sum over arms, float32 `(K, …)` to `(…)`, to the last bit or nearly, for any number of arms.

    In a plain sum of a million equal terms each is rounded to the spacing of the partial sum, always in the same
    direction: the error reaches several per cent.
    """

    def add(arm: jax.Array | int, total: CompensatedSum) -> CompensatedSum:
        return total.plus(lax.dynamic_index_in_dim(x, arm, 0, keepdims=False))

    return lax.fori_loop(0, x.shape[0], add, CompensatedSum.of(jnp.zeros_like(x[0]))).high
