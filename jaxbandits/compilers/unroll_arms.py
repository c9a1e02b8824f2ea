"""Unrolls decisions over arms, so that XLA:CPU fuses each into one loop over the runs.

A reduction over arms is a separate kernel on XLA:CPU, and an operand that several of them read is stored before. What
UGapE's decision stores does not fit the nearest cache. Where every arm's row of runs is a separate array, reductions
are trees of elementwise operations. The decision is then one loop over the runs and stores only its result: three
tenths of a step's time with 50 arms, one tenth with 10. Bits are the same: maxima, minima, and `or` of words. `python
experiments/benchmarks/step_costs.py` shows where a step's time goes.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core
from jax.typing import ArrayLike

from jaxbandits.arrays.arms import PIECE
from jaxbandits.arrays.platform_lowering import lowering, mask_every_take, reduce_in_one_piece
from jaxbandits.compilers.fusion_budget import CALLS, fits_one_fusion, live_equations, stores_rows
from jaxbandits.compilers.jaxpr_types import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Parameters
from jaxbandits.compilers.xla_cpu import barrier

__all__ = ["fuse_outputs", "reduce_well", "unroll_over_arms"]

#: A pytree of arrays.
Tree = TypeVar("Tree")

_ELEMENTWISE = {
    "abs", "add", "and", "bitcast_convert_type", "convert_element_type", "copy", "div", "eq", "ge", "gt", "le", "lt",
    "max", "min", "mul", "ne", "neg", "not", "or", "rem", "round", "select_n", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sqrt", "sub", "xor",
}  # fmt: skip
_REDUCTIONS: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "reduce_max": lax.max,
    "reduce_min": lax.min,
    "reduce_and": lax.bitwise_and,
    "reduce_or": lax.bitwise_or,
}
# Bits of an int32 that is not negative.
_WORD = 31


class _NoRowsError(Exception):
    """An operation without a form by rows."""


def unroll_over_arms(function: Callable[..., jax.Array], *operands: object) -> jax.Array:
    """Return `function(*operands)`, on CPU by rows, where that yields one loop that XLA:CPU can vectorise.

    An operation without a form by rows, such as a loop, is unchanged.

    Args:
        function: from arrays `(K, R)`, `(R,)` and `()` to whole numbers `(R,)`. Its derivatives are not needed.
        *operands: pytrees of arrays.
    """
    return _by_arms(lambda *operands: (function(*operands),), operands)[0]


def fuse_outputs(
    function: Callable[..., tuple[jax.Array, ...]], limit: int, *operands: object
) -> tuple[jax.Array, ...]:
    """Return `function(*operands)`, several whole numbers of each run, computed in one loop.

    A fusion of XLA:CPU has one result, so the numbers are packed into one word. Elsewhere this saves a kernel or two.

    Args:
        function: as for `unroll_over_arms`, to int32 `(R,)` each, in [0, limit), the first 0 or 1.
        limit: at least 2; numbers that do not fit into one word are computed one by one.
        *operands: pytrees of arrays.
    """
    found = _by_arms(function, operands)
    bits = (limit - 1).bit_length()
    if bits * (len(found) - 1) >= _WORD:
        return tuple(barrier(list(found)))
    word, *others = found
    for other in others:
        word = (word << bits) | other
    word = barrier(word)
    parts = []
    for _ in others:  # a barrier, too: where more than 8 kernels wait for one, XLA:CPU gives some to other threads
        parts.append(barrier(word & ((1 << bits) - 1)))
        word = word >> bits
    return (word, *reversed(parts))


def _by_arms(function: Callable[..., tuple[jax.Array, ...]], operands: Sequence[object]) -> tuple[jax.Array, ...]:
    """Return `function(*operands)` by rows, or unchanged where it has no such form, or is faster without it."""
    leaves, structure = jax.tree.flatten(jax.tree.map(jnp.asarray, operands))
    most = max((leaf.shape[0] for leaf in leaves if leaf.ndim == 2), default=0)
    if not 1 < most <= lowering().max_unrolled_rows:  # before anything is traced
        return function(*operands)
    with mask_every_take():
        closed = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(structure, leaves)))(*leaves)
    if fits_one_fusion(closed.jaxpr):
        with contextlib.suppress(_NoRowsError):
            found = _evaluated(closed.jaxpr, closed.consts, [_Value.of(leaf) for leaf in leaves])
            return tuple(value.whole for value in found)
    if most <= min(lowering().masked_take, lowering().masked_put):  # all arms are read in any case: not traced again
        return tuple(core.jaxpr_as_fun(closed)(*leaves))
    with contextlib.nullcontext() if stores_rows(closed.jaxpr) else reduce_in_one_piece():
        return function(*operands)


def reduce_well(function: Callable[..., Tree], arms: int, *operands: object) -> Tree:
    """Return `function(*operands)`, on CPU with reductions over arms in one piece where that is faster.

    XLA:CPU computes the operand of a reduction in each piece's loop, which LLVM vectorises only if it is short. In
    loops it is stored before, as are quotients and roots that several operations read. In one piece UGapEb takes 0.85
    (50 arms) to 0.37 (100) of the time. With m = 3, which has a loop, it takes 1.4 times as long, and top-two rules 1.2
    times (measured).

    Args:
        function: from arrays to arrays.
        arms: the number of arms.
        *operands: pytrees of arrays.
    """
    if not PIECE < arms <= lowering().reduced_in_pieces:
        return function(*operands)
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*operands)
    if stores_rows(closed.jaxpr):  # not traced again
        found = core.jaxpr_as_fun(closed)(*jax.tree.leaves(operands))
        return jax.tree.unflatten(jax.tree.structure(shapes), found)
    with reduce_in_one_piece():
        return function(*operands)


@dataclasses.dataclass(frozen=True)
class _Value:
    """An array; one of two axes is stored by the rows along the first."""

    rows: Sequence[jax.Array]
    matrix: bool

    @classmethod
    def of(cls, array: ArrayLike) -> "_Value":
        """Return the rows of an array."""
        array = jnp.asarray(array)
        if array.ndim > 2:
            raise _NoRowsError
        return cls([array[i] for i in range(array.shape[0])], True) if array.ndim == 2 else cls([array], False)

    @property
    def whole(self) -> jax.Array:
        """Return the array, of one axis or none."""
        if self.matrix:
            raise _NoRowsError
        return self.rows[0]


def _evaluated(jaxpr: Jaxpr, consts: Sequence[jax.Array], arguments: Sequence[_Value]) -> list[_Value]:
    known = dict(zip(jaxpr.constvars, map(_Value.of, consts), strict=True)) | dict(
        zip(jaxpr.invars, arguments, strict=True)
    )

    def read(atom: Atom) -> _Value:
        return _Value.of(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in live_equations(jaxpr):
        found = _operation(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, found, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _operation(equation: JaxprEqn, values: list[_Value]) -> list[_Value]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        called = params[CALLS[name]]
        return _evaluated(called.jaxpr, called.consts, values)
    if name == "reshard":  # on one device
        return values
    if not any(value.matrix for value in values) and all(len(out.aval.shape) < 2 for out in equation.outvars):
        found = equation.primitive.bind(*(value.whole for value in values), **params)
        return [_Value([array], False) for array in (found if equation.primitive.multiple_results else [found])]
    return [_by_rows(equation, name, params, values)]


def _by_rows(equation: JaxprEqn, name: str, params: Parameters, values: list[_Value]) -> _Value:
    """Evaluate an operation with arrays of two axes among its operands or results."""
    out, *others = equation.outvars
    if others or not values:  # such as a table of constants, `jnp.eye`
        raise _NoRowsError
    shape, first = out.aval.shape, values[0]
    if name in _ELEMENTWISE and len(shape) == 2:
        rows = [
            equation.primitive.bind(*(value.rows[i if len(value.rows) > 1 else 0] for value in values), **params)
            for i in range(shape[0])
        ]
        return _Value(rows, True)
    if name == "broadcast_in_dim" and len(shape) == 2:
        return _broadcast(first, shape, params["broadcast_dimensions"])
    if name == "reshape" and len(shape) == 2 and not first.matrix and shape[1] == 1:
        return _Value([first.whole[i : i + 1] for i in range(shape[0])], True)
    if name in ("reshape", "squeeze") and len(shape) == 1 and first.matrix and len(first.rows) == 1:
        return _Value(first.rows, False)
    if name == "slice" and params["strides"] is None and params["limit_indices"][1] == shape[1]:
        return _Value(first.rows[params["start_indices"][0] : params["limit_indices"][0]], True)
    if name in _REDUCTIONS and params["axes"] == (0,):
        return _Value([_tree(_REDUCTIONS[name], first.rows)], False)
    if name == "reduce" and params["dimensions"] == (0,) and len(values) == 2 and not _adds_floats(equation):
        operation = _called(params["jaxpr"])
        start = jnp.broadcast_to(values[1].whole, shape)
        return _Value([operation(_tree(operation, first.rows), start)], False)
    raise _NoRowsError


def _adds_floats(equation: JaxprEqn) -> bool:
    """Return whether the order of a reduction's terms may change its bits."""
    operations = {inner.primitive.name for inner in equation.params["jaxpr"].jaxpr.eqns}
    return jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.floating) and bool(operations & {"add", "mul"})


def _called(closed: ClosedJaxpr) -> Callable[[jax.Array, jax.Array], jax.Array]:
    """Return an operation of two arrays that a program of single numbers defines."""

    def operation(a: jax.Array, b: jax.Array) -> jax.Array:
        (result,) = _evaluated(closed.jaxpr, closed.consts, [_Value([a], False), _Value([b], False)])
        return result.whole

    return operation


def _broadcast(value: _Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> _Value:
    rows = value.rows
    if axes == (0,):
        rows = [value.whole[i] for i in range(shape[0])]
    spread = [lax.broadcast_in_dim(row, shape[1:], tuple(range(row.ndim))) for row in rows]
    return _Value(spread if len(spread) == shape[0] else spread * shape[0], True)


def _tree(operation: Callable[[jax.Array, jax.Array], jax.Array], rows: Sequence[jax.Array]) -> jax.Array:
    """Combine all rows, neighbours first."""
    while len(rows) > 1:
        rows = [functools.reduce(operation, rows[i : i + 2]) for i in range(0, len(rows), 2)]
    return rows[0]
