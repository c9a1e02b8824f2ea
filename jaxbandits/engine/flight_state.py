"""The state of a run with pulls in flight: what the rule was told, and the pulls whose rewards have not arrived."""

import dataclasses
from collections.abc import Sequence
from typing import Self

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.engine.flights import Flight, Journey
from jaxbandits.engine.pulls_in_flight import count_pending
from jaxbandits.engine.rule_states import RuleState
from jaxbandits.engine.run_state import RunState

__all__ = ["FlightState"]

#: In place of the time at which rewards arrive: there are none.
_NEVER = MAX_COUNT


@pytree
@dataclasses.dataclass(frozen=True)
class FlightState(RunState):
    """The state of a run, or of R runs; arms or slots first, runs last.

    A slot has the P pulls of one selection. The clock counts selections, and a batch is a whole number of them.
    """

    told: RuleState  # what the rule knows: the rewards that have arrived
    pending: jax.Array  # int32 (K, …): pulls in flight of each place
    places: tuple[jax.Array, ...]  # int32 (S, …) each: the P places that a slot pulls
    rewards: tuple[jax.Array, ...]  # int32 or float32 (S, …) each: their rewards
    due: jax.Array  # int32 (S, …): when these arrive; `_NEVER` for a free slot
    asked: jax.Array  # int32 (…): selections so far
    flying: jax.Array  # int32 (…): selections in flight
    clock: jax.Array  # int32 (…): selections that the platform has had time for, after the first pulls
    first: jax.Array  # int32 (…): the time of the first pulls, in pulls
    over: jax.Array  # bool (…): whether the rule has ended the run

    @classmethod
    def begin(cls, told: RuleState, flight: Flight, arms_a_step: int, first_pulls: int, over: jax.Array) -> Self:
        """Return the state after the first pulls, whose rewards have all arrived.

        Args:
            told: what the rule knows then.
            flight: the pulls in flight.
            arms_a_step: the pulls P of a selection.
            first_pulls: the most first pulls of a run.
            over: bool `(…)`, whether the rule ends the run at once.
        """
        shape, known = told.time.shape, told.statistics
        nothing = jnp.zeros(shape, jnp.int32)
        empty = jnp.zeros((flight.slots, *shape), jnp.int32)
        return cls(
            told=told, pending=jnp.zeros(known.pulls.shape, jnp.int32), places=(empty,) * arms_a_step,
            rewards=(empty.astype(known.total.dtype),) * arms_a_step, due=jnp.full_like(empty, _NEVER),
            asked=nothing, flying=nothing, clock=nothing, over=over,
            first=flight.first_arrivals(told.words, told.time, first_pulls),
        )  # fmt: skip

    @property
    def pulls(self) -> jax.Array:
        """Return the pulls of each arm of the problem, also those in flight, int32 `(K, …)`."""
        return self.told.pulls + self.told.by_arm(self.pending)

    @property
    def time(self) -> jax.Array:
        """Return the pulls of all arms, also those in flight, int32 `(…)`."""
        flying = self.flying * len(self.places)
        return self.told.time + flying

    @property
    def fault(self) -> jax.Array:
        """Return the code of a fault in `jaxbandits.status`, 0 for none, int32 `(…)`."""
        return self.told.fault

    @property
    def collected(self) -> jax.Array:
        """Return the sum of the rewards of each arm that have arrived, int32 or float32 `(K, …)`."""
        return self.told.collected

    def reached(self, point: jax.Array) -> jax.Array:
        """Return whether as many rewards as a point of a curve have arrived, bool `(…)`."""
        return self.told.reached(point)

    @property
    def journey(self) -> Journey:
        """Return what the run reports beside its pulls."""
        since = self.clock * len(self.places)
        return Journey(UInt64.of(self.told.time), UInt64.of(self.first + since))

    @property
    def seen(self) -> RuleState:
        """Return the state by which the rule selects: pulls in flight count as pulls that gave the present means."""
        return dataclasses.replace(self.told, statistics=count_pending(self.told.statistics, self.pending))

    def next_slot(self, in_order: bool) -> jax.Array:
        """Return the slot whose rewards are told next, int32 `(…)`: the first asked of those that have arrived.

        Args:
            in_order: whether rewards arrive in the order in which they were asked for.
        """
        if in_order:
            return self._slot(self.asked - self.flying)
        number = arms.index(self.due.shape[0], self.clock.shape)
        ready = jnp.where(self.due <= self.clock, self._slot(number - self.asked), self.due.shape[0])
        return self._slot(self.asked + arms.smallest(ready))

    def arrived(self, in_order: bool) -> jax.Array:
        """Return whether rewards have arrived that were not told, bool `(…)`."""
        if in_order:
            return arms.take(self.due, self.next_slot(in_order)) <= self.clock
        return arms.any_arm(self.due <= self.clock)

    def landed(self, told: RuleState, slot: jax.Array, places: Sequence[jax.Array], where: jax.Array) -> Self:
        """Return the state after the rewards of a slot were told.

        Args:
            told: what the rule knows then.
            slot: int32 `(…)`.
            places: int32 `(…)` each, the places that it pulled.
            where: bool `(…)`; elsewhere nothing was told.
        """
        due = arms.put(self.due, slot, jnp.where(where, _NEVER, arms.take(self.due, slot)))
        less = where.astype(jnp.int32)
        new = dataclasses.replace(self, told=told, due=due, flying=self.flying - less)
        return new._with_pending(places, -less)

    def started(
        self, places: Sequence[jax.Array], rewards: Sequence[jax.Array], due: jax.Array, where: jax.Array
    ) -> Self:
        """Return the state after one more selection.

        Args:
            places: int32 `(…)` each, the places that it pulls.
            rewards: int32 or float32 `(…)` each.
            due: int32 `(…)`, when these arrive.
            where: bool `(…)`; elsewhere nothing was selected.
        """
        slot = self._slot(self.asked)  # always a free one: there is one more than can be in flight
        more = where.astype(jnp.int32)
        new = dataclasses.replace(
            self, asked=self.asked + more, flying=self.flying + more,
            places=tuple(arms.put(x, slot, place) for x, place in zip(self.places, places, strict=True)),
            rewards=tuple(arms.put(x, slot, reward) for x, reward in zip(self.rewards, rewards, strict=True)),
            due=arms.put(self.due, slot, jnp.where(where, due, _NEVER)),
        )  # fmt: skip
        return new._with_pending(places, more)

    def _with_pending(self, places: Sequence[jax.Array], more: jax.Array) -> Self:
        pending = self.pending
        for place in places:
            pending = arms.put(pending, place, arms.take(pending, place) + more)
        return dataclasses.replace(self, pending=pending)

    def _slot(self, number: jax.Array) -> jax.Array:
        """Return the slot of a selection; their number is a power of two."""
        return number & (self.due.shape[0] - 1)
