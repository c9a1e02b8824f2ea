"""Makes the nodes of a step's graph; equal ones are made once."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.engine.llvm.graph_values import (
    Loop,
    Node,
    NotSupportedError,
    Value,
    axes_of,
    dtype_of,
    nodes_shape,
    objects,
    value_of,
)

__all__ = ["NodeMaker", "Traced"]

#: Nodes that have no operands and are the same everywhere.
_LEAVES = ("constant", "table", "arm", "run")
#: The most operations of an entry that is computed of that of another array.
_MOST = 12
#: Operations that are computed here if all operands are constants.
_FOLDED: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "select_n": lambda which, no, yes: yes if which else no,
}


class NodeMaker:
    """The nodes of a graph.

    Attributes:
        nodes: each after its operands.
        scope: where nodes are made now. A loop inside of a step has its own scope; equal nodes of those around it are
            used there.
    """

    def __init__(self) -> None:
        """Start without nodes."""
        self.nodes: list[Node] = []
        self.scope: tuple[int, ...] = ()
        self._made: dict[object, Node] = {}
        self._loops = 0

    def node(self, kind: str, name: Any, operands: tuple[Node, ...], dtype: str, *, lane: bool, arms: int) -> Node:
        """Return a node; `lane` and `arms` as in `Node`."""
        key = (kind, repr(name), tuple(map(id, operands)), dtype, lane, arms)  # repr: -0.0 == 0.0
        scopes = [() if kind in _LEAVES else self.scope[:length] for length in range(len(self.scope) + 1)]
        found = next((self._made[scope, key] for scope in scopes if (scope, key) in self._made), None)
        if found is None:
            fixed = kind in _LEAVES or (kind not in ("input", "loop", "result") and all(x.fixed for x in operands))
            found = self._made[scopes[-1], key] = Node(kind, name, operands, dtype, lane, arms, scopes[-1], fixed)
            self.nodes.append(found)
        return found

    def number(self, number: float, dtype: str) -> Node:
        """Return a constant that is one number."""
        return self.node("constant", number, (), dtype, lane=False, arms=0)

    def arm(self, arms: int, dtype: str) -> Node:
        """Return the number of the arm."""
        return self.node("arm", "", (), dtype, lane=False, arms=arms)

    def operation(self, name: str, operands: tuple[Node, ...], dtype: str) -> Node:
        """Return an operation on numbers, or on arrays arm by arm."""
        if name == "select_n" and len(operands) == 3 and operands[1] is operands[2]:
            return operands[1]
        if name == "add" and dtype == "float32":  # XLA leaves out a zero that is added, also to -0.0
            rest = [x for x in operands if x.kind != "constant" or x.name != 0]
            if len(rest) == 1:
                return rest[0]
        if (
            name in _FOLDED and (name != "div" or dtype == "float32") and all(x.kind == "constant" for x in operands)
        ):  # XLA computes with constants, too
            with np.errstate(all="ignore"):
                found = _FOLDED[name](*(np.dtype(x.dtype).type(x.name) for x in operands))
            return self.number(found.item(), dtype)
        lane, arms = any(x.lane for x in operands), max(x.arms for x in operands)
        return self.node("operation", name, operands, dtype, lane=lane, arms=arms)

    def entry(self, array: Node, arm: Node) -> Node:
        """Return the number of an array at an arm."""
        if not array.arms:
            return array
        if array.kind == "arm" and array.dtype == arm.dtype:
            return arm
        if array.kind == "operation" and _is_of_one_row(array):
            return self.operation(array.name, tuple(self.entry(x, arm) for x in array.operands), array.dtype)
        return self.node("entry", "", (array, arm), array.dtype, lane=array.lane or arm.lane, arms=0)

    def input(self, number: int, shape: tuple[int, ...], dtype: str) -> Value:
        """Return a value of the state, in the present scope."""
        dtype_of(jax.ShapeDtypeStruct((), dtype))
        lane, arm, arms = axes_of(shape)
        if arms and arm != len(shape) - 1 - (lane is not None) and max(nodes_shape(shape)) > 1:
            raise NotSupportedError(f"an array of shape {shape}, with an axis between arms and runs")
        made = [
            self.node("input", (self.scope, number, place), (), dtype, lane=lane is not None, arms=arms)
            for place in range(int(np.prod(nodes_shape(shape))))
        ]
        return value_of(objects(made), shape, dtype)

    def constant(self, x: Any, dtype: str) -> Value:
        """Return an array of constants."""
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

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Make nodes inside of a new loop, in a `with` block."""
        around, self._loops = self.scope, self._loops + 1
        self.scope = (*around, self._loops)
        try:
            yield
        finally:
            self.scope = around

    def loop(self, carried: list[Node], nexts: list[Node], firsts: list[Node], scope: tuple[int, ...]) -> list[Node]:
        """Return what a loop carries, as it is at its end.

        Args:
            carried: inputs of the loop's scope; the first is whether it goes on.
            nexts: what they are after a step.
            firsts: what they are before the first one.
            scope: of the loop.
        """
        loop = Loop(scope, carried, nexts, _read_from_outside(nexts, scope))
        whole = self.node("loop", loop, (*firsts, *loop.read), "", lane=False, arms=0)
        return [
            first if new is now else self.node("result", number, (whole,), now.dtype, lane=now.lane, arms=now.arms)
            for number, (first, now, new) in enumerate(zip(firsts, carried, nexts, strict=True))
        ]


def _is_of_one_row(node: Node) -> bool:
    """Return whether an array is computed of one other by a few operations: an entry is sooner computed than stored."""
    rows, found, left = set(), set(), [node]
    while left:
        x = left.pop()
        if x in found or not x.arms or x.kind == "arm":
            continue
        found.add(x)
        if x.kind == "operation" and x.name != "any_run":
            left.extend(x.operands)
        else:
            rows.add(x)
        if len(rows) > 1 or len(found) > _MOST:
            return False
    return True


def _read_from_outside(wanted: list[Node], scope: tuple[int, ...]) -> list[Node]:
    found: dict[Node, None] = {}
    seen, left = set(), list(wanted)
    while left:
        node = left.pop()
        if node in seen or node.kind in _LEAVES:
            continue
        seen.add(node)
        if node.scope[: len(scope)] == scope:
            left.extend(node.operands)
        else:
            found[node] = None
    return list(found)


class Traced(NamedTuple):
    """An operation of JAX, what it is given, and what its result is."""

    name: str
    operands: list[Value]
    parameters: Any
    shape: Sequence[int]
    dtype: str
    make: NodeMaker
