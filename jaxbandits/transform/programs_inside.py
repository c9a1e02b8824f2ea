"""The programs that an equation calls, branches to or repeats, and which of their results differ between runs."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from jaxbandits.compilers.jaxpr_types import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Parameters, Var
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, Value, spread
from jaxbandits.transform.padding import Padding

__all__ = ["CALLS", "arrays_of", "called", "check_differing", "differing", "has_loop", "padding_inside"]

#: Calls, by the names of the parameter that may hold what is called.
CALLS = {
    "jit": ("jaxpr",),
    "pjit": ("jaxpr",),
    "closed_call": ("call_jaxpr",),
    "core_call": ("call_jaxpr",),
    "remat": ("jaxpr",),
    "checkpoint": ("jaxpr",),
    "custom_jvp_call": ("call_jaxpr",),
    "custom_vjp_call": ("call_jaxpr", "fun_jaxpr"),
    "custom_vjp_call_jaxpr": ("call_jaxpr", "fun_jaxpr"),
}


def called(equation: JaxprEqn) -> tuple[Jaxpr, Sequence[jax.Array]]:
    """Return the program that a call calls, and its constants."""
    names = CALLS[equation.primitive.name]
    found = next(equation.params[name] for name in names if name in equation.params)
    return getattr(found, "jaxpr", found), getattr(found, "consts", ())


def _inner_programs(equation: JaxprEqn) -> list[ClosedJaxpr]:
    """Return the programs that a branch or a loop is made of, closed."""
    name, params = equation.primitive.name, equation.params
    if name == "cond":
        return list(params["branches"])
    return [params["cond_jaxpr"], params["body_jaxpr"]] if name == "while" else [params["jaxpr"]]


def has_loop(jaxpr: Jaxpr, kinds: Sequence[str] = ("while", "scan")) -> bool:
    """Return whether there is a loop of some kinds in a program, or in one that it calls or chooses."""
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in kinds:
            return True
        programs = [called(equation)[0]] if name in CALLS else []
        programs += [program.jaxpr for program in _inner_programs(equation)] if name in ("cond", "scan") else []
        if any(has_loop(program, kinds) for program in programs):
            return True
    return False


def arrays_of(values: Sequence[Value], atoms: Sequence[Atom], mapped: Sequence[bool], runs: int) -> list[jax.Array]:
    """Return arrays, with an axis of runs where they are to have one."""
    return [
        spread(value, atom.aval.shape, (runs,)) if flag else jnp.asarray(value.array)
        for value, atom, flag in zip(values, atoms, mapped, strict=True)
    ]


def differing(jaxpr: Jaxpr, mapped: Sequence[bool], padding: Padding | None = None) -> list[bool]:
    """Return which results differ between runs: those that hang on something that does, or on the number of arms."""
    differs = {var for var, flag in zip(jaxpr.invars, mapped, strict=True) if flag}
    for place, equation in enumerate(jaxpr.eqns):
        padded = padding is not None and padding.at(place).touches(equation)
        if padded or any(isinstance(atom, Var) and atom in differs for atom in equation.invars):
            differs.update(equation.outvars)
    return [isinstance(atom, Var) and atom in differs for atom in jaxpr.outvars]


def padding_inside(
    operation: Operation, padding: Padding | None, program: Callable[[Parameters], ClosedJaxpr]
) -> Padding | None:
    """Return the padding of a program that an equation has among its parameters."""
    if padding is None:
        return None

    def chosen(equation: JaxprEqn) -> tuple[Jaxpr, Sequence[jax.Array]]:
        found = program(equation.params)
        return found.jaxpr, found.consts

    inner = padding.inside(chosen)
    inner.check_program(*chosen(operation.equation))
    return inner


def check_differing(
    operation: Operation, found: list[bool], plain: Callable[[list[Value]], list[bool]], padding: Padding | None
) -> None:
    """Check that those results differ between runs that would if all had the same number of arms.

    Raises:
        UnpaddableError: others do, and would be computed with in another way.
    """
    if padding is not None:
        values = [value._replace(mapped=not value.constant) for value in operation.values]
        if plain(values) != found and operation.varies:
            raise UnpaddableError("what a loop or a branch finds hangs on the number of arms alone")
