"""The neutral values that an operation over arms gets in the padding.

A sum gets zeros, a maximum minus infinity, and a write a place outside. Operations without a neutral value are refused.
"""

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import fast_max
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, Value, is_float, spread
from jaxbandits.transform.paddable import HIGHEST, INDEXED, LOWEST, NEUTRAL, Axes
from jaxbandits.transform.padding import Padding

__all__ = ["filled"]


def _neutral(name: str, dtype: np.dtype, i: int) -> jax.Array:
    """Return what changes nothing as operand i of an operation over numbers of a type."""
    number = NEUTRAL[name]
    if is_float(dtype):
        if name in ("reduce_sum", "cumsum", "dot_general"):  # 0 would change a sum of -0
            return jnp.asarray(1.0 if i else -0.0, dtype)
        if name in ("sort", "top_k"):  # a NaN with this sign: after all others there, and below all others here
            return lax.bitcast_convert_type(jnp.asarray(-1, f"int{8 * dtype.itemsize}"), dtype)
    if not isinstance(number, str):
        return jnp.asarray(number, jnp.int32).astype(dtype)
    if jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(number == HIGHEST)
    return arms.lowest(dtype) if number == LOWEST else arms.highest(dtype)


def filled(operation: Operation, padding: Padding, axes: Axes) -> Operation:
    """Return an operation over axes of arms, given what changes nothing in place of arms that do not exist.

    Raises:
        UnpaddableError: there is nothing to give it.
    """
    name = operation.name
    if name in INDEXED:
        return _at_places(operation, padding, axes.reads)
    if axes.starts:
        return _from_places(operation, padding, axes)
    if name not in NEUTRAL:
        return operation
    values, suffix = list(operation.values), operation.suffix
    for i, read in enumerate(axes.reads):
        if over := set(read) & _worked_on(operation, i):
            values[i] = _with_neutral(operation, i, over, padding, _neutral(name, operation.aval(i).dtype, i))
            suffix = padding.count.shape
    return dataclasses.replace(operation, values=values, suffix=suffix)


def _from_places(operation: Operation, padding: Padding, axes: Axes) -> Operation:
    """Return a slice that is told where it starts along some axes."""
    starts = []
    for axis, every in axes.starts:
        place = padding.number([np.asarray(start, np.int32) for start in every])
        assert place is not None  # it changes
        inside = place.range is not None and place.range[0] >= 0  # of one arm alone, the last but one is this one
        starts.append((axis, place.array if inside else fast_max(place.array, 0)))
    return dataclasses.replace(operation, starts=tuple(starts), suffix=padding.count.shape)


def _at_places(operation: Operation, padding: Padding, reads: Sequence[tuple[int, ...]]) -> Operation:
    """Return an operation at places that is told how many arms exist, where places count along an axis of arms."""
    name, params, x = operation.name, operation.params, reads[0]
    values, suffix = list(operation.values), operation.suffix
    if name == "rev":
        picked, wrong = [axis for axis in x if axis in params["dimensions"]], False
    elif name in ("dynamic_slice", "gather"):
        sizes, whole = params["slice_sizes"], operation.aval(0).shape
        apart = params["dimension_numbers"].operand_batching_dims if name == "gather" else ()
        grown = [other.params["slice_sizes"] for other in padding.wider]
        picked = [axis for axis in x if axis not in apart and any(size[axis] == sizes[axis] for size in grown)]
        wrong = any(sizes[axis] != 1 or whole[axis] == 1 for axis in picked)
        wrong |= name == "gather" and operation.aval(1).ndim - 1 in reads[1]
    elif name == "dynamic_update_slice":
        picked = [axis for axis in x if axis not in reads[1]]
        wrong = any(operation.aval(1).shape[axis] != 1 for axis in picked) or not set(reads[1]) <= set(x)
    else:
        numbers, drops = params["dimension_numbers"], params["mode"] == lax.GatherScatterMode.FILL_OR_DROP
        kept = [axis for axis in range(operation.aval(0).ndim) if axis not in numbers.inserted_window_dims]
        wrong, picked = bool(numbers.operand_batching_dims), [axis for axis in x if axis not in kept]
        for axis, of_update in zip(kept, numbers.update_window_dims, strict=not wrong):
            if (axis in x) != (of_update in reads[2]):
                picked.append(axis)
                wrong |= axis not in x or operation.aval(2).shape[of_update] != 1
        if reads[1]:  # a place of each arm: those of arms that do not exist are outside
            wrong |= not drops or operation.aval(1).ndim - 1 in reads[1] or operation.aval(1).dtype.itemsize < 4
            outside = arms.highest(operation.aval(1).dtype)
            values[1] = _with_neutral(operation, 1, set(reads[1]), padding, outside)._replace(range=None)
            suffix = padding.count.shape
    if wrong:
        raise UnpaddableError(f"nothing leaves out of {name} the arms that do not exist")
    if not picked:
        return dataclasses.replace(operation, values=values, suffix=suffix)
    sizes = {operation.aval(0).shape[axis] for axis in picked}
    if len(sizes) > 1:
        raise UnpaddableError(f"{name} is at places of arms of all bandits and of each")
    exist = padding.exist(sizes.pop())
    return dataclasses.replace(
        operation, values=values, exist=exist, arm_axes=tuple(picked), suffix=padding.count.shape
    )


def _with_neutral(operation: Operation, i: int, axes: set[int], padding: Padding, neutral: jax.Array) -> Value:
    """Return operand i with what changes nothing beyond the arms that exist, along some axes."""
    shape, runs = operation.aval(i).shape, padding.count.shape
    whole = spread(operation.values[i], shape, runs)
    exists = jnp.ones((), bool)
    for axis in axes:
        number = jnp.expand_dims(jnp.arange(shape[axis]), [n for n in range(len(shape) + 1) if n != axis])
        exists = exists & (number < padding.exist(shape[axis]))
    known = operation.values[i].range  # of arms that exist, of which there is one at least
    if known is not None and operation.name in ("reduce_sum", "cumsum", "dot_general"):
        known = min(known[0], 0.0), max(known[1], 0.0)
    if operation.name in ("reduce_prod", "cumprod"):
        known = None
    return Value(jnp.where(exists, whole, neutral), True, range=known)


def _worked_on(operation: Operation, i: int) -> set[int]:
    """Return the axes of operand i along which an operation works."""
    name, params = operation.name, operation.params
    if "axes" in params:
        return set(params["axes"])
    if name == "dot_general":
        return set(params["dimension_numbers"][0][i])
    if name == "sort":
        return {params["dimension"]} if i < params["num_keys"] else set()
    return {operation.axis}
