"""Decisions of rules that take more and more arms: on CPU they read only the arms that some run has reached.

A reservoir has room for all arms that a run may take, and a run has reached a third of them on average. The decision of
a rule that can be padded does not depend on the length of the arrays. So they are cut to one of a few lengths.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.platform_lowering import lowering
from jaxbandits.engine.rule_calls import axes_of_own, decided, done, results, selected
from jaxbandits.engine.rule_states import RuleState
from jaxbandits.engine.value_ranges import Facts
from jaxbandits.transform.operation import Value

__all__ = ["decisions"]

#: Approximate difference of two lengths, in arms, and the largest number of lengths: each is compiled.
_BLOCK, _MOST = 64, 6


def decisions(
    rule: Rule, facts: Facts | None, state: RuleState, live: jax.Array, seen: RuleState | None = None
) -> list[Value]:
    """Return the results of `decided` for each run, as values with an axis of runs.

    Args:
        rule: the rule.
        facts: known properties of the numbers that it computes with; None for none.
        state: the state of one run, or of R.
        live: bool `(R,)`, the runs of which the results are read.
        seen: the state by which the rule selects; None for `state`.
    """
    if seen is not None:
        return [results(rule, facts, *part, live)[0][0] for part in ((selected, seen), (done, state))]
    count = state.statistics.pulls.shape[0]
    number = min(_MOST, count // _BLOCK) if state.grows and lowering().chunked else 1
    if number < 2:
        return results(rule, facts, decided, state, live)[0]
    lengths, axes = [-(-count * i // number) for i in range(1, number + 1)], axes_of_own(rule, state)

    def of(length: int) -> Callable[[RuleState], list[jax.Array]]:
        def decided_by_first(state: RuleState) -> list[jax.Array]:
            return [value.array for value in results(rule, facts, decided, _cut(state, length, axes), live)[0]]

        return decided_by_first

    assert state.known is not None
    shortest = jnp.sum(jnp.max(state.known) > jnp.asarray(lengths[:-1]))
    return [Value(array, True) for array in lax.switch(shortest, [of(length) for length in lengths], state)]


def _cut(state: RuleState, length: int, axes: list[tuple[int, ...]]) -> RuleState:
    """Return the states cut to their first `length` arms."""

    def cut(x: jax.Array, axis: int = 0) -> jax.Array:
        return lax.slice_in_dim(x, 0, length, axis=axis)

    leaves, tree = jax.tree.flatten(state.own)
    for i, several in enumerate(axes):
        for axis in several:
            leaves[i] = cut(leaves[i], axis)
    statistics = dataclasses.replace(state.statistics, moments=jax.tree.map(cut, state.statistics.moments))
    costs = None if state.costs is None else state.costs.moved(cut)
    return dataclasses.replace(state, statistics=statistics, costs=costs, own=jax.tree.unflatten(tree, leaves))
