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
    sums: jax.Array  # int32 or float32 (K,): sums of the main round's own rewards
    main: jax.Array  # int32 (): r - 1
    median: jax.Array  # bool (): whether the next round is one of the inner Median Elimination
    active: jax.Array  # bool (K,): the arms of that elimination
    round: jax.Array  # int32 (): its rounds so far
    leader: jax.Array  # int32 (): the active arm with the largest mean in the last comparison
    seed: jax.Array  # uint32 (2,): breaks ties


@algorithm
class ExpGapElimination(Rule):
    """Drops the arms that lie eps_r below a good one, with eps_r halved from round to round (Algorithm 1).

    Round r has eps_r = 2^-r / 4 in units of b, and delta_r = delta / (50 r^3). It pulls every remaining arm
    t_r = ceil((2 / eps_r^2) ln(2 / delta_r)) times. A fresh Median Elimination then names an arm within eps_r / 2 of
    the best remaining one, with probability 1 - delta_r. Arms whose mean is more than eps_r below that arm's are
    dropped. With epsilon = 0 this continues until one arm is left. It is the best arm with probability at least
    1 - delta, for rewards in [0, b].

    With epsilon > 0 it stops in the first round with eps_r / 2 <= epsilon. That round is only Median Elimination for
    epsilon and delta_r, so its arm is within epsilon of the best remaining arm. The best of all arms remains, except
    with probability sum_r 2 delta_r. It is dropped in round r only in three cases. Its mean is eps_r / 2 too low
    (probability at most delta_r / 2, by Hoeffding's inequality). Or the named arm's mean is eps_r / 2 too high (as
    likely, since other rewards named it). Or the named arm is too bad (delta_r). The sum is below 0.05 delta: the
    constants are the paper's.

    It cannot stop earlier. In round r the named arm's guarantee is eps_r / 2. The guarantees of the other remaining
    arms hold for each, but not for all at once.

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
        """Return the main round's own pulls of every remaining arm, or those of a round of Median Elimination."""
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
        b = self.range_of(arms)
        width = self._epsilon_r(state.main) * self._main_pulls(state.main) * b
        reference = jnp.sum(jnp.where(half, state.sums, 0))  # of one arm
        near = state.left & ((state.sums - reference).astype(jnp.float32) >= -width)
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
        """Return the remaining arm; before the end, the best-looking one."""
        del arms
        return state.leader

    def _accuracy(self, arms: Arms) -> jax.Array:
        """Return epsilon in units of b."""
        return self.epsilon / self.range_of(arms)

    def _epsilon_r(self, main: jax.Array) -> jax.Array:
        """Return eps_r = 2^-r / 4 in units of b, exactly: it is a power of two."""
        return 0.125 / (jnp.int32(1) << main)

    def _level_r(self, main: jax.Array) -> jax.Array:
        """Return ln(1 / delta_r), delta_r = delta / (50 r^3)."""
        return jnp.log(50.0) + 3 * jnp.log(main + 1) - log_of(self.delta)

    def _main_pulls(self, main: jax.Array) -> jax.Array:
        """Return t_r."""
        return as_count(2 / self._epsilon_r(main) ** 2 * (jnp.log(2.0) + self._level_r(main)))

    def _is_last(self, main: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the arm that is named in this round is good enough."""
        return self._epsilon_r(main) / 2 <= self._accuracy(arms)
