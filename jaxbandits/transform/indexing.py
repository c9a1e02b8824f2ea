"""Entries at a place that differs between runs: one place along one axis, the form of `x[i]` and `x.at[i].set(value)`.

These have the forms of `arrays/arms.py`, which suit the platform. A place that all runs share needs none; anything else
is left to `jax.vmap`.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike, DTypeLike

from jaxbandits.arrays import arms
from jaxbandits.transform.operation import Operation, Value, Written, is_float, replaces, spread

__all__ = ["RULES", "put", "take"]


def dynamic_slice(operation: Operation) -> list[jax.Array]:
    """Slice from a place on."""
    x, places, sizes = operation.values[0], operation.values[1:], operation.params["slice_sizes"]
    if not any(place.mapped for place in places) and operation.exist is None:
        # The operation itself: `lax.dynamic_slice` would count a place below zero from the end, once more.
        return operation.bind(operation.full(0), *_starts(operation, 1), slice_sizes=(*sizes, *operation.suffix))
    axis = _only_axis(x.shape, sizes)
    if axis is None or (not x.mapped and operation.exist is None):
        raise NotImplementedError
    place = _inside(places[axis], operation.length(axis), _wide(spread(places[axis], (), operation.suffix)))
    return [jnp.expand_dims(take(operation.full(0), axis, place), axis)]


def dynamic_update_slice(operation: Operation) -> Sequence[jax.Array | Value]:
    """Write a slice from a place on."""
    x, update, *places = operation.values
    if not any(place.mapped for place in places) and operation.exist is None:
        return operation.bind(operation.full(0), operation.full(1), *_starts(operation, 2))
    axis = _only_axis(x.shape, update.shape)
    if axis is None:
        raise NotImplementedError
    place = _inside(places[axis], operation.length(axis), _wide(spread(places[axis], (), operation.suffix)))
    return [_written(x, operation.full(0), axis, place, jnp.squeeze(operation.full(1), axis))]


def gather(operation: Operation) -> list[jax.Array]:
    """Take entries along one axis, at one place or at several."""
    x, places = operation.values
    params = operation.params
    numbers, mode, sizes = params["dimension_numbers"], params["mode"], params["slice_sizes"]
    axes = numbers.start_index_map
    if not places.mapped and x.mapped and not numbers.operand_batching_dims and operation.exist is None:
        more = numbers._replace(offset_dims=(*numbers.offset_dims, len(operation.shape)))
        return operation.bind(x.array, places.array, dimension_numbers=more, slice_sizes=(*sizes, *operation.suffix))
    if (
        not operation.suffix
        or (not x.mapped and operation.exist is None)
        or len(axes) != 1
        or axes != tuple(numbers.collapsed_slice_dims)
        or numbers.operand_batching_dims
    ):
        raise NotImplementedError
    (axis,) = axes
    if any(size != whole for i, (size, whole) in enumerate(zip(sizes, x.shape, strict=True)) if i != axis):
        raise NotImplementedError
    place = _wide(operation.full(1)[..., 0, :])  # (places…, R)
    count, several = operation.length(axis), place.ndim - 1
    inside = (place >= 0) & (place < count)
    found = take(operation.full(0), axis, _inside(places, count, place), several)  # (places…, rest…, R)
    if mode == lax.GatherScatterMode.FILL_OR_DROP and not _is_inside(places, count):
        rest = found.ndim - place.ndim
        shown = inside.reshape(*inside.shape[:-1], *(1 for _ in range(rest)), inside.shape[-1])
        found = jnp.where(shown, found, _fill(params["fill_value"], found.dtype))
    order = _order(numbers.offset_dims, several, found.ndim - 1)
    return [found.transpose(*order, found.ndim - 1)]


def scatter(operation: Operation) -> list[jax.Array | Value]:
    """Write to one place along one axis, or add to it."""
    x, places, update = operation.values
    numbers = operation.params["dimension_numbers"]
    axes = numbers.scatter_dims_to_operand_dims
    one = len(axes) == 1 and axes == tuple(numbers.inserted_window_dims) and not numbers.operand_batching_dims
    if (
        not operation.suffix
        or not one
        or (operation.name == "scatter" and not replaces(operation.params["update_jaxpr"]))
        or len(places.shape) != 1
        or tuple(numbers.update_window_dims) != tuple(range(len(update.shape)))
    ):
        raise NotImplementedError
    (axis,) = axes
    whole = operation.full(0)
    place = _wide(operation.full(1)[0])
    value = operation.full(2)
    if value.shape[:-1] != whole.shape[:axis] + whole.shape[axis + 1 : whole.ndim - 1]:
        raise NotImplementedError
    count = operation.length(axis)
    inside = (place >= 0) & (place < count)
    place = _inside(places, count, place)
    if operation.name == "scatter-add":
        value = take(whole, axis, place) + value
    if operation.params["mode"] == lax.GatherScatterMode.FILL_OR_DROP and not _is_inside(places, count):
        value = jnp.where(inside, value, take(whole, axis, place))
    return [_written(x, whole, axis, place, value)]


def _is_inside(places: Value, count: int | jax.Array) -> bool:
    """Return whether places are known to be in [0, count)."""
    return isinstance(count, int) and places.range is not None and places.range[0] >= 0 and places.range[1] < count


def _inside(places: Value, count: int | jax.Array, place: jax.Array) -> jax.Array:
    """Clip places to [0, count)."""
    return place if _is_inside(places, count) else jnp.clip(place, 0, count - 1)


def _wide(place: jax.Array) -> jax.Array:
    """Give places a type that holds any size of an axis."""
    return place if place.dtype.itemsize >= 4 else place.astype(jnp.int32)


def _starts(operation: Operation, first: int) -> list[jax.Array]:
    """Return the places from operand `first` on, which all runs share, and one of the axis of runs."""
    starts = [place.array for place in operation.values[first:]]
    return [*starts, jnp.zeros((), operation.aval(first).dtype)] if starts and operation.suffix else starts


def _only_axis(shape: Sequence[int], sizes: Sequence[int]) -> int | None:
    """Return the one axis along which one entry is taken and the others are taken whole; None if there is none."""
    axes = [i for i, (whole, size) in enumerate(zip(shape, sizes, strict=True)) if size != whole or whole == 1]
    parts = [i for i in axes if sizes[i] != shape[i]] or axes[:1]
    return parts[0] if len(parts) == 1 and sizes[parts[0]] == 1 else None


def take(x: jax.Array, axis: int, place: jax.Array, several: int = 0) -> jax.Array:
    """Take entries of one axis: `(…, K, …, R)` and places `(places…, R)` to `(places…, …, R)`."""
    x = _plain(jnp.moveaxis(x, axis, 0))
    rest = x.shape[1:-1]
    wide = place.reshape(*place.shape[:several], *(1 for _ in rest), place.shape[-1])
    return arms.take(x, jnp.broadcast_to(wide, (*place.shape[:several], *x.shape[1:])).astype(jnp.int32))


def _written(given: Value, x: jax.Array, axis: int, place: jax.Array, value: jax.Array) -> Value:
    """Write one entry of an array that is given as a value, and remember which."""
    value = jnp.broadcast_to(value, x.shape[:axis] + x.shape[axis + 1 :]).astype(x.dtype)
    before = given.written if given.array is x else None
    return Value(put(x, axis, place, value), True, written=Written(x, axis, place, value, before))


def put(x: jax.Array, axis: int, place: jax.Array, value: jax.Array) -> jax.Array:
    """Write one entry of one axis: `(…, K, …, R)`, the place `(R,)`, the value `(…, R)`."""
    x = _plain(jnp.moveaxis(x, axis, 0))
    wide = jnp.broadcast_to(place, x.shape[1:]).astype(jnp.int32)
    return jnp.moveaxis(arms.put(x, wide, value), 0, axis)


def _plain(x: jax.Array) -> jax.Array:
    """Return an array of numbers as it is; keys have words of their own."""
    if jnp.issubdtype(x.dtype, jax.dtypes.extended) or jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise NotImplementedError
    return x


def _order(offset: Sequence[int], several: int, rank: int) -> list[int]:
    """Return the position of each axis of a gather's result in (places…, rest…)."""
    places, rest = iter(range(several)), iter(range(several, rank))
    return [next(rest) if axis in offset else next(places) for axis in range(rank)]


def _fill(value: ArrayLike | None, dtype: DTypeLike) -> jax.Array:
    """Return what JAX fills in for a place outside."""
    if value is not None:
        return jnp.asarray(value, dtype)
    if is_float(dtype):
        return jnp.asarray(jnp.nan, dtype)
    if jnp.issubdtype(dtype, np.signedinteger):
        return jnp.asarray(jnp.iinfo(dtype).min, dtype)
    return jnp.asarray(jnp.iinfo(dtype).max if jnp.issubdtype(dtype, np.unsignedinteger) else True, dtype)


RULES: dict[str, Callable[[Operation], Sequence[jax.Array | Value]]] = {
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "gather": gather,
    "scatter": scatter,
    "scatter-add": scatter,
}
