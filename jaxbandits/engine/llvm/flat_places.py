"""Gathers and scatters, for a step's graph: arrays are flat, and places are `arm * R + run` (`arrays/arms.py`)."""

import dataclasses
from collections.abc import Callable

from jaxbandits.engine.llvm.graph_values import LANES, Node, NotSupportedError, Value, objects, value_of
from jaxbandits.engine.llvm.node_maker import Traced

__all__ = ["PLACES"]


def _gathered(traced: Traced) -> list[Value]:
    """Return an entry of each run."""
    array, places = traced.operands
    make, shape, dtype = traced.make, traced.shape, traced.dtype
    if array.nodes.size == 1 and not array.arms and array.lane is not None:
        return [value_of(array.nodes, shape, dtype)]  # the only row
    if not array.flat or places.nodes.size != 1 or places.arm is not None:
        raise NotSupportedError("a gather")
    arm = _arm_of(places.nodes.item())
    if array.arms:
        return [value_of(objects([make.entry(array.nodes.item(), arm)]), shape, dtype)]
    *others, found = array.nodes.ravel()
    for number, node in enumerate(others):
        hit = make.operation("eq", (arm, make.number(number, "int32")), "bool")
        found = make.operation("select_n", (hit, found, node), dtype)
    return [value_of(objects([found]), shape, dtype)]


def _scattered(traced: Traced) -> list[Value]:
    """Return an array with some numbers of another one, each at an arm of its own, or at none (`arms.scatter`)."""
    array, places, values = traced.operands
    if not array.flat or not array.arms or {x.nodes.size for x in traced.operands} != {1} or values.arms != places.arms:
        raise NotSupportedError("a scatter")
    make, chosen = traced.make, _not_negative(places.nodes.item())
    if chosen.kind != "operation" or chosen.name != "select_n":
        raise NotSupportedError("a scatter that no arm is left out of")
    inside, outside, place = chosen.operands
    if inside.dtype != "bool" or outside.kind != "constant" or outside.name != LANES * array.arms:
        raise NotSupportedError("a scatter that no arm is left out of")
    nowhere = make.number(array.arms, "int32")
    arm = make.operation("select_n", (inside, nowhere, _arm_of(place)), "int32")
    operands = (array.nodes.item(), arm, values.nodes.item())
    moved = make.node("moved", "", operands, traced.dtype, lane=True, arms=array.arms)
    return [dataclasses.replace(array, nodes=objects([moved]).reshape(array.nodes.shape))]


def _not_negative(place: Node) -> Node:
    """Return a place without what JAX does about negative ones."""
    if place.kind != "operation" or place.name != "select_n":
        return place
    negative, found, moved = place.operands
    if negative.name != "lt" or negative.operands[0] is not found or (moved.name, moved.operands[0]) != ("add", found):
        return place
    zero = negative.operands[1]
    return _not_negative(found) if zero.kind == "constant" and zero.name == 0 else place


def _arm_of(place: Node) -> Node:
    """Return the arm of a place in a flat array."""
    place = _not_negative(place)
    operands = place.operands
    for one, other in (operands, operands[::-1]) if len(operands) == 2 else ():
        if place.name == "add" and other.kind == "run":
            return _arm_of(one)
        if place.name == "mul" and other.kind == "constant" and other.name == LANES:
            return one
    raise NotSupportedError("a place in a flat array")


PLACES: dict[str, Callable[[Traced], list[Value]]] = {"gather": _gathered, "scatter": _scattered}
