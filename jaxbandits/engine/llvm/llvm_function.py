"""Writes a step as a function in LLVM's language: for some runs at a time all steps, and then for the next runs.

The state of `width` runs, one in each place of a vector, is copied to the stack, where it stays for all steps.
"""

from jaxbandits.engine.llvm.graph_values import Node
from jaxbandits.engine.llvm.llvm_operations import constant, type_of
from jaxbandits.engine.llvm.passes import Passes
from jaxbandits.engine.llvm.step_graph import Graph
from jaxbandits.engine.llvm.step_writer import StepWriter

__all__ = ["function_text"]


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
    writer = _Function(graph, passes, lanes, width)
    tables = writer.tables()
    writer.loop(str(lanes // width), lambda block: writer.runs(block, state))
    body = "\n".join([*writer.stack, *writer.lines])
    return "\n".join([*tables, f"define void @{name}(ptr %inputs, ptr %outputs, i32 %steps) {{", body, "ret void", "}"])


class _Function(StepWriter):
    def __init__(self, graph: Graph, passes: Passes, lanes: int, width: int) -> None:
        super().__init__(graph.nodes, lanes, width)
        self.graph, self.passes = graph, passes

    def tables(self) -> list[str]:
        """Return the constants with a number for each arm."""
        lines: list[str] = []
        for node in self.graph.nodes:
            if node.kind == "table":
                dtype = "int32" if node.dtype == "bool" else node.dtype
                kind, true = type_of(dtype, 0), -1 if node.dtype == "bool" else 1
                entries = ", ".join(f"{kind} {constant(x * true, dtype)}" for x in node.name)
                self.memory[node] = f"@t{len(lines)}"
                lines.append(f"{self.memory[node]} = private constant [{node.arms} x {kind}] [{entries}]")
        return lines

    def runs(self, block: str, state: dict[int, int]) -> None:
        """Write all steps of the runs of a vector."""
        self.say(f"%at = mul i32 {block}, {self.width}")
        held: dict[Node, str] = {}
        for number, value in enumerate(self.graph.inputs):
            pointer = self.pointer("%inputs", number)
            for row, node in enumerate(value.nodes.ravel()):
                if node.arms:
                    self.memory[node] = self.room(node)
                    self._copy_in(node, pointer, row)
                elif number in state.values():
                    held[node] = self.allocated(self.held(node), self.width)
                    self.store(node, self.read(pointer, str(row), node), held[node])
                else:
                    self.names[node] = self.read(pointer, str(row), node)
        self.loop(self._steps(), lambda _: self.step(self.passes, held))
        for number, source in state.items():
            pointer = self.pointer("%outputs", number)
            for row, node in enumerate(self.graph.inputs[source].nodes.ravel()):
                if node.arms:
                    self._copy_out(node, pointer, row)
                else:
                    self.write(pointer, str(row), node, self.load(node, held[node]))

    def _copy_in(self, node: Node, pointer: str, row: int) -> None:
        def one(arm: str) -> None:
            place = self.made(f"add i32 {arm}, {row * node.arms}")
            self.store(node, self.read(pointer, place, node), self.address(self.memory[node], self.held(node), arm))

        self.loop(str(node.arms), one)

    def _copy_out(self, node: Node, pointer: str, row: int) -> None:
        def one(arm: str) -> None:
            place = self.made(f"add i32 {arm}, {row * node.arms}")
            number = self.load(node, self.address(self.memory[node], self.held(node), arm))
            self.write(pointer, place, node, number)

        self.loop(str(node.arms), one)

    def _steps(self) -> str:
        """Return how many steps the runs make: none if none of them is busy."""
        busy = self.pointer("%inputs", len(self.graph.inputs))
        kind = f"<{self.width} x i8>"
        found = self.made(f"load {kind}, ptr {self.address(busy, 'i8', '%at')}, align 1")
        some = self.any_run(self.made(f"icmp ne {kind} {found}, zeroinitializer"))
        return self.made(f"select i1 {some}, i32 %steps, i32 0")

    def pointer(self, table: str, number: int) -> str:
        return self.made(f"load ptr, ptr {self.address(table, 'ptr', str(number))}")
