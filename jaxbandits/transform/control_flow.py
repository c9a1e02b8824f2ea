"""Calls, branches and loops. A branch or an end that differs between runs becomes a choice between results."""

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.extend import core

from jaxbandits.arrays.jax_versions import scan_sizes
from jaxbandits.transform.operation import Operation, Value, computed_once, spread
from jaxbandits.transform.padding import Padding, UnpaddableError

__all__ = ["CALLS", "RULES", "called"]

Evaluate = Callable[[Any, Sequence[Any], Sequence[Value], int, Padding | None], list[Value]]
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


def switch(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Take a branch; where runs differ in it, make all branches and choose: one with a loop where a run takes it."""
    index, *operands = operation.values
    branches = operation.params["branches"]
    inner = [_inside(operation, padding, functools.partial(_branch, i)) for i in range(len(branches))]
    if index.fixed:
        raise UnpaddableError("a branch is taken by the number of arms")

    def differing(known: Sequence[Value], inner: Sequence[Padding | None]) -> list[bool]:
        flags = [v.mapped for v in known[1:]]
        several = [_flags(branch.jaxpr, flags, there) for branch, there in zip(branches, inner, strict=True)]
        return [index.mapped or any(one) for one in zip(*several, strict=True)]

    mapped = differing(operation.values, inner)
    _check_differing(operation, mapped, lambda known: differing(known, [None] * len(branches)), padding)

    def branch_of(i: int) -> Callable[..., list[Any]]:
        def function(*arrays: Any) -> list[Any]:
            values = [value._replace(array=array) for array, value in zip(arrays, operands, strict=True)]
            found = evaluate(branches[i].jaxpr, branches[i].consts, values, runs, inner[i])
            return _arrays(found, branches[i].jaxpr.outvars, mapped, runs)

        return function

    arrays = [value.array for value in operands]
    if not index.mapped:
        found = lax.switch(index.array, [branch_of(i) for i in range(len(branches))], *arrays)
        return [Value(array, flag) for array, flag in zip(found, mapped, strict=True)]
    place = jnp.clip(index.array.astype(jnp.int32), 0, len(branches) - 1)
    results = []
    for i, branch in enumerate(branches):
        make = branch_of(i)
        if _has_loop(branch.jaxpr):
            nothing = [jnp.zeros((*atom.aval.shape, runs), atom.aval.dtype) for atom in branch.jaxpr.outvars]
            results.append(lax.cond(jnp.any(place == i), make, lambda *_, none=nothing: none, *arrays))
        else:
            results.append(make(*arrays))
    choice = results[0]
    for i, other in enumerate(results[1:], 1):
        choice = [jnp.where(place == i, new, old) for new, old in zip(other, choice, strict=True)]
    return [Value(array, True) for array in choice]


def loop(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Repeat while a condition holds; where runs differ in it, while it does for any, and only these change.

    So does `jax.vmap` within one run: its conditions are arrays, whose axes are the first of all that changes. A
    counter is one number for all runs, if nobody asks where it ended: those that go on have the same one.
    """
    params, values = operation.params, operation.values
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    outside, within = (_inside(operation, padding, operator.itemgetter(name)) for name in ("cond_jaxpr", "body_jaxpr"))
    cond_consts, body_consts, carry = values[:n_cond], values[n_cond : n_cond + n_body], values[n_cond + n_body :]
    shape = cond.jaxpr.outvars[0].aval.shape
    counters = [unread and not shape for unread in operation.unread]

    def differing(known: Sequence[Value], outside: Padding | None, within: Padding | None) -> tuple[list[bool], bool]:
        """Return what of the carried values differs between runs, and whether the end does."""
        fixed, flags = [v.mapped for v in known[: n_cond + n_body]], [v.mapped for v in known[n_cond + n_body :]]
        while True:  # until nothing more differs
            (apart,) = _flags(cond.jaxpr, [*fixed[:n_cond], *flags], outside)
            after = _flags(body.jaxpr, [*fixed[n_cond:], *flags], within)
            more = [old or new or (apart and not one) for old, new, one in zip(flags, after, counters, strict=True)]
            if more == flags:
                return flags, apart
            flags = more

    mapped, apart = differing(values, outside, within)
    _check_differing(operation, mapped, lambda known: differing(known, None, None)[0], padding)
    several = apart or bool(shape)

    def holds(arrays: Iterable[Any]) -> Any:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        (value,) = evaluate(cond.jaxpr, cond.consts, [*cond_consts, *now], runs, outside)
        return spread(value, shape, (runs,) if apart else ())

    def going(arrays: Iterable[Any]) -> Any:
        return jnp.any(holds(arrays)) if several else holds(arrays)

    def step(arrays: Iterable[Any]) -> list[Any]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        found = evaluate(body.jaxpr, body.consts, [*body_consts, *now], runs, within)
        new = _arrays(found, body.jaxpr.outvars, mapped, runs)
        if not several:
            return new
        live = holds(arrays)
        rest = live.shape[len(shape) :]  # the runs, or nothing

        def chosen(a: Any, b: Any, flag: bool) -> Any:
            if apart and not flag:
                return a
            between = (1 for _ in range(a.ndim - live.ndim))
            return jnp.where(live.reshape(*shape, *between, *rest), a, b)

        return [chosen(a, b, flag) for a, b, flag in zip(new, arrays, mapped, strict=True)]

    first = _arrays(carry, body.jaxpr.invars[n_body:], mapped, runs)
    with computed_once(False):  # in a small loop more kernels cost more than what they spare
        last = lax.while_loop(going, step, first)
    return [Value(array, flag) for array, flag in zip(last, mapped, strict=True)]


def scan(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Repeat over the entries of arrays."""
    params, values, body = operation.params, operation.values, operation.params["jaxpr"]
    n_consts, n_carry = scan_sizes(params)
    within = _inside(operation, padding, lambda params: params["jaxpr"])
    consts, carry, entries = values[:n_consts], values[n_consts : n_consts + n_carry], values[n_consts + n_carry :]
    if padding is not None and any(other.params["length"] != params["length"] for other in padding.wider):
        raise UnpaddableError("a loop is as long as there are arms")

    def differing(known: Sequence[Value], within: Padding | None) -> tuple[list[bool], list[bool]]:
        """Return what of the carried values and of the results differs between runs."""
        flags = [v.mapped for v in known]
        fixed, mapped, seen = flags[:n_consts], flags[n_consts : n_consts + n_carry], flags[n_consts + n_carry :]
        while True:
            after = _flags(body.jaxpr, [*fixed, *mapped, *seen], within)
            more = [old or new for old, new in zip(mapped, after[:n_carry], strict=True)]
            if more == mapped:
                return mapped, [*mapped, *after[n_carry:]]
            mapped = more

    mapped, outs = differing(values, within)
    _check_differing(operation, outs, lambda known: differing(known, None)[1], padding)

    def step(arrays: Sequence[Any], entry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        here = [Value(array, value.mapped) for array, value in zip(entry, entries, strict=True)]
        found = evaluate(body.jaxpr, body.consts, [*consts, *now, *here], runs, within)
        new = _arrays(found, body.jaxpr.outvars, outs, runs)
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


def _flags(jaxpr: Any, mapped: Sequence[bool], padding: Padding | None = None) -> list[bool]:
    """Return which results differ between runs: those that hang on something that does, or on the number of arms."""
    differs = {var for var, flag in zip(jaxpr.invars, mapped, strict=True) if flag}
    for place, equation in enumerate(jaxpr.eqns):
        padded = padding is not None and padding.at(place).touches(equation)
        if padded or any(isinstance(atom, core.Var) and atom in differs for atom in equation.invars):
            differs.update(equation.outvars)
    return [isinstance(atom, core.Var) and atom in differs for atom in jaxpr.outvars]


def _inside(operation: Operation, padding: Padding | None, program: Callable[[Any], Any]) -> Padding | None:
    """Return the padding of a program that an equation has among its parameters."""
    if padding is None:
        return None

    def called(equation: Any) -> tuple[Any, Any]:
        found = program(equation.params)
        return found.jaxpr, found.consts

    inner = padding.inside(called)
    inner.check_program(*called(operation.equation))
    return inner


def _check_differing(
    operation: Operation, found: list[bool], plain: Callable[[list[Value]], list[bool]], padding: Padding | None
) -> None:
    """Check that those results differ between runs that would if all had the same number of arms.

    Raises:
        UnpaddableError: others do, and would be computed with in another way.
    """
    if padding is not None:
        values = [value._replace(mapped=value.mapped and not value.fixed) for value in operation.values]
        if plain(values) != found and operation.varies:
            raise UnpaddableError("what a loop or a branch finds hangs on the number of arms alone")


def _branch(number: int, params: Any) -> Any:
    """Return a branch of a choice, by its number."""
    return params["branches"][number]


def _has_loop(jaxpr: Any) -> bool:
    """Return whether there is a loop in a program."""
    return any(equation.primitive.name in ("while", "scan") for equation in jaxpr.eqns)


RULES: dict[str, Callable[..., list[Value]]] = {"cond": switch, "while": loop, "scan": scan}
