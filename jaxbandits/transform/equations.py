"""The entry of the transformation: a one-run function to one of R runs, equation by equation."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.tree_util import PyTreeDef

from jaxbandits.compilers.fusion_budget import live_equations
from jaxbandits.compilers.jaxpr_types import Atom, Jaxpr, Literal, Var
from jaxbandits.compilers.known_functions import function_called
from jaxbandits.transform import (
    control_flow,
    counts,
    elementwise,
    indexing,
    random_keys,
    ranges,
    reductions,
    rewrites,
    sorting,
    structure,
)
from jaxbandits.transform.answers import answered
from jaxbandits.transform.computed import Computed
from jaxbandits.transform.fallback import by_vmap
from jaxbandits.transform.filling import filled
from jaxbandits.transform.growing_numbers import UnevenError
from jaxbandits.transform.operation import Known, Operation, Value, first_run, given, spread, twice
from jaxbandits.transform.paddable import Axes, axes_of_arms
from jaxbandits.transform.padding import Padded, Padding, of_two
from jaxbandits.transform.products import exposed_results
from jaxbandits.transform.programs_inside import CALLS, called
from jaxbandits.transform.shared_traces import traced

__all__ = ["map_runs", "results_of"]

_RULES = structure.RULES | reductions.RULES | sorting.RULES | indexing.RULES | random_keys.RULES


def map_runs(function: Callable[..., object]) -> Callable[..., Any]:
    """Map a function of one run over R runs.

    It computes `jax.vmap(function, in_axes=-1, out_axes=-1)` by other operations. Each run has the same bits for every
    R and for any other runs. `sin`, `erf`, `lgamma` and similar functions are an exception: their bits are XLA's.
    Operations without a rule are left to `jax.vmap`.

    Args:
        function: from pytrees of arrays to a pytree of arrays, in plain `jax.numpy`.

    Returns:
        The same function of pytrees with an axis of R runs at the end of each leaf, of keys too.

    Raises:
        ValueError: there is no argument with a leaf.

    Example:
        >>> import jax.numpy as jnp
        >>> means = jnp.asarray([[0.2, 0.9], [0.8, 0.1]])  # two arms, two runs
        >>> map_runs(jnp.argmax)(means).tolist()
        [1, 0]
    """

    def mapped(*arguments: object) -> Any:
        values, tree = results_of(function, arguments)
        return jax.tree.unflatten(tree, [value.array for value in values])

    return mapped


def results_of(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    known: Sequence[Known] | None = None,
    padded: Padded | None = None,
    live: jax.Array | None = None,
) -> tuple[list[Value], PyTreeDef]:
    """Evaluate a function of one run for R runs.

    Args:
        function: as for `map_runs`.
        arguments: a tuple of pytrees, the runs last.
        known: what is known of each leaf of these; None for nothing.
        padded: how many arms exist, where arrays are longer; None where they are not.
        live: bool `(R,)`, the runs of which results are read; None for all.

    Returns:
        Its results, the runs last, and the structure of the pytree that they are the leaves of.

    Raises:
        UnpaddableError: arms that do not exist cannot be left out.
    """
    leaves, tree = jax.tree.flatten(arguments)
    if not leaves:
        raise ValueError("map_runs: give an argument with an axis of runs")
    runs = leaves[0].shape[-1]
    if runs == 1:
        values, out_tree = results_of(function, twice(arguments), *of_two(known, padded), twice(live))
        return [Value(first_run(value.array), True, range=value.range) for value in values], out_tree
    one = [jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype) for leaf in leaves]

    def of_leaves(*leaves: jax.Array) -> object:
        return function(*jax.tree.unflatten(tree, leaves))

    closed, results = traced(of_leaves, *one)
    inputs = [given(x, k) for x, k in zip(leaves, known or [Known()] * len(leaves), strict=True)]

    def evaluated(*, each: bool) -> list[Value]:
        padding = None if padded is None else padded.followed(of_leaves, (function, tree), one, each=each)
        return evaluate(closed.jaxpr, closed.consts, inputs, runs, padding, Computed(live))

    try:
        values = evaluated(each=False)
    except UnevenError:  # it may be followed if each number of arms is known
        values = evaluated(each=True)
    shapes, out_tree = jax.tree.flatten(results)
    whole = [
        value if value.mapped else Value(spread(value, shape.shape, (runs,)), True, range=value.range)
        for value, shape in zip(values, shapes, strict=True)
    ]
    return whole, out_tree


def evaluate(
    jaxpr: Jaxpr,
    consts: Sequence[jax.Array],
    arguments: Sequence[Value],
    runs: int,
    padding: Padding | None = None,
    computed: Computed | None = None,
) -> list[Value]:
    """Evaluate a one-run program for R runs.

    Args:
        jaxpr: the program.
        consts: its constants, the same for all runs.
        arguments: its arguments.
        runs: R.
        padding: the same program for more arms, and how many there are; None where all arms exist.
        computed: what has been computed, not to be computed again: a rule computes its bounds in every method.
    """
    computed = Computed() if computed is None else computed
    exposed = exposed_results(jaxpr)
    known: dict[Atom, Value] = dict(zip(jaxpr.constvars, map(_constant, consts), strict=True))
    known |= dict(zip(jaxpr.invars, arguments, strict=True))
    if padding is not None:
        padding.check_program(jaxpr, consts)

    def read(atom: Atom, i: int, wider: Sequence[Sequence[Any]]) -> Value:
        if not isinstance(atom, Literal):
            return known[atom]
        growing = None if padding is None else padding.literal(atom, [other[i] for other in wider])
        return _constant(atom.val) if growing is None else growing

    read_later = {atom for equation in jaxpr.eqns for atom in equation.invars if isinstance(atom, Var)}
    read_later |= {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    wanted = {id(equation) for equation in live_equations(jaxpr)}
    for place, equation in enumerate(jaxpr.eqns):
        if id(equation) not in wanted:
            continue
        here = None if padding is None else padding.at(place)
        wider = () if here is None else [other.invars for other in here.wider]
        values = [read(atom, i, wider) for i, atom in enumerate(equation.invars)]
        suffix = (runs,) if any(value.mapped for value in values) else ()
        out = equation.outvars[0].aval if equation.outvars else None
        shape = tuple(getattr(out, "shape", ()))
        unread = tuple(var not in read_later for var in equation.outvars)
        is_exposed = bool(exposed.intersection(equation.outvars))
        operation = Operation(equation, values, suffix, is_exposed, shape, unread=unread, live=computed.live)
        # Checked for each equation: programs may agree for this number of arms and differ for another.
        programs = operation.name in CALLS or operation.name in control_flow.RULES
        axes = None if here is None or programs else axes_of_arms(operation, here)
        results = computed.again(operation, axes, functools.partial(_apply, operation, runs, here, axes, computed))
        if padding is not None and not operation.varies:
            results = [value._replace(fixed=value.mapped) for value in results]
        known.update(zip(equation.outvars, results, strict=True))
    wider = () if padding is None else [other.outvars for other in padding.wider]
    return [read(atom, i, wider) for i, atom in enumerate(jaxpr.outvars)]


def _constant(array: jax.Array) -> Value:
    """Return a value that all runs share, and is known."""
    return Value(array, False, range=ranges.constant_range(array))


def _apply(
    operation: Operation,
    runs: int,
    padding: Padding | None,
    axes: Axes | None,
    computed: Computed,
) -> list[Value]:
    """Evaluate one equation."""
    name = operation.name
    if (whole := function_called(operation.equation)) is not None:
        return [elementwise.apply_whole(whole, operation)]
    if name in CALLS:
        program, consts = called(operation.equation)
        inner = None if padding is None else padding.inside(called)
        return evaluate(program, consts, operation.values, runs, inner, computed)
    if padding is not None and axes is not None and name not in control_flow.RULES:
        operation = filled(operation, padding, axes)
    if (value := answered(operation)) is not None:
        return [value]
    try:
        if name in control_flow.RULES:
            return control_flow.RULES[name](operation, runs, evaluate, padding)
        operation = rewrites.kept_apart(operation)
        shortcut = counts.with_root(operation)
        found = _by_rule(operation) if shortcut is None else [shortcut]
        if len(found) == 1:
            rewritten = found[0].open if shortcut is not None else rewrites.open_to(operation)
            known, counted = ranges.range_of(operation), counts.counts_of(operation)
            found = [found[0]._replace(range=known, counts=counted, open=rewritten)]
        return found
    except NotImplementedError:
        pass
    return by_vmap(operation)


def _by_rule(operation: Operation) -> list[Value]:
    """Evaluate an operation by its rule."""
    name = operation.name
    if name in elementwise.RULES:
        return [elementwise.apply(operation)]
    if name not in _RULES:
        raise NotImplementedError
    return [x if isinstance(x, Value) else Value(x, bool(operation.suffix)) for x in _RULES[name](operation)]
