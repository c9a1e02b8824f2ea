"""Reductions and running sums over arms, for a step's graph."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxbandits.compilers.jaxpr_types import ClosedJaxpr, Jaxpr
from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError, Value, objects, value_of
from jaxbandits.engine.llvm.node_maker import Traced
from jaxbandits.transform.programs_inside import CALLS, called

__all__ = ["FOLDS", "start_of"]

#: Up to this number of arms an entry is found as fast in a loop over them.
_FEW_ARMS = 16
_SAME_EITHER_WAY = ("add", "or", "and", "max", "min")
_BY_NAME = {"reduce_max": "max", "reduce_min": "min", "reduce_sum": "add", "reduce_or": "or", "reduce_and": "and"}


def _reduced(traced: Traced) -> list[Value]:
    """Return the value of a reduction by its name."""
    (x,) = traced.operands
    fold = _BY_NAME[traced.name]
    if traced.dtype == "float32" and fold in ("max", "min"):
        fold = f"{fold}imum"
    return [_over(traced, x, fold, traced.parameters["axes"])]


def _reduced_by(traced: Traced) -> list[Value]:
    """Return the value of a reduction by a program."""
    if len(traced.operands) > 2:
        raise NotSupportedError("a reduction of several arrays")
    x, start = traced.operands
    fold, first = _fold_of(traced.parameters["jaxpr"]), start.nodes.item()
    if first.kind != "constant" or first.name != start_of(fold, traced.dtype):
        raise NotSupportedError("a reduction that starts with another number")
    return [_over(traced, x, fold, traced.parameters["dimensions"])]


def _over(traced: Traced, x: Value, fold: str, axes: tuple[int, ...]) -> Value:
    if fold == "add" and traced.dtype == "float32":
        raise NotSupportedError("a sum of floats in no order")
    make, nodes = traced.make, x.nodes
    if x.arm in axes:
        nodes = objects([_over_arms(traced, fold, node) for node in nodes.ravel()]).reshape(nodes.shape)
    if x.lane in axes:
        if fold != "or":
            raise NotSupportedError(f"{traced.name} over runs")
        any_run = [
            make.node("operation", "any_run", (node,), "bool", lane=False, arms=node.arms) for node in nodes.ravel()
        ]
        nodes = objects(any_run).reshape(nodes.shape)
    for axis in sorted(axes, reverse=True):
        rows, rest = np.moveaxis(nodes, axis, 0), np.delete(nodes.shape, axis)
        made, *others = rows.reshape(len(rows), -1)
        for row in others:
            made = objects([make.operation(fold, pair, traced.dtype) for pair in zip(made, row, strict=True)])
        nodes = made.reshape(rest)
    return value_of(nodes, traced.shape, traced.dtype)


def _over_arms(traced: Traced, fold: str, node: Node) -> Node:
    if node.arms:
        return (
            _first_place(traced, fold, node)
            or _only_entry(traced, fold, node)
            or traced.make.node("reduction", fold, (node,), traced.dtype, lane=node.lane, arms=0)
        )
    if fold == "add":
        raise NotSupportedError("a sum of one number")
    return node


def _first_place(traced: Traced, fold: str, node: Node) -> Node | None:
    """Return the first arm of a maximum or minimum, which the same loop finds; None for other reductions.

    It is written as the smallest number of those arms that are equal to it.
    """
    if fold != "min" or (node.kind, node.name) != ("operation", "select_n"):
        return None
    hit, otherwise, arm = node.operands
    if (hit.name, otherwise.kind, arm.kind) != ("eq", "constant", "arm") or otherwise.name < node.arms - 1:
        return None
    for array, best in (hit.operands, hit.operands[::-1]):
        beside = (best.kind, best.operands, best.scope) == ("reduction", (array,), traced.make.scope)
        if beside and best.name in ("max", "min"):
            return traced.make.node("place", best.name, (array, best, arm), node.dtype, lane=array.lane, arms=0)
    return None


def _only_entry(traced: Traced, fold: str, node: Node) -> Node | None:
    """Return the entry of a long array that is the maximum or minimum of it alone; None for other reductions."""
    if fold not in ("max", "min") or (node.kind, node.name) != ("operation", "select_n") or node.arms <= _FEW_ARMS:
        return None
    hit, otherwise, array = node.operands
    if (hit.name, otherwise.kind) != ("eq", "constant") or otherwise.name != start_of(fold, traced.dtype):
        return None
    for arm, place in (hit.operands, hit.operands[::-1]):
        if arm.kind == "arm" and _is_place(place):
            return traced.make.entry(array, place)
    return None


def _is_place(node: Node) -> bool:
    """Return whether a number is one of an arm that there is."""
    chosen = node.kind == "operation" and node.name == "select_n"
    return all(map(_is_place, node.operands[1:])) if chosen else node.kind == "place"


def _running(traced: Traced) -> list[Value]:
    """Return the sums of the first numbers of an array."""
    (x,), parameters = traced.operands, traced.parameters
    if parameters["axis"] != x.arm or parameters["reverse"] or traced.dtype == "float32":
        raise NotSupportedError("running sums of floats, from the end, or not over arms")
    if any(not node.arms for node in x.nodes.ravel()):
        raise NotSupportedError("running sums of one number")
    made = [
        traced.make.node("running", "add", (node,), x.dtype, lane=node.lane, arms=x.arms) for node in x.nodes.ravel()
    ]
    return [value_of(objects(made), traced.shape, traced.dtype)]


def _fold_of(program: Jaxpr | ClosedJaxpr) -> str:
    """Return what a reduction does: `add`, `or`, `and`, `max`, `min`, `max_or_nan` or `min_or_nan`.

    `arrays/numerics.py` and `arrays/arms.py` write the larger of a and b as `select(a > b, a, b)`, and with NaN as
    `select((a > b) | (a != a), a, b)`.

    Args:
        program: a program of JAX, of two numbers.

    Raises:
        NotSupportedError: it does something else.
    """
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    equations, (a, b) = jaxpr.eqns, jaxpr.invars
    names = [equation.primitive.name for equation in equations]
    if len(equations) == 1 and list(equations[0].invars) == [a, b]:
        if names[0] in CALLS:
            return _fold_of(called(equations[0])[0])
        if names[0] in _SAME_EITHER_WAY and not (names[0] in ("max", "min") and str(a.aval.dtype) == "float32"):
            return names[0]
    if len(equations) in (2, 4) and names[0] in ("gt", "lt") and list(equations[0].invars) == [a, b]:
        kind, chosen, which = "max" if names[0] == "gt" else "min", equations[-1], equations[0].outvars[0]
        if len(equations) == 4:
            odd, either = equations[1:3]
            if names[1:3] != ["ne", "or"] or list(odd.invars) != [a, a]:
                raise NotSupportedError(f"a reduction by {names}")
            if list(either.invars) != [which, odd.outvars[0]]:
                raise NotSupportedError(f"a reduction by {names}")
            kind, which = f"{kind}_or_nan", either.outvars[0]
        if names[-1] == "select_n" and list(chosen.invars) == [which, b, a]:
            return kind
    raise NotSupportedError(f"a reduction by {names}")


def start_of(fold: str, dtype: str) -> float:
    """Return the number with which a reduction starts, which changes no result."""
    if fold in ("add", "or"):
        return 0
    if fold == "and":
        return 1 if dtype == "bool" else -1
    if dtype == "float32":
        return -math.inf if fold.startswith("max") else math.inf
    low, high = (-(2**31), 2**31 - 1) if dtype == "int32" else (0, 2**32 - 1)
    return low if fold.startswith("max") else high


FOLDS: dict[str, Callable[[Traced], list[Any]]] = {
    **dict.fromkeys(_BY_NAME, _reduced),
    "reduce": _reduced_by,
    "cumsum": _running,
}
