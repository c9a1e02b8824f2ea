"""Fixed confidence by a generalised likelihood ratio test: a stopping rule for every way of sampling one arm at a time.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 4 (Chernoff's stopping
rule); with epsilon, Garivier, Kaufmann (2021), "Nonasymptotic sequential tests for overlapping hypotheses applied to
near-optimal arm identification in bandit models", Sequential Analysis; for m arms, You, Qin, Wang, Yang (2023),
"Information-directed selection for top-two algorithms", COLT. Confidence intervals may take the test's place
(`interval_stopping.py`), under the same ways of sampling.
"""

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases import glr_families as words
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.interval_stopping import STOPPING_WORDS, rate_for
from jaxbandits.algorithms.bases.pairwise_statistic import PairwiseStatistic, Standing
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.protocol import State
from jaxbandits.arrays.numerics import larger
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.random import ties
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.glr_thresholds import IN_RUNS, THRESHOLDS

__all__ = ["GLRState", "GLRStopped"]


@pytree
@dataclasses.dataclass(frozen=True)
class GLRState(ArmState):
    """The state of a run; arms first, runs last. What a decision needs is computed once, after every reward."""

    level: jax.Array  # float32 (…): the threshold's constant
    over: jax.Array  # bool (…): whether the statistic exceeds the threshold
    following: jax.Array  # int32 (…): the arm to pull next
    parted: jax.Array | None  # float32 (K, …): `longest_parted`, where arms are eliminated

    def pulling(self, place: jax.Array) -> Self:
        """The state in which the arm at a place in the tie order, int32 `(…)`, is the next to be pulled."""
        return dataclasses.replace(self, following=ties.arm_at(place, self.order.shape[0], self.ties))

    def of_the_test(self) -> dict[str, Any]:
        """The fields of this class by name, to build a state with more."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(GLRState)}


@dataclasses.dataclass(frozen=True)
class GLRStopped(PairwiseStatistic):
    """Samples in some way until the best-looking arm, or the m best-looking, are told from all others; returns them.

    With probability at least 1 - delta none of them has a mean that is less, by more than epsilon, than that of an arm
    left out, where the threshold is proved for the family, however arms are sampled. With epsilon = 0 and equal means
    on either side a run only ends at `max_pulls`.

    Attributes:
        delta: allowed probability of error, in (0, 1); only the stopping rule knows it.
        epsilon: accuracy, not negative.
        threshold: what the statistic must exceed, by its name in `jaxbandits.theory.glr_threshold`; None for a proved
            one: `gk16` on Bernoulli arms, `kk21-gaussian` with the family `gaussian`, `student-mixture` with unknown
            variances, else `kk21`. `heuristic` is not proved.
        family: the statistic: `bernoulli`, also valid for all rewards in [0, b], `gaussian` with the standard deviation
            b / 2, also valid for (b/2)-sub-Gaussian rewards, such as all in an interval of length b, `poisson`,
            `exponential`, or `gaussian-unknown-variance`, for normal rewards of which every arm has a variance of its
            own that nobody knows (two first pulls of each). None takes the problem's; `gaussian` where it names none,
            as in a live experiment.
        b: range of the rewards, twice the standard deviation of normal ones; None takes the problem's.
        stopping: `glr`, this test; or another one by the intervals mean +- b sqrt(beta(t) / (2 N)), of the best-looking
            arm and all others: `lucb-gap`, LUCB's, U_l - L_h < epsilon with beta = ln(5 K t^4 / (4 delta)), t pulls;
            `ugape-index`, UGapE's, the same with ln(4 K t^3 / delta): the index B of the best-looking arm, and at least
            the largest of several; `elimination`, LUCB's, but for arms that once were below all best-looking ones with
            epsilon = 0. All are proved for rewards in [0, b] and (b/2)-sub-Gaussian ones, however arms are sampled.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, or one beside a stopping
            rule that has its own.
    """

    delta: Numeric = parameter("error probability")
    epsilon: Numeric = parameter("not negative", default=0.0, common=0)
    threshold: str | None = parameter(default=None, static=True, choices=words.THRESHOLD_WORDS)
    family: str | None = parameter(default=None, static=True, choices=words.FAMILY_WORDS)
    b: Numeric = parameter("positive", default=None)
    stopping: str = parameter(default="glr", static=True, choices=STOPPING_WORDS)

    def __post_init__(self) -> None:
        super().__post_init__()
        name, rate = type(self).__name__, rate_for(self.stopping)
        if rate is not None and self.threshold is not None:
            raise UsageError(f"{name}: threshold is for stopping=glr, and stopping={self.stopping} has its own")
        if rate is not None and self.family not in (None, "bernoulli", "gaussian"):
            raise UsageError(f"{name}: stopping={self.stopping} is for family=bernoulli or gaussian")
        words.check_pair(name, self.family, self.threshold)

    @property
    def proved(self) -> bool:
        """Whether the threshold is."""
        return self.threshold != words.HEURISTIC

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str], ...]:
        """Also normal arms' own variances, where b, which is the widest one's, says little of the others."""
        unlike = problem.normal and np.ptp(np.asarray(problem.variance)) > 0
        return (*cls.traits.variants, {"family": words.UNKNOWN_VARIANCE}) if unlike else cls.traits.variants

    def prepared(self) -> Self:
        """With a family: without a problem, the one that any rewards in an interval allow."""
        return dataclasses.replace(self, family=self.family_word)

    def resolved(self, problem: Problem) -> Self:
        """With the problem's family.

        Raises:
            UsageError: rewards that the family does not allow.
        """
        family = words.family_of(problem) if self.family is None else self.family
        threshold = self.threshold
        if threshold is None and self.stopping == "glr":
            threshold = words.threshold_on(problem, family)
        new = dataclasses.replace(self, family=family, threshold=threshold)
        name = type(self).__name__
        if new.second_moments:
            if new.proved and not problem.normal:
                raise UsageError(
                    f"{name}: threshold={new.threshold} needs normal rewards, and {problem.name} has others: take "
                    "another family, or threshold=heuristic, of which nothing is proved"
                )
            return new
        if new.family != "gaussian" and problem.lowest_reward < 0:
            raise UsageError(f"{name}: family={new.family} needs rewards of at least 0, and {problem.name} has others")
        if new.family not in ("bernoulli", "gaussian"):
            return new
        super().resolved(problem)
        if new.family == "bernoulli" and self.b is None and not problem.in_interval:
            raise UsageError(f"{name}: family=bernoulli needs rewards in an interval [0, b]: give b, or no family")
        return new

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> GLRState:
        """The state after one pull of every arm."""
        width = 1.0 if self.b is None and self.family_word not in ("bernoulli", "gaussian") else self.b
        state = ArmState.of(statistics, problem, key, width)
        nothing = jnp.zeros(key.shape, jnp.int32)
        longest = jnp.full(state.order.shape, -jnp.inf) if self.stopping == "elimination" else None
        begun = GLRState(
            **state.shared(), level=self._level(state), over=nothing > 0, following=nothing, parted=longest
        )  # fmt: skip
        return self._looked_at(self.first(begun, key), True)

    def first(self, state: GLRState, key: jax.Array) -> GLRState:
        """The state with what the sampling rule keeps besides, before its first decision."""
        del key
        return state

    def tested(self, state: GLRState) -> tuple[GLRState, Any]:
        """The state with its test, and what the next decision is made of: how the best-looking arms stand."""
        standing = self.standing(state)
        if state.parted is not None:
            state = dataclasses.replace(state, parted=self.longest_parted(state, standing, state.parted))
        return dataclasses.replace(state, over=self.exceeds(state, standing)), standing

    @abc.abstractmethod
    def decided(self, state: State, seen: Any, live: jax.Array | bool) -> State:
        """The state with the arm to pull next.

        Args:
            state: after the reward of the last one, and its test.
            seen: of `tested`: how the best-looking arms stand.
            live: bool `(…)`; where false, nothing but what follows from pulls and rewards may change.
        """

    def select(self, state: GLRState) -> jax.Array:
        """The arm that was decided on, int32 `(…)`."""
        return state.following

    def update(self, state: GLRState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> GLRState:
        """The state after one reward, with the next decision."""
        return self._looked_at(state.pulled(arm, reward, live), live)

    def done(self, state: GLRState) -> jax.Array:
        """Whether the statistic exceeds the threshold (Garivier and Kaufmann 2016, section 4)."""
        return state.over

    def recommend(self, state: GLRState) -> jax.Array:
        """The m largest means."""
        return state.largest_means(self.m)

    def continued(self, state: GLRState) -> GLRState:
        """The state with this delta's threshold and this epsilon's statistic."""
        state = dataclasses.replace(state, level=self._level(state))
        return dataclasses.replace(state, over=self.exceeds(state, self.standing(state)))

    def statistic(self, state: GLRState) -> jax.Array:
        """What must exceed the threshold, float32 `(…)`."""
        return self.least(state, self.standing(state), state.parted)

    def exceeds(self, state: GLRState, standing: Standing) -> jax.Array:
        """Whether it does, bool `(…)`."""
        threshold = THRESHOLDS[self.threshold_word].at(state.level, state.time)
        return self.least(state, standing, state.parted) > threshold

    def _level(self, state: ArmState) -> jax.Array:
        threshold = THRESHOLDS[self.threshold_word]
        events = larger(threshold.events(state.arms, jnp.asarray(self.m, jnp.float32)), jnp.float32(1))
        return threshold.constant(IN_RUNS, events, jnp.broadcast_to(log_of(self.delta), events.shape))

    def _looked_at(self, state: GLRState, live: jax.Array | bool) -> GLRState:
        new = self.decided(*self.tested(state), live)
        return dataclasses.replace(new, following=jnp.where(live, new.following, state.following))
