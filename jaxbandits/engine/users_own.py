"""A user's algorithm, written for one run, with all that the engine asks of an algorithm; for one run or for R."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.traits import Traits, traits_of
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.engine.elimination_rule import EliminationRule
from jaxbandits.engine.mapped_rule import MappedRule
from jaxbandits.engine.run_state import RunState
from jaxbandits.problems.base import Problem
from jaxbandits.status import MOST_IDLE, OUTSIDE, TAKEN_BACK
from jaxbandits.transform import map_runs, map_step

__all__ = ["UsersOwn", "UsersState", "own_of"]


@pytree
@dataclasses.dataclass(frozen=True)
class UsersState(RunState):
    """The state of a user's algorithm, or R of them, runs last."""

    inner: Any
    time: jax.Array  # int32 (…): pulls of all arms
    idle: jax.Array  # int32 (…): steps since the last pull
    limited: jax.Array  # bool (…): the next step would pass `max_pulls`
    fault: jax.Array  # int32 (…): the code of `jaxbandits.status` for what must not be, 0 for none

    @property
    def pulls(self) -> jax.Array:
        """Pulls per arm, int32 `(K, …)`."""
        return self.inner.pulls


@pytree
@dataclasses.dataclass(frozen=True)
class UsersOwn:
    """The methods of a user's algorithm, mapped over the last axis of everything where there are several runs."""

    algorithm: Any
    several: bool = dataclasses.field(metadata={"static": True})

    #: A user's algorithm says nothing of these.
    slots = 1
    one_pull_a_step = False
    states_count_steps = False
    cost_budget = None

    @property
    def traits(self) -> Traits:
        """What the algorithm says of itself."""
        return traits_of(self.algorithm)

    def init(self, problem: Problem, key: jax.Array) -> UsersState:
        """First states."""

        def first(algorithm: Any, key: jax.Array, problem: Problem) -> tuple[Any, jax.Array]:
            problem, watch = problem.watched()
            return algorithm.init(problem, key), watch.outside()

        inner, outside = self._mapped(first, self.algorithm, key, problem)
        fault = _fault(outside, arms.any_arm(inner.pulls < 0))
        idle, time = jnp.zeros(key.shape, jnp.int32), arms.total(inner.pulls.astype(jnp.int32))
        return UsersState(inner, time=time, idle=idle, limited=idle > 0, fault=fault)

    def advance(
        self,
        problem: Problem,
        key: jax.Array,
        state: UsersState,
        live: jax.Array | bool = True,
        stop: Any = None,
        max_pulls: jax.Array | int = NO_LIMIT,
    ) -> UsersState:
        """Make one step of the runs that are live, bool `(…)`; none that would pass `max_pulls`, int32 `()`.

        Only the step itself knows how many pulls it makes, so it is made and taken back; as is one with a fault, which
        is noted.
        """
        del stop
        if not self.several:
            algorithm, problem, key, state = jax.tree.map(_with_runs, (self.algorithm, problem, key, state))
            new = _advance(algorithm, problem, key, state, _with_runs(live), max_pulls)
            return jax.tree.map(_without_runs, new)
        return _advance(self.algorithm, problem, key, state, live, max_pulls)

    def step(self, problem: Problem, key: jax.Array, state: UsersState) -> UsersState:
        """Make one step."""
        return self.advance(problem, key, state)

    def steps_made(self, before: UsersState, after: UsersState, live: jax.Array) -> jax.Array:
        """Return how many steps a call of `advance` has made, int32 `(…)`, with the runs that were live before it."""
        del before
        return (live & ~after.limited).astype(jnp.int32)

    def at_limit(self, state: UsersState, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next step would pass `max_pulls`, int32 `()`; bool `(…)`."""
        return state.limited | (state.time >= max_pulls)

    def state_of(self, state: UsersState) -> Any:
        """The user's own state."""
        return state.inner

    def done(self, state: UsersState) -> jax.Array:
        """Which runs have ended, bool `(…)`."""
        return jnp.asarray(self._of_state(lambda a, s: a.done(s), state))

    def exhausted(self, state: UsersState) -> jax.Array:
        """Which runs cannot go on, bool `(…)`: none where the algorithm does not say."""
        if not callable(getattr(self.algorithm, "exhausted", None)):
            return jnp.zeros(state.idle.shape, bool)
        return jnp.asarray(self._of_state(lambda a, s: jnp.asarray(a.exhausted(s)), state))

    def stalled(self, state: UsersState) -> jax.Array:
        """Which runs have gone on for long without a pull, or have a fault, bool `(…)`."""
        return (state.idle >= MOST_IDLE) | (state.fault > 0)

    def fault(self, state: UsersState) -> jax.Array:
        """The fault that each run has, a code of `jaxbandits.status`, 0 for none; int32 `(…)`."""
        return state.fault

    def recommend(self, state: UsersState) -> jax.Array:
        """Masks of the returned arms, bool `(K, …)`."""
        return jnp.asarray(self._of_state(lambda a, s: a.recommend(s), state))

    def _of_state(self, method: Callable[..., Any], state: UsersState) -> Any:
        return self._mapped(method, self.algorithm, state.inner)

    def _mapped(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of one run for all runs; for a single one, too, for the same bits."""
        if self.several:
            return map_runs(method)(*arguments)
        return jax.tree.map(_without_runs, map_runs(method)(*jax.tree.map(_with_runs, arguments)))


def _advance(
    algorithm: Any, problem: Problem, key: jax.Array, state: UsersState, live: jax.Array | bool, max_pulls: Any
) -> UsersState:
    """Make one step of R runs."""

    def one_step(algorithm: Any, key: jax.Array, problem: Problem, inner: Any) -> tuple[Any, jax.Array]:
        problem, watch = problem.watched()
        return algorithm.step(problem, key, inner), watch.outside()

    steps = map_step(one_step)(algorithm, key, problem, state.inner)
    gained, fell = steps.gained(lambda inner: inner.pulls)
    time = state.time + gained
    fault = jnp.where(live, _fault(steps.beside, fell | (time < state.time)), 0)
    passed = live & (fault == 0) & (time > max_pulls)
    kept = live & (fault == 0) & ~passed
    return UsersState(
        inner=steps.where(kept),
        time=jnp.where(kept, time, state.time),
        idle=jnp.where(kept, jnp.where(gained > 0, 0, state.idle + 1), state.idle),
        limited=state.limited | passed,
        fault=jnp.where(fault > 0, fault, state.fault),
    )


def _with_runs(leaf: Any) -> jax.Array:
    """Give what a single run has an axis of runs."""
    return jnp.asarray(leaf)[..., None]


def _without_runs(leaf: jax.Array) -> jax.Array:
    """Take the axis of a single run away."""
    return leaf[..., 0]


def _fault(outside: jax.Array, back: jax.Array) -> jax.Array:
    """The code for arms that do not exist, or for pulls that were taken back; int32 `(…)`."""
    return jnp.where(outside, OUTSIDE, jnp.where(back, TAKEN_BACK, 0)).astype(jnp.int32)


def own_of(algorithm: Any) -> Any:
    """Return what the user wrote, from what the engine has of it."""
    if isinstance(algorithm, UsersOwn):
        return algorithm.algorithm
    return algorithm.rule if isinstance(algorithm, MappedRule | EliminationRule) else algorithm
