"""The part of an algorithm that matters before a run: its hyperparameters, their defaults, its theorem."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from jaxbandits.algorithms.arguments import refusing_arguments
from jaxbandits.algorithms.arm_values import check_arm_values
from jaxbandits.algorithms.parameters import Word, check_parameter, is_made_float, is_own_number, is_parameter, is_word
from jaxbandits.algorithms.reward_range import check_range, check_unit_rewards, warn_beyond_proof, with_range_from_zero
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.axes import Axis
from jaxbandits.checks import is_number, numbers
from jaxbandits.costs.budgets import check_budget
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.theory.budgeted import reservoir_arms

__all__ = ["Hyperparameters"]

# How many times longer a pull takes with intervals by betting.
_RADIUS_COSTS = {"empirical-bernstein": 5.0, "betting": 100.0}


@dataclasses.dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters with their checks, and what follows from them before a run."""

    #: Facts about the class; a subclass replaces them.
    traits: ClassVar[Traits] = Traits()
    #: Whether the cost of a pull must be given with its reward, in a live experiment.
    takes_costs: ClassVar[bool] = False
    #: Whether rewards must lie in [0, b], as for a bound by a Bernoulli divergence.
    from_zero: ClassVar[bool] = False
    #: What an oracle takes from the problem, in words.
    oracle_knows: ClassVar[str] = "the true gaps"

    @classmethod
    def when_complete(cls) -> None:
        """Let the constructor name missing and unknown hyperparameters in one line."""
        cls.__init__ = refusing_arguments(cls)  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if is_made_float(field, value):
                value = numbers(f"{type(self).__name__}: {field.name}", value)
                object.__setattr__(self, field.name, value)
            for one in value.values if isinstance(value, Axis) else [value]:
                check_parameter(type(self).__name__, field, one)
            if is_word(field, value):
                object.__setattr__(self, field.name, Word(value))
        if self.given("adaptive") is True and self.given("a") is not None:
            raise UsageError(f"{type(self).__name__}: give a, or adaptive, not both")

    @property
    def initial_pulls(self) -> int:
        """The pulls of every arm before the first decision: an empirical variance needs two."""
        return 2 if self.second_moments else 1

    @property
    def one_by_one(self) -> bool:
        """Whether the first pulls of the arms are made one after another."""
        return False

    @property
    def second_moments(self) -> bool:
        """Whether the squares of the rewards are kept, for empirical variances."""
        return bool(self.given("variance"))

    @property
    def uses_range(self) -> bool:
        """Whether it counts on the range b of the rewards."""
        return self._has("b")

    @property
    def bets(self) -> bool:
        """Whether its intervals are by betting, so that rewards must lie in [0, b]."""
        return self.given("radius") not in (None, "hoeffding") or self.given("stopping") == "betting"

    @property
    def relative_cost(self) -> float:
        """How long a pull takes, as a multiple of a pull of UGapEc (measured): more with other radii than the first."""
        return self.traits.relative_cost * _RADIUS_COSTS.get(self.given("radius"), 1.0)

    def given(self, name: str) -> Any:
        """Return the value of a hyperparameter made with `parameter`; None if there is none of this meaning."""
        return getattr(self, name) if self._has(name) else None

    def _has(self, name: str) -> bool:
        return any(f.name == name and is_parameter(f) and not is_own_number(f) for f in dataclasses.fields(self))

    def resolved(self, problem: Problem) -> Self:
        """Fill in what the algorithm takes from the problem, in double precision, before a run.

        Raises:
            UsageError: the problem does not have it.
        """
        if self.traits.spends is not None:
            check_budget(type(self).__name__, vars(self)[self.traits.spends], problem, self.traits.unit_rewards)
        if self.traits.unit_rewards:
            check_unit_rewards(type(self).__name__, problem)
        if self._has("b"):
            check_range(self, problem)
        warn_beyond_proof(self, problem)
        return with_range_from_zero(self, problem) if self.from_zero else self

    def prepared(self) -> Self:
        """Fill in the defaults that depend on other parameters only, before a live experiment."""
        return self

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str | float], ...]:
        """Return the settings that get their own rows when algorithms are compared on this problem."""
        del problem
        return cls.traits.variants

    def unseen(self, problem: Problem) -> float | None:
        """Return a bound of the probability that an unsimulated arm matters; None if all arms are simulated."""
        del problem
        return None

    def explored(self, problem: Problem) -> Problem:
        """Set the number of arms of a reservoir that leaves this to the algorithm, before a run.

        The number is K(B) of Li and Xia (2017, eq. 5).

        Raises:
            UsageError: the algorithm has no budget, or the regularity of the reservoir is not known; or pulls have
                prices and the algorithm ignores costs.
        """
        if not problem.drawn:
            return problem
        if not (problem.unit_costs or self.traits.spends):
            but = "needs prices=unit" if "prices" in problem.choices else "has costs: use a rule that pays, such as RCB"
            raise UsageError(f"{type(self).__name__} looks at rewards only: {problem.name} {but}")
        if problem.arms:
            return problem
        return problem.sized(reservoir_arms(*self.scale(problem)))

    def scale(self, problem: Problem) -> tuple[float, float]:
        """Return budget and regularity beta, for a reservoir that leaves the number of arms to the algorithm.

        Raises:
            UsageError: either is not known.
        """
        budget, beta = self.given("budget"), self.given("beta")
        beta = problem.regularity if beta is None else beta
        if budget is None or beta is None:
            needs = "needs" if problem.arms else "cannot choose a number of arms without"
            lacks, remedy = ("a budget", "arms=…") if budget is None else ("the regularity beta", "beta=…")
            raise UsageError(f"{type(self).__name__} {needs} {lacks}: give {problem.name} {remedy}")
        return float(budget), float(beta)

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check that the hyperparameters fit a problem.

        Raises:
            UsageError: m >= K, a budget that does not cover the initial pulls, several bandits for an algorithm of
                one, or an error of `check_arm_values`.
        """
        name, count = type(self).__name__, arms_per_bandit * bandits
        if bandits > 1 and not self.traits.multi_bandit:
            raise UsageError(f"{name} explores one bandit, the problem has {bandits}")
        check_arm_values(self, count)
        budget = self.given("budget")
        m_name = "k" if self.given("m") is None else "m"
        m = self.given(m_name)
        if m is not None and is_number(m) and m >= arms_per_bandit:
            raise UsageError(
                f"{name}: {m_name} must be smaller than the number of arms, got {m_name}={m:g} with "
                f"{arms_per_bandit} arms"
            )
        needed = max(self.initial_pulls, 1) * count
        if not self.one_by_one and is_number(budget) and budget < needed:  # one by one it need not cover a pull of each
            raise UsageError(f"{name}: the budget must cover {needed} first pulls of {count} arms, got {budget:g}")

    def check_live(self) -> None:
        """Check that rewards may come one at a time from outside, as in a live experiment.

        Raises:
            UsageError: the algorithm needs earlier rewards again, the true gaps, or the numbers of items.
        """
        if "serfling" in (self.given("radius") or ""):
            raise UsageError(
                f"{type(self).__name__}: radius={self.given('radius')} needs the number of items of each arm, which a "
                "live experiment does not know: use radius=betting"
            )
        if self.oracle:
            raise UsageError(
                f"{type(self).__name__} computes its exploration parameter from the true means, which a live "
                "experiment does not know: give a=…, or adaptive=True where the algorithm has it"
            )

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check that the algorithm can find the m best arms of a problem, with its guarantee.

        Raises:
            UsageError: it cannot; the message is the reason.
        """
        if m > 1 and self.given("m") is None:
            raise UsageError("returns one arm")
        if self.given("variance") and not problem.in_interval:
            raise UsageError("its radii hold for bounded rewards")

    @property
    def oracle(self) -> bool:
        """Whether a parameter is taken from what is unknown in an experiment, `oracle_knows`."""
        return self._has("a") and self.a is None and not self.given("adaptive")  # type: ignore[attr-defined]

    @property
    def proved(self) -> bool:
        """Whether it is proved to err with probability at most delta: not with heuristic constants."""
        return True

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the theorem for (b/2)-sub-Gaussian arms: a bound of the pulls, or of the error; None without one.

        Args:
            means: `(K,)`.
            variances: `(K,)`.
            b: the range of the rewards.
            delta: the allowed probability of error, and that with which the pulls exceed their bound.
            epsilon: the tolerance.
            m: the number of arms returned.
        """
        del means, variances, b, delta, epsilon, m
        return None

    def theorem_of_moments(self, problem: Problem) -> Theorem | None:
        """Return the theorem for arms with a bounded moment, where `theorem` says nothing; None without one.

        Args:
            problem: a problem with given, independent arms, from which the algorithm has taken what it needs.
        """
        del problem
        return None

    def rate(self, problem: Problem) -> Theorem | None:
        """Return a bound, or a rate without its constant, for figures; None without one.

        Args:
            problem: a suitable problem, from which the algorithm has taken what it needs.
        """
        del problem
        return None
