"""Sorting along an axis of one run. On CPU entries are compared in pairs, which is arithmetic over all runs at once.

XLA:CPU sorts the entries of one run after those of another, which takes 10 times as long for 10 to 50 arms.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.transform.operation import Operation, as_it_is

__all__ = ["RULES"]

#: Up to this number of entries are sorted, and up to this number times k searched for the k largest (measured).
_MOST, _MOST_SEARCHED = 256, 4096
#: Up to this number of largest entries are taken without a loop.
_FEW = 8
#: Types that are compared here, and those that are moved: their bits are known words.
_COMPARED = (jnp.float32, jnp.int32, jnp.uint32)
_MOVED = (*_COMPARED, jnp.float16, jnp.bfloat16, jnp.int8, jnp.uint8, jnp.int16, jnp.uint16)


def sort(operation: Operation) -> list[jax.Array]:
    """Sort operands by the first one, in the order of `lax.sort`; of equal entries the first comes first."""
    axis = operation.params["dimension"]
    operands = [jnp.moveaxis(operation.full(i), axis, 0) for i in range(len(operation.values))]
    x = operands[0]
    moved = all(operand.dtype == bool or operand.dtype in _MOVED for operand in operands)
    if operation.params["num_keys"] > 1 or not moved or not _has_order(x) or x.shape[0] > _MOST:
        return as_it_is(operation)
    if x.dtype == jnp.float32:  # zeros of both signs are equal, and so are all NaN
        x = jnp.where(x == 0, 0, jnp.where(x == x, x, jnp.nan))
    order = barrier(ranking.in_order(x))
    rank = ranking.rank(~order, _places(x))  # of whole numbers, the smallest has the largest complement
    return [jnp.moveaxis(arms.scatter(operand, rank, operand), 0, axis) for operand in operands]


def top_k(operation: Operation) -> list[jax.Array]:
    """Take the k largest entries and their places, in the order of `lax.top_k`: by bits, so that 0 is above -0."""
    axis, k = operation.axis, operation.params["k"]
    x = jnp.moveaxis(operation.full(0), axis, 0)
    if not _has_order(x) or k * x.shape[0] > _MOST_SEARCHED:
        return as_it_is(operation)
    first = _largest(barrier(ranking.in_order(x)), _places(x), k)
    return [jnp.moveaxis(array, 0, axis) for array in (arms.take(x, first), first)]


def _has_order(x: jax.Array) -> bool:
    """Return whether there are entries along the first axis, of a type that is compared here, and it pays."""
    return lowering().chunked and x.dtype in _COMPARED and x.shape[0] > 0


def _places(x: jax.Array) -> jax.Array:
    return jnp.broadcast_to(arms.index(x.shape[0], x.shape[1:]), x.shape)


def _largest(order: jax.Array, places: jax.Array, k: int) -> jax.Array:
    """Return the places of the k largest numbers, `(K, …)` to int32 `(k, …)`; of equal ones the first."""

    def take_one(left: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        value = arms.largest(jnp.where(left, order, arms.lowest(order.dtype)))
        first = ranking.first_place(left & (order == value), places)
        return left & (places != first), first

    return lax.scan(take_one, jnp.ones(order.shape, bool), length=k, unroll=k <= _FEW)[1]


RULES: dict[str, Callable[[Operation], Sequence[jax.Array]]] = {"sort": sort, "top_k": top_k}
