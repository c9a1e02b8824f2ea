"""Loops. An end that differs between runs becomes a choice between results."""

import operator
from collections.abc import Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.compilers.jax_versions import scan_sizes
from jaxbandits.compilers.jaxpr_types import Jaxpr
from jaxbandits.transform.branches import switch
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, Value, computed_once, spread
from jaxbandits.transform.padding import Padding
from jaxbandits.transform.programs_inside import arrays_of, check_differing, has_loop, padding_inside
from jaxbandits.transform.programs_inside import differing as differing_in

__all__ = ["RULES"]

Evaluate = Callable[[Jaxpr, Sequence[jax.Array], Sequence[Value], int, Padding | None], list[Value]]


def loop(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Repeat while a condition holds; where runs differ in it, while it does for any, and only these change.

    So does `jax.vmap` within one run: its conditions are arrays, whose axes are the first of all that changes. A
    counter is one number for all runs, if nobody asks where it ended: those that go on have the same one.
    """
    params = operation.params
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    values = _of_live_runs(operation) if has_loop(body.jaxpr) else operation.values
    outside, within = (
        padding_inside(operation, padding, operator.itemgetter(name)) for name in ("cond_jaxpr", "body_jaxpr")
    )
    cond_consts, body_consts, carry = values[:n_cond], values[n_cond : n_cond + n_body], values[n_cond + n_body :]
    shape = cond.jaxpr.outvars[0].aval.shape
    counters = [unread and not shape for unread in operation.unread]

    def differing(known: Sequence[Value], outside: Padding | None, within: Padding | None) -> tuple[list[bool], bool]:
        """Return what of the carried values differs between runs, and whether the end does."""
        fixed, flags = [v.mapped for v in known[: n_cond + n_body]], [v.mapped for v in known[n_cond + n_body :]]
        while True:  # until nothing more differs
            (apart,) = differing_in(cond.jaxpr, [*fixed[:n_cond], *flags], outside)
            after = differing_in(body.jaxpr, [*fixed[n_cond:], *flags], within)
            more = [old or new or (apart and not one) for old, new, one in zip(flags, after, counters, strict=True)]
            if more == flags:
                return flags, apart
            flags = more

    mapped, apart = differing(values, outside, within)
    check_differing(operation, mapped, lambda known: differing(known, None, None)[0], padding)
    several = apart or bool(shape)

    def holds(arrays: Iterable[jax.Array]) -> jax.Array:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        (value,) = evaluate(cond.jaxpr, cond.consts, [*cond_consts, *now], runs, outside)
        found = spread(value, shape, (runs,) if apart else ())
        return found & operation.live if apart and operation.live is not None else found

    def going(arrays: Iterable[jax.Array]) -> jax.Array:
        return jnp.any(holds(arrays)) if several else holds(arrays)

    def step(arrays: Iterable[jax.Array]) -> list[jax.Array]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        found = evaluate(body.jaxpr, body.consts, [*body_consts, *now], runs, within)
        new = arrays_of(found, body.jaxpr.outvars, mapped, runs)
        if not several:
            return new
        live = holds(arrays)
        rest = live.shape[len(shape) :]  # the runs, or nothing

        def chosen(a: jax.Array, b: jax.Array, flag: bool) -> jax.Array:
            if apart and not flag:
                return a
            between = (1 for _ in range(a.ndim - live.ndim))
            return jnp.where(live.reshape(*shape, *between, *rest), a, b)

        return [chosen(a, b, flag) for a, b, flag in zip(new, arrays, mapped, strict=True)]

    first = arrays_of(carry, body.jaxpr.invars[n_body:], mapped, runs)
    with computed_once(False):  # in a small loop more kernels cost more than what they spare
        last = lax.while_loop(going, step, first)
    return [Value(array, flag) for array, flag in zip(last, mapped, strict=True)]


def _of_live_runs(operation: Operation) -> Sequence[Value]:
    """Return the operands, where those of a run that nobody reads are replaced by a live run's.

    A loop within the loop might take long for it, or never end: a lane without a job has parameters of 0.
    """
    if operation.live is None:
        return operation.values
    source = jnp.where(operation.live, jnp.arange(operation.live.shape[0]), jnp.argmax(operation.live))
    return [
        Value(value.array[..., source], True, range=value.range, fixed=value.fixed) if value.mapped else value
        for value in operation.values
    ]


def scan(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Repeat over the entries of arrays; where runs have another number of them, only those change that go on."""
    params, values, body = operation.params, operation.values, operation.params["jaxpr"]
    n_consts, n_carry = scan_sizes(params)
    within = padding_inside(operation, padding, lambda params: params["jaxpr"])
    consts, carry, entries = values[:n_consts], values[n_consts : n_consts + n_carry], values[n_consts + n_carry :]
    carried = body.jaxpr.outvars[:n_carry]
    # From the end, the steps beyond those of a run come first: a counter would count them.
    shared = [not params["reverse"] and not var.aval.shape for var in carried]
    counters = [unread and one for unread, one in zip(operation.unread[:n_carry], shared, strict=True)]
    steps = None if padding is None else _steps(operation, padding)

    def differing(known: Sequence[Value], within: Padding | None, apart: bool) -> tuple[list[bool], list[bool]]:
        """Return what of the carried values and of the results differs between runs, of which steps may, too."""
        flags = [v.mapped for v in known]
        fixed, mapped, seen = flags[:n_consts], flags[n_consts : n_consts + n_carry], flags[n_consts + n_carry :]
        while True:
            after = differing_in(body.jaxpr, [*fixed, *mapped, *seen], within)
            pairs = zip(mapped, after[:n_carry], counters, strict=True)
            more = [old or new or (apart and not one) for old, new, one in pairs]
            if more == mapped:
                return mapped, [*mapped, *after[n_carry:]]
            mapped = more

    mapped, outs = differing(values, within, steps is not None)
    check_differing(operation, outs, lambda known: differing(known, None, False)[1], padding)

    def step(arrays: Sequence[jax.Array], entry: Sequence[jax.Array]) -> tuple[list[jax.Array], list[jax.Array]]:
        now = [Value(array, flag) for array, flag in zip(arrays, mapped, strict=True)]
        here = [Value(array, value.mapped) for array, value in zip(entry, entries, strict=steps is None)]
        found = evaluate(body.jaxpr, body.consts, [*consts, *now, *here], runs, within)
        new = arrays_of(found, body.jaxpr.outvars, outs, runs)
        after = new[:n_carry]
        if steps is not None:
            pairs = zip(after, arrays, mapped, strict=True)
            after = [jnp.where(entry[-1] < steps.array, a, b) if flag else a for a, b, flag in pairs]
        return after, new[n_carry:]

    first = arrays_of(carry, body.jaxpr.invars[n_consts : n_consts + n_carry], mapped, runs)
    how = {name: params[name] for name in ("length", "reverse", "unroll")}
    numbers = [] if steps is None else [jnp.arange(params["length"])]
    last, all_of_them = lax.scan(step, first, [*(value.array for value in entries), *numbers], **how)
    return [Value(array, flag) for array, flag in zip([*last, *all_of_them], outs, strict=True)]


def _steps(operation: Operation, padding: Padding) -> Value | None:
    """Return how many steps a loop over entries makes, which the number of arms decides; None where it does not.

    Raises:
        UnpaddableError: it makes more with fewer arms, or a loop within might never end after the last step of a run.
    """
    every = [np.asarray(one.params["length"], np.int32) for one in (operation.equation, *padding.wider)]
    steps = padding.number(every)
    if steps is not None and (steps.range is None or steps.range[1] > every[0]):
        raise UnpaddableError("a loop is longer with fewer arms")
    if steps is not None and has_loop(operation.params["jaxpr"].jaxpr, ("while",)):
        raise UnpaddableError("a loop as long as there are arms has one within that may never end")
    return steps


RULES: dict[str, Callable[..., list[Value]]] = {"cond": switch, "while": loop, "scan": scan}
