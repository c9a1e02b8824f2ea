"""Operations of JAX that only move numbers, for a step's graph: its nodes get other places."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from jaxbandits.engine.llvm.graph_values import (
    LANES,
    NotSupportedError,
    Value,
    axes_of,
    nodes_shape,
    objects,
    value_of,
)
from jaxbandits.engine.llvm.node_maker import Traced

__all__ = ["MOVES"]


def _broadcast(move: Traced) -> list[Value]:
    (x,), shape = move.operands, move.shape
    full = [1] * len(shape)
    for axis, place in enumerate(move.parameters["broadcast_dimensions"]):
        full[place] = x.nodes.shape[axis]
    return [value_of(np.broadcast_to(x.nodes.reshape(full), nodes_shape(shape)).copy(), shape, move.dtype)]


def _iota(move: Traced) -> list[Value]:
    lane, arm, arms = axes_of(move.shape)
    axis, made = move.parameters["dimension"], []
    for place in np.ndindex(nodes_shape(move.shape)):
        if axis == arm:
            number = move.make.arm(arms, "int32")
            same = move.dtype in ("int32", "uint32")
            made.append(
                move.make.arm(arms, move.dtype) if same else move.make.operation("convert int32", (number,), move.dtype)
            )
        elif axis == lane:  # it only helps to find places in flat arrays
            made.append(move.make.node("run", "", (), move.dtype, lane=True, arms=0))
        else:
            made.append(move.make.number(place[axis], move.dtype))
    return [value_of(objects(made), move.shape, move.dtype)]


def _reshaped(move: Traced) -> list[Value]:
    (x,), shape = move.operands, move.shape
    if x.lane is not None and len(shape) == 1 and shape[0] == LANES * max(x.arms, x.nodes.size) != LANES:
        return [dataclasses.replace(x, flat=True)]
    if x.flat and tuple(shape) == (x.arms, LANES):
        return [dataclasses.replace(x, flat=False)]
    lane, arm, _ = axes_of(shape)
    if x.flat or _parts(nodes_shape(shape), lane, arm) != _parts(x.nodes.shape, x.lane, x.arm):
        raise NotSupportedError(f"a new shape, {tuple(shape)}")
    return [value_of(x.nodes, shape, move.dtype)]


def _parts(shape: Sequence[int], lane: int | None, arm: int | None) -> list[int | str]:
    """Return what an array is made of from its first axis on: runs, arms, and short axes with all of their entries."""
    parts: list[int | str] = [1]
    for axis, size in enumerate(shape):
        if axis in (lane, arm):
            parts += ["runs" if axis == lane else "arms", 1]
        else:
            parts[-1] = int(parts[-1]) * size
    return parts


def _transposed(move: Traced) -> list[Value]:
    return [value_of(move.operands[0].nodes.transpose(move.parameters["permutation"]), move.shape, move.dtype)]


def _sliced(move: Traced) -> list[Value]:
    (x,), picked, places = move.operands, None, []
    if set(move.parameters["strides"] or (1,)) != {1} or x.flat:
        raise NotSupportedError("a slice with strides")
    ends = zip(move.parameters["start_indices"], move.parameters["limit_indices"], strict=True)
    for axis, (start, stop) in enumerate(ends):
        if axis == x.arm and stop - start != x.arms:
            if stop - start != 1:
                raise NotSupportedError("a slice of some arms")
            picked = start
        places.append(slice(None) if axis in (x.lane, x.arm) else slice(start, stop))
    nodes = x.nodes[tuple(places)]
    if picked is not None:
        at = move.make.number(picked, "int32")
        nodes = objects([move.make.entry(node, at) for node in nodes.ravel()])
    return [value_of(nodes, move.shape, move.dtype)]


def _joined(move: Traced) -> list[Value]:
    axis = move.parameters["dimension"]
    if axis == axes_of(move.shape)[1] or any(x.flat for x in move.operands):
        raise NotSupportedError("arrays of arms, one after the other")
    return [value_of(np.concatenate([x.nodes for x in move.operands], axis), move.shape, move.dtype)]


def _stacked(move: Traced) -> list[Value]:
    axis = move.parameters["axis"]
    if axis == axes_of(move.shape)[1]:
        raise NotSupportedError("a stack of many rows")
    return [value_of(np.stack([x.nodes for x in move.operands], axis), move.shape, move.dtype)]


def _unstacked(move: Traced) -> list[Value]:
    (x,), axis = move.operands, move.parameters["axis"]
    if axis == x.arm:
        raise NotSupportedError("arms one by one")
    return [value_of(nodes, move.shape, move.dtype) for nodes in np.moveaxis(x.nodes, axis, 0)]


MOVES: dict[str, Callable[[Traced], list[Value]]] = {
    "broadcast_in_dim": _broadcast,
    "iota": _iota,
    "reshape": _reshaped,
    "squeeze": _reshaped,
    "expand_dims": _reshaped,
    "transpose": _transposed,
    "slice": _sliced,
    "concatenate": _joined,
    "stack": _stacked,
    "unstack": _unstacked,
}
