"""Calls of a rule's methods, which are written for one run, for one run or for R, runs last."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import PyTreeDef
from jax.typing import ArrayLike

from jaxbandits.algorithms.arm_values import by_arm, moved
from jaxbandits.algorithms.protocol import Arms, Batches, Rule
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.rule_states import RuleState, arms_of
from jaxbandits.engine.value_ranges import Facts, what_is_known
from jaxbandits.random.streams import step_key
from jaxbandits.random.threefry import KeyWords
from jaxbandits.transform import Known, Padded, map_step, results_of
from jaxbandits.transform.operation import Value, computed_once

__all__ = [
    "Told", "answered", "as_runs", "axes_of_own", "begun", "call", "decided", "done", "make_step", "needed", "of_shape",
    "requested", "results", "selected", "shape_of", "updated",
]  # fmt: skip


#: The state of one run, or of R.
State = RuleState | EliminationState


class Told(NamedTuple):
    """The arguments of a rule's methods in one run."""

    rule: Any
    arms: Arms
    key: jax.Array  # typed key () of the step
    own: OwnState  # the rule's own state; None where it has none

    def ask(self, method: Callable[..., object], *more: object) -> Any:
        """Call a method of the rule, with its own state first where it has one, and the arms."""
        own = (self.own,) if self.rule.has_state else ()
        return method(*own, self.arms, *more)


def selected(told: Told) -> jax.Array:
    """Return the arms to pull next, int32 `()` or `(P,)`."""
    return jnp.asarray(told.ask(told.rule.select, told.key)).astype(jnp.int32)


def decided(told: Told) -> tuple[jax.Array, jax.Array]:
    """Return the arms to pull next, and whether the run has ended; every arm that the rule sees has been pulled."""
    return selected(told), done(told)


def requested(told: Told) -> jax.Array | Batches:
    """Return how often to pull each arm, int32 `(K,)`, or `Batches` of such counts."""
    asked = told.ask(told.rule.request, told.key)
    if isinstance(asked, Batches):
        return Batches(*(jnp.asarray(leaf).astype(jnp.int32) for leaf in asked))
    return jnp.asarray(asked).astype(jnp.int32)


def needed(told: Told) -> jax.Array:
    """Return how many arms the rule needs by now, int32 `()`, at least 1."""
    return jnp.maximum(jnp.asarray(told.ask(told.rule.arms_needed)), 1).astype(jnp.int32)


def updated(told: Told, pulled: jax.Array | Batches, rewards: jax.Array) -> OwnState:
    """Return the rule's own state after a step."""
    return told.ask(told.rule.absorb if told.rule.in_batches else told.rule.update, pulled, rewards)


def begun(told: Told) -> OwnState:
    """Return the rule's own state after the first pulls."""
    return told.rule.init(told.arms, told.key)


def done(told: Told) -> jax.Array:
    """Return whether the rule has ended the run, bool `()`; a rule that spends a budget need not."""
    return jnp.asarray(told.ask(told.rule.done) if told.rule.may_end else False)


def answered(told: Told) -> jax.Array:
    """Return the answer: an arm, int `()`, or a mask of arms, bool `(K,)`."""
    return jnp.asarray(told.ask(told.rule.recommend))


#: A function of one run, from a `Told` and further arguments to a pytree.
Method = Callable[..., Any]


def call(rule: Rule, facts: Facts | None, method: Method, state: State) -> Any:
    """Return the result of a method for each run.

    Args:
        rule: the rule.
        facts: known properties of the numbers that it computes with; None for none.
        method: from a `Told` of one run to a pytree.
        state: the state of one run, or of R.
    """
    values, tree = results(rule, facts, method, state)
    found = jax.tree.unflatten(tree, [value.array for value in values])
    return jax.tree.map(lambda leaf: of_shape(leaf, state), found)


def results(
    rule: Rule, facts: Facts | None, method: Method, state: State, live: jax.Array | None = None
) -> tuple[list[Value], PyTreeDef]:
    """Return the results of `call` as values, which always have an axis of runs, and their tree structure.

    Args:
        rule: as for `call`, as are facts, method and state.
        facts: see there.
        method: see there.
        state: see there.
        live: bool `(R,)`, the runs of which the results are read; None for all.
    """
    least = 1 if method is decided else rule.initial_pulls
    parts, known, padded = _arguments(rule, facts, state, least=least)
    with computed_once(rule.in_batches):
        return results_of(_of_one(method, all_exist=state.told is None), parts, known, padded, live)


def make_step(
    rule: Rule, facts: Facts | None, update: Method, state: State, more: tuple[jax.Array | Batches, jax.Array],
    live: jax.Array,
) -> OwnState:  # fmt: skip
    """Return the rule's own state after a step where `live` holds, and unchanged elsewhere.

    Args:
        rule: the rule.
        facts: as for `call`.
        update: from `Told` and `more` of one run to the new state.
        state: the state of one run, or of R.
        more: the pulls of the step and their rewards, leaves `(…)` or with axes before.
        live: bool `(…)`.
    """
    parts, known, padded = _arguments(rule, facts, state, more)
    live = as_runs(live)
    with computed_once(rule.in_batches):
        own = map_step(_of_one(update, all_exist=state.told is None), known, padded)(live, *parts)
    return jax.tree.map(lambda leaf: of_shape(leaf, state), own)


def shape_of(rule: Rule, method: Method, state: State) -> tuple[int, ...]:
    """Return the shape of a method's result for one run."""
    parts, _, _ = _arguments(rule, None, state)
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype), parts)
    return tuple(jax.eval_shape(_of_one(method, all_exist=state.told is None), *one).shape)


def axes_of_own(rule: Rule, state: State) -> list[tuple[int, ...]]:
    """Return the axes of arms in each leaf of the rule's own state: those that grow with the number of arms."""
    if state.own is None:
        return []
    blank: State = dataclasses.replace(state, own=None, count=None)
    if isinstance(blank, RuleState):
        blank = dataclasses.replace(blank, grows=False)
    parts, _, _ = _arguments(rule, None, blank)

    def made(more: int) -> list[jax.ShapeDtypeStruct]:
        def longer(leaf: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
            return jax.ShapeDtypeStruct(tuple(n + more * state.bandits for n in leaf.shape), leaf.dtype)

        one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype), parts)
        init, rule = _of_one(begun, all_exist=state.told is None), moved(one[0], longer)
        return jax.tree.leaves(jax.eval_shape(init, rule, jax.tree.map(longer, one[1]), *one[2:]))

    try:
        pairs = [list(zip(x.shape, y.shape, strict=True)) for x, y in zip(made(0), made(1), strict=True)]
    except Exception:  # a rule that works, or has a state so built, for this number of arms only: it is shown unchanged
        return [()] * len(jax.tree.leaves(state.own))
    return [tuple(i for i, (a, b) in enumerate(sizes) if b - a in (1, state.bandits)) for sizes in pairs]


@functools.lru_cache(maxsize=256)
def _of_one(method: Method, *, all_exist: bool) -> Callable[..., object]:
    """Return a function of the parts that `_arguments` returns, for one run; the same function for the same method.

    The key of a step is computed from the run's key and the time, where it is used.
    """

    def one(
        rule: Rule, arms: Arms, words: tuple[jax.Array, jax.Array], more: tuple[object, ...], own: OwnState
    ) -> object:
        if all_exist:  # the number of arms is known
            arms = dataclasses.replace(arms, count=jnp.int32(len(arms)))
        return method(Told(rule, arms, step_key(KeyWords(*words), arms.time), own), *more)

    return one


def _arguments(
    rule: Rule, facts: Facts | None, state: State, more: tuple[object, ...] = (), *, least: int = 0
) -> tuple[Any, list[Known], Padded | None]:
    """Return the arguments of a function of one run, with an axis of runs; their known properties; and the padding.

    Every arm that the rule sees has had at least `least` pulls.
    """
    arms, runs = arms_of(state), state.time.ndim
    if state.placed:
        values = iter(state.placed)
        rule = moved(rule, lambda _: next(values), runs)
    parts: tuple[object, ...] = (rule, arms, state.words, more, state.own)
    sizes = [len(jax.tree.leaves(part)) for part in parts]
    ranges = (None,) * sizes[0] if facts is None else facts.rule
    known = [Known(found) for found in ranges] + what_is_known(
        arms, rule, max(least, rule.initial_pulls), None if facts is None else facts.reward_range
    )
    known += [Known()] * sum(sizes[2:])
    axes: list[tuple[int, ...]] = [(0,) if is_one else () for is_one in by_arm(rule, runs)]
    axes += [(0,) if leaf.ndim > runs else () for leaf in jax.tree.leaves(arms)]
    # `more` has counts and sums of all arms, in one batch or several, or some arms and their rewards.
    before = [leaf.ndim - runs for leaf in jax.tree.leaves(more)]
    axes += [()] * sizes[2] + [(n - 1,) if rule.in_batches and n else () for n in before]
    padded = None
    if state.told is not None:
        padded = Padded(
            as_runs(state.told), len(arms), axes + axes_of_own(rule, state), state.bandits, 1 if rule.grows else 2
        )
    parts = jax.tree.map(lambda leaf: _with_runs(leaf, state), parts)
    known = [one._replace(root=None if one.root is None else _with_runs(one.root, state)) for one in known]
    return parts, known, padded


def _with_runs(leaf: ArrayLike, state: State) -> jax.Array:
    """Reshape values to one axis of runs: a single run has none, lanes in a kernel have two."""
    leaf, batch = jnp.asarray(leaf), state.time.ndim
    within = leaf.ndim - batch
    return leaf if batch == 1 else leaf.reshape(*leaf.shape[:within], math.prod(leaf.shape[within:]))


def of_shape(leaf: jax.Array, state: State) -> jax.Array:
    """Reshape values with one axis of runs to the shape of the runs."""
    return leaf if state.time.ndim == 1 else leaf.reshape(*leaf.shape[:-1], *state.time.shape)


def as_runs(x: jax.Array) -> jax.Array:
    """Reshape one number per run to one axis of runs."""
    return x if x.ndim == 1 else x.reshape(-1)
