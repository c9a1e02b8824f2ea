"""Writes a step as a function in LLVM's language: for some runs at a time all steps, and then for the next runs.

The state of `width` runs, one in each place of a vector, is copied to the stack, where it stays for all steps.
"""

from collections.abc import Callable

from jaxbandits.engine.llvm.folds import start_of
from jaxbandits.engine.llvm.graph_values import Node
from jaxbandits.engine.llvm.llvm_operations import constant, fold, type_of
from jaxbandits.engine.llvm.llvm_writer import Writer
from jaxbandits.engine.llvm.passes import Passes
from jaxbandits.engine.llvm.step_graph import Graph

__all__ = ["function_text"]

#: Loops over at most 12 arms are unrolled. Others reduce 4 arms side by side, since each comparison waits for the one
#: before it.
_UNROLLED, _SIDE_BY_SIDE = 12, 4


def function_text(name: str, graph: Graph, passes: Passes, state: dict[int, int], lanes: int, width: int) -> str:
    """Return the function `void name(ptr inputs, ptr outputs, i32 steps)`; both are arrays of pointers to arrays.

    After the inputs of the graph comes one more: which runs are busy, bool.

    Args:
        name: of the function.
        graph: the step.
        passes: its order.
        state: the input that each output replaces, by the output's number.
        lanes: the number of runs, a multiple of `width`.
        width: runs of a vector.
    """
    return _Step(graph, passes, state, lanes, width).text(name)


class _Step(Writer):
    def __init__(self, graph: Graph, passes: Passes, state: dict[int, int], lanes: int, width: int) -> None:
        super().__init__(graph.nodes, lanes, width)
        self.graph, self.passes, self.state = graph, passes, state
        self.tables: list[str] = []
        self.places: dict[Node, str] = {}  # where arrays will be in memory, after the pass that stores them

    def one_pass(self, level: int) -> None:
        here = [node for node in self.passes.order if self.passes.level[node] == level]
        for node in here:
            if not node.arms and node.kind == "operation":
                self.names[node] = self.operation(node, {})
            elif node.kind == "entry":
                self.names[node] = self.entry(node)
        stored = [node for node in here if node in self.passes.stored]
        sums = [node for node in here if node.kind == "reduction"]
        for arms in sorted({node.arms for node in stored} | {node.operands[0].arms for node in sums}):
            of_these = [node for node in sums if node.operands[0].arms == arms]
            self.over_arms(arms, [node for node in stored if node.arms == arms], of_these)

    def over_arms(self, arms: int, stored: list[Node], sums: list[Node]) -> None:
        self.places.update((node, self.room(node)) for node in stored)

        def visit(arm: str, found: list[str]) -> list[str]:
            known: dict[Node, str] = {}
            for node in stored:
                place = self.address(self.places[node], self.held(node), arm)
                self.store(node, self.at_arm(node, arm, known), place)
            results = []
            for node, before in zip(sums, found, strict=True):
                new, result = self.at_arm(node.operands[0], arm, known), next(self.fresh)
                self.say(*fold(node.name, node.dtype, self.typed(node), before, new, result))
                results.append(result)
            return results

        starts = [self.start(node) for node in sums]
        if arms <= _UNROLLED:
            for arm in range(arms):
                starts = visit(str(arm), starts)
            self.names.update(zip(sums, starts, strict=True))
        else:
            self.side_by_side(arms, sums, starts, visit)
        self.memory.update((node, self.places[node]) for node in stored)

    def side_by_side(
        self, arms: int, sums: list[Node], starts: list[str], visit: Callable[[str, list[str]], list[str]]
    ) -> None:
        held = [[self.allocated(self.typed(node), self.width) for node in sums] for _ in range(_SIDE_BY_SIDE)]
        for places in held:
            for node, place, start in zip(sums, places, starts, strict=True):
                self.say(f"store {self.typed(node)} {start}, ptr {place}")

        def part(arm: str, places: list[str]) -> None:
            before = [
                self.made(f"load {self.typed(node)}, ptr {place}") for node, place in zip(sums, places, strict=True)
            ]
            for node, place, after in zip(sums, places, visit(arm, before), strict=True):
                self.say(f"store {self.typed(node)} {after}, ptr {place}")

        whole = arms // _SIDE_BY_SIDE * _SIDE_BY_SIDE

        def several(first: str) -> None:
            for offset, places in enumerate(held):
                part(self.made(f"add i32 {first}, {offset}"), places)

        self.loop(str(whole), several, _SIDE_BY_SIDE)
        for arm in range(whole, arms):
            part(str(arm), held[arm - whole])
        for number, node in enumerate(sums):
            found = [self.made(f"load {self.typed(node)}, ptr {places[number]}") for places in held]
            total = found[0]
            for other in found[1:]:
                result = next(self.fresh)
                self.say(*fold(node.name, node.dtype, self.typed(node), total, other, result))
                total = result
            self.names[node] = total

    def start(self, node: Node) -> str:
        one = constant(start_of(node.name, node.dtype), node.dtype)
        return f"splat ({type_of(node.dtype, 0)} {one})" if node.lane else one

    def text(self, name: str) -> str:
        changed = {source: number for number, source in self.state.items()}
        inputs = [(number, row, node) for number, value in enumerate(self.graph.inputs)
                  for row, node in enumerate(value.nodes.ravel())]  # fmt: skip
        outputs = {number: self.made_pointer("%outputs", number) for number in self.state}

        def runs(at_block: str) -> None:
            self.say(f"%at = mul i32 {at_block}, {self.width}")
            held: dict[Node, str] = {}
            for number, row, node in inputs:
                pointer = self.made_pointer("%inputs", number)
                if node.arms:
                    self.memory[node] = self.room(node)

                    def copy(k: str, pointer: str = pointer, row: int = row, node: Node = node) -> None:
                        first = self.made(f"add i32 {k}, {row * node.arms}")
                        self.store(
                            node, self.read(pointer, first, node), self.address(self.memory[node], self.held(node), k)
                        )

                    self.loop(str(node.arms), copy)
                elif number in changed:
                    held[node] = self.allocated(self.held(node), self.width)
                    self.store(node, self.read(pointer, str(row), node), held[node])
                else:
                    self.names[node] = self.read(pointer, str(row), node)

            def step(_: str) -> None:
                for node, place in held.items():
                    self.names[node] = self.load(node, place)
                for level in range(self.passes.count):
                    self.one_pass(level)
                self.follow(held)

            self.loop(self.steps_of(), step)
            for number, source in self.state.items():
                for row, node in enumerate(self.graph.inputs[source].nodes.ravel()):
                    if not node.arms:
                        self.write(outputs[number], str(row), node, self.load(node, held[node]))
                        continue

                    def back(k: str, number: int = number, row: int = row, node: Node = node) -> None:
                        first = self.made(f"add i32 {k}, {row * node.arms}")
                        found = self.load(node, self.address(self.memory[node], self.held(node), k))
                        self.write(outputs[number], first, node, found)

                    self.loop(str(node.arms), back)

        for node in self.passes.order:
            if node.kind == "table":
                kind = "i32" if node.dtype == "bool" else type_of(node.dtype, 0)
                entries = ", ".join(
                    f"{kind} {constant(x, 'int32' if node.dtype == 'bool' else node.dtype)}" for x in node.name
                )
                self.memory[node] = f"@t{len(self.tables)}"
                self.tables.append(f"{self.memory[node]} = private constant [{node.arms} x {kind}] [{entries}]")
        self.loop(str(self.lanes // self.width), runs)
        body = "\n".join([*self.stack, *self.lines])
        return "\n".join(
            [*self.tables, f"define void @{name}(ptr %inputs, ptr %outputs, i32 %steps) {{", body, "ret void", "}"]
        )

    def steps_of(self) -> str:
        """Return how many steps some runs make: none if none of them is busy."""
        busy = self.made_pointer("%inputs", len(self.graph.inputs))
        kind = f"<{self.width} x i8>"
        found = self.made(f"load {kind}, ptr {self.address(busy, 'i8', '%at')}, align 1")
        some = self.made(f"icmp ne {kind} {found}, zeroinitializer")
        whole = self.made(f"bitcast <{self.width} x i1> {some} to i{self.width}")
        return self.made(f"select i1 {self.made(f'icmp ne i{self.width} {whole}, 0')}, i32 %steps, i32 0")

    def made_pointer(self, table: str, number: int) -> str:
        return self.made(f"load ptr, ptr {self.address(table, 'ptr', str(number))}")

    def follow(self, held: dict[Node, str]) -> None:
        """Write the state after a step over the one before it; all of the new one is known by then."""
        for number, source in self.state.items():
            new, old = self.graph.outputs[number], self.graph.inputs[source]
            if number in self.passes.puts:
                self.put(number)
                continue
            for before, after in zip(old.nodes.ravel(), new.nodes.ravel(), strict=True):
                if before is after:
                    continue
                if before.arms:
                    self.replace(before, after)
                else:
                    self.store(before, self.operand(after, before.lane, {}), held[before])

    def replace(self, before: Node, after: Node) -> None:
        def copy(k: str) -> None:
            found = self.at_arm(after, k, {})
            if before.lane and not after.lane:
                found = self.operand(after, True, {after: found})
            self.store(before, found, self.address(self.memory[before], self.held(before), k))

        self.loop(str(before.arms), copy)

    def put(self, number: int) -> None:
        put = self.passes.puts[number]
        array = put.array
        one = type_of("int32" if array.dtype == "bool" else array.dtype, 0)
        for arm, value in put.changes:
            numbers = self.operand(value, True, {})
            if array.dtype == "bool":
                numbers = self.made(f"zext <{self.width} x i1> {numbers} to <{self.width} x i32>")
            places = self.at_most(self.operand(arm, True, {}), array.arms, lane=True)
            for lane, index in self.by_lane(places):
                at = self.made(f"add i32 {self.made(f'mul i32 {index}, {self.width}')}, {lane}")
                found = self.made(f"extractelement <{self.width} x {one}> {numbers}, i32 {lane}")
                self.say(f"store {one} {found}, ptr {self.address(self.memory[array], one, at)}")
