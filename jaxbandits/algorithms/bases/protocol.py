"""The protocol of an algorithm, and the two ways to write one.

An algorithm is a frozen dataclass of its hyperparameters with `@jb.pytree` above it, and four pure methods::

    init(problem, key)                -> state   may pull
    step(problem, key, state)         -> state   one decision and its pulls
    done(state)                       -> bool ()
    recommend(state)                  -> bool (K,): the returned arms
    exhausted(state)                  -> bool (), optional: the run cannot go on, and ends with status 1

`key` is the run's key, the same at every step; the state, a pytree of arrays whose shapes and types stay, carries at
least `pulls`, int32 `(K,)`. What else is to be known, such as the criterion and the tolerance by which its answers are
judged, its attribute `traits` says, a `jb.Traits`: nothing is taken from the names of its fields. Anything with these
methods runs in the engine, which looks at it once (`jaxbandits/engine/border.py`) and batches it with `vmap`; a run
that makes 10 000 steps without a pull ends with status 2. `jax.tree_util.register_dataclass` serves, too.

The built-in algorithms are written for one run and for R
runs at once (arms first, runs last) and need no `vmap`: they derive from `Sequential`, `RoundBased`, `BatchBased` or
`JointBatches`, which compose `init` and `step` from the two halves that a live experiment needs too:

    Sequential:    select(state) -> arm               update(state, arm, reward, live) -> state
    RoundBased:    request(state) -> arms (P, …)      absorb(state, arms, rewards, live) -> state
    BatchBased:    request(state) -> counts (K, …)    absorb(state, counts, sums, live) -> state
    JointBatches:  request(state) -> Batches          absorb(state, batches, sums (Q, K, …), live) -> state

A class of your own may derive from them, too. With `Sequential` and `RoundBased` it need only serve one run: what is
not in the registry is batched with `vmap` there.

To add an algorithm: copy the shortest one (uniform.py), and add one line to `jaxbandits/algorithms/registry.py`.
"""

import abc
import dataclasses
from typing import Any, ClassVar, Protocol, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.parameters import Numeric, check_parameter, is_number, is_parameter, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms
from jaxbandits.axes import Axis
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.reservoirs import Reservoir
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.theory.budgeted import reservoir_arms

__all__ = ["Algorithm", "BatchBased", "BuiltIn", "Numeric", "RoundBased", "Sequential", "parameter"]

State = Any


class Algorithm(Protocol):
    """What the engine asks of an algorithm; see the module's text."""

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state before the first decision; may pull."""

    def step(self, problem: Problem, key: jax.Array, state: State) -> State:
        """One decision and its pulls."""

    def done(self, state: State) -> jax.Array:
        """Whether the run has ended, bool `()`."""

    def recommend(self, state: State) -> jax.Array:
        """Mask of the returned arms, bool `(K,)`."""


@dataclasses.dataclass(frozen=True)
class BuiltIn(abc.ABC):
    """What the built-in algorithms share: checks of their hyperparameters, and a name."""

    #: What is to be known of the class; a subclass replaces it.
    traits: ClassVar[Traits] = Traits()

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            for one in value.values if isinstance(value, Axis) else [value]:
                check_parameter(type(self).__name__, field, one)
        if self.given("adaptive") is True and self.given("a") is not None:
            raise UsageError(f"{type(self).__name__}: give a, or adaptive, not both")

    @property
    def initial_pulls(self) -> int:
        """Pulls of every arm before the first decision: an empirical variance needs two."""
        return 2 if self.second_moments else 1

    @property
    def second_moments(self) -> bool:
        """Whether the squares of the rewards are kept, for empirical variances."""
        return bool(self.given("variance"))

    def given(self, name: str) -> Any:
        """The value of a hyperparameter made with `parameter`; None if there is none, or a field of that name only."""
        fields = {field.name: field for field in dataclasses.fields(self)}
        return getattr(self, name) if name in fields and is_parameter(fields[name]) else None

    def resolved(self, problem: Problem) -> Self:
        """The algorithm with what it takes from the problem filled in, in double precision, before a run.

        Raises:
            UsageError: if the problem does not have it.
        """
        takes_range = any(field.name == "b" and is_parameter(field) for field in dataclasses.fields(self))
        if takes_range and self.given("b") is None and not problem.bounded:
            raise UsageError(
                f"{type(self).__name__} needs rewards in an interval, or sub-Gaussian, and {problem.name} has heavy "
                "tails: give b, or use successive-elimination or successive-rejects"
            )
        return self

    def prepared(self) -> Self:
        """The algorithm with the defaults filled in that depend on its own parameters; before a live experiment."""
        return self

    def unseen(self, problem: Problem) -> float | None:
        """Where a problem has more arms than are simulated: how improbable it is, at most, that one would matter."""
        del problem
        return None

    def explored(self, problem: Problem) -> Problem:
        """The problem with as many arms as the algorithm wants, where a reservoir leaves that to it; before a run.

        Here K(B) of Li and Xia (2017, eq. 5).

        Raises:
            UsageError: if the algorithm has no budget, or the reservoir no known regularity, to tell by; or if pulls
                have prices and the algorithm looks at rewards only.
        """
        if not isinstance(problem, Reservoir):
            return problem
        if not (problem.unit_costs or self.traits.spends):
            raise UsageError(f"{type(self).__name__} looks at rewards only: {problem.name} needs prices=unit")
        if problem.count:
            return problem
        return problem.sized(reservoir_arms(*self.scale(problem)))

    def scale(self, problem: Reservoir) -> tuple[float, float]:
        """Budget and regularity beta, for a reservoir that leaves the number of arms to the algorithm.

        Raises:
            UsageError: if either is not known.
        """
        budget, beta = self.given("budget"), self.given("beta")
        beta = problem.regularity if beta is None else beta
        if budget is None or beta is None:
            lacks = "a budget" if budget is None else "the regularity beta"
            raise UsageError(
                f"{type(self).__name__} has not {lacks} to choose a number of arms by: give {problem.name} arms="
            )
        return float(budget), float(beta)

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Whether the hyperparameters fit a problem.

        Raises:
            UsageError: m >= K, a budget that does not cover the initial pulls, or several bandits for an algorithm of
                one.
        """
        name, count = type(self).__name__, arms_per_bandit * bandits
        if bandits > 1 and not self.traits.multi_bandit:
            raise UsageError(f"{name} explores one bandit, the problem has {bandits}")
        budget = self.given("budget")
        m_name = "k" if self.given("m") is None else "m"
        m = self.given(m_name)
        if m is not None and is_number(m) and m >= arms_per_bandit:
            raise UsageError(
                f"{name}: {m_name} must be smaller than the number of arms, got {m_name}={m:g} with "
                f"{arms_per_bandit} arms"
            )
        needed = max(self.initial_pulls, 1) * count
        if budget is not None and is_number(budget) and budget < needed:
            raise UsageError(f"{name}: the budget must cover {needed} first pulls of {count} arms, got {budget:g}")

    def exhausted(self, state: State) -> jax.Array | bool:
        """Whether what comes next would pass the range of the counts: the run is then stopped as at `max_pulls`."""
        del state
        return False

    def check_live(self) -> None:  # noqa: B027 - nothing to check is the rule
        """Whether rewards may come one at a time from outside, as in a live experiment.

        Raises:
            UsageError: if the algorithm looks at earlier rewards again.
        """

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

    def advance(self, problem: Problem, key: jax.Array, state: State, live: jax.Array, stop: jax.Array | int) -> State:
        """As many steps as the algorithm makes at once: one, or those up to `stop` pulls, int32 `(…)` or `()`."""
        del stop
        return self.step(problem, key, state, live)


class Sequential(BuiltIn):
    """An algorithm that pulls one arm per decision."""

    @abc.abstractmethod
    def select(self, state: State) -> jax.Array:
        """The arm to pull, int32 `(…)`."""

    @abc.abstractmethod
    def update(self, state: State, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after one reward of one arm; unchanged where `live` is false."""

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Select, pull, update."""
        arm = self.select(state)
        live = live & ~self.done(state)
        reward = problem.reward(key, arm, self.pulled_before(state, arm))
        return self.update(state, arm, reward, live)

    def pulled_before(self, state: State, arm: jax.Array) -> jax.Array:
        """How often an arm was pulled, int32 `(…)`."""
        return arms.take(state.pulls, arm)


class RoundBased(BuiltIn):
    """An algorithm that pulls several arms per decision."""

    @abc.abstractmethod
    def request(self, state: State) -> jax.Array:
        """The arms to pull once each, all different, int32 `(P, …)`."""

    @abc.abstractmethod
    def absorb(self, state: State, requested: jax.Array, rewards: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after the requested rewards `(P, …)`; unchanged where `live` is false."""

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Request, pull, absorb."""
        requested = self.request(state)
        slots = [requested[slot] for slot in range(requested.shape[0])]
        live = live & ~self.done(state)
        rewards = [problem.reward(key, arm, arms.take(state.pulls, arm)) for arm in slots]
        return self.absorb(state, requested, jnp.stack(rewards), live)


class BatchBased(BuiltIn):
    """An algorithm that asks for many pulls of many arms at once, and looks at their sums only."""

    traits = Traits(anytime=False, in_batches=True)

    @property
    def initial_pulls(self) -> int:
        """None: the first step pulls."""
        return 0

    @abc.abstractmethod
    def request(self, state: State) -> jax.Array:
        """How often to pull each arm, int32 `(K, …)`."""

    @abc.abstractmethod
    def absorb(self, state: State, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> State:
        """The state after `count` rewards of each arm with these sums, `(K, …)`; unchanged where `live` is false."""

    def init(self, problem: Problem, key: jax.Array) -> State:
        """The state before the first pull."""
        statistics = ArmStatistics.none(problem.arms, key.shape, integer=problem.integer_rewards)
        return self.begin(statistics, problem, key)

    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """Request, draw sums, absorb."""
        live = live & ~self.done(state) & ~jnp.asarray(self.exhausted(state))
        count = jnp.where(live, self.request(state), 0)
        return self.absorb(state, count, problem.sums(key, state.round, count, state.pulls), live)
