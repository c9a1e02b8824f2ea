"""What a compiler has made, read from the text of an optimised program: loops, kernels, bytes, gathers, scatters."""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Cost", "Program"]

_BITS = {"pred": 8, "bf16": 16}
_ARRAY = re.compile(r"\b(pred|bf16|[sufc]\d+)\[([\d,]*)\]")
_NAME = re.compile(r"%([\w.\-~]+)")
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-~]+) \(.*\) -> .* \{$")
#: What computes nothing, and what only waits for a copy that another operation has begun.
_FREE = {
    "parameter", "get-tuple-element", "tuple", "constant", "bitcast", "after-all", "iota", "partition-id",
    "opt-barrier",
}  # fmt: skip
#: What moves and names words inside a fusion, and computes none.
_MOVES = _FREE | {"broadcast", "reshape", "slice", "concatenate", "transpose", "copy", "pad", "reverse"}
_ELEMENT_BY_ELEMENT = ("gather", "scatter")


class Cost(NamedTuple):
    """What operations take together."""

    kernels: int = 0
    bytes: float = 0  # of operands and results
    operations: float = 0  # of arithmetic, on single words
    gathers: int = 0
    scatters: int = 0
    cycles: int = 0  # the compiler's own estimate, where it makes one
    open_loops: int = 0  # loops of unknown length, which are counted as if they were run once

    def plus(self, other: "Cost", times: int = 1) -> "Cost":
        """Both, one after the other, the second so many times."""
        *mine, open_loops = self
        *others, more = other
        return Cost(*(a + times * b for a, b in zip(mine, others, strict=True)), open_loops + more)


class Operation(NamedTuple):
    """A line of a computation."""

    name: str
    type: str
    kind: str
    rest: str  # operands and attributes

    @property
    def operands(self) -> list[str]:
        """Names of the operands."""
        return _NAME.findall(self.rest.split(")")[0])

    def called(self, *attributes: str) -> list[str]:
        """Names of the computations in some of its attributes."""
        found = []
        for attribute in attributes:
            if hit := re.search(rf"\b{attribute}=(?:\{{([^}}]*)\}}|(%?[\w.\-~]+))", self.rest):
                found += _NAME.findall(hit.group(1)) if hit.group(1) else [hit.group(2).lstrip("%")]
        return found

    @property
    def branches(self) -> list[str]:
        """The computations between which a conditional chooses."""
        return self.called("branch_computations", "true_computation", "false_computation")


class Program:
    """An optimised program."""

    def __init__(self, text: str) -> None:
        self.computations: dict[str, list[Operation]] = {}
        self.entry = ""
        current: list[Operation] = []
        for line in text.splitlines():
            if head := _HEAD.match(line):
                current = self.computations[head.group(2)] = []
                self.entry = head.group(2) if head.group(1) else self.entry
            elif line.startswith("  ") and " = " in line:
                current.append(_operation(line))

    def loops(self, name: str) -> Iterator[Operation]:
        """The loops of a computation, and of these."""
        for operation in self.computations[name]:
            if operation.kind == "while":
                yield operation
                yield from self.loops(operation.called("body")[0])
            elif operation.kind in ("conditional", "call"):
                for inner in operation.branches + operation.called("to_apply"):
                    yield from self.loops(inner)

    def body(self, trips: int) -> str:
        """The body of the one loop of a length, its computation's name.

        Raises:
            ValueError: there is none, or there are several.
        """
        found = [loop.called("body")[0] for loop in self.loops(self.entry) if self.trips(loop) == trips]
        if len(found) != 1:
            raise ValueError(f"{len(found)} loops of length {trips}, in place of one")
        return found[0]

    def trips(self, loop: Operation) -> int | None:
        """How often a loop is run; None where that is not known."""
        if told := re.search(r'"known_trip_count":\{"n":"(\d+)"\}', loop.rest):
            return int(told.group(1))
        # Loops of JAX's that have a length count from zero.
        condition = self.computations[loop.called("condition")[0]]
        bounds = [o.rest.split(")")[0] for o in condition if o.kind == "constant"]
        compared = [o for o in condition if o.kind == "compare" and "direction=LT" in o.rest]
        known = len(bounds) == len(compared) == 1 and bounds[0].isdigit() and len(condition) == 4
        return int(bounds[0]) if known else None

    def cost(self, name: str) -> Cost:
        """What a computation takes; a loop as often as it is run, of a choice the dearer side."""
        types = {operation.name: operation.type for operation in self.computations[name]}
        cost = Cost()
        for operation in self.computations[name]:
            if operation.kind == "while":
                trips, body = self.trips(operation), self.cost(operation.called("body")[0])
                cost = cost.plus(body._replace(open_loops=body.open_loops + (trips is None)), trips or 1)
            elif operation.kind == "conditional":
                cost = cost.plus(max(map(self.cost, operation.branches)))
            elif operation.kind == "call":
                cost = cost.plus(self.cost(operation.called("to_apply")[0]))
            elif operation.kind.endswith("-start"):  # a copy beside what is computed
                cost = cost.plus(Cost(bytes=2 * sum(_bytes(types.get(x, "")) for x in operation.operands)))
            elif operation.kind not in _FREE and not operation.kind.endswith("-done"):
                cost = cost.plus(self._kernel(operation, types))
        return cost

    def _kernel(self, operation: Operation, types: dict[str, str]) -> Cost:
        inside = [(operation, types), *self._enclosed(operation)]
        kinds = [inner.kind for inner, _ in inside]
        cycles = re.search(r'"estimated_cycles":"(\d+)"', operation.rest)
        return Cost(
            kernels=1,
            bytes=_bytes(operation.type) + sum(_bytes(types.get(x, "")) for x in operation.operands),
            operations=sum(_elements(inner, known) for inner, known in inside if inner.kind not in _MOVES),
            gathers=kinds.count("gather"),
            scatters=kinds.count("scatter"),
            cycles=int(cycles.group(1)) if cycles else 0,
        )

    def _enclosed(self, operation: Operation) -> Iterator[tuple[Operation, dict[str, str]]]:
        """What a fusion encloses, each with the types of what stands beside it."""
        for name in operation.called("calls"):
            operations = self.computations.get(name, [])
            types = {inner.name: inner.type for inner in operations}
            for inner in operations:
                yield inner, types
                yield from self._enclosed(inner)


def _elements(operation: Operation, types: dict[str, str]) -> float:
    """Words that an operation computes, or, if it reduces, those that it reduces."""
    if operation.kind in ("fusion", "custom-call"):
        return 0
    reduced = operation.kind in ("reduce", "reduce-window")
    return sum(n for n, _ in _arrays(types.get(operation.operands[0], "") if reduced else operation.type))


def _operation(line: str) -> Operation:
    name, _, rest = line.strip().removeprefix("ROOT ").partition(" = ")
    depth, end = 0, 0
    while rest[end] != " " or depth:  # a type ends at the first space outside of brackets
        depth += (rest[end] in "({") - (rest[end] in ")}")
        end += 1
    kind, _, operands = rest[end + 1 :].partition("(")
    return Operation(name.lstrip("%"), rest[:end], kind, operands)


def _arrays(kind: str) -> Iterator[tuple[int, float]]:
    """The number of elements of each array of a type, and the bytes of one."""
    for word, shape in _ARRAY.findall(kind):
        bits = _BITS.get(word) or int(re.sub(r"\D", "", word))
        yield math.prod(int(length) for length in shape.split(",") if length), bits / 8


def _bytes(kind: str) -> float:
    return sum(count * size for count, size in _arrays(kind))
