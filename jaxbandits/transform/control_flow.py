"""Calls, branches and loops. A branch or an end that differs between runs becomes a choice between results."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.extend import core

from jaxbandits.arrays.jax_versions import scan_sizes
from jaxbandits.transform.operation import Operation, Value, spread

__all__ = ["CALLS", "RULES", "called"]

Evaluate = Callable[[Any, Sequence[Any], Sequence[Value], int], list[Value]]
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


def called(equation: Any) -> tuple[Any, Sequence[Any]]:
    """Return the program that a call calls, and its constants."""
    names = CALLS[equation.primitive.name]
    found = next(equation.params[name] for name in names if name in equation.params)
    return getattr(found, "jaxpr", found), getattr(found, "consts", ())


def switch(operation: Operation, runs: int, evaluate: Evaluate) -> list[Value]:
    """Take a branch; where runs differ in it, make all branches and choose."""
    index, *operands = operation.values
    branches = operation.params["branches"]
    if index.mapped:
        results = [evaluate(branch.jaxpr, branch.consts, operands, runs) for branch in branches]
        shapes = [out.aval.shape for out in operation.equation.outvars]
        place = jnp.clip(index.array.astype(jnp.int32), 0, len(branches) - 1)
        found = []
        for shape, several in zip(shapes, zip(*results, strict=True), strict=True):
            whole = [spread(value, shape, (runs,)) for value in several]
            choice = whole[0]
            for number, other in enumerate(whole[1:], 1):
                choice = jnp.where(place == number, other, choice)
            found.append(Value(choice, True))
        return found
    flags = [_flags(branch.jaxpr, [value.mapped for value in operands]) for branch in branches]
    mapped = [any(several) for several in zip(*flags, strict=True)]

    def branch_of(branch: Any) -> Callable[..., list[Any]]:
        def function(*arrays: Any) -> list[Any]:
            values = [Value(array, v.mapped) for array, v in zip(arrays, operands, strict=True)]
            return _arrays(evaluate(branch.jaxpr, branch.consts, values, runs), branch.jaxpr.outvars, mapped, runs)

        return function

    arrays = lax.switch(index.array, [branch_of(branch) for branch in branches], *(v.array for v in operands))
    return [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]


def loop(operation: Operation, runs: int, evaluate: Evaluate) -> list[Value]:
    """Repeat while a condition holds; where runs differ in it, while it does for any, and only these change.

    So does `jax.vmap` within one run: its conditions are arrays, whose axes are the first of all that changes.
    """
    params, values = operation.params, operation.values
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    cond_consts, body_consts, carry = values[:n_cond], values[n_cond : n_cond + n_body], values[n_cond + n_body :]
    mapped = [value.mapped for value in carry]
    while True:  # until nothing more differs between runs
        (apart,) = _flags(cond.jaxpr, [*(v.mapped for v in cond_consts), *mapped])
        after = _flags(body.jaxpr, [*(v.mapped for v in body_consts), *mapped])
        more = [old or new or apart for old, new in zip(mapped, after, strict=True)]
        if more == mapped:
            break
        mapped = more
    atoms, shape = body.jaxpr.outvars, cond.jaxpr.outvars[0].aval.shape
    several = apart or bool(shape)

    def holds(arrays: Iterable[Any]) -> Any:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        (value,) = evaluate(cond.jaxpr, cond.consts, [*cond_consts, *now], runs)
        return spread(value, shape, (runs,) if apart else ())

    def going(arrays: Iterable[Any]) -> Any:
        return jnp.any(holds(arrays)) if several else holds(arrays)

    def step(arrays: Iterable[Any]) -> list[Any]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        new = _arrays(evaluate(body.jaxpr, body.consts, [*body_consts, *now], runs), atoms, mapped, runs)
        if not several:
            return new
        live = holds(arrays)
        rest = live.shape[len(shape) :]  # the runs, or nothing

        def chosen(a: Any, b: Any) -> Any:
            between = (1 for _ in range(a.ndim - live.ndim))
            return jnp.where(live.reshape(*shape, *between, *rest), a, b)

        return [chosen(a, b) for a, b in zip(new, arrays, strict=True)]

    first = _arrays(carry, body.jaxpr.invars[n_body:], mapped, runs)
    return [Value(array, flag) for array, flag in zip(lax.while_loop(going, step, first), mapped, strict=True)]


def scan(operation: Operation, runs: int, evaluate: Evaluate) -> list[Value]:
    """Repeat over the entries of arrays."""
    params, values, body = operation.params, operation.values, operation.params["jaxpr"]
    n_consts, n_carry = scan_sizes(params)
    consts, carry, entries = values[:n_consts], values[n_consts : n_consts + n_carry], values[n_consts + n_carry :]
    fixed = [v.mapped for v in consts]
    seen = [v.mapped for v in entries]
    mapped = [v.mapped for v in carry]
    while True:
        after = _flags(body.jaxpr, [*fixed, *mapped, *seen])
        more = [old or new for old, new in zip(mapped, after[:n_carry], strict=True)]
        if more == mapped:
            break
        mapped = more
    outs = [*mapped, *after[n_carry:]]

    def step(arrays: Sequence[Any], entry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        here = [Value(array, flag) for array, flag in zip(entry, seen, strict=True)]
        new = _arrays(evaluate(body.jaxpr, body.consts, [*consts, *now, *here], runs), body.jaxpr.outvars, outs, runs)
        return new[:n_carry], new[n_carry:]

    first = _arrays(carry, body.jaxpr.invars[n_consts : n_consts + n_carry], mapped, runs)
    how = {name: params[name] for name in ("length", "reverse", "unroll")}
    last, all_of_them = lax.scan(step, first, [value.array for value in entries], **how)
    return [Value(array, flag) for array, flag in zip([*last, *all_of_them], outs, strict=True)]


def _arrays(values: Sequence[Value], atoms: Sequence[Any], mapped: Sequence[bool], runs: int) -> list[Any]:
    """Return arrays, with an axis of runs where they are to have one."""
    return [
        spread(value, atom.aval.shape, (runs,)) if flag else jnp.asarray(value.array)
        for value, atom, flag in zip(values, atoms, mapped, strict=True)
    ]


def _flags(jaxpr: Any, mapped: Sequence[bool]) -> list[bool]:
    """Return which results differ between runs: those that hang on something that does."""
    differs = {var for var, flag in zip(jaxpr.invars, mapped, strict=True) if flag}
    for equation in jaxpr.eqns:
        if any(isinstance(atom, core.Var) and atom in differs for atom in equation.invars):
            differs.update(equation.outvars)
    return [isinstance(atom, core.Var) and atom in differs for atom in jaxpr.outvars]


RULES: dict[str, Callable[[Operation, int, Evaluate], list[Value]]] = {"cond": switch, "while": loop, "scan": scan}
