"""A race, or Successive Elimination, with intervals by betting: survivors are pulled in turn, one reward at a time.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1, for the race;
Even-Dar, Mannor, Mansour (2006), "Action elimination and stopping conditions", JMLR 7; Waudby-Smith, Ramdas (2024),
"Estimating means of bounded random variables by betting", JRSS-B 86, for the intervals.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.betting_intervals import (
    RADII,
    Intervals,
    first_intervals,
    next_intervals,
    with_bounded_rewards,
)
from jaxbandits.algorithms.largest_arms import are_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.races import Bounds, decisive
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.problems.base import Problem

__all__ = ["BettingRace"]


class _State(NamedTuple):
    intervals: Intervals
    active: jax.Array  # bool (K,)
    accepted: jax.Array  # bool (K,)


@algorithm
class BettingRace(Rule):
    """A race with intervals by betting: arms leave as soon as the rewards that were seen decide.

    The rule is that of `HoeffdingRace`: J are the best-looking arms that would complete the m. An arm outside J is
    discarded if its upper bound is less than epsilon above the smallest lower bound in J. An arm of J is accepted if
    its lower bound is less than epsilon below the largest upper bound outside. With m = 1 and epsilon = 0 it is
    Successive Elimination: an arm leaves when its upper bound is below the lower bound of the best-looking arm.

    Bets need each reward on its own. So arms are pulled in turn, the one with the fewest pulls next. The other races
    draw sums of many rewards, and look after growing numbers of pulls. These intervals hold at all times, so this race
    looks after every pull, and has no `growth`. The intervals are confidence sequences at ln(2 K / delta), so all hold
    with probability at least 1 - delta (`jaxbandits.algorithms.betting_intervals`). When they do, no discarded arm is
    better than the answer by epsilon or more, so the answer is an (epsilon, m)-optimal set.

    On a score matrix the intervals know that each item is read once. So do those by Serfling, which exist there only.

    Where rewards vary as much as they can, as coins of means near b / 2, `HoeffdingRace` needs fewer pulls to
    distinguish close arms: its intervals are for few looks.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: the largest reward; None takes the problem's.
        radius: `empirical-bernstein` or the narrower and costlier `betting`; on score matrices also `serfling` or
            `bernstein-serfling`.

    Raises:
        UsageError: a value outside its range, or rewards that are not known to lie in [0, b].

    Example:
        >>> ds = jb.simulate(jb.BettingRace(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1)
    b: Numeric = parameter("positive", default=None)
    radius: str = parameter(default="empirical-bernstein", static=True, choices=RADII[1:])
    traits = Traits(
        setting="fixed confidence, (ε, m); looks after every pull, by betting on bounded rewards",
        source="Waudby-Smith, Ramdas 2024; Kaufmann, Kalyanakrishnan 2013; Even-Dar, Mannor, Mansour 2006",
        answers="m",
        tolerance="epsilon",
    )

    def resolved(self, problem: Problem) -> Self:
        """Fill in the largest reward.

        Raises:
            UsageError: rewards that are not known to lie in [0, b].
        """
        return with_bounded_rewards(super().resolved(problem), problem)

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after one pull of every arm."""
        del key
        everyone = jnp.ones(len(arms), bool)
        intervals = first_intervals(self.radius, arms, self.range_of(arms), self.delta)
        return self._decided(_State(intervals, everyone, ~everyone), arms)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a reward, without the arms that it decides on."""
        b = self.range_of(arms)
        intervals = next_intervals(self.radius, state.intervals, arms, arm, reward, b, self.delta)
        return self._decided(state._replace(intervals=intervals), arms)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the active arm with the fewest pulls."""
        del key
        return jnp.argmin(jnp.where(state.active, arms.pulls, MAX_COUNT))

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether all m are accepted, or all active arms complete the m."""
        del arms
        left = self._left(state)
        return (left == 0) | (left == jnp.sum(state.active))

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the accepted arms, and the best-looking active ones."""
        return state.accepted | self._leaders(state, arms)

    def _decided(self, state: _State, arms: Arms) -> _State:
        """Return the state without the arms that are accepted or discarded now."""
        bounds = Bounds(state.intervals.lower, state.intervals.upper)
        accepted, discarded = decisive(arms, bounds, self._leaders(state, arms), state.active, self.epsilon)
        return state._replace(active=state.active & ~accepted & ~discarded, accepted=state.accepted | accepted)

    def _left(self, state: _State) -> jax.Array:
        return self.m - jnp.sum(state.accepted)

    def _leaders(self, state: _State, arms: Arms) -> jax.Array:
        """Return J, bool `(K,)`."""
        return are_largest(arms.mean, self._left(state), state.active)
