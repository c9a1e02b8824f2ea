"""Operations over an axis of one run: moves, comparisons, and sums of floats in a fixed order."""

import functools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.transform.operation import Operation, Value, as_it_is, is_float
from jaxbandits.transform.products import shield, wide_type

__all__ = ["RULES"]

# Up to this number of terms are added one by one. More are added in a loop with this number in each round, since even a
# round of one term is three kernels on XLA:CPU.
_WRITTEN_OUT = 32


def _first(operation: Operation) -> jax.Array:
    """Return the operand with the reduced axes as one, in front."""
    axes = operation.params["axes"]
    x = jnp.moveaxis(operation.full(0), axes, range(len(axes)))
    return x if len(axes) == 1 else _in_front(x, len(axes))


def _in_front(x: jax.Array, count: int) -> jax.Array:
    """Make one of the first axes."""
    return x.reshape(math.prod(x.shape[:count]), *x.shape[count:])


def total(x: jax.Array) -> jax.Array:
    """Return the sum over the first axis; of floats, one after another."""
    if not is_float(x.dtype):
        return arms.total(x)
    if x.shape[0] == 0:
        return jnp.zeros(x.shape[1:], x.dtype)
    return _added(x.shape[0], functools.partial(_rows, x))


def _added(count: int, terms: Callable[[jax.Array | int, int], jax.Array]) -> jax.Array:
    """Return a sum of floats, one after another.

    Args:
        count: the number of terms, at least 1.
        terms: from a place and a number n to n terms from that place on, along the first axis.
    """
    first = (count - 1) % _WRITTEN_OUT + 1
    rows = terms(0, first)
    # From the first: a sum of -0 is -0, however long.
    found = functools.reduce(lax.add, [rows[i] for i in range(first)])

    def add(turn: jax.Array | int, sums: jax.Array) -> jax.Array:
        rows = terms(first + turn * _WRITTEN_OUT, _WRITTEN_OUT)
        return functools.reduce(lax.add, [rows[i] for i in range(_WRITTEN_OUT)], sums)

    return lax.fori_loop(0, (count - first) // _WRITTEN_OUT, add, found) if count > first else found


def _rows(x: jax.Array, place: jax.Array | int, number: int) -> jax.Array:
    """Return `number` rows from a place on."""
    return x[place : place + number] if isinstance(place, int) else lax.dynamic_slice_in_dim(x, place, number)


def reduce_sum(operation: Operation) -> list[jax.Array]:
    """Add over some axes."""
    x = _first(operation)
    if not is_float(x.dtype):
        return operation.bind(operation.full(0))
    return [total(x.astype(wide_type(x.dtype))).astype(x.dtype)]


def reduce_product(operation: Operation) -> list[jax.Array]:
    """Multiply over some axes; floats, one after another."""
    x = _first(operation)
    if not is_float(x.dtype):
        return operation.bind(operation.full(0))

    if not x.shape[0]:
        return [jnp.ones(x.shape[1:], x.dtype)]
    x = x.astype(wide_type(x.dtype))

    def times(i: jax.Array | int, product: jax.Array) -> jax.Array:
        return product * lax.dynamic_index_in_dim(x, i, 0, keepdims=False)

    found: jax.Array = lax.fori_loop(0, x.shape[0], times, jnp.ones(x.shape[1:], x.dtype))
    return [shield(found).astype(operation.out.dtype)]


def extreme(operation: Operation) -> list[jax.Array]:
    """Take the largest or the smallest over some axes; NaN where one is NaN, as `jnp.max` does."""
    if not operation.params["axes"]:  # of one number
        return [operation.full(0)]
    x = _first(operation)
    if not x.shape[0] or x.dtype == bool or jnp.issubdtype(x.dtype, jnp.complexfloating):
        return operation.bind(operation.full(0))
    return [extreme_of(x, largest=operation.name == "reduce_max", known=operation.values[0].range is not None)]


def extreme_of(x: jax.Array, *, largest: bool, known: bool) -> jax.Array:
    """Return the largest or the smallest along the first axis; NaN where one is, unless it is `known` that none is."""
    if known or not is_float(x.dtype):
        return arms.largest(x) if largest else arms.smallest(x)
    return arms.largest_or_nan(x) if largest else arms.smallest_or_nan(x)


def place(operation: Operation) -> list[Value]:
    """Find the first of the largest or of the smallest; the first NaN where there is one, as `jnp.argmax` does."""
    x = _first(operation)
    count = x.shape[0]
    if x.dtype == bool:
        x = x.astype(jnp.int32)
    largest = operation.name == "argmax"
    value = extreme_of(x, largest=largest, known=operation.values[0].range is not None)
    hits = x == value
    if is_float(x.dtype) and operation.values[0].range is None:
        hits |= x != x  # with a NaN among them nothing equals the largest
    first = arms.smallest(jnp.where(hits, arms.index(count, x.shape[1:]), count))
    return [Value(first.astype(operation.params["index_dtype"]), bool(operation.suffix))]


def _running(combine: Callable[[jax.Array, jax.Array], jax.Array]) -> Callable[[Operation], list[jax.Array]]:
    """Make the rule of a running sum or product; of floats, one after another."""

    def rule(operation: Operation) -> list[jax.Array]:
        axis, reverse = operation.params["axis"], operation.params["reverse"]
        if not is_float(operation.out.dtype):
            return operation.bind(operation.full(0))
        x = jnp.moveaxis(operation.full(0), axis, 0)
        if not x.shape[0]:
            return [operation.full(0)]
        x = x.astype(wide_type(x.dtype))

        def step(sums: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
            sums = combine(sums, row)
            return sums, sums

        start = jnp.zeros_like(x[0]) if combine is lax.add else jnp.ones_like(x[0])
        found = lax.scan(step, start, x, reverse=reverse)[1]
        return [jnp.moveaxis(found, 0, axis).astype(operation.out.dtype)]

    return rule


def dot(operation: Operation) -> list[jax.Array]:
    """Multiply and add over the contracted axes, one term after another.

    XLA leaves out a multiplication by a mask, even of NaN, and one of a root with itself. It does not where padding is
    filled. So both are hidden from it everywhere.
    """
    ((left_axes, right_axes), (left_batch, right_batch)) = operation.params["dimension_numbers"]

    def ordered(i: int, contracted: tuple[int, ...], batch: tuple[int, ...]) -> tuple[jax.Array, tuple[int, ...]]:
        x, rank = operation.full(i), len(operation.aval(i).shape)
        free = [axis for axis in range(rank) if axis not in (*contracted, *batch)]
        order = (*contracted, *batch, *free, *range(rank, x.ndim))
        x = x.transpose(order)
        return _in_front(x, len(contracted)), tuple(operation.aval(i).shape[axis] for axis in free)

    (left, left_free), (right, right_free) = (
        ordered(0, tuple(left_axes), tuple(left_batch)),
        ordered(1, tuple(right_axes), tuple(right_batch)),
    )
    batch = tuple(operation.aval(0).shape[axis] for axis in left_batch)
    dtype = wide_type(operation.out.dtype)
    count = left.shape[0]
    left = left.reshape(count, *batch, *left_free, *(1 for _ in right_free), *operation.suffix).astype(dtype)
    right = right.reshape(count, *batch, *(1 for _ in left_free), *right_free, *operation.suffix).astype(dtype)
    if jnp.issubdtype(dtype, jnp.bool_):
        return [arms.any_arm(left & right)]
    one, other = operation.values
    left = shield(left) if one.array is other.array or _may_be_mask(one) else left
    right = shield(right) if _may_be_mask(other) else right
    if count <= _WRITTEN_OUT:
        found = total(shield(left * right))
    else:
        found = _added(count, lambda place, number: shield(_rows(left, place, number) * _rows(right, place, number)))
    return [found.astype(operation.out.dtype)]


def _may_be_mask(value: Value) -> bool:
    """Return whether a value may be a converted mask, of which these are the least and the largest number."""
    return value.range == (0, 1)


RULES: dict[str, Callable[[Operation], Sequence[jax.Array | Value]]] = {
    "reduce_sum": reduce_sum,
    "reduce_prod": reduce_product,
    "reduce_max": extreme,
    "reduce_min": extreme,
    "reduce_and": as_it_is,
    "reduce_or": as_it_is,
    "reduce_xor": as_it_is,
    "argmax": place,
    "argmin": place,
    "cumsum": _running(lax.add),
    "cumprod": _running(lax.mul),
    "cummax": as_it_is,
    "cummin": as_it_is,
    "dot_general": dot,
}
