"""Predicts which decisions XLA:CPU fuses into one loop, and LLVM vectorises, where every arm's row is an array.

Both have limits. Beyond them a decision by rows takes up to six times as long as one in loops over arms (measured with
3 to 64 arms).
"""

import collections
import dataclasses
from collections.abc import Sequence

from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.compilers.jaxpr_types import Atom, Jaxpr, JaxprEqn, Var

__all__ = ["CALLS", "fits_one_fusion", "live_equations", "stores_rows"]

#: Primitives that call a program, by the name of the parameter that holds it.
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}
# Operations that XLA:CPU computes once where several operations read them.
_STORED = {"div", "sqrt"}
# Largest number of their rows. Each is a separate loop, which takes 60 ms to compile. Under a likelihood ratio test
# uniform sampling takes half the time by rows with up to 12 Bernoulli arms; with 13, no longer vectorised, half as
# long again.
_SHARED = 90
# Largest number of rows that one loop computes: UGapEc's with 80 arms, which takes 5 seconds to compile. LLVM takes 40
# seconds with 84 arms, and minutes with 100.
_MOST_OPERATIONS = 5_700


def fits_one_fusion(jaxpr: Jaxpr) -> bool:
    """Return whether XLA:CPU fuses the rows into one loop, and LLVM vectorises it."""
    counted = _counted(jaxpr)
    rows = sum(1 if atom.aval.ndim < 2 else atom.aval.shape[0] for atom in counted.read)
    if rows > lowering().max_unrolled_rows:
        return False
    # Where rows are stored the loop is several, and their number is the limit.
    return counted.shared <= _SHARED if counted.shared else counted.operations <= _MOST_OPERATIONS


def stores_rows(jaxpr: Jaxpr) -> bool:
    """Return whether XLA:CPU stores what is reduced: in loops, or quotients and roots that several operations read."""
    counted = _counted(jaxpr)
    return counted.loops or counted.shared > 0


def _counted(jaxpr: Jaxpr) -> "_Counted":
    counted = _Counted(set(), 0, 0, loops=False)
    _count(jaxpr, {atom: atom for atom in jaxpr.invars}, counted)
    return counted


@dataclasses.dataclass
class _Counted:
    read: set[Var]  # arrays from outside
    shared: int  # rows of quotients and roots that several operations read: XLA:CPU stores each by a loop
    operations: int  # rows that are computed
    loops: bool


def _count(jaxpr: Jaxpr, outside: dict[Var, Var | None], counted: _Counted) -> list[Var | None]:
    """Count what is needed; return the arrays from outside that are the results, None for others."""
    equations = live_equations(jaxpr)
    read = [*(atom for equation in equations for atom in equation.invars), *jaxpr.outvars]
    uses = collections.Counter(atom for atom in read if isinstance(atom, Var))

    def origins(atoms: Sequence[Atom]) -> list[Var | None]:
        return [outside.get(atom) if isinstance(atom, Var) else None for atom in atoms]

    for equation in equations:
        name, known = equation.primitive.name, origins(equation.invars)
        if name in CALLS:
            called = equation.params[CALLS[name]].jaxpr
            results = _count(called, dict(zip(called.invars, known, strict=True)), counted)
            outside.update(zip(equation.outvars, results, strict=True))
            continue
        counted.read.update(atom for atom in known if atom is not None)
        counted.loops |= name in ("while", "scan")
        out = equation.outvars[0]
        counted.operations += out.aval.shape[0] if len(out.aval.shape) == 2 else 1
        if name in _STORED and len(out.aval.shape) == 2 and uses[out] > 1:
            counted.shared += out.aval.shape[0]
    return origins(jaxpr.outvars)


def live_equations(jaxpr: Jaxpr) -> list[JaxprEqn]:
    """Return the equations that the results depend on: others may have no form by rows."""
    wanted = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    kept = []
    for equation in reversed(jaxpr.eqns):
        if wanted.intersection(equation.outvars):
            kept.append(equation)
            wanted.update(atom for atom in equation.invars if isinstance(atom, Var))
    return kept[::-1]
