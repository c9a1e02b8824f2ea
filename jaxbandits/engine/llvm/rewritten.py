"""Finds the operations that XLA may write in another way, with other bits: a step with one of them stays XLA's.

XLA writes `(a / b) / c` as `a / (b * c)`, `a / (b / c)` as `(a * c) / b`, `a / sqrt(b)` as `a * rsqrt(b)`, and `a / 3.0`
as `a * (1 / 3.0)`. It adds or multiplies two constants first. Which of these it does depends on its version. Where a
number in between is compared, as by `transform/products.py`, it does not.
"""

import math

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError

__all__ = ["check_written"]


def check_written(name: str, operands: tuple[Node, ...]) -> None:
    """Check that XLA computes an operation on floats as it is written.

    Args:
        name: of the operation.
        operands: its operands.

    Raises:
        NotSupportedError: it may compute another one.
    """
    if name == "div":
        above, below = operands
        if above.name == "div" or below.name in ("div", "sqrt"):
            raise NotSupportedError("a division by a root, or of or by a quotient, which XLA rewrites")
        if below.kind == "constant" and above.kind != "constant" and not _exact(below):
            raise NotSupportedError("a division by a constant, which XLA rewrites")
    if name in ("mul", "add", "sub"):
        for x, constant in (operands, operands[::-1]):
            within = [y for y in x.operands if y.kind == "constant"] if x.name in _SAME[name] else []
            if constant.kind == "constant" and within and not (name == "mul" and any(map(_exact, (constant, *within)))):
                raise NotSupportedError(f"two constants in turn, {name}, which XLA rewrites")


_SAME = {"mul": ("mul",), "add": ("add", "sub"), "sub": ("add", "sub")}


def _exact(node: Node) -> bool:
    """Return whether a product with a constant is exact: it is a power of two, or 0."""
    return node.kind == "constant" and abs(math.frexp(node.name)[0]) in (0.5, 0.0)
