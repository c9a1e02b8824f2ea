"""What the two kinds of rules share, mapped over the runs: what the engine and a live experiment ask of them."""

import abc
import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.traits import Traits, traits_of
from jaxbandits.arrays import arms as over_arms
from jaxbandits.compilers.jax_settings import run_methods_so
from jaxbandits.engine.rule_calls import answered, call
from jaxbandits.engine.value_ranges import Facts
from jaxbandits.problems.base import Problem

__all__ = ["MappedAlgorithm"]


@dataclasses.dataclass(frozen=True)
class MappedAlgorithm(abc.ABC):
    """A rule, mapped over the last axis of everything where there are several runs.

    Attributes:
        rule: the rule.
        facts: what is known of the numbers that it computes with; None for nothing.
    """

    rule: Any
    facts: Facts | None = dataclasses.field(default=None, metadata={"static": True})

    #: Whether a step is one pull, and itself asks whether the run is done.
    one_pull_a_step: ClassVar[bool] = False
    #: Whether `steps_made` tells of many calls together what it tells of each, from the first state and the last.
    states_count_steps: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        run_methods_so(cls, "init", "step", "advance", "asked", "told", "done", "recommend")

    @property
    def traits(self) -> Traits:
        """What the rule says of itself."""
        return traits_of(self.rule)

    @property
    def slots(self) -> int:
        """How many batches a request may have, part of the program."""
        return int(self.rule.slots)

    @property
    def cost_budget(self) -> Any:
        """The budget of cost `(…)` that is spent; None where none is."""
        return self.rule.cost_budget

    @abc.abstractmethod
    def init(self, problem: Problem, key: jax.Array) -> Any:
        """Return the states after the first pulls."""

    @abc.abstractmethod
    def step(self, problem: Problem, key: jax.Array, state: Any, live: jax.Array | bool = True) -> Any:
        """Make one decision and its pulls; where `live` is false or the run is done the state keeps every bit."""

    def advance(self, problem: Problem, key: jax.Array, state: Any, live: jax.Array, stop: jax.Array | int) -> Any:
        """Make as many steps as are made at once: one, or those up to `stop` pulls, int32 `(…)` or `()`."""
        del stop
        return self.step(problem, key, state, live)

    def steps_made(self, before: Any, after: Any, live: jax.Array) -> jax.Array:
        """Return how many steps a call of `advance` has made, int32 `(…)`, with the runs that were live before it."""
        del before, after
        return live.astype(jnp.int32)

    @abc.abstractmethod
    def done(self, state: Any) -> jax.Array:
        """Return which runs have ended, bool `(…)`."""

    @abc.abstractmethod
    def recommend(self, state: Any) -> jax.Array:
        """Return masks of the returned arms, bool `(K, …)`, in the problem's order."""

    def answer(self, state: Any) -> jax.Array:
        """Return masks of the arms that the rule returns, by their places, bool `(K, …)`."""
        found = jnp.asarray(call(self.rule, self.facts, answered, state))
        if jnp.issubdtype(found.dtype, jnp.bool_):
            return found
        return over_arms.index(state.places, state.time.shape) == found

    @abc.abstractmethod
    def state_of(self, state: Any) -> Any:
        """Return what a user is shown of a state."""

    def exhausted(self, state: Any) -> jax.Array | bool:
        """Return which runs cannot go on: they are then stopped as at `max_pulls`."""
        del state
        return False

    def next_pulls(self, state: Any) -> jax.Array | int:
        """Return how many pulls the next step makes, int32 `(…)` or `()`; 2^31 - 1 for more."""
        del state
        return 1

    def at_limit(self, state: Any, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next step would pass `max_pulls`, int32 `()`; bool `(…)`."""
        return jnp.asarray(state.time > max_pulls - self.next_pulls(state))

    def stalled(self, state: Any) -> jax.Array:
        """Return which runs have a fault, bool `(…)`."""
        return jnp.asarray(state.fault > 0)

    def fault(self, state: Any) -> jax.Array:
        """Return the fault that each run has, a code of `jaxbandits.status`, 0 for none; int32 `(…)`."""
        return jnp.asarray(state.fault)

    @abc.abstractmethod
    def asked(self, state: Any) -> tuple[jax.Array, jax.Array]:
        """Return what a live experiment has to pull next: arms and how often each, int32 `(P,)`; 0 for not at all."""

    @abc.abstractmethod
    def told(self, state: Any, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> Any:
        """Return the state after the rewards asked for.

        Args:
            state: the state.
            asked: int32 `(P,)`, the arms that were pulled; after them arm 0 with a count of 0.
            counts: int32 `(P,)`.
            sums: float32 `(P,)`, of the rewards of each.
            cost: float32 `()`, of the last pull.
        """


run_methods_so(MappedAlgorithm, "advance")
