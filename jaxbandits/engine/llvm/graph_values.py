"""The nodes of a step's graph, and how a traced array is made of them."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "LANES",
    "Loop",
    "Node",
    "NotSupportedError",
    "Value",
    "axes_of",
    "dtype_of",
    "nodes_of",
    "nodes_shape",
    "objects",
    "value_of",
]

#: The length that stands for the number of runs while a step is traced: no other axis has it.
LANES = 1_000_003
#: Axes with at most 4 entries have a node for each.
_SHORT = 4


class NotSupportedError(Exception):
    """A step has an operation that no graph can hold."""


@dataclasses.dataclass(eq=False, repr=False)
class Node:
    """An operation on numbers of one run.

    Attributes:
        kind: `input`, `constant`, `table` (a constant for each arm), `arm` (the number of the arm), `run` (that
            of the run: places in flat arrays are made of it, and nothing is computed with it), `operation`,
            `entry` (of an array, at an arm), `reduction` (of an array to a number), `place` (the first arm of an
            array's maximum or minimum; its operands are the array, that reduction, and the number of the arm),
            `running` (sums of an array's first numbers), `moved` (an array, with the entries of another at places of
            their own), `loop`, or `result` (of a loop).
        name: of the operation or reduction; a `Loop`; of other kinds a number, or the numbers of a table.
        operands: the nodes it needs.
        dtype: `float32`, `int32`, `uint32` or `bool`.
        lane: whether each run has its own.
        arms: the number of arms of an array, or 0 for a number.
        scope: the loops inside of which it is computed, outermost first, by their numbers.
        fixed: whether it hangs on constants alone.
    """

    kind: str
    name: Any
    operands: tuple["Node", ...]
    dtype: str
    lane: bool
    arms: int
    scope: tuple[int, ...] = ()
    fixed: bool = False

    @property
    def is_reduced(self) -> bool:
        """Whether it is a number that a loop over arms finds."""
        return self.kind in ("reduction", "place")

    @property
    def in_memory(self) -> bool:
        """Whether it is an array whose entries are in memory from the beginning of the scope, or of the loop, on."""
        return self.kind in ("input", "table", "result") and self.arms > 0


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Loop:
    """Steps inside of a step: they are repeated while the first of the numbers that they carry is true.

    A loop's operands are the first values of what it carries, and then all that it reads from outside.

    Attributes:
        scope: that of the nodes inside.
        carried: nodes of the kind `input`.
        nexts: what each of them is after a step.
        read: nodes of other scopes that its steps read.
    """

    scope: tuple[int, ...]
    carried: list[Node]
    nexts: list[Node]
    read: list[Node]


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of a traced step: nodes in an array whose axes of runs and of arms have length 1."""

    nodes: np.ndarray
    lane: int | None  # the axis of runs
    arm: int | None  # the axis of arms
    arms: int
    dtype: str
    flat: bool = False  # whether both axes were made one, arms first


def axes_of(shape: Sequence[int]) -> tuple[int | None, int | None, int]:
    """Return the axis of runs, the axis of arms, and the number of arms."""
    lane = next((i for i, size in enumerate(shape) if size == LANES), None)
    long = [i for i, size in enumerate(shape) if i != lane and size > _SHORT]
    if len(long) > 1 or LANES in [size for i, size in enumerate(shape) if i != lane]:
        raise NotSupportedError(f"an array of shape {tuple(shape)}")
    return lane, (long[0] if long else None), (shape[long[0]] if long else 0)


def nodes_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of the nodes of a value."""
    lane, arm, _ = axes_of(shape)
    return tuple(1 if i in (lane, arm) else size for i, size in enumerate(shape))


def value_of(nodes: np.ndarray, shape: Sequence[int], dtype: str) -> Value:
    """Return the value of a shape that has these nodes."""
    lane, arm, arms = axes_of(shape)
    return Value(nodes.reshape(nodes_shape(shape)), lane, arm, arms, dtype)


def nodes_of(values: Sequence[Value]) -> list[Node]:
    """Return the nodes of several values, one after the other."""
    return [node for value in values for node in value.nodes.ravel()]


def objects(nodes: list[Node]) -> np.ndarray:
    """Return nodes as an array of objects."""
    found = np.empty(len(nodes), object)
    found[:] = nodes
    return found


def dtype_of(aval: Any) -> str:
    """Return the type of an array's numbers."""
    if str(aval.dtype) not in ("float32", "int32", "uint32", "bool"):
        raise NotSupportedError(f"numbers of type {aval.dtype}")
    return str(aval.dtype)
