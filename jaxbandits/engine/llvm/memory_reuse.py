"""Finds the loops inside of a step that may change an array where it is, in place of a copy: nobody reads it after."""

from collections.abc import Iterable

from jaxbandits.engine.llvm.graph_values import Node

__all__ = ["reused"]


def reused(order: list[Node], level: dict[Node, int], stored: set[Node], kept: Iterable[Node]) -> set[tuple[Node, int]]:
    """Return the loops of a step and the numbers of what they carry that need no copy.

    Args:
        order: the nodes of the step, each after its operands.
        level: the pass of each.
        stored: arrays that are stored.
        kept: arrays that are read after the step, or that the step does not change.
    """
    place = {node: (level[node], node.arms > 0 or node.kind == "reduction", i) for i, node in enumerate(order)}
    leaves: dict[Node, frozenset[Node]] = {}  # the arrays in memory that are read where a node is computed
    last: dict[Node, tuple[int, bool, int]] = {}
    for node in order:
        read = _read(node.operands, leaves, stored)
        leaves[node] = read if node.arms else frozenset()
        if node.kind in ("entry", "reduction", "loop") or node in stored:
            for x in read:
                last[x] = max(last.get(x, place[node]), place[node])
    end, found = set(kept), set()
    for node in order:
        if node.kind != "loop":
            continue
        firsts = node.operands[: len(node.name.carried)]
        inside = _read(node.name.read, leaves, stored)
        for number, first in enumerate(firsts):
            once = firsts.count(first) == 1 and first not in inside | end
            if first.in_memory and first.scope == node.scope and once and last[first] == place[node]:
                found.add((node, number))
    return found


def _read(operands: Iterable[Node], leaves: dict[Node, frozenset[Node]], stored: set[Node]) -> frozenset[Node]:
    """Return the arrays in memory that are read where an expression of these operands is computed."""
    found = (frozenset([x]) if x.in_memory else frozenset() if x in stored else leaves.get(x, _NONE) for x in operands)
    return frozenset().union(*found)


_NONE: frozenset[Node] = frozenset()
