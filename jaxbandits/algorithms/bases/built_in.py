"""What the built-in algorithms share: checks of their hyperparameters, and what the engine asks of them."""

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.parameters import check_parameter, is_parameter
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.axes import Axis
from jaxbandits.checks import is_number
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.theory.budgeted import reservoir_arms

__all__ = ["BuiltIn", "Theorem"]


class Theorem(NamedTuple):
    """A bound: a formula of `theory`, its arguments, and where it stands."""

    formula: Callable[..., jax.Array]
    arguments: tuple[Any, ...]
    source: str


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
        if not problem.drawn:
            return problem
        if not (problem.unit_costs or self.traits.spends):
            raise UsageError(f"{type(self).__name__} looks at rewards only: {problem.name} needs prices=unit")
        if problem.arms:
            return problem
        return problem.sized(reservoir_arms(*self.scale(problem)))

    def scale(self, problem: Problem) -> tuple[float, float]:
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

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Whether it can find the m best arms of a problem, with its guarantee.

        Raises:
            UsageError: why not.
        """
        if m > 1 and self.given("m") is None:
            raise UsageError("returns one arm")
        if self.second_moments and not problem.in_interval:
            raise UsageError("its radii hold for bounded rewards")

    @property
    def oracle(self) -> bool:
        """Whether a parameter is computed from the true gaps, which nobody has before an experiment."""
        own = any(field.name == "a" and is_parameter(field) for field in dataclasses.fields(self))
        return own and self.a is None and not self.given("adaptive")  # type: ignore[attr-defined]

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """What is proved of it on (b/2)-sub-Gaussian arms: pulls exceeded with probability at most delta, or an error.

        Args:
            means: `(K,)`.
            variances: `(K,)`.
            b: the range of the rewards.
            delta: the confidence asked for.
            epsilon: the tolerance.
            m: the number of arms returned.
        """
        del means, variances, b, delta, epsilon, m
        return None

    def exhausted(self, state: State) -> jax.Array | bool:
        """Whether what comes next would pass the range of the counts: the run is then stopped as at `max_pulls`."""
        del state
        return False

    def state_of(self, state: State) -> State:
        """The state that a user is shown."""
        return state

    def stalled(self, state: State) -> jax.Array | bool:
        """Whether runs have gone on for long without a pull, which a built-in algorithm does not."""
        del state
        return False

    @property
    def slots(self) -> int:
        """How many batches a request may have, part of the program."""
        return 1

    @property
    def cost_budget(self) -> Any:
        """The budget of cost `(…)` that is spent; None where none is."""
        return None if self.traits.spends is None else getattr(self, self.traits.spends)

    #: Whether what a pull cost is told with its reward, in a live experiment.
    takes_costs: ClassVar[bool] = False

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
        return UsageError(f"{type(self).__name__} has no two halves for ask and tell: derive it from Sequential, say")

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
