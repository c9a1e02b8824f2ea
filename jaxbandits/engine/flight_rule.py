"""Runs a rule with pulls in flight: it selects several before their rewards arrive, which may take long.

The platform has time for one pull after another, and starts them in batches. All pulls of a batch are selected at its
start. Before, all rewards that have arrived are told, in the order in which they were asked for. A reward arrives when
its batch has been made, and its delay is over. Time passes also where nothing is asked, since a budget is spent.
"""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import NO_LIMIT, fast_max
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.engine.finite_populations import runs_on
from jaxbandits.engine.flight_state import FlightState
from jaxbandits.engine.flights import Flight, Journey
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.engine.rule_states import RunState
from jaxbandits.engine.step_rewards import draw
from jaxbandits.problems.base import Problem
from jaxbandits.status import OUTSIDE

__all__ = ["FlightRule"]


@pytree
@dataclasses.dataclass(frozen=True)
class FlightRule(MappedRule):
    """A rule that selects arms to pull, with pulls in flight, mapped over the runs; states are `FlightState`s."""

    flight: Flight = dataclasses.field(kw_only=True)

    in_flight: ClassVar[bool] = True

    @property
    def plain(self) -> MappedRule:
        """Return the same rule without pulls in flight."""
        return MappedRule(self.rule, self.facts)

    def init(self, problem: Problem, key: jax.Array) -> RunState:
        """Return the states after the first pulls."""
        told = self.plain.init(problem, key)
        first = problem.arms * self.rule.initial_pulls
        return FlightState.begin(told, self.flight, self._arms_a_step(told), first, self.plain.done(told))

    def step(self, problem: Problem, key: jax.Array, state: RunState, live: jax.Array | bool = True) -> RunState:
        """Tell the rewards of one selection, or select, or both; only where runs are live and not done."""
        return self.advance(problem, key, state, jnp.asarray(live), NO_LIMIT)

    def advance(
        self, problem: Problem, key: jax.Array, state: RunState, live: jax.Array, stop: jax.Array | int
    ) -> RunState:
        """Make one step without passing `stop` pulls."""
        live = jnp.broadcast_to(live, state.clock.shape) & ~state.over
        pulls, in_order = len(state.places), self.flight.in_order
        width = lax.div(self.flight.batch + (pulls - 1), jnp.int32(pulls))
        within = lax.rem(state.clock, width)
        state = self._tell_one(state, live & (within == 0))
        if problem.finite:
            live = live & runs_on(self, problem, state)
        seen = state.seen
        going, places, outside = self._decided(state.told, live, seen)
        waits = (within == 0) & state.arrived(in_order)
        passes = live & (going | outside) & ~waits & ~self.at_limit(state, stop)
        asks = passes & self._has_room(state, stop)
        state = dataclasses.replace(
            state, over=state.over | (live & ~going & ~outside),
            told=dataclasses.replace(state.told, fault=jnp.where(asks & outside, OUTSIDE, state.told.fault)),
        )  # fmt: skip
        rewards, _ = draw(problem, key, seen, places)
        due = state.clock - within + width + self._delay(state)
        new = state.started(places, rewards, due, asks & going)
        return dataclasses.replace(new, clock=state.clock + passes.astype(jnp.int32))

    def _tell_one(self, state: FlightState, where: jax.Array) -> FlightState:
        """Return the states after the next rewards were told, where some have arrived."""
        where = where & state.arrived(self.flight.in_order)
        slot = state.next_slot(self.flight.in_order)
        places = [arms.take(x, slot) for x in state.places]
        rewards = [arms.take(x, slot) for x in state.rewards]
        told = self._observed(state.told, places, rewards, where, jnp.zeros(where.shape, bool))
        return state.landed(told, slot, places, where)

    def _delay(self, state: FlightState) -> jax.Array:
        """Return the delay of the next selection, in selections, int32 `(…)`: that of its latest reward."""
        pulls, made = len(state.places), state.time
        longest = self.flight.delay(state.told.words, made)
        if not self.flight.in_order:
            for number in range(1, pulls):
                longest = fast_max(longest, self.flight.delay(state.told.words, made + number))
        return lax.div(longest + (pulls - 1), jnp.int32(pulls))

    def _has_room(self, state: FlightState, stop: jax.Array | int) -> jax.Array:
        """Return whether one more selection passes neither `stop` pulls nor the rule's budget, bool `(…)`."""
        room = state.time <= stop - len(state.places)
        budget = vars(self.rule).get("budget")
        if budget is not None:  # a rule that counts its budget otherwise goes on when nothing is in flight
            room = room & ((state.time < budget) | (state.flying == 0))
        return room

    def done(self, state: RunState) -> jax.Array:
        """Return which runs have ended, bool `(…)`."""
        return state.over

    def recommend(self, state: RunState) -> jax.Array:
        """Return masks of the returned arms, bool `(K, …)`, by the rewards that have arrived."""
        return self.plain.recommend(state.told)

    def state_of(self, state: RunState) -> Arms:
        """Return the part of a state that a user sees: what the rule knows."""
        return self.plain.state_of(state.told)

    def journey(self, state: RunState) -> Journey:
        """Return what the runs report beside their pulls."""
        return state.journey

    def exhausted(self, state: RunState) -> jax.Array:
        """Return which runs cannot continue, bool `(…)`."""
        return self.plain.exhausted(state.told)

    def stalled(self, state: RunState) -> jax.Array:
        """Return which runs have a fault, bool `(…)`."""
        return self.plain.stalled(state.told)

    def at_limit(self, state: RunState, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next selection would pass `max_pulls`, and all rewards have arrived; bool `(…)`."""
        return (state.time > max_pulls - len(state.places)) & (state.flying == 0) & ~state.over

    def steps_made(self, before: RunState, after: RunState, live: jax.Array) -> jax.Array:
        """Return how many selections a call of `advance` has made, int32 `(…)`."""
        del live
        return after.asked - before.asked
