"""Writes one step in LLVM's language: its passes over arms, the loops inside of it, and what the state is after it."""

from collections.abc import Callable

from jaxbandits.engine.llvm.folds import start_of
from jaxbandits.engine.llvm.graph_values import Node
from jaxbandits.engine.llvm.llvm_operations import beyond, constant, fold, type_of
from jaxbandits.engine.llvm.llvm_writer import Writer
from jaxbandits.engine.llvm.passes import Passes, Put

__all__ = ["StepWriter"]

#: Loops over at most 12 arms are unrolled. Others reduce 4 arms side by side, since each comparison waits for the one
#: before it.
_UNROLLED, _SIDE_BY_SIDE = 12, 4


class StepWriter(Writer):
    """Writes steps; what it begins with is in `names` and `memory`."""

    def step(self, passes: Passes, held: dict[Node, str]) -> None:
        """Write a step.

        Args:
            passes: its order.
            held: where the numbers of the state are, which the step changes; arrays are in `memory`.
        """
        for node, place in held.items():
            self.names[node] = self.load(node, place)
        for level in range(passes.count):
            self._one_pass(passes, level)
        for before, after in passes.becomes:  # all of the new state is known by now
            if isinstance(after, Put):
                self._put(after)
                after = after.array
            if before.arms:
                self.copy(before, after)
            else:
                self.store(before, self.operand(after, before.lane, {}), held[before])

    def copy(self, before: Node, after: Node) -> None:
        """Write the entries of an array over those of another, in memory."""
        if self.memory[before] == self.memory.get(after):
            return

        def one(arm: str) -> None:
            found = self.at_arm(after, arm, {})
            if before.lane and not after.lane:
                found = self.operand(after, True, {after: found})
            self.store(before, found, self.address(self.memory[before], self.held(before), arm))

        self.loop(str(before.arms), one)

    def _one_pass(self, passes: Passes, level: int) -> None:
        here = [node for node in passes.order if passes.level[node] == level]
        for node in here:
            if node.kind == "loop":
                self._repeat(node, passes)
            elif node.kind == "result":
                found = self.memory if node.arms else self.names
                found[node] = found[node.operands[0].name.carried[node.name]]
            elif node.kind == "operation" and not node.arms:
                self.names[node] = self.operation(node, {})
            elif node.kind == "entry":
                self.names[node] = self.entry(node)
        stored = [node for node in here if node in passes.stored]
        sums = [node for node in here if node.is_reduced]
        plain = [node for node in stored if node.kind == "operation"]
        for arms in sorted({node.arms for node in plain} | {node.operands[0].arms for node in sums}):
            of_these = [node for node in sums if node.operands[0].arms == arms]
            self._over_arms(arms, [node for node in plain if node.arms == arms], of_these)
        for node in stored:
            if node.kind == "running":
                self._add_in_turn(node)
            elif node.kind == "moved":
                self._move(node)

    def _repeat(self, node: Node, passes: Passes) -> None:
        """Write a loop inside of the step."""
        loop, held = node.name, dict[Node, str]()
        for number, (now, new, first) in enumerate(zip(loop.carried, loop.nexts, node.operands, strict=False)):
            if (
                now.arms
                and first.lane == now.lane
                and first in self.memory
                and (new is now or (node, number) in passes.reused)
            ):
                self.memory[now] = self.memory[first]
            elif new is now and not now.arms:
                self.names[now] = self.operand(first, now.lane, {})
            elif now.arms:
                self.memory[now] = self.room(now)
                self.copy(now, first)
            else:
                held[now] = self.allocated(self.held(now), self.width)
                self.store(now, self.operand(first, now.lane, {}), held[now])
        goes = loop.carried[0]
        self.repeat(lambda: self.load(goes, held[goes]), lambda: self.step(passes.inner[node], held))
        for now, place in held.items():
            self.names[now] = self.load(now, place)

    def _over_arms(self, arms: int, stored: list[Node], sums: list[Node]) -> None:
        places = {node: self.room(node) for node in stored}

        def visit(arm: str, found: list[str]) -> list[str]:
            known: dict[Node, str] = {}
            for node in stored:
                place = self.address(places[node], self.held(node), arm)
                self.store(node, self.at_arm(node, arm, known), place)
            results = []
            for node, before in zip(sums, found, strict=True):
                new = self.at_arm(node.operands[0], arm, known)
                if node.kind == "place":
                    _, best, number = node.operands
                    self.at_arm(number, arm, known)
                    which = self._beyond(best, new, found[sums.index(best)])
                    results.append(self._chosen(node, which, self.operand(number, node.lane, known), before))
                else:
                    results.append(next(self.fresh))
                    self.say(*fold(node.name, node.dtype, self.typed(node), before, new, results[-1]))
            return results

        if arms <= _UNROLLED:
            found = [self._start(node) for node in sums]
            for arm in range(arms):
                found = visit(str(arm), found)
            self.names.update(zip(sums, found, strict=True))
        else:
            self._side_by_side(arms, sums, visit)
        self.memory.update(places)

    def _side_by_side(self, arms: int, sums: list[Node], visit: Callable[[str, list[str]], list[str]]) -> None:
        held = [[self.allocated(self.typed(node), self.width) for node in sums] for _ in range(_SIDE_BY_SIDE)]
        for first, places in enumerate(held):
            for node, place in zip(sums, places, strict=True):
                self.say(f"store {self.typed(node)} {self._start(node, first)}, ptr {place}")

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
        totals, *others = (
            [self.made(f"load {self.typed(node)}, ptr {place}") for node, place in zip(sums, places, strict=True)]
            for places in held
        )
        for other in others:
            totals = [self._joined(node, sums, totals, other) for node in sums]
        self.names.update(zip(sums, totals, strict=True))

    def _joined(self, node: Node, sums: list[Node], some: list[str], others: list[str]) -> str:
        """Return the result of two that were made side by side; of equal numbers, the first arm's."""
        result = next(self.fresh)
        one, other = (numbers[sums.index(node)] for numbers in (some, others))
        of_place = node.kind == "place"
        self.say(*fold("min" if of_place else node.name, node.dtype, self.typed(node), one, other, result))
        if of_place:
            best = node.operands[1]
            a, b = (numbers[sums.index(best)] for numbers in (some, others))
            result = self._chosen(node, self._beyond(best, a, b), one, result)
            result = self._chosen(node, self._beyond(best, b, a), other, result)
        return result

    def _beyond(self, best: Node, new: str, before: str) -> str:
        """Return whether a number is larger than another, or smaller where the smallest is looked for."""
        return self.made(f"{beyond(best.name, best.dtype)} {self.typed(best)} {new}, {before}")

    def _chosen(self, node: Node, which: str, yes: str, no: str) -> str:
        """Return one of two numbers of the type of a node."""
        mask = type_of("bool", self.width if node.lane else 0)
        return self.made(f"select {mask} {which}, {self.typed(node)} {yes}, {self.typed(node)} {no}")

    def _start(self, node: Node, first: int = 0) -> str:
        """Return with which number a reduction starts whose first arm is this."""
        number = first if node.kind == "place" else start_of(node.name, node.dtype)
        one = constant(number, node.dtype)
        return f"splat ({type_of(node.dtype, 0)} {one})" if node.lane else one

    def _add_in_turn(self, node: Node) -> None:
        """Write the sums of an array's first numbers, whole numbers."""
        place, total = self.room(node), self.allocated(self.held(node), self.width)
        self.store(node, self._start(node), total)

        def one(arm: str) -> None:
            found = self.made(
                f"add {self.typed(node)} {self.load(node, total)}, {self.at_arm(node.operands[0], arm, {})}"
            )
            self.store(node, found, total)
            self.store(node, found, self.address(place, self.held(node), arm))

        self.loop(str(node.arms), one)
        self.memory[node] = place

    def _move(self, node: Node) -> None:
        """Write an array with numbers of another one at arms of their own."""
        first, place, values = node.operands
        self.memory[node] = self.room(node)
        self.copy(node, first)

        def one(arm: str) -> None:
            known: dict[Node, str] = {}
            numbers = [self.at_arm(x, arm, known) for x in (place, values)]
            at, new = (self.operand(x, True, {x: number}) for x, number in zip((place, values), numbers, strict=True))
            self._write_at(node, at, new)

        self.loop(str(place.arms or values.arms or 1), one)

    def _put(self, put: Put) -> None:
        for arm, value in put.changes:
            self._write_at(put.array, self.operand(arm, True, {}), self.operand(value, True, {}))

    def _write_at(self, array: Node, arm: str, numbers: str) -> None:
        """Write an entry of each run, where the run says; outside of the array it changes nothing."""
        one = type_of("int32" if array.dtype == "bool" else array.dtype, 0)
        if array.dtype == "bool":
            numbers = self.made(f"sext <{self.width} x i1> {numbers} to <{self.width} x i32>")
        for lane, index in self.by_lane(self.at_most(arm, array.arms, lane=True)):
            at = self.made(f"add i32 {self.made(f'mul i32 {index}, {self.width}')}, {lane}")
            found = self.made(f"extractelement <{self.width} x {one}> {numbers}, i32 {lane}")
            self.say(f"store {one} {found}, ptr {self.address(self.memory[array], one, at)}")
