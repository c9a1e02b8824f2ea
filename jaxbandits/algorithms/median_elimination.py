"""Median Elimination, and Exponential-Gap Elimination, which uses it for a yardstick.

Even-Dar, Mannor, Mansour (2006), "Action elimination and stopping conditions for the multi-armed bandit and
reinforcement learning problems", JMLR 7, Algorithm 3 (first in their "PAC bounds for multi-armed bandit and Markov
decision processes", COLT 2002); Karnin, Koren, Somekh (2013), "Almost optimal exploration in
multi-armed bandits", ICML, Algorithm 1.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.joint_batches import Batches, JointBatches, whole
from jaxbandits.algorithms.bases.joint_state import RangedState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import exp, larger, log, rounded
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem

__all__ = ["ExpGapElimination", "GapState", "MedianElimination", "MedianState"]

_LOG2, _LOG3, _LOG50 = (np.float32(np.log(x)) for x in (2.0, 3.0, 50.0))
_LOG_GROWTH = np.float32(np.log(16 / 9))


def _median_pulls(epsilon: jax.Array, level: jax.Array, number: jax.Array) -> jax.Array:
    """Pulls of every arm in Median Elimination's round l, float32 `(…)`: (4 / eps_l^2) ln(3 / delta_l).

    With eps_l = (epsilon / 4) (3/4)^(l-1) and delta_l = delta 2^-l.

    Args:
        epsilon: accuracy in units of the range of the rewards, `(…)`.
        level: ln(1 / delta), `(…)`.
        number: int32 `(…)`: l - 1, rounds so far.
    """
    before = number.astype(jnp.float32)
    growth = exp(rounded(before * _LOG_GROWTH))  # (4/3)^(2 (l - 1))
    return whole(64 / (epsilon * epsilon) * growth * (_LOG3 + (rounded((before + 1) * _LOG2) + level)))


def _upper_half(state: RangedState, sums: jax.Array) -> jax.Array:
    """Return the ceil(|S| / 2) active arms with the largest means of fresh rewards, ties broken anew; bool `(K, …)`."""
    return ranking.top_mask(sums, (state.count + 1) // 2, state.fresh_order, state.active)


@pytree
@dataclasses.dataclass(frozen=True)
class MedianState(RangedState):
    """With the rounds so far."""

    round: jax.Array  # int32 (…): l - 1

    @property
    def rankings(self) -> jax.Array:
        """One a round."""
        return self.round


@pytree
@dataclasses.dataclass(frozen=True)
class MedianElimination(JointBatches):
    """Drops the lower half of the arms, round by round, until one is left (Algorithm 3).

    The arm is within epsilon of the best with probability at least 1 - delta, for rewards in [0, b]. Round l pulls
    every arm ceil((4 / eps_l^2) ln(3 / delta_l)) times afresh, with eps_l = (epsilon / 4) (3/4)^(l-1) in units of b
    and delta_l = delta 2^-l: O(K log(1/delta) / epsilon^2) pulls in all (Theorem 10). A good arm stays to the last
    round and is pulled K^0.83 log K times, so that pulls which cost their reward cost the more the more arms there are.

    Attributes:
        epsilon: accuracy, positive.
        delta: allowed probability of error, in (0, 1).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    epsilon: Numeric = parameter("positive")
    delta: Numeric = parameter("error probability")
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, 1)",
        source="Even-Dar, Mannor, Mansour 2006",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def start(self, problem: Problem, key: jax.Array) -> MedianState:
        """The state before the first pull."""
        return MedianState.of(problem, key, self.b, round=jnp.zeros(key.shape, jnp.int32))

    def size(self, state: MedianState) -> jax.Array:
        """The round's pulls."""
        return _median_pulls(self.epsilon * (1 / state.b), -log_of(self.delta), state.round)

    def absorb(
        self, state: MedianState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True
    ) -> MedianState:
        """The state after a round."""
        del batches
        live = jnp.broadcast_to(live, state.ended.shape)
        new = dataclasses.replace(
            state,
            values=jnp.where(live, sums[0], state.values),
            active=jnp.where(live, _upper_half(state, sums[0]), state.active),
            round=state.round + live.astype(jnp.int32),
        )
        return dataclasses.replace(new, ended=state.ended | (live & (new.count == 1)))


@pytree
@dataclasses.dataclass(frozen=True)
class GapState(MedianState):
    """With the main rounds; `round` counts those of the Median Elimination inside, whose arms are `active`."""

    main: jax.Array  # int32 (…): r - 1
    left: jax.Array  # bool (K, …): S_r
    sums: jax.Array  # int32 or float32 (K, …): of the main round's own rewards
    sampled: jax.Array  # bool (…): whether these are in, and Median Elimination comes next

    @property
    def rankings(self) -> jax.Array:
        """One a round of every Median Elimination, of which none has 64."""
        return 64 * self.main + self.round


@pytree
@dataclasses.dataclass(frozen=True)
class ExpGapElimination(JointBatches):
    """Drops the arms that lie eps_r below a good one, with eps_r halved from round to round (Algorithm 1).

    Round r, with eps_r = 2^-r / 4 in units of b and delta_r = delta / (50 r^3), pulls every arm left
    t_r = ceil((2 / eps_r^2) ln(2 / delta_r)) times, has a fresh Median Elimination name an arm within eps_r / 2 of the
    best one left with probability 1 - delta_r, and drops the arms whose mean is more than eps_r below that arm's. With
    epsilon = 0 it goes on until one arm is left, the best with probability at least 1 - delta, for rewards in [0, b].

    With epsilon > 0 it stops in the first round with eps_r / 2 <= epsilon, which is nothing but Median Elimination for
    epsilon and delta_r: its arm is within epsilon of the best arm left, and that is the best of all but with
    probability sum_r 2 delta_r. For the best arm goes in round r only if its mean is eps_r / 2 too low (probability
    delta_r / 2 at most, by Hoeffding's inequality), that of the named arm as much too high (as likely, for it was named
    by other rewards), or the named arm itself too bad (delta_r). Nothing of the kind holds earlier: in round r the
    guarantee of the named arm is eps_r / 2, and those of the other arms left hold for each, but not for all at once.
    The sum is below 0.05 delta: the constants are the paper's.

    Attributes:
        epsilon: accuracy, not negative; 0 for the best arm itself.
        delta: allowed probability of error, in (0, 1).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, 1) or the best arm",
        source="Karnin, Koren, Somekh 2013",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def start(self, problem: Problem, key: jax.Array) -> GapState:
        """The state before the first pull."""
        nothing = jnp.zeros(key.shape, jnp.int32)
        state = GapState.of(
            problem, key, self.b, round=nothing, main=nothing, left=jnp.zeros((problem.arms, *key.shape), bool),
            sums=jnp.zeros((problem.arms, *key.shape), jnp.int32), sampled=nothing > 0,
        )  # fmt: skip
        return dataclasses.replace(
            state, left=state.active, sums=state.values, sampled=self._last(state, self._precision(nothing))
        )

    def _precision(self, main: jax.Array) -> jax.Array:
        """eps_r in units of b, float32 `(…)`; a power of two, exactly."""
        return 0.125 / (jnp.int32(1) << main).astype(jnp.float32)

    def _last(self, state: GapState, precision: jax.Array) -> jax.Array:
        """Whether the arm named in a round of this precision is good enough, bool `(…)`."""
        return precision / 2 <= self.epsilon * (1 / state.b)

    def _main_pulls(self, state: GapState) -> jax.Array:
        """t_r, float32 `(…)`."""
        precision = self._precision(state.main)
        return whole(2 / (precision * precision) * (_LOG2 + self._level(state)))

    def _level(self, state: GapState) -> jax.Array:
        """ln(1 / delta_r), float32 `(…)`."""
        log_round = log(state.main + 1)
        return _LOG50 + ((log_round + log_round) + log_round) - log_of(self.delta)

    def size(self, state: GapState) -> jax.Array:
        """The main round's own pulls, or those of a round of Median Elimination."""
        accuracy = larger(self._precision(state.main) / 2, self.epsilon * (1 / state.b))
        median = _median_pulls(accuracy, self._level(state), state.round)
        return jnp.where(state.sampled, median, self._main_pulls(state))

    def absorb(self, state: GapState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True) -> GapState:
        """The state after a main round's own pulls, or after a round of Median Elimination."""
        del batches
        live = jnp.broadcast_to(live, state.ended.shape)
        fresh, sampled, halved = sums[0], live & ~state.sampled, live & state.sampled
        half = _upper_half(state, fresh)
        named = halved & (arms.total(half.astype(jnp.int32)) == 1)
        precision = self._precision(state.main)
        width = rounded(precision * self._main_pulls(state)) * state.b
        yardstick = arms.total(jnp.where(half, state.sums, 0))  # of one arm
        kept = state.left & ~((state.sums - yardstick).astype(jnp.float32) < -width)
        last = self._last(state, precision)
        kept = jnp.where(last, half, kept)
        over = named & (arms.total(kept.astype(jnp.int32)) == 1)
        # Once an arm is named, the arms left are ranked by the main round's own rewards.
        ranked = jnp.where(named & ~last, state.sums, fresh)
        main = state.main + named.astype(jnp.int32)
        return dataclasses.replace(
            state,
            active=jnp.where(named, kept, jnp.where(halved, half, state.active)),
            values=jnp.where(live, ranked, state.values),
            ended=state.ended | over,
            round=jnp.where(halved, jnp.where(named, 0, state.round + 1), state.round),
            main=main,
            left=jnp.where(named, kept, state.left),
            sums=jnp.where(sampled, fresh, state.sums),
            sampled=jnp.where(named, self._last(state, self._precision(main)), state.sampled | sampled),
        )
