"""Exponential-Gap Elimination: drops the arms that are worse than what Median Elimination names.

Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML, Algorithm 1.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count, first_seed, one_of, tie_numbers
from jaxbandits.algorithms.uniform_sampling.median_elimination import median_pulls, upper_half
from jaxbandits.arrays.probabilities import log_of

__all__ = ["ExpGapElimination"]


class _State(NamedTuple):
    left: jax.Array  # bool (K,): S_r
    sums: jax.Array  # int32 or float32 (K,): of the main round's own rewards
    main: jax.Array  # int32 (): r - 1
    median: jax.Array  # bool (): whether these are in, and a round of the Median Elimination inside comes next
    active: jax.Array  # bool (K,): the arms of this one
    round: jax.Array  # int32 (): its rounds so far
    leader: jax.Array  # int32 (): the arm of those that has the largest mean of the rewards that were last looked at
    seed: jax.Array  # uint32 (2,): what breaks ties


@algorithm
class ExpGapElimination(Rule):
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

    Example:
        >>> ds = jb.simulate(jb.ExpGapElimination(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, 1) or the best arm",
        source="Karnin, Koren, Somekh 2013",
        tolerance="epsilon",
    )
    initial_pulls = 0
    fresh_only = True
    shuffle_arms = False

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        left, seed = jnp.ones(len(arms), bool), first_seed(key)
        leader = one_of(arms.total, left, tie_numbers(seed, 0, len(arms)))
        return _State(
            left, arms.total, jnp.int32(0), self._is_last(jnp.int32(0), arms), left, jnp.int32(0), leader, seed
        )

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the main round's own pulls of every arm left, or those of a round of Median Elimination."""
        del key
        accuracy = jnp.maximum(self._epsilon_r(state.main) / 2, self._accuracy(arms))
        median = median_pulls(accuracy, self._level_r(state.main), state.round)
        return jnp.where(state.active, jnp.where(state.median, median, self._main_pulls(state.main)), 0)

    def absorb(self, state: _State, arms: Arms, counts: jax.Array, sums: jax.Array) -> _State:
        """Return the state after the main round's own pulls, or after a round of Median Elimination."""
        del counts
        ties = tie_numbers(state.seed, 64 * state.main + state.round, len(sums))  # none has 64 rounds
        half = upper_half(state.active, sums, ties)
        named, last = state.median & (jnp.sum(half) == 1), self._is_last(state.main, arms)
        # Drop the arms whose mean is more than eps_r below that of the named one.
        b = arms.reward_range if self.b is None else self.b
        width = self._epsilon_r(state.main) * self._main_pulls(state.main) * b
        yardstick = jnp.sum(jnp.where(half, state.sums, 0))  # of one arm
        near = state.left & ((state.sums - yardstick).astype(jnp.float32) >= -width)
        left = jnp.where(named, jnp.where(last, half, near), state.left)
        main = state.main + named
        active = jnp.where(named, left, jnp.where(state.median, half, state.active))
        return _State(
            left=left,
            sums=jnp.where(state.median, state.sums, sums),
            main=main,
            median=~named | self._is_last(main, arms),
            active=active,
            round=jnp.where(state.median & ~named, state.round + 1, 0),
            leader=one_of(jnp.where(named & ~last, state.sums, sums), active, ties),
            seed=state.seed,
        )

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether one arm is left."""
        del arms
        return jnp.sum(state.left) == 1

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return it; before that the one that looks best."""
        del arms
        return state.leader

    def _accuracy(self, arms: Arms) -> jax.Array:
        """Return epsilon in units of b."""
        return self.epsilon / (arms.reward_range if self.b is None else self.b)

    def _epsilon_r(self, main: jax.Array) -> jax.Array:
        """Return eps_r = 2^-r / 4 in units of b: a power of two, exactly."""
        return 0.125 / (jnp.int32(1) << main)

    def _level_r(self, main: jax.Array) -> jax.Array:
        """Return ln(1 / delta_r), of delta_r = delta / (50 r^3)."""
        return jnp.log(50.0) + 3 * jnp.log(main + 1) - log_of(self.delta)

    def _main_pulls(self, main: jax.Array) -> jax.Array:
        """Return t_r."""
        return as_count(2 / self._epsilon_r(main) ** 2 * (jnp.log(2.0) + self._level_r(main)))

    def _is_last(self, main: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the arm that is named in this round is good enough."""
        return self._epsilon_r(main) / 2 <= self._accuracy(arms)
