"""Races: the arms are pulled equally often, and those whose intervals tell leave; the best or m best are returned.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1; Maron, Moore
(1994), "Hoeffding races", NIPS 6; Mnih, Szepesvari, Audibert (2008), "Empirical Bernstein stopping", ICML.
"""

import abc
import dataclasses
from typing import ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.joint_batches import LARGEST_BATCH, Batches, JointBatches, whole
from jaxbandits.algorithms.bases.joint_state import RangedState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import larger, log, rounded, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["BernsteinRace", "HoeffdingRace", "RaceState"]


@pytree
@dataclasses.dataclass(frozen=True)
class RaceState(RangedState):
    """With the arms accepted; `values` are the sums of all rewards of every arm."""

    level: jax.Array  # float32 (…): ln(c K / delta), an interval failing with probability c exp(-level) at most
    accepted: jax.Array  # bool (K, …)
    total: CompensatedSum | None  # (K, …): the sums, of rewards that are not integers
    looked: jax.Array  # int32 (…): n_r, pulls of every active arm
    round: jax.Array  # int32 (…): r, looks so far

    def left(self, m: jax.Array) -> jax.Array:
        """How many of the m arms are not accepted yet, int32 `(…)`."""
        return jnp.asarray(m, jnp.int32) - arms.total(self.accepted.astype(jnp.int32))


class _Bounds(NamedTuple):
    """Of the means, float32 `(K, …)`, none falling where the empirical mean rises."""

    lower: jax.Array
    upper: jax.Array


@dataclasses.dataclass(frozen=True)
class _Race(JointBatches):
    """A race; a subclass has the intervals.

    The r-th look is at n_r pulls of every active arm: n_1 = ceil(level), n_(r+1) = ceil(growth n_r). Its intervals all
    hold with probability 1 - delta / (r (r+1)), and so those of all looks with probability 1 - delta.
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("probability")
    m: Numeric = parameter("count", default=1)
    growth: Numeric = parameter("above one", default=1.3)
    b: Numeric = parameter("positive", default=None)
    traits = dataclasses.replace(JointBatches.traits, tolerance="epsilon")
    #: c, where an interval fails with probability at most c exp(-level).
    sides: ClassVar[float]

    @abc.abstractmethod
    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> _Bounds:
        """The intervals around empirical means `(K, …)`, with level / n and the range of the rewards, `(…)`."""

    def start(self, problem: Problem, key: jax.Array) -> RaceState:
        """The state before the first pull."""
        nothing = jnp.zeros(key.shape, jnp.int32)
        state = RaceState.of(
            problem, key, self.b, level=jnp.zeros(key.shape), accepted=jnp.zeros((problem.arms, *key.shape), bool),
            total=None, looked=nothing, round=nothing,
        )  # fmt: skip
        floats = jnp.issubdtype(state.values.dtype, jnp.floating)
        return dataclasses.replace(
            state,
            level=np.float32(np.log(self.sides)) + log(state.count) - log(self.delta),
            total=CompensatedSum.of(state.values) if floats else None,
        )

    def _level(self, state: RaceState, number: jax.Array) -> jax.Array:
        """ln(c K r (r+1) / delta) at the look of this number, float32 `(…)`."""
        return state.level + (log(number) + log(number + 1))

    def size(self, state: RaceState) -> jax.Array:
        """Pulls until the next look."""
        further = (self.growth - jnp.float32(1)) * state.looked.astype(jnp.float32)
        return whole(jnp.where(state.round == 0, self._level(state, state.round + 1), further))

    def exhausted(self, state: RaceState) -> jax.Array:
        """At the next look the sums would pass the range of the counts."""
        return state.looked.astype(jnp.float32) + self.size(state) >= LARGEST_BATCH

    def absorb(self, state: RaceState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True) -> RaceState:
        """The state after a look."""
        live = jnp.broadcast_to(live, state.ended.shape)
        fresh = jnp.where(live & state.active, sums[0], 0)
        total = None if state.total is None else state.total.plus(fresh)
        one = live.astype(jnp.int32)
        new = dataclasses.replace(
            state,
            values=state.values + fresh if total is None else total.high,
            total=total,
            looked=state.looked + jnp.where(live, batches.each, 0),
            round=state.round + one,
        )
        each = 1 / larger(new.looked, jnp.int32(1)).astype(jnp.float32)
        mean = rounded(new.values.astype(jnp.float32) * each)
        bounds = self._bounds(mean, self._level(state, state.round + 1) * each, state.b)
        inside = ranking.top_mask(new.values, state.left(self.m), state.order, state.active)  # J
        outside = state.active & ~inside
        high = arms.largest(jnp.where(outside, bounds.upper, -jnp.inf))  # U_u
        low = arms.smallest(jnp.where(inside, bounds.lower, jnp.inf))  # L_l
        accepted = live & inside & (high - bounds.lower < self.epsilon)
        discarded = live & outside & (bounds.upper - low < self.epsilon)
        new = dataclasses.replace(new, active=state.active & ~accepted & ~discarded, accepted=state.accepted | accepted)
        left = new.left(self.m)
        return dataclasses.replace(new, ended=state.ended | (live & ((left == 0) | (left == new.count))))

    def recommend(self, state: RaceState) -> jax.Array:
        """The accepted arms, and the best active ones."""
        return state.accepted | ranking.top_mask(state.values, state.left(self.m), state.order, state.active)


@pytree
@dataclasses.dataclass(frozen=True)
class HoeffdingRace(_Race):
    """A race with Hoeffding's intervals, mean +- b sqrt(level / (2 n)), level = ln(2 K r (r+1) / delta).

    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b]. At every look J are
    the best-looking arms, as many as are missing of the m. An arm outside whose upper bound is less than epsilon above
    the smallest lower bound in J is discarded, and an arm of J whose lower bound is less than epsilon below the largest
    upper bound outside is accepted (Algorithm 1: one arm after another, with the same outcome).

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    sides: ClassVar[float] = 2.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls",
        source="Kaufmann, Kalyanakrishnan 2013",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> _Bounds:
        radius = rounded(b * jnp.sqrt(share * 0.5))
        return _Bounds(mean - radius, mean + radius)


@pytree
@dataclasses.dataclass(frozen=True)
class BernsteinRace(_Race):
    """A race with empirical Bernstein intervals: cheap arms leave early.

    As `HoeffdingRace`, with mean +- sqrt(2 V level / n) + 3 b level / n, level = ln(3 K r (r+1) / delta) (Audibert,
    Munos, Szepesvari 2009, "Exploration-exploitation tradeoff using variance estimates in multi-armed bandits",
    Theorem 1), cut to [0, b]. V is mean (b - mean), which no empirical variance of rewards in [0, b] exceeds and that
    of rewards 0 and b is: their sum suffices. Returns an (epsilon, m)-optimal set with probability at least 1 - delta
    for rewards in [0, b].

    Where pulls cost their rewards, with means w_i of sum W, b = 1 and m = 1, the race costs, with the same probability,
    at most O(sum_i (w_i^2 / epsilon^2 + w_i / epsilon) x), and so O(W max(w_max / epsilon^2, 1 / epsilon) x) with
    x = ln(K log(1/epsilon) / delta). For with the intervals right, V <= mean <= w + sqrt(2 mean x / n) + 3 x / n gives
    mean <= 2 w + 8 x / n, and a radius of at most 2 sqrt(w x / n) + 7 x / n. The bounds are monotone in the empirical
    mean, so if arm i is not in J its distance U_i - L_l to the best-looking arm is at most that to the best one, and
    with its gap D and w_max = w_i + D that is at most
    -D + 4 sqrt(w_i x / n) + 4 sqrt((w_i + D) x / n) + 28 x / n <= 8 sqrt(w_i x / n) + 32 x / n,
    below epsilon from n = x max(256 w_i / epsilon^2, 64 / epsilon) on. If arm i is in J by then, all others are
    discarded, for their upper bounds are at most its own. So it is pulled O((w_i / epsilon^2 + 1 / epsilon) x) times.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        growth: pulls at a look over those at the last, above 1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.
    """

    sides: ClassVar[float] = 3.0
    traits = Traits(
        setting="fixed confidence, (ε, m); looks at growing numbers of pulls",
        source="Audibert, Munos, Szepesvári 2009; Kaufmann, Kalyanakrishnan 2013",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def resolved(self, problem: Problem) -> Self:
        """The algorithm itself.

        Raises:
            UsageError: rewards that do not lie in an interval [0, b].
        """
        new = super().resolved(problem)
        if problem.lowest_reward < 0:
            raise UsageError(f"BernsteinRace needs rewards in [0, b]; those of {problem.name} may be negative")
        return new

    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> _Bounds:
        variance = mean * larger(b - mean, jnp.float32(0))  # V
        radius = jnp.sqrt(variance * (2 * share)) + rounded((3 * share) * b)
        return _Bounds(larger(mean - radius, jnp.float32(0)), smaller(mean + radius, b))
