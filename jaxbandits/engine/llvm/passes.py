"""Orders the operations of a step in passes: each is one loop over arms, which does all that is known before it.

What a number needs from a reduction over arms is known after that reduction's pass. So a node's pass is one more than
those of the reductions it needs. An array is an expression of the arm's number. It is computed where it is used, and
stored only if a later pass uses it and it costs more than a few operations, or if single entries of it are used.
"""

import dataclasses

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError, Value
from jaxbandits.engine.llvm.step_graph import Graph

__all__ = ["Passes", "Put", "in_passes"]

#: Operations that are repeated rather than stored, what a division or a root counts, and where counting ends.
_FEW, _SLOW, _ENOUGH = 6, 10, 1000


@dataclasses.dataclass(frozen=True)
class Put:
    """An array of the state of which single entries change."""

    array: Node
    changes: tuple[tuple[Node, Node], ...]  # arms and values, in turn


@dataclasses.dataclass(frozen=True)
class Passes:
    """The order of a step."""

    order: list[Node]
    level: dict[Node, int]
    stored: set[Node]  # arrays that later passes, or the next step, read from memory
    puts: dict[int, Put]  # by the number of the output
    count: int


def in_passes(graph: Graph, state: list[Value]) -> Passes:
    """Return the order of a step.

    Args:
        graph: the step.
        state: those of its inputs that its outputs replace, in the order of the outputs.

    Raises:
        NotSupportedError: an array of the state becomes another one, which may have changed by then.
    """
    puts: dict[int, Put] = {}
    wanted: list[Node] = []
    olds = {node for value in state for node in value.nodes.ravel() if node.arms}
    for number, (new, old) in enumerate(zip(graph.outputs, state, strict=True)):
        if any(node in olds and node is not was for node, was in zip(new.nodes.flat, old.nodes.flat, strict=False)):
            raise NotSupportedError("an array of the state that becomes another")
        put = _put(new.nodes.item(), old.nodes.item()) if new.arms and new.nodes.size == 1 else None
        if put is None:
            wanted.extend(new.nodes.ravel())
        else:
            puts[number] = put
            wanted.extend(node for change in put.changes for node in change)
    needed = _reached(wanted)
    order = [node for node in graph.nodes if node in needed]
    level: dict[Node, int] = {}
    for node in order:
        after = [level[x] + (x.kind == "reduction") for x in node.operands]
        if node.kind == "entry" and node.operands[0].kind != "input":
            after.append(level[node.operands[0]] + 1)  # it is read from memory
        level[node] = max(after, default=0)
    last: dict[Node, int] = {}
    costs = _costs(order)
    entries = {node.operands[0] for node in order if node.kind == "entry"}
    for node in order:
        for x in node.operands:
            last[x] = max(last.get(x, 0), level[node])
    outputs = {node for number, new in enumerate(graph.outputs) if number not in puts for node in new.nodes.ravel()}
    stored = {
        node for node in order
        if node.arms and node.kind not in ("input", "table", "arm")
        and (node in entries or node in outputs or (last.get(node, 0) > level[node] and costs[node] > _FEW))
    }  # fmt: skip
    return Passes(order, level, stored, puts, max(level.values(), default=0) + 2)


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
        found[node] = min(own + sum(found[x] for x in node.operands if x.arms), _ENOUGH) if node.arms else 0
    return found


def _put(new: Node, old: Node) -> Put | None:
    """Return the entries of `old` that `new` changes; None if it is another array."""
    changes: list[tuple[Node, Node]] = []
    while new is not old:
        if new.kind != "operation" or new.name != "select_n" or new.operands[0].name != "eq":
            return None
        hit, new, value = new.operands
        arms = [x for x in hit.operands if not x.arms]
        if value.arms or len(arms) != 1 or not any(x.kind == "arm" for x in hit.operands):
            return None
        changes.append((arms[0], value))
    return Put(old, tuple(reversed(changes)))
