"""Finds the operations that XLA may write in another way, with other bits: a step with one of them stays XLA's.

They are those of `transform/rewrites.py`, and `a / 3.0` as `a * (1 / 3.0)`. Which of them XLA rewrites depends on its
version. Where a number in between is compared, as is done there, it does not.
"""

import math

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError

__all__ = ["check_written"]

#: Powers of two by which nearly all numbers can be multiplied without an infinity or a zero.
_MODERATE = 24
#: Operations with a constant that XLA joins to one.
_SAME = {"mul": ("mul",), "add": ("add", "sub"), "sub": ("add", "sub")}


def check_written(name: str, operands: tuple[Node, ...]) -> None:
    """Check that XLA computes an operation on floats as it is written.

    Args:
        name: of the operation.
        operands: its operands.

    Raises:
        NotSupportedError: it may compute another one.
    """
    if name == "div" and not _exact(operands[1]):
        above, below = operands
        if above.name == "div" or below.name in ("div", "sqrt"):
            raise NotSupportedError("a division by a root, or of or by a quotient, which XLA rewrites")
        shared = (above.lane and not below.lane) or (above.arms and not below.arms)
        if shared or (below.fixed and not above.fixed):
            raise NotSupportedError("a division by a constant, or by a number for many, which XLA rewrites")
    for x, constant in (operands, operands[::-1]) if name in _SAME else ():
        if constant.kind == "constant" and x.kind == "operation" and x.name in _SAME[name]:
            constants = [constant, *(y for y in x.operands if y.kind == "constant")]
            if len(constants) > 1 and not (name == "mul" and any(map(_exact, constants))):
                raise NotSupportedError(f"two constants in turn, {name}, which XLA rewrites")


def _exact(node: Node) -> bool:
    """Return whether a product with a constant is exact but for the smallest and the largest numbers."""
    if node.kind != "constant" or not math.isfinite(node.name):
        return False
    part, exponent = math.frexp(node.name)
    return abs(part) == 0.5 and abs(exponent) <= _MODERATE
