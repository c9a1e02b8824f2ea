"""Branches: one that differs between runs becomes a choice between results.

Both branches of a `lax.cond` are then computed for all runs. A costly branch, one with a loop, is computed only if any
run needs it. If the other branch returns its arguments, as in `lax.cond(due, solve, keep, state)`, the costly one is
computed for a few runs at a time, those that need it. So a branch that is rare for each run does not cost all runs
time. This is so on CPU; elsewhere runs go together. The results of a run are the same, bit for bit.
"""

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.compilers.jaxpr_types import ClosedJaxpr, Jaxpr, Parameters
from jaxbandits.compilers.xla_cpu import where_if_any, where_sparse
from jaxbandits.transform.growing_numbers import UnpaddableError
from jaxbandits.transform.operation import Operation, Value, spread
from jaxbandits.transform.padding import Padding
from jaxbandits.transform.programs_inside import arrays_of, check_differing, differing, has_loop, padding_inside

__all__ = ["switch"]

Evaluate = Callable[[Jaxpr, Sequence[jax.Array], Sequence[Value], int, Padding | None], list[Value]]
#: How many runs a rare branch is made for at a time.
_FEW = 64


def switch(operation: Operation, runs: int, evaluate: Evaluate, padding: Padding | None = None) -> list[Value]:
    """Take a branch; where runs differ in it, make the branches and choose."""
    index, *operands = operation.values
    branches = operation.params["branches"]
    if padding is not None and any(len(other.params["branches"]) != len(branches) for other in padding.wider):
        raise UnpaddableError("with another number of arms there are other branches")
    inner = [padding_inside(operation, padding, functools.partial(_branch, i)) for i in range(len(branches))]
    if index.fixed:
        raise UnpaddableError("a branch is taken by the number of arms")

    def differ(known: Sequence[Value], inner: Sequence[Padding | None]) -> list[bool]:
        flags = [v.mapped for v in known[1:]]
        several = [differing(branch.jaxpr, flags, there) for branch, there in zip(branches, inner, strict=True)]
        return [index.mapped or any(one) for one in zip(*several, strict=True)]

    mapped = differ(operation.values, inner)
    check_differing(operation, mapped, lambda known: differ(known, [None] * len(branches)), padding)

    def made(i: int, values: Sequence[Value], some: jax.Array | None = None) -> list[jax.Array]:
        there = inner[i]
        if some is not None and there is not None:
            there = there.of_runs(some)
        count = runs if some is None else some.shape[0]
        found = evaluate(branches[i].jaxpr, branches[i].consts, values, count, there)
        return arrays_of(found, branches[i].jaxpr.outvars, mapped, count)

    def branch_of(i: int) -> Callable[..., list[jax.Array]]:
        return lambda *arrays: made(i, [v._replace(array=x) for x, v in zip(arrays, operands, strict=True)])

    if index.range is not None and index.range[0] == index.range[1]:  # it is known which
        number = min(max(int(index.range[0]), 0), len(branches) - 1)
        return [Value(array, flag) for array, flag in zip(made(number, operands), mapped, strict=True)]
    if not index.mapped:
        arrays = [value.array for value in operands]
        found = lax.switch(index.array, [branch_of(i) for i in range(len(branches))], *arrays)
        return [Value(array, flag) for array, flag in zip(found, mapped, strict=True)]
    place = fast_min(fast_max(index.array.astype(jnp.int32), 0), len(branches) - 1)
    return _chosen(operation, place, made)


def _chosen(operation: Operation, place: jax.Array, made: Callable[..., list[jax.Array]]) -> list[Value]:
    """Make the branches, int32 `(R,)`, for the runs that want them, and choose; the costly ones last.

    A costly one is not made for runs of which nobody reads the results: they keep those of the others.
    """
    operands, branches, outs = operation.values[1:], operation.params["branches"], operation.equation.outvars
    costly = [lowering().chunked and has_loop(branch.jaxpr) for branch in branches]
    few = sum(costly) == 1 and all(_is_kept(branch.jaxpr) or costly[i] for i, branch in enumerate(branches))
    found: list[jax.Array] | None = None
    unless: list[jax.Array] | list[None] = [None] * len(outs)
    for number in sorted(range(len(branches)), key=lambda number: costly[number]):
        if costly[number]:
            if found is None:
                found = [jnp.zeros((*out.aval.shape, *place.shape), out.aval.dtype) for out in outs]
            wanted = place == number
            if operation.live is not None:
                wanted, unless = wanted & operation.live, found if unless[0] is None else unless
            found = _wanted(functools.partial(made, number), wanted, found, operands, few=few)
            continue
        new = made(number, operands)
        found = new if found is None else [jnp.where(place == number, a, b) for a, b in zip(new, found, strict=True)]
    assert found is not None
    return [Value(array, True, unless=old) for array, old in zip(found, unless, strict=True)]


def _branch(number: int, params: Parameters) -> ClosedJaxpr:
    """Return a branch of a choice, by its number."""
    return params["branches"][number]


def _is_kept(jaxpr: Jaxpr) -> bool:
    """Return whether a branch returns what it is given."""
    return all(atom in jaxpr.invars for atom in jaxpr.outvars)


def _wanted(
    made: Callable[..., list[jax.Array]],
    wanted: jax.Array,
    otherwise: list[jax.Array],
    operands: Sequence[Value],
    *,
    few: bool,
) -> list[jax.Array]:
    """Return the results of a branch for the runs that want it, bool `(R,)`, and `otherwise` for the others.

    What is known of its operands beside their ranges is forgotten in any case: a run has the same bits however many
    others want the branch.
    """
    arrays = [value.array for value in operands if value.mapped]
    runs = wanted.shape[0]

    def results(state: list[jax.Array], arrays: Sequence[jax.Array], some: jax.Array | None) -> list[jax.Array]:
        given = iter(arrays)
        values = [Value(next(given) if v.mapped else v.array, v.mapped, range=v.range, fixed=v.fixed) for v in operands]
        return [
            spread(Value(array, True), old.shape[:-1], old.shape[-1:])
            for array, old in zip(made(values, some), state, strict=True)
        ]

    every = jnp.arange(runs, dtype=jnp.int32)
    found: list[jax.Array]
    if few and runs > _FEW:

        def made_for_few(state: list[jax.Array]) -> list[jax.Array]:
            return where_sparse(wanted, results, state, arrays, every, width=_FEW)

        # A loop that is not entered copies what it would change: a choice does not.
        found = lax.cond(jnp.any(wanted), made_for_few, lambda state: state, otherwise)
    else:

        def made_for_all(state: list[jax.Array]) -> list[jax.Array]:
            # For a run that does not need the branch, its loop might not end: a run that needs it takes the place.
            source = jnp.where(wanted, every, jnp.argmax(wanted))
            return results(state, [array[..., source] for array in arrays], source)

        found = where_if_any(wanted, made_for_all, otherwise)
    return found
