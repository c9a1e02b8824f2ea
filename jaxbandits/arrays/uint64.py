"""Counts beyond 2^31: exact 64-bit whole numbers as two 32-bit words, since some devices lack 64-bit ones."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import pytree

__all__ = ["UInt64"]


@pytree
@dataclasses.dataclass(frozen=True)
class UInt64:
    """A count below 2^64, `high 2^32 + low`."""

    high: jax.Array  # uint32 (…)
    low: jax.Array  # uint32 (…)

    @classmethod
    def of(cls, count: jax.Array) -> Self:
        """Return a count from one that fits 31 bits, int32 `(…)`."""
        return cls(high=jnp.zeros(count.shape, jnp.uint32), low=count.astype(jnp.uint32))

    @classmethod
    def total(cls, counts: jax.Array) -> Self:
        """Return the sum over arms of counts, int32 `(K, …)`, not negative."""
        size = 16 if counts.shape[0] <= 2**15 else 8  # sums of pieces of this many bits fit an int32
        pieces = [arms.total((counts >> shift) & ((1 << size) - 1)) for shift in range(0, 32, size)]
        found = cls.of(pieces[0])
        for i, piece in enumerate(pieces[1:], 1):
            found = found.plus(cls.product(piece, jnp.full(piece.shape, 1 << (size * i), jnp.uint32)))
        return found

    @classmethod
    def product(cls, a: jax.Array, b: jax.Array) -> Self:
        """Return the product of two counts, int32 (not negative) or uint32, `(…)`, by halves of 16 bits."""
        a, b = a.astype(jnp.uint32), b.astype(jnp.uint32)
        a_high, a_low, b_high, b_low = a >> 16, a & 0xFFFF, b >> 16, b & 0xFFFF
        middle = a_high * b_low + (a_low * b_low >> 16)  # at most (2^16 - 1)^2 + 2^16 - 1, below 2^32
        lower = a_low * b_high + (middle & 0xFFFF)
        return cls(high=a_high * b_high + (middle >> 16) + (lower >> 16), low=a * b)

    def times(self, count: jax.Array) -> Self:
        """Return the product with a count, int32 `(…)`; modulo 2^64."""
        low = self.product(self.low, count)
        return dataclasses.replace(low, high=low.high + self.high * count.astype(jnp.uint32))

    def plus(self, other: Self) -> Self:
        """Return the sum, modulo 2^64."""
        low = self.low + other.low
        carry = (low < self.low).astype(jnp.uint32)
        return type(self)(high=self.high + other.high + carry, low=low)

    def within(self, most: jax.Array) -> jax.Array:
        """Return whether the count is at most another, int32 `(…)`, not negative."""
        return (self.high == 0) & (self.low <= most.astype(jnp.uint32))

    def capped(self, most: int = MAX_COUNT) -> jax.Array:
        """Return the count as int32, capped at `most`."""
        small = (self.high == 0) & (self.low <= jnp.uint32(most))
        return jnp.where(small, self.low, jnp.uint32(most)).astype(jnp.int32)

    def as_float(self) -> jax.Array:
        """Return the nearest float32, or a neighbour of it."""
        return self.high.astype(jnp.float32) * 2.0**32 + self.low.astype(jnp.float32)

    def to_numpy(self) -> np.ndarray:
        """Return the count on the host, int64."""
        return (np.asarray(self.high).astype(np.int64) << 32) | np.asarray(self.low).astype(np.int64)
