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

from jaxbandits.compilers.jaxpr_types import Jaxpr, JaxprEqn, Literal
from jaxbandits.engine.llvm.array_moves import MOVES, Move
from jaxbandits.engine.llvm.folds import fold_of, start_of
from jaxbandits.engine.llvm.graph_values import (
    LANES,
    Node,
    NotSupportedError,
    Value,
    axes_of,
    dtype_of,
    nodes_shape,
    objects,
    value_of,
)
from jaxbandits.transform.programs_inside import CALLS, called

__all__ = ["Graph", "graph_of"]

#: Primitives of numbers that keep their operands' shape.
_BY_NUMBER = {
    "add", "sub", "mul", "div", "rem", "and", "or", "xor", "not", "neg", "abs", "sign", "square", "max", "min", "sqrt",
    "floor", "ceil", "select_n", "shift_left", "shift_right_logical", "shift_right_arithmetic",
    "eq", "ne", "lt", "le", "gt", "ge",
}  # fmt: skip
_NOTHING = frozenset(
    ("optimization_barrier", "reshard", "stop_gradient", "copy", "copy_p", "random_wrap", "random_unwrap")
)
_FOLDS = {"reduce_max": "max", "reduce_min": "min", "reduce_sum": "add", "reduce_or": "or", "reduce_and": "and"}


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


class _Reader:
    """Makes nodes; equal ones are made once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._made: dict[object, Node] = {}

    def node(self, kind: str, name: Any, operands: tuple[Node, ...], dtype: str, *, lane: bool, arms: int) -> Node:
        key = (kind, repr(name), tuple(map(id, operands)), dtype, lane, arms)  # repr: -0.0 == 0.0
        if key not in self._made:
            self._made[key] = Node(kind, name, operands, dtype, lane, arms)
            self.nodes.append(self._made[key])
        return self._made[key]

    def input(self, number: int, shape: tuple[int, ...], dtype: str) -> Value:
        dtype_of(jax.ShapeDtypeStruct((), dtype))
        lane, arm, arms = axes_of(shape)
        if arms and arm != len(shape) - 1 - (lane is not None) and max(nodes_shape(shape)) > 1:
            raise NotSupportedError(f"an array of shape {shape}, with an axis between arms and runs")
        made = [
            self.node("input", (number, place), (), dtype, lane=lane is not None, arms=arms)
            for place in range(int(np.prod(nodes_shape(shape))))
        ]
        return value_of(objects(made), shape, dtype)

    def constant(self, x: Any, dtype: str) -> Value:
        x = np.asarray(x)
        _, arm, arms = axes_of(x.shape)
        made = []
        for place in np.ndindex(nodes_shape(x.shape)):
            numbers = np.atleast_1d(x[tuple(slice(None) if i == arm else at for i, at in enumerate(place))])
            if not arms or len(set(map(repr, numbers.tolist()))) == 1:
                made.append(self.number(numbers[0].item(), dtype))
            else:
                made.append(self.node("table", tuple(numbers.tolist()), (), dtype, lane=False, arms=arms))
        return value_of(objects(made), x.shape, dtype)

    def operation(self, name: str, operands: tuple[Node, ...], dtype: str) -> Node:
        lane, arms = any(x.lane for x in operands), max(x.arms for x in operands)
        return self.node("operation", name, operands, dtype, lane=lane, arms=arms)

    def entry(self, array: Node, arm: Node) -> Node:
        if not array.arms:
            return array
        return self.node("entry", "", (array, arm), array.dtype, lane=array.lane or arm.lane, arms=0)

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
        result = equation.outvars[0].aval
        shape, dtype = result.shape, dtype_of(result)
        if dtype == "float32" and name in ("max", "min", "reduce_max", "reduce_min"):
            raise NotSupportedError(f"{name} of floats: NaN has another meaning there")
        if name in _BY_NUMBER:
            return [self.by_number(name, operands, shape, dtype)]
        if name == "round" and parameters["rounding_method"] == jax.lax.RoundingMethod.TO_NEAREST_EVEN:
            return [self.by_number(name, operands, shape, dtype)]
        if name == "integer_pow" and parameters["y"] == 2:
            return [self.by_number("square", operands, shape, dtype)]
        if name in ("convert_element_type", "bitcast_convert_type"):
            kind = f"{name.split('_')[0]} {operands[0].dtype}"
            return operands if operands[0].dtype == dtype else [self.by_number(kind, operands, shape, dtype)]
        if name == "gather":
            return [self.gathered(operands[0], operands[1], shape, dtype)]
        if name in _FOLDS or name == "reduce":
            return [self.reduced(name, parameters, operands, shape, dtype)]
        if name not in MOVES:
            raise NotSupportedError(f"the operation {name}")
        return MOVES[name](Move(operands, parameters, shape, dtype, self.number, self.arm, self.entry))

    def number(self, number: int, dtype: str) -> Node:
        return self.node("constant", number, (), dtype, lane=False, arms=0)

    def arm(self, arms: int, dtype: str) -> Node:
        return self.node("arm", "", (), dtype, lane=False, arms=arms)

    def by_number(self, name: str, operands: list[Value], shape: Sequence[int], dtype: str) -> Value:
        if any(x.flat for x in operands):
            raise NotSupportedError(f"{name} of a flat array")
        parts = np.broadcast_arrays(*(x.nodes for x in operands)) if shape else [x.nodes for x in operands]
        made = [self.operation(name, several, dtype) for several in zip(*(part.ravel() for part in parts), strict=True)]
        return value_of(objects(made), shape, dtype)

    def gathered(self, array: Value, places: Value, shape: Sequence[int], dtype: str) -> Value:
        """Return an entry of each run: arrays are flat, and places are `arm * R + run` (`arrays/arms.py`)."""
        if array.nodes.size == 1 and not array.arms and array.lane is not None:
            return value_of(array.nodes, shape, dtype)  # the only row
        if not array.flat or places.nodes.size != 1 or places.arm is not None:
            raise NotSupportedError("a gather")
        arm = self.arm_of(places.nodes.item())
        if array.arms:
            return value_of(objects([self.entry(array.nodes.item(), arm)]), shape, dtype)
        *others, found = array.nodes.ravel()
        for number, node in enumerate(others):
            hit = self.operation("eq", (arm, self.number(number, "int32")), "bool")
            found = self.operation("select_n", (hit, found, node), dtype)
        return value_of(objects([found]), shape, dtype)

    def arm_of(self, place: Node) -> Node:
        """Return the arm of a place in a flat array; the run's own number counts as 0 here."""
        operands = place.operands
        if place.name == "select_n" and operands[0].name == "lt" and operands[0].operands[0] is operands[1]:
            return self.arm_of(operands[1])  # what JAX does about negative places
        for one, other in (operands, operands[::-1]) if len(operands) == 2 else ():
            if place.name == "add" and other.kind == "constant" and other.name == 0:
                return self.arm_of(one)
            if place.name == "mul" and other.kind == "constant" and other.name == LANES:
                return one
        raise NotSupportedError("a place in a flat array")

    def reduced(self, name: str, parameters: Any, operands: list[Value], shape: Sequence[int], dtype: str) -> Value:
        (axis,) = parameters["dimensions"] if name == "reduce" else parameters["axes"]
        x = operands[0]
        if axis == x.lane or len(operands) > 2:
            raise NotSupportedError(f"{name} over runs, or of several arrays")
        fold = _FOLDS.get(name) or fold_of(parameters["jaxpr"])
        if len(operands) == 2:
            start = operands[1].nodes.item()
            if start.kind != "constant" or start.name != start_of(fold, dtype):
                raise NotSupportedError("a reduction that starts with another number")
        if fold == "add" and dtype == "float32":
            raise NotSupportedError("a sum of floats in no order")
        if axis == x.arm:
            return value_of(objects([self.folded(fold, node, dtype) for node in x.nodes.ravel()]), shape, dtype)
        rows = np.moveaxis(x.nodes, axis, 0)
        made = rows[0].ravel()
        for row in rows[1:]:
            made = objects([self.operation(fold, pair, dtype) for pair in zip(made, row.ravel(), strict=True)])
        return value_of(objects(list(made)), shape, dtype)

    def folded(self, fold: str, node: Node, dtype: str) -> Node:
        if node.arms:
            return self.node("reduction", fold, (node,), dtype, lane=node.lane, arms=0)
        if fold == "add":
            raise NotSupportedError("a sum of one number")
        return node
