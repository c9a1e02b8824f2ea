"""How the programs of a function for several numbers of arms differ."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxbandits.compilers.jaxpr_types import Atom, Jaxpr, JaxprEqn, Literal, Var

__all__ = ["are_alike", "grows", "is_same", "plan_of"]


def grows(equations: Sequence[JaxprEqn]) -> bool:
    """Return whether an equation differs in form, shapes, literals, lengths or starts, or what it calls does."""
    if len({(len(e.invars), len(e.outvars), *(len(p.eqns) for p in _programs(e))) for e in equations}) > 1:
        return True
    for narrow, *wider in zip(*((*one.invars, *one.outvars) for one in equations), strict=True):
        literal = isinstance(narrow, Literal)
        if any(a.aval.shape != narrow.aval.shape or (literal and not is_same(narrow.val, a.val)) for a in wider):
            return True
    if any(len({str(one.params.get(name)) for one in equations}) > 1 for name in ("length", "start_indices")):
        return True
    programs = zip(*map(_programs, equations), strict=True)
    return any(grows(inner) for several in programs for inner in zip(*(p.eqns for p in several), strict=True))


def _programs(equation: JaxprEqn) -> list[Jaxpr]:
    """Return the programs among the parameters of an equation."""
    leaves = jax.tree.leaves(
        list(equation.params.values()), is_leaf=lambda x: hasattr(x, "jaxpr") or hasattr(x, "eqns")
    )
    found: list[Any] = [getattr(leaf, "jaxpr", leaf) for leaf in leaves]
    return [program for program in found if hasattr(program, "eqns")]


def is_same(a: jax.Array | np.ndarray, b: jax.Array | np.ndarray) -> bool:
    """Return whether two constants have the same bits: 0 is not -0."""
    return a is b or (np.shape(a) == np.shape(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes())


def plan_of(jaxpr: Jaxpr) -> list[object]:
    """Return the operations of a program, and which result is the operand of which."""
    number: dict[Var, int] = {}

    def of(atoms: Sequence[Atom]) -> list[int | None]:
        return [None if isinstance(a, Literal) else number.setdefault(a, len(number)) for a in atoms]

    plan: list[object] = [of([*jaxpr.constvars, *jaxpr.invars])]
    plan += [(str(equation.primitive), of(equation.invars), of(equation.outvars)) for equation in jaxpr.eqns]
    return [*plan, of(jaxpr.outvars)]


def are_alike(one: Jaxpr, other: Jaxpr) -> bool:
    """Return whether two programs have the same plan, and so have those that they call, choose or repeat."""
    inner = [[program for equation in jaxpr.eqns for program in _programs(equation)] for jaxpr in (one, other)]
    same = plan_of(one) == plan_of(other) and len(inner[0]) == len(inner[1])
    return same and all(map(are_alike, *inner))
