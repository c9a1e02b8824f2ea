"""Which operations over arms can be padded: those with a neutral value, and those that need none."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxbandits.compilers.jaxpr_types import Atom
from jaxbandits.transform.counts import is_moderate
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, is_float
from jaxbandits.transform.padding import Padding

__all__ = ["HIGHEST", "INDEXED", "LOWEST", "NEUTRAL", "Axes", "axes_of_arms"]

#: Axes of arms of each operand or result.
AxesOfEach = tuple[tuple[int, ...], ...]


class Axes(NamedTuple):
    """The axes of arms of an operation."""

    reads: AxesOfEach  # of each operand
    makes: AxesOfEach  # of each result
    starts: tuple[tuple[int, tuple[int, ...]], ...] = ()  # of a slice: axes, and its start for each number of arms


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
INDEXED = {"gather", "dynamic_slice", "dynamic_update_slice", "scatter", "scatter-add", "rev"}
#: Parameters of loops and branches that are programs.
_PROGRAMS = {"cond": ("branches",), "while": ("cond_jaxpr", "body_jaxpr"), "scan": ("jaxpr",)}
#: Parameters that are sizes of axes.
_SIZES = {"shape", "new_sizes", "limit_indices", "slice_sizes"}

#: What changes nothing, by operation: a number, or the end of the range of the type, the lowest or the highest.
LOWEST, HIGHEST = "lowest", "highest"
NEUTRAL = {
    "reduce_sum": 0, "reduce_max": LOWEST, "reduce_min": HIGHEST, "reduce_prod": 1, "reduce_or": 0, "reduce_xor": 0,
    "reduce_and": -1, "argmax": LOWEST, "argmin": HIGHEST, "dot_general": 0, "sort": HIGHEST, "top_k": LOWEST,
    "cumsum": 0, "cumprod": 1, "cummax": LOWEST, "cummin": HIGHEST,
}  # fmt: skip


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
    starts = _starts_that_change(operation, padding)
    for key, value in equation.params.items():
        if starts and key in ("start_indices", "limit_indices"):
            continue
        if key not in programs and not _is_same(key, value, [other.params[key] for other in others], padding):
            raise UnpaddableError(f"{name} changes with the number of arms")
    if starts and (equation.params["strides"] is not None or any(axis in makes[0] for axis, _ in starts)):
        raise UnpaddableError(f"{name} changes with the number of arms")
    if (any(reads) or any(makes)) and not _is_followed(operation, reads, makes, padding):
        raise UnpaddableError(f"nothing leaves out of {name} the arms that do not exist")
    if any(value.fixed for value in operation.values):
        _check_numbers(operation)
    return Axes(reads, makes, starts)


def _starts_that_change(operation: Operation, padding: Padding) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the axes along which a slice has as many entries for any number of arms, and where it then starts."""
    if operation.name != "slice":
        return ()
    both = [(one.params["start_indices"], one.params["limit_indices"]) for one in (operation.equation, *padding.wider)]
    found = []
    for axis in range(len(operation.shape)):
        starts = tuple(first[axis] for first, _ in both)
        sizes = {last[axis] - first[axis] for first, last in both}
        if len(set(starts)) > 1 and len(sizes) == 1:
            found.append((axis, starts))
    return tuple(found)


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
    if name in NEUTRAL and jnp.issubdtype(operation.aval(0).dtype, jnp.complexfloating):
        return False
    if name == "dot_general":  # a float that is a sum of products of whole numbers may be -0: no whole number keeps it
        return not is_float(operation.out.dtype) or all(is_float(operation.aval(i).dtype) for i in (0, 1))
    if name in _ELEMENTWISE | INDEXED | _MOVES | {"argmax", "argmin", "cumsum", "cumprod", "cummax", "cummin"}:
        return True
    if name == "sort":  # what is beyond the arms comes last among its equals
        return bool(params["is_stable"]) or len(operation.values) == 1 or params["dimension"] not in reads[0]
    if name in ("random_bits", "random_split", "random_gamma"):  # number i is the same in a longer array
        first = (len(operation.aval(0).shape),)
        return bool(makes[0] == first) and reads in (((),), ((), first))
    if name == "reshape":
        every = zip((operation.equation, *padding.wider), (padding.width, *padding.sizes), strict=True)
        return all(
            _in_parts(one.invars[0], reads[0], n, padding) == _in_parts(one.outvars[0], makes[0], n, padding)
            for one, n in every
        )
    if name == "top_k":
        return operation.axis not in makes[0]
    if name == "slice":  # whole axes of arms, or a part of one that is the same for any number of arms
        return params["strides"] is None and not any(params["start_indices"][axis] for axis in makes[0])
    if name == "concatenate":
        return params["dimension"] not in makes[0]
    return name.startswith("reduce_") and name in NEUTRAL


def _in_parts(atom: Atom, axes: tuple[int, ...], number: int, padding: Padding) -> list[int]:
    """Return the shape without axes of size 1, an axis of the arms of all bandits as two, arms and bandits."""
    parts = []
    for axis, size in enumerate(atom.aval.shape):
        both = axis in axes and size == number
        parts += [size // padding.bandits, padding.bandits] if both else [size]
    return [size for size in parts if size != 1]
