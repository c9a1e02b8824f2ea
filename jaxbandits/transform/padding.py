"""Arrays that are longer than there are arms: which axes are axes of arms, and what is beyond the arms is left out.

A program is traced for three numbers of arms. An axis that grows with them is one of arms; a number that grows with
them by whole steps, as in `4 * len(arms)`, is computed from how many there are. Every operation over an axis of arms is
then given what changes nothing for those that do not exist: zero for a sum, minus infinity for a maximum. What cannot
be followed so is refused, never guessed: such a program is compiled for each number of arms.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from jaxbandits.arrays import arms
from jaxbandits.transform.operation import Operation, Value, spread

__all__ = ["Padded", "Padding", "UnpaddableError", "axes_of", "filled"]


class UnpaddableError(Exception):
    """A program cannot be followed to another number of arms; the text says why."""


@dataclasses.dataclass(frozen=True)
class Padding:
    """What is needed to leave out arms that do not exist.

    Attributes:
        count: int32 `(R,)`, how many arms exist.
        width: the number of arms that arrays have room for.
        wider: the same program, or equation, for one and for two arms more.
        consts: the constants of these programs.
    """

    count: jax.Array
    width: int
    wider: tuple[Any, ...]
    consts: tuple[Sequence[Any], ...] = ()

    def at(self, place: int) -> "Padding":
        """Return the padding of one equation."""
        return dataclasses.replace(self, wider=tuple(program.eqns[place] for program in self.wider))

    def inside(self, called: Callable[[Any], tuple[Any, Any]]) -> "Padding":
        """Return the padding of the program that an equation calls."""
        programs = [called(equation) for equation in self.wider]
        return dataclasses.replace(self, wider=tuple(p for p, _ in programs), consts=tuple(c for _, c in programs))

    def check_program(self, jaxpr: Any, consts: Sequence[Any]) -> None:
        """Check that the programs for more arms are made of the same operations and constants.

        Raises:
            UnpaddableError: they are not.
        """
        names = [str(equation.primitive) for equation in jaxpr.eqns]
        if any([str(equation.primitive) for equation in other.eqns] != names for other in self.wider):
            raise UnpaddableError("with more arms other operations are made")
        for others in self.consts:
            alike = len(others) == len(consts) and all(_is_same(a, b) for a, b in zip(consts, others, strict=True))
            if not alike:
                raise UnpaddableError("a constant array changes with the number of arms")

    def literal(self, narrow: Any, others: Sequence[Any]) -> Value | None:
        """Return a literal that grows with the number of arms, for each run; None for one that does not.

        Raises:
            UnpaddableError: it grows in another way than by whole steps.
        """
        values = [np.asarray(atom.val) for atom in (narrow, *others)]
        if all(value.shape == values[0].shape and np.array_equal(value, values[0]) for value in values):
            return None
        if any(value.shape for value in values):
            raise UnpaddableError("a constant array changes with the number of arms")
        first, second, third = (float(value) for value in values)
        step, start = second - first, first - (second - first) * self.width
        whole = not step % 1 and not start % 1 and abs(first) < 2**24
        if third - second != step or not whole:
            raise UnpaddableError("a number changes with the number of arms, and not by whole steps")
        dtype = values[0].dtype
        return Value(self.count.astype(dtype) * dtype.type(step) + dtype.type(start), True)


class Padded(NamedTuple):
    """How many arms exist, and which axes of the arguments are axes of arms."""

    exist: jax.Array  # int32 (R,)
    width: int  # the number of arms that arrays have room for
    axes: Sequence[tuple[int, ...]]  # of each leaf of the arguments, in one run

    def followed(self, function: Callable[..., Any], leaves: Sequence[Any]) -> Padding:
        """Trace a function of these leaves, of one run, for one and for two arms more.

        Raises:
            UnpaddableError: it fails there.
        """
        programs = []
        for more in (1, 2):
            longer = [
                jax.ShapeDtypeStruct(tuple(n + more * (i in axes) for i, n in enumerate(leaf.shape)), leaf.dtype)
                for leaf, axes in zip(leaves, self.axes, strict=True)
            ]
            try:
                programs.append(jax.make_jaxpr(function)(*longer))
            except Exception as error:
                raise UnpaddableError(f"with more arms it fails: {error}") from error
        jaxprs, consts = tuple(p.jaxpr for p in programs), tuple(p.consts for p in programs)
        return Padding(self.exist, self.width, jaxprs, consts)


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two constants are the same."""
    return a is b or (np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b))))


def axes_of(narrow: Any, wider: Sequence[Any], width: int) -> tuple[int, ...]:
    """Return the axes of arms of a variable, from its shapes for three numbers of arms.

    Raises:
        UnpaddableError: an axis that grows with the arms and is not as long as they are.
    """
    shapes = [atom.aval.shape for atom in (narrow, *wider)]
    if len({len(shape) for shape in shapes}) > 1:
        raise UnpaddableError("an array has another number of axes with more arms")
    axes = []
    for axis, sizes in enumerate(zip(*shapes, strict=True)):
        if sizes == (width, width + 1, width + 2):
            axes.append(axis)
        elif len(set(sizes)) > 1:
            raise UnpaddableError("an axis grows with the number of arms and has another length")
    return tuple(axes)


#: Operations on each element, which need nothing.
_ELEMENTWISE = {
    "abs", "add", "add_any", "and", "cbrt", "ceil", "clamp", "convert_element_type", "copy", "cos", "div", "eq", "erf",
    "erf_inv", "exp", "exp2", "expm1", "floor", "ge", "gt", "integer_pow", "is_finite", "le", "lgamma", "log", "log1p",
    "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not", "or", "pow", "rem", "round", "rsqrt",
    "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sqrt", "square",
    "stop_gradient", "sub", "tanh", "xor", "bitcast_convert_type", "digamma", "threefry2x32", "optimization_barrier",
}  # fmt: skip
#: Operations that move axes as a whole, or make them.
_MOVES = {"broadcast_in_dim", "squeeze", "expand_dims", "transpose", "iota"}
#: Operations at places, which are told how many arms exist (`Operation.length`).
_INDEXED = {"gather", "dynamic_slice", "dynamic_update_slice", "scatter", "scatter-add"}


#: What changes nothing, by operation: a number, or the end of the range of the type, the lowest or the highest.
_LOWEST, _HIGHEST = "lowest", "highest"
_NEUTRAL = {
    "reduce_sum": 0, "reduce_max": _LOWEST, "reduce_min": _HIGHEST, "reduce_prod": 1, "reduce_or": 0, "reduce_xor": 0,
    "reduce_and": -1, "argmax": _LOWEST, "argmin": _HIGHEST, "dot_general": 0, "sort": _HIGHEST, "top_k": _LOWEST,
    "cumsum": 0, "cumprod": 1, "cummax": _LOWEST, "cummin": _HIGHEST,
}  # fmt: skip


def _neutral(name: str, dtype: Any) -> jax.Array:
    """Return what changes nothing in an operation over numbers of a type."""
    number = _NEUTRAL[name]
    if not isinstance(number, str):
        return jnp.asarray(number, dtype)
    if jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(number == _HIGHEST)
    return arms.lowest(dtype) if number == _LOWEST else arms.highest(dtype)


def check(operation: Operation, padding: Padding) -> None:
    """Check that an operation that calls no program can be padded.

    Raises:
        UnpaddableError: it cannot.
    """
    equation, name, others = operation.equation, operation.name, padding.wider
    reads = reads_of(operation, padding)
    makes = [
        axes_of(atom, [other.outvars[i] for other in others], padding.width) for i, atom in enumerate(equation.outvars)
    ]
    if not any(reads) and not any(makes):
        if not all(str(value) == str(other.params[key]) for other in others for key, value in equation.params.items()):
            raise UnpaddableError(f"{name} changes with the number of arms")
    elif not _is_followed(operation, reads, makes, others):
        raise UnpaddableError(f"nothing leaves out of {name} the arms that do not exist")


def reads_of(operation: Operation, padding: Padding) -> list[tuple[int, ...]]:
    """Return the axes of arms of each operand."""
    atoms = zip(operation.equation.invars, *(other.invars for other in padding.wider), strict=True)
    return [_axes(narrow, wider, padding.width) for narrow, *wider in atoms]


def _axes(atom: Any, wider: Sequence[Any], width: int) -> tuple[int, ...]:
    return () if isinstance(atom, core.Literal) else axes_of(atom, wider, width)


def _is_followed(operation: Operation, reads: Any, makes: Any, others: Any) -> bool:
    """Return whether an operation with axes of arms is one that can be given what changes nothing, or needs none."""
    name, params = operation.name, operation.params
    if name in _ELEMENTWISE or name in _INDEXED or name in ("argmax", "argmin", "dot_general", "sort"):
        return True
    if name in ("random_bits", "random_split"):  # number i is the same in a longer array
        return makes[0] == (len(operation.aval(0).shape),) and not any(reads)
    if name == "reshape":
        before, after = ([size for size in shape if size != 1] for shape in (operation.aval(0).shape, operation.shape))
        return before == after
    if name in _MOVES:
        return True
    if name == "top_k":
        return operation.equation.outvars[0].aval.ndim - 1 not in makes[0]
    if name in ("cumsum", "cumprod", "cummax", "cummin"):
        return not params["reverse"] or params["axis"] not in reads[0]
    if name == "slice":  # whole axes of arms, or a part of one that is the same for any number of arms
        parts = set(reads[0]) - set(makes[0])
        fixed = all(other.params["limit_indices"][a] == params["limit_indices"][a] for other in others for a in parts)
        return fixed and params["strides"] is None and not any(params["start_indices"][axis] for axis in makes[0])
    if name == "concatenate":
        return params["dimension"] not in makes[0]
    return name.startswith("reduce_") and name in _NEUTRAL


def filled(operation: Operation, padding: Padding) -> Operation:
    """Return an operation over axes of arms, given what changes nothing in place of arms that do not exist.

    Raises:
        UnpaddableError: there is nothing to give it.
    """
    check(operation, padding)
    name, reads = operation.name, reads_of(operation, padding)
    if name in _INDEXED and reads[0]:
        return dataclasses.replace(operation, exist=padding.count, arm_axes=reads[0], suffix=padding.count.shape)
    if name not in _NEUTRAL:
        return operation
    values, suffix = list(operation.values), operation.suffix
    for i, axes in enumerate(reads):
        if over := set(axes) & _worked_on(operation, i):
            values[i] = _with_neutral(operation, i, over, padding)
            suffix = padding.count.shape
    return dataclasses.replace(operation, values=values, suffix=suffix)


def _with_neutral(operation: Operation, i: int, axes: set[int], padding: Padding) -> Value:
    """Return operand i with what changes nothing beyond the arms that exist, along some axes."""
    shape, runs = operation.aval(i).shape, padding.count.shape
    whole = spread(operation.values[i], shape, runs)
    exists = jnp.ones((), bool)
    for axis in axes:
        number = jnp.arange(padding.width, dtype=jnp.int32).reshape(
            *(-1 if n == axis else 1 for n in range(len(shape))), 1
        )
        exists = exists & (number < padding.count)
    known = operation.values[i].range  # of arms that exist, of which there is one at least
    if known is not None and operation.name in ("reduce_sum", "cumsum", "dot_general"):
        known = min(known[0], 0.0), max(known[1], 0.0)
    if operation.name in ("reduce_prod", "cumprod"):
        known = None
    return Value(jnp.where(exists, whole, _neutral(operation.name, whole.dtype)), True, range=known)


def _worked_on(operation: Operation, i: int) -> set[int]:
    """Return the axes of operand i along which an operation works."""
    name, params = operation.name, operation.params
    if "axes" in params:
        return set(params["axes"])
    if name == "dot_general":
        return set(params["dimension_numbers"][0][i])
    if name == "sort":
        return {params["dimension"]} if i < params["num_keys"] else set()
    if name == "top_k":
        return {operation.aval(0).ndim - 1}
    return {params["axis"]}
