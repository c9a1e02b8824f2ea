"""Writes instructions of LLVM's language: loops, memory, and the operations of a graph for a vector of runs."""

import itertools
from collections.abc import Callable, Iterator

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError
from jaxbandits.engine.llvm.llvm_operations import constant, instructions, type_of

__all__ = ["Writer"]

#: Words of 32 bits on the stack, of which a thread has 512 kB on some systems.
_WORDS = 2**16


class Writer:
    """The text of a function, and the names of what is in it.

    Attributes:
        lanes: the number of runs.
        width: runs of a vector.
        lines: its instructions.
        stack: those that make room on the stack.
        names: of numbers.
        memory: where arrays over arms are.
    """

    def __init__(self, nodes: list[Node], lanes: int, width: int) -> None:
        """Start without instructions, for the nodes of a graph."""
        self.lanes, self.width = lanes, width
        self.place = {node: number for number, node in enumerate(nodes)}
        self.words = 0
        self.lines: list[str] = []
        self.stack: list[str] = []
        self.names: dict[Node, str] = {}
        self.memory: dict[Node, str] = {}
        self.fresh = (f"%v{number}" for number in itertools.count())
        self.blocks = (f"b{number}" for number in itertools.count())

    def say(self, *lines: str) -> None:
        """Add instructions."""
        self.lines.extend(lines)

    def made(self, text: str) -> str:
        """Add an instruction, and return the name of its result."""
        name = next(self.fresh)
        self.say(f"{name} = {text}")
        return name

    def allocated(self, typed: str, words: int) -> str:
        """Make room on the stack for words of 32 bits."""
        self.words += words
        if self.words > _WORDS:
            raise NotSupportedError(f"a state of more than {4 * _WORDS:,} bytes on the stack")
        name = next(self.fresh)
        self.stack.append(f"{name} = alloca {typed}, align 64")
        return name

    def room(self, node: Node) -> str:
        """Make room for an array over arms, and for one more, where puts outside of the array go."""
        rows = node.arms + 1
        return self.allocated(f"[{rows} x {self.held(node)}]", rows * (self.width if node.lane else 1))

    def typed(self, node: Node) -> str:
        """Return the type of a node's number."""
        return type_of(node.dtype, self.width if node.lane else 0)

    def held(self, node: Node) -> str:
        """Return the type of an entry in memory: truth values take whole numbers."""
        return type_of("int32" if node.dtype == "bool" else node.dtype, self.width if node.lane else 0)

    def loop(self, count: str, body: Callable[[str], None], step: int = 1) -> None:
        """Write a loop from 0 to `count`, which is a multiple of `step`."""
        before, head, inside, after = (next(self.blocks) for _ in range(4))
        k, following, more = next(self.fresh), next(self.fresh), next(self.fresh)
        last = next(self.blocks)
        self.say(f"br label %{before}", f"{before}:", f"br label %{head}", f"{head}:")
        self.say(f"{k} = phi i32 [ 0, %{before} ], [ {following}, %{last} ]", f"{more} = icmp slt i32 {k}, {count}")
        self.say(f"br i1 {more}, label %{inside}, label %{after}", f"{inside}:")
        body(k)
        self.say(
            f"br label %{last}", f"{last}:", f"{following} = add i32 {k}, {step}", f"br label %{head}", f"{after}:"
        )

    def repeat(self, goes_on: Callable[[], str], body: Callable[[], None]) -> None:
        """Write a loop that ends when a condition does not hold."""
        head, inside, after = (next(self.blocks) for _ in range(3))
        self.say(f"br label %{head}", f"{head}:")
        self.say(f"br i1 {goes_on()}, label %{inside}, label %{after}", f"{inside}:")
        body()
        self.say(f"br label %{head}", f"{after}:")

    def any_run(self, mask: str) -> str:
        """Return whether any run of a vector has a mask, i1."""
        whole = self.made(f"bitcast <{self.width} x i1> {mask} to i{self.width}")
        return self.made(f"icmp ne i{self.width} {whole}, 0")

    def address(self, base: str, typed: str, index: str) -> str:
        """Return the place of an entry of an array in memory."""
        return self.made(f"getelementptr {typed}, ptr {base}, i32 {index}")

    def load(self, node: Node, place: str) -> str:
        """Return a node's number from the stack."""
        found = self.made(f"load {self.held(node)}, ptr {place}")
        if node.dtype != "bool":
            return found
        zero = "zeroinitializer" if node.lane else "0"
        return self.made(f"icmp slt {self.held(node)} {found}, {zero}")

    def store(self, node: Node, number: str, place: str) -> None:
        """Write a node's number to the stack."""
        if node.dtype == "bool":
            number = self.made(f"sext {self.typed(node)} {number} to {self.held(node)}")  # as a comparison has it
        self.say(f"store {self.held(node)} {number}, ptr {place}")

    def outside(self, pointer: str, row: str, node: Node) -> tuple[str, str]:
        """Return the place and the type, in JAX's array, of a row's numbers for the present runs."""
        kind = "i8" if node.dtype == "bool" else type_of(node.dtype, 0)
        if not node.lane:
            return self.address(pointer, kind, row), kind
        place = self.made(f"add i32 {self.made(f'mul i32 {row}, {self.lanes}')}, %at")
        return self.address(pointer, kind, place), f"<{self.width} x {kind}>"

    def read(self, pointer: str, row: str, node: Node) -> str:
        """Return a node's number from JAX's array."""
        place, kind = self.outside(pointer, row, node)
        found = self.made(f"load {kind}, ptr {place}, align 1")
        if node.dtype != "bool":
            return found
        return self.made(f"icmp ne {kind} {found}, {'zeroinitializer' if node.lane else '0'}")

    def write(self, pointer: str, row: str, node: Node, number: str) -> None:
        """Write a node's number to JAX's array."""
        place, kind = self.outside(pointer, row, node)
        if node.dtype == "bool":
            number = self.made(f"zext {self.typed(node)} {number} to {kind}")
        self.say(f"store {kind} {number}, ptr {place}, align 1")

    def operand(self, node: Node, lane: bool, known: dict[Node, str]) -> str:
        """Return a number, made a vector where the operation is one of vectors."""
        if node.kind == "constant":
            one = constant(node.name, node.dtype)
            return f"splat ({type_of(node.dtype, 0)} {one})" if lane else one
        name = known.get(node) or self.names[node]
        if not lane or node.lane:
            return name
        vector = type_of(node.dtype, self.width)
        first = self.made(f"insertelement {vector} poison, {type_of(node.dtype, 0)} {name}, i32 0")
        return self.made(f"shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer")

    def operation(self, node: Node, known: dict[Node, str]) -> str:
        """Return the result of an operation."""
        if node.name == "any_run":
            return self.any_run(self.operand(node.operands[0], True, known))
        operands = [self.operand(x, node.lane, known) for x in node.operands]
        result = next(self.fresh)
        self.say(*instructions(node, self.width if node.lane else 0, operands, result))
        return result

    def entry(self, node: Node) -> str:
        """Return the entry of an array at an arm, which each run may have its own."""
        array, arm = node.operands
        place = self.at_most(self.operand(arm, arm.lane, {}), array.arms - 1, lane=arm.lane)
        if not arm.lane:
            return self.load(array, self.address(self.memory[array], self.held(array), place))
        one, found = type_of("int32" if node.dtype == "bool" else node.dtype, 0), "poison"
        vector = type_of("int32" if node.dtype == "bool" else node.dtype, self.width)
        for lane, index in self.by_lane(place):
            at = self.made(f"add i32 {self.made(f'mul i32 {index}, {self.width}')}, {lane}") if array.lane else index
            number = self.made(f"load {one}, ptr {self.address(self.memory[array], one, at)}")
            found = self.made(f"insertelement {vector} {found}, {one} {number}, i32 {lane}")
        return self.made(f"icmp ne {vector} {found}, zeroinitializer") if node.dtype == "bool" else found

    def at_most(self, arm: str, last: int, *, lane: bool) -> str:
        """Return an arm that memory has: others, negative ones too, count as the last."""
        kind, suffix = ("i32", "i32") if not lane else (f"<{self.width} x i32>", f"v{self.width}i32")
        most = f"splat (i32 {last})" if lane else str(last)
        return self.made(f"call {kind} @llvm.umin.{suffix}({kind} {arm}, {kind} {most})")

    def by_lane(self, vector: str) -> Iterator[tuple[int, str]]:
        """Yield the whole numbers of a vector, one after the other."""
        for lane in range(self.width):
            yield lane, self.made(f"extractelement <{self.width} x i32> {vector}, i32 {lane}")

    def at_arm(self, node: Node, arm: str, known: dict[Node, str]) -> str:
        """Return the number of an array at an arm."""
        for x in self.unknown(node, known):
            if x.kind == "arm":
                known[x] = arm
            elif x in self.memory:
                known[x] = self.load(x, self.address(self.memory[x], self.held(x), arm))
            else:
                known[x] = self.operation(x, known)
        return self.operand(node, node.lane, known)

    def unknown(self, node: Node, known: dict[Node, str]) -> list[Node]:
        """Return the arrays that a node needs and that are neither known nor in memory, and those in memory."""
        found, left = set(), [node]
        while left:
            x = left.pop()
            if x.arms and x not in known and x not in found:
                found.add(x)
                if x not in self.memory:
                    left.extend(x.operands)
        return sorted(found, key=self.place.__getitem__)
