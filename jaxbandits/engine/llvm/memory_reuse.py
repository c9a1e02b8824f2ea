"""Finds the loops inside of a step that may change an array where it is, in place of a copy: nobody reads it after."""

from collections.abc import Iterable

from jaxbandits.engine.llvm.graph_values import Node

__all__ = ["reused"]

_NONE: frozenset[Node] = frozenset()


def reused(
    order: list[Node], level: dict[Node, int], stored: set[Node], ends: list[tuple[Node, Node]]
) -> set[tuple[Node, int]]:
    """Return the loops of a step and the numbers of what they carry that need no copy.

    Args:
        order: the nodes of the step, each after its operands.
        level: the pass of each.
        stored: arrays that are stored.
        ends: what of the state changes, and what it is after the step.
    """
    place = {node: (level[node], node.arms > 0 or node.is_reduced, i) for i, node in enumerate(order)}
    leaves: dict[Node, frozenset[Node]] = {}  # the arrays in memory that are read where a node is computed
    last: dict[Node, tuple[int, bool, int]] = {}
    for node in order:
        read = _read(node.operands, leaves, stored)
        leaves[node] = read if node.arms else frozenset()
        if node.kind in ("entry", "loop") or node.is_reduced or node in stored:
            for x in read:
                last[x] = max(last.get(x, place[node]), place[node])
    changed, news = {old for old, _ in ends}, [new for _, new in ends]
    end = {new: old if news.count(new) == 1 else new for old, new in ends}
    results = {(node.operands[0], node.name): node for node in order if node.kind == "result"}
    owner: dict[Node, Node] = {}  # the array in the memory of which a result is
    found = set()
    for node in order:
        if node.kind != "loop":
            continue
        firsts = node.operands[: len(node.name.carried)]
        inside = _read(node.name.read, leaves, stored)
        for number, first in enumerate(firsts):
            whose, result = owner.get(first, first), results.get((node, number))
            there = first.in_memory and first.scope == node.scope and first.lane == node.name.carried[number].lane
            ours = first.kind == "result" or first in changed
            once = firsts.count(first) == 1 and first not in inside and first not in end
            last_one = once and last.get(first) == place[node]
            if there and ours and last_one and (result is None or end.get(result, whose) is whose):
                found.add((node, number))
                if result is not None:
                    owner[result] = whose
    return found


def _read(operands: Iterable[Node], leaves: dict[Node, frozenset[Node]], stored: set[Node]) -> frozenset[Node]:
    """Return the arrays in memory that are read where an expression of these operands is computed."""
    found = (frozenset([x]) if x.in_memory else frozenset() if x in stored else leaves.get(x, _NONE) for x in operands)
    return frozenset().union(*found)
