"""The base class of rules that are mapped over the runs, for the engine and for live experiments."""

import abc
import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.traits import Traits, traits_of
from jaxbandits.arrays import arms as over_arms
from jaxbandits.compilers.jax_settings import run_methods_so
from jaxbandits.engine.flights import Journey
from jaxbandits.engine.rule_calls import answered, call
from jaxbandits.engine.rule_states import RunState
from jaxbandits.engine.value_ranges import Facts
from jaxbandits.problems.base import Problem

__all__ = ["MappedAlgorithm"]


@dataclasses.dataclass(frozen=True)
class MappedAlgorithm(abc.ABC):
    """A rule, mapped over the last axis of everything where there are several runs.

    Attributes:
        rule: the rule.
        facts: known properties of the numbers that it computes with; None for none.
    """

    rule: Rule
    facts: Facts | None = dataclasses.field(default=None, metadata={"static": True})

    #: Whether a step is one pull, and itself checks whether the run is done.
    one_pull_a_step: ClassVar[bool] = False
    #: Whether `steps_made` may be called once for many calls of `advance`, with the first state and the last.
    states_count_steps: ClassVar[bool] = False
    #: Whether steps are told `max_pulls` alone: they may pass checkpoints.
    in_flight: ClassVar[bool] = False

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        run_methods_so(cls, "init", "step", "advance", "asked", "told", "done", "recommend")

    @property
    def traits(self) -> Traits:
        """Return the traits of the rule."""
        return traits_of(self.rule)

    @property
    def slots(self) -> int:
        """Return how many batches a request may have; part of the program."""
        return int(self.rule.slots)

    @property
    def cost_budget(self) -> jax.Array | None:
        """Return the budget of cost `(…)` of a rule that spends one; None for other rules."""
        return self.rule.cost_budget

    @abc.abstractmethod
    def init(self, problem: Problem, key: jax.Array) -> RunState:
        """Return the states after the first pulls."""

    @abc.abstractmethod
    def step(self, problem: Problem, key: jax.Array, state: RunState, live: jax.Array | bool = True) -> RunState:
        """Make one decision and its pulls; where `live` is false or the run is done, the state keeps every bit."""

    def advance(
        self, problem: Problem, key: jax.Array, state: RunState, live: jax.Array, stop: jax.Array | int
    ) -> RunState:
        """Make one step, or several up to `stop` pulls, int32 `(…)` or `()`."""
        del stop
        return self.step(problem, key, state, live)

    def steps_made(self, before: RunState, after: RunState, live: jax.Array) -> jax.Array:
        """Return how many steps a call of `advance` has made, int32 `(…)`; `live`: which runs were live before."""
        del before, after
        return live.astype(jnp.int32)

    @abc.abstractmethod
    def done(self, state: RunState) -> jax.Array:
        """Return which runs have ended, bool `(…)`."""

    @abc.abstractmethod
    def recommend(self, state: RunState) -> jax.Array:
        """Return masks of the returned arms, bool `(K, …)`, in the problem's order."""

    def answer(self, state: RunState) -> jax.Array:
        """Return masks of the arms that the rule returns, by their places, bool `(K, …)`."""
        found = jnp.asarray(call(self.rule, self.facts, answered, state))
        if jnp.issubdtype(found.dtype, jnp.bool_):
            return found
        return over_arms.index(state.places, state.time.shape) == found

    @abc.abstractmethod
    def state_of(self, state: RunState) -> Arms:
        """Return the part of a state that a user sees."""

    def exhausted(self, state: RunState) -> jax.Array | bool:
        """Return which runs cannot continue; they are truncated, as at `max_pulls`."""
        del state
        return False

    def next_pulls(self, state: RunState) -> jax.Array | int:
        """Return how many pulls the next step makes, int32 `(…)` or `()`; 2^31 - 1 for more."""
        del state
        return 1

    def at_limit(self, state: RunState, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next step would pass `max_pulls`, int32 `()`; bool `(…)`."""
        return jnp.asarray(state.time > max_pulls - self.next_pulls(state))

    def stalled(self, state: RunState) -> jax.Array:
        """Return which runs have a fault, bool `(…)`."""
        return jnp.asarray(state.fault > 0)

    def fault(self, state: RunState) -> jax.Array:
        """Return the fault that each run has, a code of `jaxbandits.status`, 0 for none; int32 `(…)`."""
        return jnp.asarray(state.fault)

    def journey(self, state: RunState) -> Journey | None:
        """Return what runs with pulls in flight report beside their pulls; None for others."""
        del state
        return None

    @abc.abstractmethod
    def asked(self, state: RunState, pending: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the next pulls of a live experiment: arms, and how often to pull each, int32 `(P,)`; may be 0.

        Args:
            state: the state.
            pending: int32 `(K,)`, pulls in flight of each arm of the problem; read where arms are selected one by one.
        """

    @abc.abstractmethod
    def told(self, state: RunState, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> RunState:
        """Return the state after requested rewards: of all pulls of a batch or a step, or of the next of a round.

        Args:
            state: the state.
            asked: int32 `(P,)`, the arms that were pulled; after them arm 0 with a count of 0.
            counts: int32 `(P,)`, pulls of each.
            sums: float32 `(P,)`, sums of the rewards of each.
            cost: float32 `()`, the cost of the last pull.
        """


run_methods_so(MappedAlgorithm, "advance")
