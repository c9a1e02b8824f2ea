"""What the built-in algorithms share: what the engine and a live experiment ask of them."""

import abc
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.hyperparameters import Hyperparameters
from jaxbandits.algorithms.own_steps import State
from jaxbandits.arrays.jax_settings import run_methods_so
from jaxbandits.arrays.numerics import NO_LIMIT
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["MappedAlgorithm"]


#: Methods that make the steps of a run, each of which users may call, too.
_STEPS = (
    "init", "begin", "step", "advance", "select", "update", "request", "absorb", "asked", "told", "done", "recommend",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class MappedAlgorithm(Hyperparameters, abc.ABC):
    """What the built-in algorithms share, beside what they are asked before a run: a run, and a live experiment."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        run_methods_so(cls, *_STEPS)

    def exhausted(self, state: State) -> jax.Array | bool:
        """Whether what comes next would pass the range of the counts: the run is then stopped as at `max_pulls`."""
        del state
        return False

    def next_pulls(self, state: State) -> jax.Array | int:
        """Return how many pulls the next step makes, int32 `(…)` or `()`; 2^31 - 1 for more."""
        del state
        return 1

    def at_limit(self, state: State, max_pulls: jax.Array | int) -> jax.Array:
        """Return whether the next step would pass `max_pulls`, int32 `()`; bool `(…)`."""
        return jnp.asarray(state.time > max_pulls - self.next_pulls(state))

    def state_of(self, state: State) -> State:
        """The state that a user is shown."""
        return state

    def continued(self, state: State) -> State:
        """The state of a run that another value of a field in `traits.stops_by` has stopped, with this one's."""
        return state

    def stalled(self, state: State) -> jax.Array | bool:
        """Whether runs have gone on for long without a pull, which a built-in algorithm does not."""
        del state
        return False

    def fault(self, state: State) -> jax.Array | None:
        """The fault of each run, for which a built-in algorithm has no code."""
        del state
        return None

    @property
    def slots(self) -> int:
        """How many batches a request may have, part of the program."""
        return 1

    @property
    def cost_budget(self) -> Any:
        """The budget of cost `(…)` that is spent; None where none is."""
        return None

    @property
    def one_pull_a_step(self) -> bool:
        """Whether a step is one pull, and itself asks whether the run is done: the time then tells who moved."""
        return False

    def steps_made(self, before: State, after: State, live: jax.Array) -> jax.Array:
        """Return how many steps a call of `advance` has made, int32 `(…)`, with the runs that were live before it."""
        return jnp.asarray(after.time - before.time) if self.one_pull_a_step else live.astype(jnp.int32)

    def asked(self, state: State) -> tuple[jax.Array, jax.Array]:
        """What a live experiment has to pull next: arms and how often each, int32 `(P,)`, in order; 0 for not at all.

        Raises:
            UsageError: an algorithm that is not made of the two halves of a live experiment.
        """
        del state
        raise self._not_live()

    def told(self, state: State, asked: jax.Array, counts: jax.Array, sums: jax.Array, cost: jax.Array) -> State:
        """The state after the rewards asked for.

        Args:
            state: the state.
            asked: int32 `(P,)`, the arms that were pulled; after them arm 0 with a count of 0.
            counts: int32 `(P,)`.
            sums: float32 `(P,)`, of the rewards of each.
            cost: float32 `()`, of the last pull.

        Raises:
            UsageError: as for `asked`.
        """
        del state, asked, counts, sums, cost
        raise self._not_live()

    def _not_live(self) -> UsageError:
        return UsageError(f"{type(self).__name__} has no two halves for ask and tell: write it with jb.algorithm")

    @abc.abstractmethod
    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> State:
        """The state after the initial pulls of every arm."""

    @abc.abstractmethod
    def done(self, state: State) -> jax.Array:
        """Whether the run has ended, bool `(…)`."""

    @abc.abstractmethod
    def recommend(self, state: State) -> jax.Array:
        """Mask of the returned arms, bool `(K, …)`."""

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state after the initial pulls of every arm, rewards from the run's table."""
        statistics = ArmStatistics.first(problem.rewards(key, 0), problem.mask, variance=self.second_moments)
        everyone = jnp.ones(statistics.pulls.shape, bool) if problem.mask is None else problem.mask
        for pull in range(1, self.initial_pulls):
            statistics = statistics.add_each(problem.rewards(key, pull), everyone)
        return self.begin(statistics, problem, key)

    @abc.abstractmethod
    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """One decision and its pulls; where `live` is false or the run is done the state keeps every bit."""

    def advance(
        self,
        problem: Problem,
        key: jax.Array,
        state: State,
        live: jax.Array,
        stop: jax.Array | int,
        max_pulls: jax.Array | int = NO_LIMIT,
    ) -> State:
        """As many steps as the algorithm makes at once: one, or those up to `stop` pulls, int32 `(…)` or `()`."""
        del stop, max_pulls
        return self.step(problem, key, state, live)


run_methods_so(MappedAlgorithm, *_STEPS)
