"""Checks before any run whether a rule can have pulls in flight, and whether it sees them."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import with_run_types
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.engine.flights import Flight
from jaxbandits.engine.rule_calls import Told, begun, selected
from jaxbandits.engine.rule_states import arms_of, first_state
from jaxbandits.errors import UsageError, warn
from jaxbandits.problems.base import Problem
from jaxbandits.transform.programs_inside import differing

__all__ = ["check_in_flight", "warn_of_one_arm"]

#: What pulls in flight do not change of the arms that a rule sees.
_UNCHANGED = ("0.mean", "0.count", "0.b")


def check_in_flight(rule: Rule, problem: Problem, flight: Flight) -> None:
    """Check that a rule can have pulls in flight on a problem.

    Raises:
        UsageError: it cannot; the message is the reason.
    """
    name = type(rule).__name__
    if rule.eliminates or rule.in_batches:
        if not flight.in_order:
            raise UsageError(f"{name} waits for the last of many rewards: its delay must be a number, not {flight.law}")
        return
    if rule.grows:
        raise UsageError(f"{name} takes ever more arms, each after the rewards of those before: no pulls in flight")
    if rule.one_by_one:
        raise UsageError(f"{name} pays for each pull, and what pulls in flight cost is not known: no batch= or delay=")
    if problem.costs is not None and problem.costs.price is None:
        raise UsageError(f"pulls of {problem.name} cost their rewards, which are not known in flight")


def warn_of_one_arm(rule: Rule, problem: Problem, key: jax.Array) -> None:
    """Warn if what a rule selects does not depend on the pulls in flight; its methods are traced, not run.

    Args:
        rule: for one run.
        problem: leaves `(K,)`.
        key: the run's typed key `()`.
    """
    if rule.eliminates or rule.in_batches or not rule.has_state:
        return
    rule = jax.tree.map(jnp.asarray, with_run_types(rule))  # as in a run: a traced arm is no index of NumPy's arrays

    def begin(problem: Problem) -> tuple[Arms, OwnState]:
        arms = arms_of(first_state(rule, problem.realised(key), key))
        return arms, begun(Told(rule, arms, key, None))

    found = jax.eval_shape(begin, problem)
    closed = jax.make_jaxpr(lambda arms, own, key: selected(Told(rule, arms, key, own)))(*found, key)
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path((*found, key))]
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path in paths]
    changes = [not name.startswith("1") and name not in _UNCHANGED for name in names]
    if not any(differing(closed.jaxpr, changes)):
        warn(
            f"{type(rule).__name__} decides on its next arm by told rewards only: all pulls in flight are of that arm "
            "until one is told, as in a session"
        )
