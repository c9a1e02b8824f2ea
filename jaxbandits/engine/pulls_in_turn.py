"""Rules that make the first pulls of the arms one after another, as costs and reservoirs require."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import fast_min
from jaxbandits.engine.rule_calls import as_runs, call, done, needed
from jaxbandits.engine.rule_states import RuleState
from jaxbandits.engine.value_ranges import Facts

__all__ = ["ended", "in_turn", "lacks_arms", "with_pull"]


def pulls_anew(rule: Rule, facts: Facts | None, state: RuleState) -> jax.Array:
    """Return whether the next pull is the first one of the next arm, bool `(…)`."""
    number = call(rule, facts, needed, state) if state.grows else _existing(state)
    return jnp.asarray(_known(state) < number)


def lacks_arms(rule: Rule, facts: Facts | None, state: RuleState) -> jax.Array:
    """Return whether the rule needs another arm, and none is left, bool `(…)`."""
    if not state.grows:
        return jnp.zeros(state.time.shape, bool)
    return pulls_anew(rule, facts, state) & (_known(state) >= _existing(state))


def overspent(rule: Rule, state: RuleState) -> jax.Array:
    """Return whether a pull has cost more than the rest of a budget, bool `(…)`."""
    budget = rule.cost_budget
    if budget is None or state.costs is None:
        return jnp.zeros(state.time.shape, bool)
    return state.costs.ledger.beyond(budget)


def ended(rule: Rule, facts: Facts | None, state: RuleState) -> jax.Array:
    """Return whether runs have ended, bool `(…)`: by their rule, once it decides, or by their budget."""
    found = jnp.asarray(call(rule, facts, done, state))
    return found if state.known is None else (found & _is_asked(state)) | overspent(rule, state)


def in_turn(
    rule: Rule, facts: Facts | None, state: RuleState, places: list[jax.Array], done: jax.Array
) -> tuple[list[jax.Array], jax.Array]:
    """Return the places to pull next, and whether a run makes no step; first pulls come before others.

    Args:
        rule: the rule.
        facts: known properties of the numbers that it computes with; None for none.
        state: the state of one run, or of R.
        places: the places that the rule selects, int32 `(R,)` each.
        done: whether the rule has ended the run, bool `(R,)`.
    """
    if state.known is None:
        return places, done
    known, anew = as_runs(state.known), as_runs(pulls_anew(rule, facts, state))
    exist = as_runs(jnp.broadcast_to(_existing(state), state.time.shape))
    places = [jnp.where(anew, fast_min(known, exist - 1), place) for place in places]
    ended = (done & as_runs(_is_asked(state))) | as_runs(overspent(rule, state))
    return places, ended | (anew & (known >= exist))


def with_pull(
    new: RuleState, old: RuleState, place: jax.Array, reward: jax.Array, cost: jax.Array | None, live: jax.Array
) -> RuleState:
    """Return the states with a pull's cost, where costs are recorded, and with its arm counted as pulled.

    Args:
        new: the states after the pull's reward.
        old: those before.
        place: int32 `(…)`, the place that was pulled.
        reward: int32 or float32 `(…)`.
        cost: float32 `(…)`.
        live: bool `(…)`; where false there was no pull.
    """
    known = _known(old) + (live & (place == _known(old))).astype(jnp.int32)
    costs = old.costs
    if costs is not None and cost is not None:
        costs = costs.plus(place, arms.take(old.statistics.pulls, place), reward, cost, live)
    return dataclasses.replace(new, known=known, costs=costs)


def _is_asked(state: RuleState) -> jax.Array:
    """Return whether the rule decides, bool `(…)`: once all arms that it sees have been pulled."""
    return _known(state) > 0 if state.grows else _known(state) >= _existing(state)


def _known(state: RuleState) -> jax.Array:
    """Return how many arms have been pulled, int32 `(…)`."""
    assert state.known is not None
    return state.known


def _existing(state: RuleState) -> jax.Array | int:
    """Return how many arms there are, int32 `(…)` or `()`."""
    return state.statistics.pulls.shape[0] if state.count is None else state.count
