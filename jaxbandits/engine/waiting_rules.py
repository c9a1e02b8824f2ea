"""Rules that ask for many pulls at once, on a platform with batches and delays: they decide the same, and wait.

A request is what a rule decides at once: a batch that it requests; or the rounds of the survivors up to its next
decision, which is each round for some rules that eliminate arms. The platform makes its pulls in batches, of which the
last may not be full. The rule goes on when the last reward has arrived.
"""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.uint64 import UInt64
from jaxbandits.engine.elimination_rule import EliminationRule
from jaxbandits.engine.elimination_state import EliminationState
from jaxbandits.engine.flights import Flight, Journey
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.engine.rule_states import RuleState
from jaxbandits.problems.base import Problem

__all__ = ["WaitingElimination", "WaitingRule"]


class Waited(NamedTuple):
    """The time of runs without a pull."""

    pulls: UInt64  # (…): pulls that the platform could have made meanwhile
    since: jax.Array  # int32 (…): pulls, or rounds, at the end of the last request
    requests: jax.Array  # int32 (…): requests so far

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Self:
        """Return no time for runs of a shape."""
        nothing = jnp.zeros(shape, jnp.int32)
        return cls(UInt64.of(nothing), nothing, nothing)

    def plus(self, flight: Flight, pulls: jax.Array, times: jax.Array, since: jax.Array) -> Self:
        """Return the time after some requests of as many pulls each, int32 `(…)` both."""
        rest = lax.rem(pulls, flight.batch)
        idle = jnp.where(rest > 0, flight.batch - rest, 0) + flight.least
        return type(self)(self.pulls.plus(UInt64.product(idle, times)), since, self.requests + times)


@pytree
@dataclasses.dataclass(frozen=True)
class WaitingRule(MappedRule):
    """A rule that requests batches, mapped over the runs, which counts the time that it waits."""

    flight: Flight = dataclasses.field(kw_only=True)

    def init(self, problem: Problem, key: jax.Array) -> RuleState:
        """Return the states after the first pulls."""
        state = super().init(problem, key)
        some = (state.time > 0).astype(jnp.int32)
        waited = Waited.none(state.time.shape).plus(self.flight, state.time, some, state.time)
        return dataclasses.replace(state, waited=waited)

    def step(self, problem: Problem, key: jax.Array, state: RuleState, live: jax.Array | bool = True) -> RuleState:
        """Make one request of the runs that are live and not done."""
        new = super().step(problem, key, state, live)
        assert state.wanted is not None
        made = jnp.where(state.wanted.pulls > 0, self.steps_made(state, new, jnp.asarray(live)), 0)
        return dataclasses.replace(new, waited=state.waited.plus(self.flight, state.wanted.pulls, made, new.time))

    def journey(self, state: RuleState) -> Journey:
        """Return what the runs report beside their pulls."""
        made = UInt64.of(state.time) if state.spent is None else state.spent.pulls
        return Journey(made, made.plus(state.waited.pulls), state.waited.requests)


@pytree
@dataclasses.dataclass(frozen=True)
class WaitingElimination(EliminationRule):
    """A rule that eliminates arms, mapped over the runs, which counts the time that it waits."""

    flight: Flight = dataclasses.field(kw_only=True)

    def _looked(
        self, state: EliminationState, due: jax.Array, problem: Problem | None, key: jax.Array | None
    ) -> EliminationState:
        """Return the states after the runs that are due have evaluated their arms, when all rewards are there."""
        waited = Waited.none(state.time.shape) if state.waited is None else state.waited
        if state.target is None:
            waited = waited.plus(self.flight, state.left, state.round - waited.since, state.round)
        else:
            since = jnp.where(due, state.time, waited.since)
            waited = waited.plus(self.flight, state.time - waited.since, due.astype(jnp.int32), since)
        return super()._looked(dataclasses.replace(state, waited=waited), due, problem, key)

    def journey(self, state: EliminationState) -> Journey:
        """Return what the runs report beside their pulls."""
        made = UInt64.of(state.time)
        return Journey(made, made.plus(state.waited.pulls), state.waited.requests)
