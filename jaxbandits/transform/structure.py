"""Operations that move elements: the axis of runs stays the last, and is added to the parameters."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import fast_max
from jaxbandits.transform.indexing import take
from jaxbandits.transform.operation import Operation, Value, as_it_is, with_arms

__all__ = ["RULES"]


def broadcast(operation: Operation) -> list[Value]:
    """Broadcast to a larger shape, and remember of what."""
    value, shape, axes = operation.values[0], operation.shape, operation.params["broadcast_dimensions"]
    array = operation.full(0)
    if not value.shape and operation.suffix:
        array = with_arms(array)
    runs = (len(shape),) if operation.suffix else ()
    whole = lax.broadcast_in_dim(array, (*shape, *operation.suffix), (*axes, *runs))
    if value.shape == shape:
        return [Value(whole, bool(operation.suffix), value.thin)]
    thin = [1] * len(shape)
    for axis, size in zip(axes, value.shape, strict=True):
        thin[axis] = size
    form = (*(thin if value.shape else ()), *operation.suffix)
    kept = Value(array.reshape(form), bool(operation.suffix))
    return [Value(whole, bool(operation.suffix), None if tuple(thin) == shape else kept)]


def reshape(operation: Operation) -> list[jax.Array]:
    """Reshape each run's array."""
    return [operation.full(0).reshape((*operation.shape, *operation.suffix))]


def transpose(operation: Operation) -> list[jax.Array]:
    """Permute the axes of a run."""
    permutation, x = operation.params["permutation"], operation.full(0)
    return [x.transpose(*permutation, *range(len(permutation), x.ndim))]


def take_slice(operation: Operation) -> list[jax.Array]:
    """Slice with fixed bounds, or from places of each run."""
    params, suffix = operation.params, operation.suffix
    strides = None if params["strides"] is None else (*params["strides"], *(1 for _ in suffix))
    x, starts = operation.full(0), [*params["start_indices"], *(0 for _ in suffix)]
    limits = [*params["limit_indices"], *suffix]
    for axis, place in operation.starts:
        places = place + arms.index(limits[axis] - starts[axis], (1,))
        x = jnp.moveaxis(take(x, axis, places, 1), 0, axis)
        starts[axis], limits[axis] = 0, x.shape[axis]
    return [lax.slice(x, starts, limits, strides)]


def pad(operation: Operation) -> list[jax.Array]:
    """Pad with one number, which all runs share."""
    if operation.values[1].mapped:
        raise NotImplementedError
    config = (*operation.params["padding_config"], *((0, 0, 0) for _ in operation.suffix))
    return [lax.pad(operation.full(0), operation.values[1].array, config)]


def reverse(operation: Operation) -> list[jax.Array]:
    """Reverse axes; of an axis of arms, those that exist."""
    dimensions = [axis for axis in operation.params["dimensions"] if axis not in operation.arm_axes]
    x = lax.rev(operation.full(0), dimensions)
    for axis in operation.arm_axes:
        length = x.shape[axis]
        places = fast_max(operation.length(axis) - 1 - arms.index(length, (1,)), 0)
        x = jnp.moveaxis(arms.reorder(jnp.moveaxis(x, axis, 0), places), 0, axis)
    return [x]


RULES: dict[str, Callable[[Operation], Sequence[jax.Array | Value]]] = {
    "broadcast_in_dim": broadcast,
    "reshape": reshape,
    "squeeze": reshape,
    "expand_dims": reshape,
    "transpose": transpose,
    "slice": take_slice,
    "pad": pad,
    "concatenate": as_it_is,
    "rev": reverse,
    "split": as_it_is,
    "optimization_barrier": as_it_is,
}
