"""Checks of a rule that is written for one run: whether its methods take and return what the protocol says."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.arm_values import by_arm, filled
from jaxbandits.algorithms.parameters import with_run_types
from jaxbandits.algorithms.protocol import Arms, Batches, Rule
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import judge_of, traits_of
from jaxbandits.engine.elimination_checks import check_elimination, elimination_methods
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.method_types import check_result, check_same_state, is_array, type_of, types
from jaxbandits.engine.own_criterion import judged
from jaxbandits.engine.rule_calls import Told, begun, requested, selected, updated
from jaxbandits.engine.rule_states import arms_of, first_state
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.transform import UnpaddableError, with_numbers_of_arms
from jaxbandits.transform.programs_inside import differing

__all__ = ["check_rule", "methods_of", "why_unpaddable"]

#: A rule that takes ever more arms passes each number of them: up to this one it is traced for each.
_MOST = 64


def methods_of(rule: Rule) -> dict[str, tuple[str, ...]]:
    """Return the methods of a rule, and what they take."""
    if rule.eliminates:
        return elimination_methods(rule)
    own = ("state",) if rule.has_state else ()
    methods = {name: (*own, "arms") for name in ("done", "arms_needed") if hasattr(rule, name)}
    methods["recommend"] = (*own, "arms")
    methods["request" if rule.in_batches else "select"] = (*own, "arms", "key")
    if own:
        methods["init"] = ("arms", "key")
        if rule.in_batches:
            methods["absorb"] = ("state", "arms", "counts", "sums")
        else:
            methods["update"] = ("state", "arms", "arm", "reward")
    return methods


def check_rule(rule: Rule, problem: Problem, key: jax.Array, *, judged: bool = True) -> None:
    """Check that the methods of a rule return what the protocol says; they are traced, not run.

    Args:
        rule: for one run.
        problem: with the arms of the run, leaves `(K,)`.
        key: the run's typed key `()`.
        judged: whether answers are judged by the user's own criterion; false in a live experiment.

    Raises:
        UsageError: a method returns another type; it names the method, the type and the one needed.
    """
    if rule.eliminates:
        check_elimination(rule, problem, key, judged=judged)
        return
    name, count = type(rule).__name__, problem.arms
    state = first_state(rule, problem, key)
    arms: Arms = arms_of(state)
    own: tuple[OwnState, ...] = ()
    begun: dict[str, str] = {}

    def called(method: str, *arguments: object) -> Any:
        with traced(f"{name}.{method}"):
            return getattr(rule, method)(*arguments)

    if rule.has_state:
        own = (called("init", arms, key),)
        begun = types(f"{name}.init", own[0])
        own = (jax.tree.map(lambda leaf: leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf), own[0]),)
    if rule.in_batches:
        pulled = called("request", *own, arms, key)
        check_batches(name, rule.slots, pulled, count)
    else:
        pulled = called("select", *own, arms, key)
        many = () if np.ndim(pulled) != 1 or rule.one_by_one else ((np.shape(pulled)[0],),)
        check_whole(f"{name}.select", pulled, ((), *many), "one arm" if rule.one_by_one else "an arm")
    if rule.has_state:
        several = isinstance(pulled, Batches)
        shape = (rule.slots, count) if several else np.shape(pulled)
        of_pulls = jnp.int32 if problem.integer_rewards else jnp.float32
        rewards = jnp.zeros(shape, problem.sum_type if rule.in_batches else of_pulls)
        method = "absorb" if rule.in_batches else "update"
        pulled = jax.tree.map(lambda leaf: jnp.asarray(leaf).astype(jnp.int32), pulled)
        after = called(method, own[0], arms, pulled, rewards)
        check_same_state(f"{name}.{method}", own[0], begun, after, types(f"{name}.{method}", after))
    _check_stops_by(rule, arms, key)
    if rule.grows:
        check_whole(f"{name}.arms_needed", called("arms_needed", *own, arms), ((),), "a number of arms")
        if (why := why_unpaddable(rule, problem, tuple(range(2, min(count, _MOST + 1))))) is not None:
            raise UsageError(f"{name} takes ever more arms, so it must work on some of them, and cannot: {why}")
    if hasattr(rule, "done"):
        check_result(f"{name}.done", called("done", *own, arms), bool, ())
    answer = called("recommend", *own, arms)
    if (
        problem.bandits == 1
        and is_array(answer)
        and np.shape(answer) == ()
        and jnp.issubdtype(jnp.result_type(answer), np.integer)
    ):
        answer = jnp.arange(count) == answer
    check_result(f"{name}.recommend, unless the answer is an arm, int32 (),", answer, bool, (count,))
    if judged and (judge := judge_of(rule)) is not None:
        check_result(f"{name}: the criterion", judge(rule, problem, answer), bool, ())


def check_batches(name: str, slots: int, asked: object, count: int) -> None:
    """Check that a request has a whole number for each arm, and a number of batches where there are several.

    Raises:
        UsageError: it has another type.
    """
    if not isinstance(asked, Batches):
        check_whole(f"{name}.request", asked, ((count,),), "pulls of each arm")
        return
    check_whole(f"{name}.request: the counts of jb.Batches", asked.counts, ((count,),), "pulls of each arm")
    check_whole(f"{name}.request: the number of jb.Batches", asked.number, ((),), "a number of batches")
    if slots < 2:
        raise UsageError(
            f"{name}.request returns jb.Batches: the class must set slots = …, the largest number of batches, to 2 or "
            "more"
        )


def check_whole(what: str, found: Any, shapes: tuple[tuple[int, ...], ...], words: str) -> None:
    """Check that a traced value has whole numbers and one of some shapes.

    Raises:
        UsageError: it has another type.
    """
    whole = is_array(found) and jnp.issubdtype(jnp.result_type(found), np.integer)
    if not whole or np.shape(found) not in shapes:
        got = type_of(found) if is_array(found) else type(found).__name__
        raise UsageError(f"{what} must return {words}, int32 {shapes[0]}, got {got}")


def _check_stops_by(rule: Rule, arms: Arms, key: jax.Array) -> None:
    """Check that the fields in `traits.stops_by` affect only the stopping rule and the answer.

    Raises:
        UsageError: a field changes the pulls, or the rule's own state.
    """
    for field in traits_of(rule).stops_by:

        def sampled(rule: Rule) -> list[object]:
            told = Told(rule, arms, key, None)
            if rule.has_state:
                told = told._replace(own=begun(told))
            pulled = requested(told) if rule.in_batches else selected(told)
            shape = (rule.slots, len(arms)) if isinstance(pulled, Batches) else pulled.shape
            after = [updated(told, pulled, jnp.zeros(shape, arms.total.dtype))] if rule.has_state else []
            return [told.own, pulled, *after]

        leaves = jax.tree_util.tree_leaves_with_path(rule)
        jaxpr = jax.make_jaxpr(sampled)(rule).jaxpr
        if any(differing(jaxpr, [getattr(path[0], "name", None) == field for path, _ in leaves])):
            raise UsageError(
                f"{type(rule).__name__}: only done and recommend may depend on {field}, which traits.stops_by names"
            )


def why_unpaddable(rule: Rule, problem: Problem, numbers: tuple[int, ...] = ()) -> str | None:
    """Return why a rule's arrays cannot be padded beyond its arms; None where they can.

    The rule is traced, not run.

    Args:
        rule: the rule, for one run.
        problem: leaves `(K,)`.
        numbers: numbers of arms, of each bandit, for which it is traced in any case.
    """
    if any(by_arm(rule)):
        rule = filled(rule, problem.arms)
    own, key = map_algorithm(with_run_types(rule)), jax.random.key(0, impl="threefry2x32")

    def methods(own: MappedAlgorithm, problem: Problem) -> jax.Array:
        problem = problem.realised(key)
        answer = own.recommend(own.step(problem, key, own.init(problem, key)))
        several = jax.tree.map(lambda leaf: jnp.asarray(leaf)[..., None], (own.rule, problem, answer))
        return answer if (judge := judge_of(rule)) is None else judged(judge, *several)

    try:
        with with_numbers_of_arms(numbers):
            jax.eval_shape(methods, own, dataclasses.replace(problem, mask=jnp.ones(problem.arms, bool)))
    except UnpaddableError as error:
        return str(error)
    return None
