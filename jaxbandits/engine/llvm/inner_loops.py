"""Reads the loops inside of a step, `while`, `scan` and `cond`, for its graph: all become loops of one kind.

A choice is a loop of at most one step. What all runs are asked together (`any`) is asked of the runs of a vector: runs
that need no further step keep their numbers.
"""

from collections.abc import Callable
from typing import Any

from jaxbandits.compilers.jax_versions import scan_sizes
from jaxbandits.compilers.jaxpr_types import Atom, ClosedJaxpr
from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError, Value, dtype_of, nodes_of, objects, value_of
from jaxbandits.engine.llvm.node_maker import NodeMaker

__all__ = ["LOOPS"]

Read = Callable[[ClosedJaxpr, list[Value]], list[Value]]


def _while(make: NodeMaker, read: Read, parameters: Any, operands: list[Value]) -> list[Value]:
    first, second = parameters["cond_nconsts"], parameters["body_nconsts"]
    tested, fixed, carried = operands[:first], operands[first : first + second], operands[first + second :]

    def going(values: list[Value]) -> Node:
        return read(parameters["cond_jaxpr"], [*tested, *values])[0].nodes.item()

    def step(values: list[Value]) -> tuple[Node, list[Value]]:
        new = read(parameters["body_jaxpr"], [*fixed, *values])
        return going(new), new

    return _repeated(make, parameters["body_jaxpr"].jaxpr.invars[second:], going(carried), carried, step)


def _scan(make: NodeMaker, read: Read, parameters: Any, operands: list[Value]) -> list[Value]:
    program = parameters["jaxpr"]
    constants, carried = scan_sizes(parameters)
    if len(operands) > constants + carried or len(program.jaxpr.outvars) > carried:
        raise NotSupportedError("a scan over the rows of an array")
    if parameters["length"] <= 1:  # XLA makes no loop of it
        return read(program, operands) if parameters["length"] else operands[constants:]
    fixed, length = operands[:constants], make.number(parameters["length"], "int32")

    def step(values: list[Value]) -> tuple[Node, list[Value]]:
        number = make.operation("add", (values[0].nodes.item(), make.number(1, "int32")), "int32")
        going = make.operation("lt", (number, length), "bool")
        return going, [_scalar(number), *read(program, [*fixed, *values[1:]])]

    first = [_scalar(make.number(0, "int32")), *operands[constants:]]
    going = make.number(True, "bool")
    return _repeated(make, [None, *program.jaxpr.invars[constants:]], going, first, step)[1:]


def _cond(make: NodeMaker, read: Read, parameters: Any, operands: list[Value]) -> list[Value]:
    (which, *given), branches = operands, parameters["branches"]
    kept = [_kept(branch) for branch in branches]
    if which.nodes.item().fixed or len(branches) != 2 or all(places is None for places in kept):
        raise NotSupportedError("a choice that is known, or of which neither branch returns what it is given")
    number = 0 if kept[0] is None else 1  # of the branch that computes
    places, program = kept[1 - number] or [], branches[number]
    going = make.operation("eq", (which.nodes.item(), make.number(number, which.dtype)), "bool")

    def step(values: list[Value]) -> tuple[Node, list[Value]]:
        now = dict(zip(reversed(places), reversed(values), strict=True))
        return make.number(False, "bool"), read(program, [now.get(place, x) for place, x in enumerate(given)])

    return _repeated(make, program.jaxpr.outvars, going, [given[place] for place in places], step)


def _kept(branch: ClosedJaxpr) -> list[int] | None:
    """Return which operands a branch returns; None if it computes something."""
    given: list[Atom] = [*branch.jaxpr.invars]
    if not all(atom in given for atom in branch.jaxpr.outvars):
        return None
    return [given.index(atom) for atom in branch.jaxpr.outvars]


def _scalar(node: Node) -> Value:
    return value_of(objects([node]), (), node.dtype)


def _repeated(
    make: NodeMaker,
    atoms: list[Atom | None],
    going: Node,
    first: list[Value],
    step: Callable[[list[Value]], tuple[Node, list[Value]]],
) -> list[Value]:
    """Return what a loop has carried.

    Args:
        make: makes its nodes.
        atoms: of what it carries, for their shapes and types; None for a whole number.
        going: whether it begins.
        first: what it carries before the first step.
        step: from what it carries to whether another step follows, and what it carries then.
    """
    shapes = [((), "int32") if atom is None else (atom.aval.shape, dtype_of(atom.aval)) for atom in atoms]
    with make.inside():
        goes = make.input(0, (), "bool")
        carried = [make.input(number, *shape) for number, shape in enumerate(shapes, 1)]
        on, new = step(carried)
        scope = make.scope
    if any(x.flat for x in (*first, *new)) or going.lane or on.lane:
        raise NotSupportedError("a loop over flat arrays, or one for which each run has its own end")
    _, *found = make.loop(nodes_of([goes, *carried]), [on, *nodes_of(new)], [going, *nodes_of(first)], scope)
    results = []
    for value, shape in zip(carried, shapes, strict=True):
        results.append(value_of(objects(found[: value.nodes.size]), *shape))
        found = found[value.nodes.size :]
    return results


LOOPS: dict[str, Callable[[NodeMaker, Read, Any, list[Value]], list[Value]]] = {
    "while": _while,
    "scan": _scan,
    "cond": _cond,
}
