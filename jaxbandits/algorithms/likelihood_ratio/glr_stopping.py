"""Fixed confidence by a generalised likelihood ratio test: a stopping rule for every way of sampling one arm at a time.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 4 (Chernoff's stopping
rule).

With epsilon: Garivier, Kaufmann (2021), "Nonasymptotic sequential tests for overlapping hypotheses applied to
near-optimal arm identification in bandit models", Sequential Analysis.

For m arms: You, Qin, Wang, Yang (2023), "Information-directed selection for top-two algorithms", COLT.

Confidence intervals may replace the test (`glr_statistic.py`), under the same ways of sampling; those by betting too
(Waudby-Smith, Ramdas 2024; `jaxbandits/statistics/betting.py`).
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Self, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.betting_intervals import (
    are_apart,
    bounds_of,
    first_sequences,
    level_of,
    next_sequences,
    with_bounded_rewards,
)
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.likelihood_ratio.glr_statistic import PairwiseStatistic
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.arrays.probabilities import LogProbability, log_of
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["GLRStopped", "Remembered", "Tested"]


#: What a stopping rule remembers of each arm: float32 (K,), or a `PlugInBernstein`; None for nothing.
Remembered: TypeAlias = Any
# Bets are made for this delta, whatever delta is: the pulls of a run then do not depend on it.
_BETS = LogProbability.of(0.05)


class Tested(NamedTuple):
    """The state of a rule that keeps only what its test needs."""

    parted: Remembered  # see `GLRStopped.first_parted`


@dataclasses.dataclass(frozen=True)
class GLRStopped(PairwiseStatistic):
    """Samples in some way until the m best-looking arms are distinguished from all others; returns them.

    If the threshold is proved for the family, this holds with probability at least 1 - delta, for every way of
    sampling: no returned arm's mean is more than epsilon below the mean of an arm left out. With epsilon = 0 and equal
    means on either side a run only ends at `max_pulls`.

    `UniformGLR`, which adds no rule of sampling but the simplest one, explains the hyperparameters.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, or one beside a stopping
            rule that has its own.
    """

    delta: Numeric = parameter("error probability")
    epsilon: Numeric = parameter("not negative", default=0.0, common=0)
    threshold: str | None = parameter(default=None, static=True, choices=words.THRESHOLD_WORDS)
    family: str | None = parameter(default=None, static=True, choices=words.FAMILY_WORDS)
    b: Numeric = parameter("positive", default=None)
    stopping: str = parameter(default="glr", static=True, choices=words.STOPPING_WORDS)

    def __post_init__(self) -> None:
        super().__post_init__()
        name, other = type(self).__name__, self.stopping != "glr"
        if other and self.threshold is not None:
            raise UsageError(f"{name}: threshold is for stopping=glr, and stopping={self.stopping} has its own")
        if other and self.family not in (None, "bernoulli", "gaussian"):
            raise UsageError(f"{name}: stopping={self.stopping} is for family=bernoulli or gaussian")

    @property
    def takes_counts(self) -> bool:
        """Whether a run may start from counts: its test then needs no past but these."""
        return self.stopping != words.BETTING and not self.parts_arms

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str], ...]:
        """Add unknown variances on normal arms with different variances: b, the widest one's, fits few of them."""
        unlike = problem.normal and np.ptp(np.asarray(problem.variance)) > 0
        return (*cls.traits.variants, {"family": words.UNKNOWN_VARIANCE}) if unlike else cls.traits.variants

    def resolved(self, problem: Problem) -> Self:
        """Fill in the problem's family and the threshold.

        Raises:
            UsageError: the family does not allow the problem's rewards.
        """
        family = words.family_of(problem) if self.family is None else self.family
        threshold = self.threshold
        if threshold is None and self.stopping == "glr":
            threshold = words.threshold_on(problem, family)
        new = dataclasses.replace(self, family=family, threshold=threshold)
        name = type(self).__name__
        if self.stopping == words.BETTING:
            return with_bounded_rewards(new, problem)
        if new.second_moments:
            if new.proved and not problem.normal:
                raise UsageError(
                    f"{name}: threshold={new.threshold} needs normal rewards, and {problem.name} has others: take "
                    "another family, or threshold=heuristic, of which nothing is proved"
                )
            return new
        return words.for_rewards(new, problem)

    def init(self, arms: Arms, key: jax.Array) -> OwnState:
        """Return the state after the first pulls."""
        del key
        return Tested(self.first_parted(arms))

    def update(self, state: OwnState, arms: Arms, arm: jax.Array, reward: jax.Array) -> OwnState:
        """Return the state after a reward."""
        return Tested(self.next_parted(state.parted, arms, arm, reward))

    def done(self, state: OwnState, arms: Arms) -> jax.Array:
        """Return whether the statistic exceeds the threshold (Garivier and Kaufmann 2016, section 4)."""
        if self.stopping == words.BETTING:
            epsilon = 0 if isinstance(self.epsilon, StaticInt) else self.epsilon
            return are_apart(arms, self._distance(state, arms), epsilon)
        return self.statistic(state, arms) > self.boundary(arms, log_of(self.delta))

    def recommend(self, state: OwnState, arms: Arms) -> jax.Array:
        """Return the m largest means."""
        del state
        return is_largest(arms.mean, self.m)

    def statistic(self, state: OwnState, arms: Arms) -> jax.Array:
        """Return what must exceed the threshold, float32 `()`."""
        tested = self.standing(arms).tested
        if state.parted is not None:
            tested = jnp.maximum(tested, state.parted + self.growth(arms))
        return jnp.min(tested)

    def first_parted(self, arms: Arms) -> Remembered:
        """Return what the stopping rule remembers after the first pulls; None for nothing.

        * By betting: the sums of the bets (`PlugInBernstein`).
        * Where arms are eliminated: the most, over time, by which each arm was below a whole answer, with epsilon = 0,
          float32 `(K,)`. The values are rates less their growth with t. An arm is eliminated if its value exceeds the
          constant part of the threshold.
        """
        if self.stopping == words.BETTING:
            return first_sequences("empirical-bernstein", arms, self.range_of(arms), level_of(arms, _BETS))
        return self._parted_now(None, arms) if self.parts_arms else None

    def next_parted(self, before: Remembered, arms: Arms, arm: jax.Array, reward: jax.Array) -> Remembered:
        """Return what the stopping rule remembers after one more reward of an arm."""
        if self.stopping == words.BETTING:
            level = level_of(arms, _BETS)
            return next_sequences(before, arms, arm, reward, self.range_of(arms), level)
        return self._parted_now(before, arms) if self.parts_arms else None

    def _parted_now(self, before: jax.Array | None, arms: Arms) -> jax.Array:
        standing = self.standing(arms)
        assert standing.apart is not None
        before = jnp.full_like(arms.mean, -jnp.inf) if before is None else before
        return jnp.where(standing.answer, before, jnp.maximum(before, standing.apart - self.growth(arms)))

    def _distance(self, state: OwnState, arms: Arms) -> jax.Array:
        """Return U_l - L_h by betting, float32 `()`: by how much an arm left out may be better than a returned one."""
        seen, b = (arms.pulls, arms.total, arms.cells), self.range_of(arms)
        lower, upper = bounds_of(state.parted, seen, b, level_of(arms, self.delta))
        answer = is_largest(arms.mean, self.m)  # a subclass may answer otherwise
        return jnp.max(jnp.where(answer, -jnp.inf, upper)) - jnp.min(jnp.where(answer, lower, jnp.inf))
