"""Orders the operations of a step in passes: each is one loop over arms, which does all that is known before it.

What a number needs from a reduction over arms is known after that reduction's pass. So a node's pass is one more than
those of the reductions it needs. An array is an expression of the arm's number. It is computed where it is used, and
stored only if a later pass uses it and it costs more than a few operations, or if single entries of it are used. A
loop inside of a step has passes of its own.
"""

import dataclasses
import itertools
from collections.abc import Sequence

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError
from jaxbandits.engine.llvm.memory_reuse import reused

__all__ = ["Passes", "Put", "in_passes"]

#: Operations that are repeated rather than stored, what a division or a root counts, and where counting ends.
_FEW, _SLOW, _ENOUGH = 6, 10, 1000
#: Arrays that are made arm by arm, in a loop of their own.
_IN_TURN = ("running", "moved")


@dataclasses.dataclass(frozen=True)
class Put:
    """An array of the state, or one that a loop has made of it, of which single entries change."""

    array: Node
    changes: tuple[tuple[Node, Node], ...]  # arms and values, in turn


@dataclasses.dataclass(frozen=True)
class Passes:
    """The order of a step, or of the steps of a loop inside of it."""

    order: list[Node]
    level: dict[Node, int]
    stored: set[Node]  # arrays that later passes, or the next step, read from memory
    becomes: list[tuple[Node, "Node | Put"]]  # what of the state changes, and what it is after a step
    count: int
    entries: set[Node]  # arrays of which single entries are used
    inner: dict[Node, "Passes"]  # of the loops inside
    reused: set[tuple[Node, int]]  # loops, and numbers of what they carry, that change an array where it is


def in_passes(nodes: Sequence[Node], olds: Sequence[Node], news: Sequence[Node], scope: tuple[int, ...] = ()) -> Passes:
    """Return the order of a step.

    Args:
        nodes: all nodes of the graph, each after its operands.
        olds: those of the inputs that change.
        news: what they become.
        scope: of the loop whose steps these are.

    Raises:
        NotSupportedError: an array of the state becomes another one, which may have changed by then.
    """
    becomes = _changes(olds, news)
    outputs = {new for _, new in becomes if isinstance(new, Node)}
    if any(node.arms and node in outputs for node in olds):
        raise NotSupportedError("an array of the state that becomes another")
    puts = [new for _, new in becomes if isinstance(new, Put)]
    needed = _reached([*outputs, *(x for put in puts for x in (put.array, *itertools.chain(*put.changes)))])
    order = [node for node in nodes if node in needed and node.scope == scope]
    if any(node.kind == "run" for node in order):
        raise NotSupportedError("the number of a run")
    inner = {
        node: in_passes(nodes, node.name.carried, node.name.nexts, node.name.scope)
        for node in order if node.kind == "loop"
    }  # fmt: skip
    entries = {node.operands[0] for node in order if node.kind == "entry"}.union(*(x.entries for x in inner.values()))
    level = _levels(order)
    last: dict[Node, int] = {}
    for node in order:
        for x in node.operands:
            last[x] = max(last.get(x, 0), level[node])
    costs = _costs(order)
    stored = {
        node for node in order
        if node.arms and not node.in_memory and node.kind != "arm"
        and (node in entries or node in outputs or node.kind in _IN_TURN
             or (last.get(node, 0) > level[node] and costs[node] > _FEW))
    }  # fmt: skip
    ends = [(old, new.array if isinstance(new, Put) else new) for old, new in becomes]
    in_place = reused(order, level, stored, ends)
    return Passes(order, level, stored, becomes, max(level.values(), default=0) + 2, entries, inner, in_place)


def _changes(olds: Sequence[Node], news: Sequence[Node]) -> list[tuple[Node, Node | Put]]:
    """Return what becomes what, where it changes."""
    pairs = [(old, new, _put(new, old)) for old, new in zip(olds, news, strict=True) if new is not old]
    bases = [new if put is None else put.array for _, new, put in pairs]
    return [(old, new if put is None or bases.count(put.array) > 1 else put) for old, new, put in pairs]


def _levels(order: list[Node]) -> dict[Node, int]:
    """Return the pass of each node."""
    level: dict[Node, int] = {}
    for node in order:
        from_memory = node.operands[:1] if node.kind == "entry" else node.name.read if node.kind == "loop" else ()
        after = 0
        for x in node.operands:
            late = x.is_reduced or x.kind in _IN_TURN or (x in from_memory and x.arms and not x.in_memory)
            beside = node.kind == "place" and x.kind == "reduction"  # which finds it
            after = max(after, level.get(x, -1) + (late and not beside))
        level[node] = after
    return level


def _reached(wanted: list[Node]) -> set[Node]:
    found: set[Node] = set()
    left = list(wanted)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left.extend(node.operands)
    return found


def _costs(order: list[Node]) -> dict[Node, int]:
    """Return about how many operations an entry of each array takes, where none is stored."""
    found: dict[Node, int] = {}
    for node in order:
        own = 0
        if node.kind == "operation":
            own = _SLOW if node.name in ("div", "sqrt") else 1
        found[node] = min(own + sum(found.get(x, 0) for x in node.operands if x.arms), _ENOUGH) if node.arms else 0
    return found


def _put(new: Node, old: Node) -> Put | None:
    """Return the entries that change in `old`, or in what a loop makes of it; None if it becomes another array."""
    changes: list[tuple[Node, Node]] = []
    while old.arms and old.lane and new is not old and new.kind != "result":
        if new.kind != "operation" or new.name != "select_n" or new.operands[0].name != "eq":
            return None
        hit, new, value = new.operands
        arms = [x for x in hit.operands if not x.arms]
        if value.arms or len(arms) != 1 or not any(x.kind == "arm" for x in hit.operands):
            return None
        changes.append((arms[0], value))
    if not changes or new.arms != old.arms or (new.lane, new.scope) != (old.lane, old.scope):
        return None
    return Put(new, tuple(reversed(changes)))
