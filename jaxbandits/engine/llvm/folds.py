"""Recognises what a reduction does, by the program that combines two of its numbers."""

import math

from jaxbandits.compilers.jaxpr_types import ClosedJaxpr, Jaxpr
from jaxbandits.engine.llvm.graph_values import NotSupportedError
from jaxbandits.transform.programs_inside import CALLS, called

__all__ = ["fold_of", "start_of"]

_SAME_EITHER_WAY = ("add", "or", "and", "max", "min")


def fold_of(program: Jaxpr | ClosedJaxpr) -> str:
    """Return what a reduction does: `add`, `or`, `and`, `max`, `min`, `max_or_nan` or `min_or_nan`.

    `arrays/numerics.py` and `arrays/arms.py` write the larger of a and b as `select(a > b, a, b)`, and with NaN as
    `select((a > b) | (a != a), a, b)`.

    Args:
        program: a program of JAX, of two numbers.

    Raises:
        NotSupportedError: it does something else.
    """
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    equations, (a, b) = jaxpr.eqns, jaxpr.invars
    names = [equation.primitive.name for equation in equations]
    if len(equations) == 1 and list(equations[0].invars) == [a, b]:
        if names[0] in CALLS:
            return fold_of(called(equations[0])[0])
        if names[0] in _SAME_EITHER_WAY:
            return names[0]
    if len(equations) in (2, 4) and names[0] in ("gt", "lt") and list(equations[0].invars) == [a, b]:
        kind, chosen, which = "max" if names[0] == "gt" else "min", equations[-1], equations[0].outvars[0]
        if len(equations) == 4:
            odd, either = equations[1:3]
            if names[1:3] != ["ne", "or"] or list(odd.invars) != [a, a]:
                raise NotSupportedError(f"a reduction by {names}")
            if list(either.invars) != [which, odd.outvars[0]]:
                raise NotSupportedError(f"a reduction by {names}")
            kind, which = f"{kind}_or_nan", either.outvars[0]
        if names[-1] == "select_n" and list(chosen.invars) == [which, b, a]:
            return kind
    raise NotSupportedError(f"a reduction by {names}")


def start_of(fold: str, dtype: str) -> float:
    """Return the number with which a reduction starts, which changes no result."""
    if fold in ("add", "or"):
        return 0
    if fold == "and":
        return 1 if dtype == "bool" else -1
    if dtype == "float32":
        return -math.inf if fold.startswith("max") else math.inf
    low, high = (-(2**31), 2**31 - 1) if dtype == "int32" else (0, 2**32 - 1)
    return low if fold.startswith("max") else high
