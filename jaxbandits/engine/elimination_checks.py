"""Checks of a rule that eliminates arms: whether its methods take and return what the protocol says."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.algorithms.traits import judge_of
from jaxbandits.engine.elimination_start import unpulled
from jaxbandits.engine.method_types import check_result, check_same_state, is_array, type_of, types
from jaxbandits.engine.tracing_errors import traced
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import EmpiricalMean, MeanEstimator

__all__ = ["check_elimination", "elimination_methods"]


def elimination_methods(rule: Rule) -> dict[str, tuple[str, ...]]:
    """Return the methods of a rule that eliminates arms, and what they take."""
    own = ("state",) if rule.has_state else ()
    methods: dict[str, tuple[str, ...]] = {"init": ("arms", "key")} if own else {}
    methods |= {"due" if rule.looks_each_round else "rounds": (*own, "arms"), "keep": (*own, "arms", "key")}
    optional = [name for name in ("mean_estimator", "done", "recommend") if callable(getattr(rule, name, None))]
    return methods | dict.fromkeys(optional, (*own, "arms"))


def check_elimination(rule: Rule, problem: Problem, key: jax.Array, *, judged: bool) -> None:
    """Check that the methods of a rule return what the protocol says; they are traced, not run.

    Args:
        rule: for one run.
        problem: with the arms of the run, leaves `(K,)`.
        key: the run's typed key `()`.
        judged: whether answers are judged by the user's own criterion.

    Raises:
        UsageError: a method returns another type; it names the method, the type and the one needed.
    """
    name, count = type(rule).__name__, problem.arms
    if rule.initial_pulls != 1:
        raise UsageError(
            f"{name} eliminates arms: its first round pulls each once, so initial_pulls must be 1, got "
            f"{rule.initial_pulls}"
        )
    arms = unpulled(rule, problem, key).surviving
    own: tuple[OwnState, ...] = ()

    def called(method: str, *arguments: object) -> object:
        with traced(f"{name}.{method}"):
            return getattr(rule, method)(*arguments)

    def has(method: str) -> bool:
        return callable(getattr(rule, method, None))

    if rule.has_state:
        own = (called("init", arms, key),)
    estimator: object = called("mean_estimator", *own, arms) if has("mean_estimator") else EmpiricalMean()
    if not isinstance(estimator, MeanEstimator):
        raise UsageError(f"{name}.mean_estimator must return a MeanEstimator, got {type(estimator).__name__}")
    if rule.looks_each_round:
        extreme = jnp.float32(0) if estimator.running else None
        arms = dataclasses.replace(arms, highest=extreme, lowest=extreme)
        check_result(f"{name}.due", called("due", *own, arms), bool, ())
    else:
        check_number(f"{name}.rounds", called("rounds", *own, arms))
    kept = called("keep", *own, arms, key)
    if rule.has_state:
        if not isinstance(kept, tuple) or len(kept) != 2:
            raise UsageError(f"{name}.keep must return the new state and the arms that stay, a pair")
        after, kept = kept
        check_same_state(
            f"{name}.keep", own[0], types(f"{name}.init", own[0]), after, types(f"{name}.keep: the state", after)
        )
    check_result(f"{name}.keep: the arms that stay", kept, bool, (count,))
    if has("done"):
        check_result(f"{name}.done", called("done", *own, arms), bool, ())
    answer: object = jnp.zeros(count, bool)
    if has("recommend"):
        answer = called("recommend", *own, arms)
        number = is_array(answer) and np.shape(answer) == () and jnp.issubdtype(jnp.result_type(answer), np.integer)
        if number and problem.bandits == 1:
            answer = jnp.arange(count) == answer
        check_result(f"{name}.recommend, unless the answer is an arm, int32 (),", answer, bool, (count,))
    if judged and (judge := judge_of(rule)) is not None:
        check_result(f"{name}: the criterion", judge(rule, problem, answer), bool, ())


def check_number(what: str, found: object) -> None:
    """Check that a traced value is one whole number.

    Raises:
        UsageError: it is not.
    """
    if not is_array(found) or not jnp.issubdtype(jnp.result_type(found), np.integer) or np.shape(found):
        got = type_of(found) if is_array(found) else type(found).__name__
        raise UsageError(f"{what} must return a number of rounds, int32 (), got {got}")
