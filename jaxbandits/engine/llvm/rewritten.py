"""Finds the operations that XLA may write in another way, with other bits: a step with one of them stays XLA's.

XLA writes `(a / b) / c` as `a / (b * c)`, `a / (b / c)` as `(a * c) / b`, `a / sqrt(b)` as `a * rsqrt(b)`, and `a /
3.0` as `a * (1 / 3.0)`. It adds or multiplies two constants first. Which of these it does depends on its version. Where
a number in between is compared, as by `transform/products.py`, it does not.
"""

import math

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError

__all__ = ["check_written"]

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
        if below.kind == "constant" and above.kind != "constant":
            raise NotSupportedError("a division by a constant, which XLA rewrites")
    for x, constant in (operands, operands[::-1]) if name in _SAME else ():
        if constant.kind == "constant" and x.kind == "operation" and x.name in _SAME[name]:
            constants = [constant, *(y for y in x.operands if y.kind == "constant")]
            if len(constants) > 1 and not (name == "mul" and any(map(_exact, constants))):
                raise NotSupportedError(f"two constants in turn, {name}, which XLA rewrites")


def _exact(node: Node) -> bool:
    """Return whether a product with a constant is exact: it is a power of two, or 0."""
    return node.kind == "constant" and abs(math.frexp(node.name)[0]) in (0.5, 0.0)
