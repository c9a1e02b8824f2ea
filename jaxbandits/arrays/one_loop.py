"""Which programs XLA:CPU makes one loop of, and LLVM one of vectors, where every arm's row of runs is an array.

Both have limits, beyond which a decision by rows takes up to six times as long as one in loops over arms (measured
with 3 to 64 arms).
"""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from jax.extend import core

from jaxbandits.arrays.platform_forms import forms

__all__ = ["CALLS", "makes_one_loop", "needed"]

#: Calls, by the name of the parameter that holds what is called.
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}
# What XLA:CPU computes once where several operations read it.
_STORED = {"div", "sqrt"}
# Rows of these at most. Each is a loop of its own, which takes 60 ms to compile: under a likelihood ratio test uniform
# sampling takes half the time by rows with up to 12 Bernoulli arms, and with 13, no longer vectors, half as long again.
_SHARED = 90


def makes_one_loop(jaxpr: Any) -> bool:
    """Whether XLA:CPU makes one loop of the rows, and LLVM one of vectors."""
    counted = _Counted(set(), 0)
    _count(jaxpr, {atom: atom for atom in jaxpr.invars}, counted)
    rows = sum(1 if atom.aval.ndim < 2 else atom.aval.shape[0] for atom in counted.read)
    return rows <= forms().by_rows and counted.shared <= _SHARED


@dataclasses.dataclass
class _Counted:
    read: set[Any]  # arrays from outside
    shared: int  # rows of quotients and roots that several operations read: XLA:CPU stores them, in a loop each


def _count(jaxpr: Any, outside: dict[Any, Any], counted: _Counted) -> list[Any]:
    """Counts what is needed; returns the arrays from outside that the results are, None for others."""
    equations = needed(jaxpr)
    read = [*(atom for equation in equations for atom in equation.invars), *jaxpr.outvars]
    uses = collections.Counter(atom for atom in read if isinstance(atom, core.Var))

    def origins(atoms: Sequence[Any]) -> list[Any]:
        return [outside.get(atom) if isinstance(atom, core.Var) else None for atom in atoms]

    for equation in equations:
        name, known = equation.primitive.name, origins(equation.invars)
        if name in CALLS:
            called = equation.params[CALLS[name]].jaxpr
            results = _count(called, dict(zip(called.invars, known, strict=True)), counted)
            outside.update(zip(equation.outvars, results, strict=True))
            continue
        counted.read.update(atom for atom in known if atom is not None)
        out = equation.outvars[0]
        if name in _STORED and len(out.aval.shape) == 2 and uses[out] > 1:
            counted.shared += out.aval.shape[0]
    return origins(jaxpr.outvars)


def needed(jaxpr: Any) -> list[Any]:
    """The equations that the results hang on: others may well have no form by rows."""
    wanted = {atom for atom in jaxpr.outvars if isinstance(atom, core.Var)}
    kept = []
    for equation in reversed(jaxpr.eqns):
        if wanted.intersection(equation.outvars):
            kept.append(equation)
            wanted.update(atom for atom in equation.invars if isinstance(atom, core.Var))
    return kept[::-1]
