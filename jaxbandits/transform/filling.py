"""The neutral values that an operation over arms gets in the padding.

A sum gets zeros, a maximum minus infinity, and a write a place outside. Operations without a neutral value are refused.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import arms
from jaxbandits.compilers.jaxpr_types import Atom
from jaxbandits.transform.counts import is_moderate
from jaxbandits.transform.operation import Operation, Value, is_float, spread
from jaxbandits.transform.padding import Padding, UnpaddableError

__all__ = ["Axes", "axes_of_arms", "filled"]

#: Axes of arms of each operand or result.
AxesOfEach = tuple[tuple[int, ...], ...]


class Axes(NamedTuple):
    """The axes of arms of an operation."""

    reads: AxesOfEach  # of each operand
    makes: AxesOfEach  # of each result


#: Operations on each element, which need nothing.
_ELEMENTWISE = {
    "abs", "add", "add_any", "and", "cbrt", "ceil", "clamp", "complex", "convert_element_type", "copy", "cos", "div",
    "eq", "erf", "erf_inv", "exp", "exp2", "expm1", "floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le",
    "lgamma", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not", "or", "pow",
    "real", "rem", "round", "rsqrt", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign",
    "sin", "sqrt", "square", "stop_gradient", "sub", "tanh", "xor", "bitcast_convert_type", "digamma", "threefry2x32",
    "reshard", "optimization_barrier",
}  # fmt: skip
#: Operations that move axes as a whole, or make them.
_MOVES = {
    "broadcast_in_dim", "squeeze", "expand_dims", "transpose", "iota", "random_wrap", "random_unwrap", "random_fold_in",
}  # fmt: skip
#: Operations at places, which are told how many arms exist (`Operation.length`).
_INDEXED = {"gather", "dynamic_slice", "dynamic_update_slice", "scatter", "scatter-add", "rev"}
#: Parameters of loops and branches that are programs.
_PROGRAMS = {"cond": ("branches",), "while": ("cond_jaxpr", "body_jaxpr"), "scan": ("jaxpr",)}
#: Parameters that are sizes of axes.
_SIZES = {"shape", "new_sizes", "limit_indices", "slice_sizes"}

#: What changes nothing, by operation: a number, or the end of the range of the type, the lowest or the highest.
_LOWEST, _HIGHEST = "lowest", "highest"
_NEUTRAL = {
    "reduce_sum": 0, "reduce_max": _LOWEST, "reduce_min": _HIGHEST, "reduce_prod": 1, "reduce_or": 0, "reduce_xor": 0,
    "reduce_and": -1, "argmax": _LOWEST, "argmin": _HIGHEST, "dot_general": 0, "sort": _HIGHEST, "top_k": _LOWEST,
    "cumsum": 0, "cumprod": 1, "cummax": _LOWEST, "cummin": _HIGHEST,
}  # fmt: skip


def _neutral(name: str, dtype: np.dtype, i: int) -> jax.Array:
    """Return what changes nothing as operand i of an operation over numbers of a type."""
    number = _NEUTRAL[name]
    if is_float(dtype):
        if name in ("reduce_sum", "cumsum", "dot_general"):  # 0 would change a sum of -0
            return jnp.asarray(1.0 if i else -0.0, dtype)
        if name in ("sort", "top_k"):  # a NaN with this sign: after all others there, and below all others here
            return lax.bitcast_convert_type(jnp.asarray(-1, f"int{8 * dtype.itemsize}"), dtype)
    if not isinstance(number, str):
        return jnp.asarray(number, jnp.int32).astype(dtype)
    if jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(number == _HIGHEST)
    return arms.lowest(dtype) if number == _LOWEST else arms.highest(dtype)


def axes_of_arms(operation: Operation, padding: Padding) -> Axes:
    """Return the axes of arms of an operation, of which it is checked that it can be padded.

    The programs of loops and branches are checked where they are evaluated.

    Raises:
        UnpaddableError: it cannot.
    """
    equation, name, others = operation.equation, operation.name, padding.wider
    reads = tuple(
        padding.axes_of(atom, [other.invars[i] for other in others]) for i, atom in enumerate(equation.invars)
    )
    makes = tuple(
        padding.axes_of(atom, [other.outvars[i] for other in others]) for i, atom in enumerate(equation.outvars)
    )
    programs = _PROGRAMS.get(name, ())
    for key, value in equation.params.items():
        if key not in programs and not _is_same(key, value, [other.params[key] for other in others], padding):
            raise UnpaddableError(f"{name} changes with the number of arms")
    if (any(reads) or any(makes)) and not _is_followed(operation, reads, makes, padding):
        raise UnpaddableError(f"nothing leaves out of {name} the arms that do not exist")
    if any(value.fixed for value in operation.values):
        _check_numbers(operation)
    return Axes(reads, makes)


def _is_same(key: str, value: Any, others: Sequence[object], padding: Padding) -> bool:
    """Return whether a parameter is the same for any number of arms, but for sizes, which may be that number."""
    if key not in _SIZES or value is None:
        return all(other is value or str(other) == str(value) for other in others)
    return all(len(set(sizes)) == 1 or padding.grows_as_arms(sizes) for sizes in zip(value, *others, strict=True))


def _check_numbers(operation: Operation) -> None:
    """Check that an operation is the same with a number that hangs on the number of arms as with a constant.

    Raises:
        UnpaddableError: it is not.
    """
    name, values = operation.name, operation.values
    if name == "pow" and values[1].fixed:
        raise UnpaddableError(f"{name} is made with a number that changes with the number of arms")
    multiple = name == "mul" and any(value.counts is not None for value in values)
    if multiple and any(value.fixed and not is_moderate(value.range) for value in values):
        raise UnpaddableError("pulls are multiplied with a number that changes with the number of arms")


def _is_followed(operation: Operation, reads: AxesOfEach, makes: AxesOfEach, padding: Padding) -> bool:
    """Return whether an operation with axes of arms is one that can be given what changes nothing, or needs none."""
    name, params = operation.name, operation.params
    if name in _NEUTRAL and jnp.issubdtype(operation.aval(0).dtype, jnp.complexfloating):
        return False
    if name == "dot_general":  # a float that is a sum of products of whole numbers may be -0: no whole number keeps it
        return not is_float(operation.out.dtype) or all(is_float(operation.aval(i).dtype) for i in (0, 1))
    if name in _ELEMENTWISE | _INDEXED | _MOVES | {"argmax", "argmin"}:
        return True
    if name == "sort":  # what is beyond the arms comes last among its equals
        return bool(params["is_stable"]) or len(operation.values) == 1 or params["dimension"] not in reads[0]
    if name in ("random_bits", "random_split"):  # number i is the same in a longer array
        return bool(makes[0] == (len(operation.aval(0).shape),)) and not any(reads)
    if name == "reshape":
        every = zip((operation.equation, *padding.wider), (padding.width, *padding.sizes), strict=True)
        return all(
            _in_parts(one.invars[0], reads[0], n, padding) == _in_parts(one.outvars[0], makes[0], n, padding)
            for one, n in every
        )
    if name == "top_k":
        return operation.axis not in makes[0]
    if name in ("cumsum", "cumprod", "cummax", "cummin"):
        return not params["reverse"] or params["axis"] not in reads[0]
    if name == "slice":  # whole axes of arms, or a part of one that is the same for any number of arms
        return params["strides"] is None and not any(params["start_indices"][axis] for axis in makes[0])
    if name == "concatenate":
        return params["dimension"] not in makes[0]
    return name.startswith("reduce_") and name in _NEUTRAL


def _in_parts(atom: Atom, axes: tuple[int, ...], number: int, padding: Padding) -> list[int]:
    """Return the shape without axes of size 1, an axis of the arms of all bandits as two, arms and bandits."""
    parts = []
    for axis, size in enumerate(atom.aval.shape):
        both = axis in axes and size == number
        parts += [size // padding.bandits, padding.bandits] if both else [size]
    return [size for size in parts if size != 1]


def filled(operation: Operation, padding: Padding, axes: Axes) -> Operation:
    """Return an operation over axes of arms, given what changes nothing in place of arms that do not exist.

    Raises:
        UnpaddableError: there is nothing to give it.
    """
    name = operation.name
    if name in _INDEXED:
        return _at_places(operation, padding, axes.reads)
    if name not in _NEUTRAL:
        return operation
    values, suffix = list(operation.values), operation.suffix
    for i, read in enumerate(axes.reads):
        if over := set(read) & _worked_on(operation, i):
            values[i] = _with_neutral(operation, i, over, padding, _neutral(name, operation.aval(i).dtype, i))
            suffix = padding.count.shape
    return dataclasses.replace(operation, values=values, suffix=suffix)


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
