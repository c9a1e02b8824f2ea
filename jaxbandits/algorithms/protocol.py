"""The protocol of an algorithm, and the two ways to write one.

An algorithm is a frozen dataclass of its hyperparameters, registered as a pytree, with four pure methods::

    init(problem, key)                -> state   may pull
    step(problem, key, state)         -> state   one decision and its pulls
    done(state)                       -> bool ()
    recommend(state)                  -> bool (K,): the returned arms

`key` is the run's key, the same at every step; the state carries at least `pulls`, int32 `(K,)`. Anything with these
methods runs in the engine, which batches it with `vmap`. The built-in algorithms are written for one run and for R
runs at once (arms first, runs last) and need no `vmap`: they derive from `Sequential`, `RoundBased`, `BatchBased` or
`JointBatches`, which compose `init` and `step` from the two halves that a live experiment needs too:

    Sequential:    select(state) -> arm               update(state, arm, reward, live) -> state
    RoundBased:    request(state) -> arms (P, …)      absorb(state, arms, rewards, live) -> state
    BatchBased:    request(state) -> counts (K, …)    absorb(state, counts, sums, live) -> state
    JointBatches:  request(state) -> Batches          absorb(state, batches, sums (Q, K, …), live) -> state

To add an algorithm: copy the shortest one (ucb_e.py), and add one line to `REGISTRY` in
`jaxbandits/algorithms/__init__.py`.
"""

import abc
import dataclasses
from typing import Any, ClassVar, Protocol, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import arms
from jaxbandits.axes import Axis
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.estimators import ArmStatistics
from jaxbandits.problems.base import Problem
from jaxbandits.problems.reservoirs import Reservoir
from jaxbandits.theory.budgeted import reservoir_arms

__all__ = ["Algorithm", "BatchBased", "BuiltIn", "Numeric", "RoundBased", "Sequential", "parameter"]

State = Any
#: A hyperparameter: a number, an array of numbers once it is batched, an axis of a grid, or None where that is allowed.
Numeric = Any


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


def parameter(
    rule: str = "",
    *,
    default: Any = dataclasses.MISSING,
    static: bool = False,
    common: int | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A hyperparameter's field.

    Args:
        rule: the values that are allowed, one of the keys of `RULES`.
        default: the default value.
        static: part of the program (a choice of code path), not of its input.
        common: a whole number so common for this parameter that a grid that shares it gets its own, cheaper program.
        choices: the words that are allowed, for a static parameter that is a word; None too where it is the default.
    """
    metadata = {"rule": rule, "static": static, "common": common, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


RULES = {
    "probability": (lambda x: 0 < x < 1, "must lie strictly between 0 and 1"),
    "positive": (lambda x: x > 0 and np.isfinite(x), "must be positive and finite"),
    "above one": (lambda x: x > 1 and np.isfinite(x), "must be above 1 and finite"),
    "not negative": (lambda x: x >= 0 and np.isfinite(x), "must not be negative, and finite"),
    "at least one": (lambda x: x >= 1 and np.isfinite(x), "must be at least 1 and finite"),
    "count": (lambda x: np.isfinite(x) and x >= 1 and x == int(x), "must be a whole number, at least 1"),
}


@dataclasses.dataclass(frozen=True)
class BuiltIn(abc.ABC):
    """What the built-in algorithms share: checks of their hyperparameters, and a name."""

    #: What counts as a correct answer, a key of `jaxbandits.results.CRITERIA`.
    criterion: ClassVar[str] = "epsilon-m"
    #: Whether one run can be looked at for every smaller budget.
    anytime: ClassVar[bool] = True
    #: Whether the algorithm works on several bandits at once.
    multi_bandit: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            for one in value.values if isinstance(value, Axis) else [value]:
                _check(type(self).__name__, field, one)
        if getattr(self, "adaptive", False) is True and getattr(self, "a", None) is not None:
            raise UsageError(f"{type(self).__name__}: give a, or adaptive, not both")

    @property
    def initial_pulls(self) -> int:
        """Pulls of every arm before the first decision: an empirical variance needs two."""
        return 2 if getattr(self, "variance", False) else 1

    def resolved(self, problem: Problem) -> Self:
        """The algorithm with what it takes from the problem filled in, in double precision, before a run.

        Raises:
            UsageError: if the problem does not have it.
        """
        if hasattr(self, "b") and self.b is None and not problem.bounded:
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
        if not (problem.unit_costs or getattr(self, "spends", False)):
            raise UsageError(f"{type(self).__name__} looks at rewards only: {problem.name} needs prices=unit")
        if problem.count:
            return problem
        return problem.sized(reservoir_arms(*self.scale(problem)))

    def scale(self, problem: Reservoir) -> tuple[float, float]:
        """Budget and regularity beta, for a reservoir that leaves the number of arms to the algorithm.

        Raises:
            UsageError: if either is not known.
        """
        budget, beta = getattr(self, "budget", None), getattr(self, "beta", None)
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
        if bandits > 1 and not self.multi_bandit:
            raise UsageError(f"{name} explores one bandit, the problem has {bandits}")
        budget = getattr(self, "budget", None)
        m_name = "m" if hasattr(self, "m") else "k"
        m = getattr(self, m_name, None)
        if m is not None and _concrete(m) and m >= arms_per_bandit:
            raise UsageError(
                f"{name}: {m_name} must be smaller than the number of arms, got {m_name}={m:g} with "
                f"{arms_per_bandit} arms"
            )
        needed = max(self.initial_pulls, 1) * count
        if budget is not None and _concrete(budget) and budget < needed:
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
        variance = bool(getattr(self, "variance", False))
        statistics = ArmStatistics.first(problem.rewards(key, 0), problem.mask, variance=variance)
        everyone = jnp.ones(statistics.pulls.shape, bool) if problem.mask is None else problem.mask
        for pull in range(1, self.initial_pulls):
            statistics = statistics.add_each(problem.rewards(key, pull), everyone)
        return self.begin(statistics, problem, key)

    @abc.abstractmethod
    def step(self, problem: Problem, key: jax.Array, state: State, live: jax.Array | bool = True) -> State:
        """One decision and its pulls; where `live` is false or the run is done the state keeps every bit."""


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

    #: A step is long and a run has few: the engine looks at the lanes after each.
    few_steps: ClassVar[bool] = True
    anytime = False

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


def _concrete(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _check(owner: str, field: dataclasses.Field[Any], value: Any) -> None:
    choices = field.metadata.get("choices")
    if choices and value not in choices and not (value is None and field.default is None):
        raise unknown_name(f"{owner}: {field.name}", str(value), choices)
    rule = field.metadata.get("rule")
    if not rule or not _concrete(value):
        if rule and isinstance(value, str):
            raise UsageError(f"{owner}: {field.name} must be a number, got {value!r}")
        return
    valid, text = RULES[rule]
    if not valid(value):
        raise UsageError(f"{owner}: {field.name} {text}, got {value:g}")
