"""The order in which a run sees its arms: from places to arms, and back."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.arms import any_arm, index, reorder, take, total
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random.tie_breaking import order_at, tie_order, tie_words

__all__ = ["ArmOrder"]

# Above this number of arms the place of each is kept, too.
_FEW_ARMS = 64
# Up to this number of arms, four indices share a word: a pull then reads a quarter of the words.
_BYTES = 256


@pytree
@dataclasses.dataclass(frozen=True)
class ArmOrder:
    """Orders of arms, of one run or of R, runs last.

    Attributes:
        words: uint32, the arm at each place: `(K / 4, …)`, the first of four in the lowest bits, or `(K, …)`.
        places: int32 `(K, …)`, the place of each arm; only for many arms, where it is slow to find, None for few.
        arms: number of arms K on the axis.
    """

    words: jax.Array
    places: jax.Array | None
    arms: int = dataclasses.field(metadata={"static": True})

    @classmethod
    def draw(cls, key: jax.Array, arms: int, count: jax.Array | None = None, bandits: int = 1) -> Self:
        """Draw orders: each arm is equally likely to come first.

        The order of the arms that exist does not depend on the number of padded arms. With several bandits, the arms of
        each are ordered, and so are the bandits: arm k of bandit b, at k M + b, stays with those of b.

        Args:
            key: the runs' typed keys, shape `(…)`.
            arms: number of arms K on the axis.
            count: int32 `(…)`, how many exist, the first ones; None for all. The others stay where they are.
            bandits: number of bandits M.
        """
        words = tie_words(key)
        weight = tie_order(words, arms)
        if count is not None:
            weight = jnp.where(index(arms, key.shape) < count, weight, MAX_COUNT)
        if bandits > 1:
            weight = weight.reshape(-1, bandits, *key.shape)
        order = _in_order(weight)
        if bandits > 1:
            turn = _in_order(order_at(words, jnp.zeros(key.shape, jnp.int32), bandits))
            order = jnp.take_along_axis(order, turn[None], axis=1) * bandits + turn
            order = order.reshape(arms, *key.shape)
        places = _inverse(order) if arms > _FEW_ARMS and bandits == 1 else None
        order = order.astype(jnp.uint32)
        if arms > _BYTES:
            return cls(order, places, arms)
        order = jnp.concatenate([order, jnp.zeros((-arms % 4, *order.shape[1:]), jnp.uint32)])
        parts = order.reshape(-1, 4, *order.shape[1:])
        return cls(parts[:, 0] | parts[:, 1] << 8 | parts[:, 2] << 16 | parts[:, 3] << 24, places, arms)

    def arm_at(self, place: jax.Array) -> jax.Array:
        """Return the arm at a place in [0, K), int32 in the shape of `place`, `(…)`."""
        if self.arms > _BYTES:
            return take(self.words, place).astype(jnp.int32)
        shift = ((place & 3) << 3).astype(jnp.uint32)
        return ((take(self.words, place >> 2) >> shift) & 0xFF).astype(jnp.int32)

    def by_arm(self, x: jax.Array) -> jax.Array:
        """Return values by place, `(K, …)` or `(K, N, …)`, rearranged by arm."""
        if self.places is not None:
            return reorder(x, self.places)
        order = self._arms()
        if x.dtype == bool and x.ndim == order.ndim:
            return any_arm(x[:, None] & _is_arm(order))
        return reorder(x, _inverse(order))

    def by_place(self, x: jax.Array) -> jax.Array:
        """Return values by arm, `(K, …)` or `(K, N, …)`, rearranged by place."""
        return reorder(x, self._arms())

    def _arms(self) -> jax.Array:
        """Return the arm at each place, int32 `(K, …)`."""
        if self.arms > _BYTES:
            return self.words.astype(jnp.int32)
        parts = [(self.words >> shift) & 0xFF for shift in (0, 8, 16, 24)]
        return jnp.stack(parts, 1).reshape(-1, *self.words.shape[1:])[: self.arms].astype(jnp.int32)


def _in_order(weight: jax.Array) -> jax.Array:
    """Return the places of the entries of an array `(K, …)` from the smallest to the largest; of equal ones the first.

    Sorting and comparing each pair give the same order, int32 `(K, …)`.
    """
    count = weight.shape[0]
    if count > lowering().compared_arms:
        return _sorted_places(weight)
    number = index(count, weight.shape[1:])
    other, own, first = weight[:, None], weight[None], number[:, None] < number[None]
    return _inverse(total(((other < own) | ((other == own) & first)).astype(jnp.int32)))


def _sorted_places(x: jax.Array) -> jax.Array:
    """Return the places of the entries of an array `(K, …)` from the smallest to the largest, int32 `(K, …)`."""
    places = jnp.broadcast_to(index(x.shape[0], x.shape[1:]), x.shape)
    return lax.sort((x, places), dimension=0, is_stable=True, num_keys=1)[1]


def _inverse(order: jax.Array) -> jax.Array:
    """Return the inverse of a permutation `(K, …)`."""
    count = order.shape[0]
    if count > lowering().compared_arms:
        return _sorted_places(order)
    return total(jnp.where(_is_arm(order), index(count, order.shape[1:])[:, None], 0))


def _is_arm(order: jax.Array) -> jax.Array:
    """Return whether the arm at a place is an arm, bool `(K, K, …)`: places first, then arms."""
    return order[:, None] == index(order.shape[0], order.shape[1:])[None]
