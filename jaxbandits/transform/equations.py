"""The entry of the transformation: a one-run function to one of R runs, equation by equation."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend import core

from jaxbandits.transform import control_flow, elementwise, indexing, random_keys, reductions, structure
from jaxbandits.transform.operation import Operation, Value, spread
from jaxbandits.transform.products import exposed_results

__all__ = ["map_runs", "results_of"]

_RULES = structure.RULES | reductions.RULES | indexing.RULES | random_keys.RULES


def map_runs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Map a function of one run over R runs.

    It is `jax.vmap(function, in_axes=-1, out_axes=-1)` in other forms. Each run has the same bits whatever R is and
    whatever the other runs are, up to what XLA computes for `sin`, `erf`, `lgamma` and their like, whose bits are
    XLA's. Operations without a rule are left to `jax.vmap`.

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

    def mapped(*arguments: Any) -> Any:
        values, tree = results_of(function, arguments)
        return jax.tree.unflatten(tree, [value.array for value in values])

    return mapped


def results_of(function: Callable[..., Any], arguments: Any) -> tuple[list[Value], Any]:
    """Evaluate a function of one run for R runs.

    Args:
        function: as for `map_runs`.
        arguments: a tuple of pytrees, the runs last.

    Returns:
        Its results, the runs last, and the structure of the pytree that they are the leaves of.
    """
    leaves, tree = jax.tree.flatten(arguments)
    if not leaves:
        raise ValueError("map_runs: give an argument with an axis of runs")
    runs = leaves[0].shape[-1]
    one = [jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype) for leaf in leaves]

    def of_leaves(*leaves: Any) -> Any:
        return function(*jax.tree.unflatten(tree, leaves))

    closed, results = jax.make_jaxpr(of_leaves, return_shape=True)(*one)
    values = evaluate(closed.jaxpr, closed.consts, [Value(leaf, True) for leaf in leaves], runs)
    shapes, out_tree = jax.tree.flatten(results)
    whole = [
        value if value.mapped else Value(spread(value, shape.shape, (runs,)), True)
        for value, shape in zip(values, shapes, strict=True)
    ]
    return whole, out_tree


def evaluate(jaxpr: Any, consts: Sequence[Any], arguments: Sequence[Value], runs: int) -> list[Value]:
    """Evaluate a one-run program for R runs.

    Args:
        jaxpr: the program.
        consts: its constants, the same for all runs.
        arguments: its arguments.
        runs: R.
    """
    exposed = exposed_results(jaxpr)
    known: dict[Any, Value] = dict(zip(jaxpr.constvars, (Value(const, False) for const in consts), strict=True))
    known |= dict(zip(jaxpr.invars, arguments, strict=True))

    def read(atom: Any) -> Value:
        return Value(atom.val, False) if isinstance(atom, core.Literal) else known[atom]

    for equation in jaxpr.eqns:
        values = [read(atom) for atom in equation.invars]
        suffix = (runs,) if any(value.mapped for value in values) else ()
        out = equation.outvars[0].aval if equation.outvars else None
        shape = tuple(getattr(out, "shape", ()))
        operation = Operation(equation, values, suffix, bool(exposed.intersection(equation.outvars)), shape)
        known.update(zip(equation.outvars, _apply(operation, runs), strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(operation: Operation, runs: int) -> list[Value]:
    """Evaluate one equation."""
    name = operation.name
    if name in control_flow.CALLS:
        program, consts = control_flow.called(operation.equation)
        return evaluate(program, consts, operation.values, runs)
    try:
        if name in control_flow.RULES:
            return control_flow.RULES[name](operation, runs, evaluate)
        if name in elementwise.RULES:
            return [elementwise.apply(operation)]
        if name == "broadcast_in_dim":
            return [structure.broadcast(operation)]
        if name in _RULES:
            return [x if isinstance(x, Value) else Value(x, bool(operation.suffix)) for x in _RULES[name](operation)]
    except NotImplementedError:
        pass
    return _by_vmap(operation)


def _by_vmap(operation: Operation) -> list[Value]:
    """Evaluate an operation without a rule, or without one for this form of it."""
    arrays = [value.array for value in operation.values]
    if not operation.suffix:
        return [Value(array, False) for array in operation.bind(*arrays)]
    axes = tuple(-1 if value.mapped else None for value in operation.values)
    found = jax.vmap(lambda *arrays: operation.bind(*arrays), in_axes=axes, out_axes=-1)(*arrays)
    return [Value(array, True) for array in found]
