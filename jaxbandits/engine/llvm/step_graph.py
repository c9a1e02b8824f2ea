"""Reads a step of R runs, traced by JAX, as a graph of operations on one run's numbers.

A value of a step is a number of each run, an array with a number for each arm of each run, or the same without runs.
In the graph an array over arms is one node, an expression of the arm's number. So one loop over arms can compute many
of them. A short axis has one node for each entry.

What is not supported raises `NotSupportedError`: the step then runs as XLA compiles it.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.pytrees import is_key
from jaxbandits.compilers.jaxpr_types import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jaxbandits.engine.llvm.array_moves import MOVES
from jaxbandits.engine.llvm.flat_places import PLACES
from jaxbandits.engine.llvm.folds import FOLDS
from jaxbandits.engine.llvm.graph_values import (
    LANES,
    Node,
    NotSupportedError,
    Value,
    dtype_of,
    objects,
    value_of,
)
from jaxbandits.engine.llvm.inner_loops import LOOPS
from jaxbandits.engine.llvm.node_maker import NodeMaker, Traced
from jaxbandits.engine.llvm.rewritten import check_written
from jaxbandits.transform.programs_inside import CALLS, called

__all__ = ["Graph", "graph_of"]

#: Primitives of numbers that keep their operands' shape.
_BY_NUMBER = {
    "add", "sub", "mul", "div", "rem", "and", "or", "xor", "not", "neg", "abs", "sign", "square", "max", "min", "sqrt",
    "floor", "ceil", "select_n", "shift_left", "shift_right_logical", "shift_right_arithmetic", "clz", "is_finite",
    "eq", "ne", "lt", "le", "gt", "ge",
}  # fmt: skip
_NOTHING = frozenset(
    ("optimization_barrier", "reshard", "stop_gradient", "copy", "copy_p", "random_wrap", "random_unwrap")
)
_RULES = {**MOVES, **FOLDS, **PLACES}


@dataclasses.dataclass(frozen=True)
class Graph:
    """A step."""

    nodes: list[Node]  # each after its operands
    inputs: list[Value]
    outputs: list[Value]


def graph_of(step: Callable[..., object], *operands: object) -> Graph:
    """Return the graph of a step.

    Args:
        step: from pytrees of arrays to a pytree of arrays, lane by lane.
        operands: leaves `(…, R)`, or `()` for all runs.

    Raises:
        NotSupportedError: an operation or a shape that a graph cannot hold.
    """
    wide = jax.tree.map(_for_any_runs, operands)
    closed: Any = jax.make_jaxpr(step)(*wide)
    reader = _Reader()
    inputs = [reader.input(number, leaf.shape, str(leaf.dtype)) for number, leaf in enumerate(jax.tree.leaves(wide))]
    outputs = reader.jaxpr(closed.jaxpr, [*reader.constants(closed.consts), *inputs])
    return Graph(reader.nodes, inputs, outputs)


def _for_any_runs(x: jax.Array) -> jax.ShapeDtypeStruct:
    shape = jnp.shape(x)
    return jax.ShapeDtypeStruct((*shape[:-1], LANES) if shape else (), x.dtype)


class _Reader(NodeMaker):
    """Reads programs."""

    def closed(self, program: ClosedJaxpr, operands: Sequence[Value]) -> list[Value]:
        return self.jaxpr(program.jaxpr, [*self.constants(program.consts), *operands])

    def constants(self, arrays: Sequence[jax.Array]) -> list[Value]:
        return [self.constant(x, dtype_of(np.asarray(x))) for x in arrays]

    def jaxpr(self, jaxpr: Jaxpr, operands: Sequence[Value]) -> list[Value]:
        known = dict(zip([*jaxpr.constvars, *jaxpr.invars], operands, strict=True))

        def read(atom: Any) -> Value:
            return self.constant(atom.val, dtype_of(atom.aval)) if isinstance(atom, Literal) else known[atom]

        for equation in jaxpr.eqns:
            results = self.equation(equation, [read(atom) for atom in equation.invars])
            known.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        name, parameters = equation.primitive.name, equation.params
        if name in _NOTHING:
            return operands
        if name in CALLS:
            program, constants = called(equation)
            return self.jaxpr(program, [*self.constants(constants), *operands])
        if name not in ("reshape", "gather", "scatter") and any(x.flat for x in operands):
            raise NotSupportedError(f"{name} of a flat array")
        if name in LOOPS:
            return LOOPS[name](self, self.closed, parameters, operands)
        result = equation.outvars[0].aval
        if is_key(result):
            return _of_keys(name, operands, parameters, result, self)
        traced = Traced(name, operands, parameters, result.shape, dtype_of(result), self)
        if name in _BY_NUMBER:
            return [_by_number(traced, name)]
        if name == "round" and parameters["rounding_method"] == jax.lax.RoundingMethod.TO_NEAREST_EVEN:
            return [_by_number(traced, name)]
        if name == "integer_pow" and parameters["y"] == 2:
            return [_by_number(traced, "square")]
        if name in ("convert_element_type", "bitcast_convert_type"):
            same = operands[0].dtype == traced.dtype
            return operands if same else [_by_number(traced, f"{name.split('_')[0]} {operands[0].dtype}")]
        if name not in _RULES:
            raise NotSupportedError(f"the operation {name}")
        return _RULES[name](traced)


def _of_keys(name: str, operands: list[Value], parameters: Any, result: Any, make: NodeMaker) -> list[Value]:
    """Return keys that are moved: they are pairs of words, on one more axis."""
    if name not in ("slice", "reshape", "squeeze", "expand_dims") or result.dtype.itemsize != 8:
        raise NotSupportedError(f"{name} of keys")
    whole = {"start_indices": (0,), "limit_indices": (2,), "strides": (1,)}
    parameters = {key: value + whole[key] if value and key in whole else value for key, value in parameters.items()}
    return _RULES[name](Traced(name, operands, parameters, (*result.shape, 2), "uint32", make))


def _by_number(traced: Traced, name: str) -> Value:
    if traced.dtype == "float32" and name in ("max", "min"):  # NaN has another meaning there
        name = f"{name}imum"
    nodes = [x.nodes for x in traced.operands]
    parts = np.broadcast_arrays(*nodes) if traced.shape else nodes
    several = zip(*(part.ravel() for part in parts), strict=True)
    made = []
    for operands in several:
        if traced.dtype == "float32":
            check_written(name, operands)
        made.append(traced.make.operation(name, operands, traced.dtype))
    return value_of(objects(made), traced.shape, traced.dtype)
