"""(ST)^2, "sample the threshold, split the threshold": Mason, Jain, Tripathy, Nowak (2020), NeurIPS 33, Algorithm 1."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.good_arms.all_good_arms import AllGoodArms
from jaxbandits.algorithms.protocol import Arms, algorithm

__all__ = ["ST2", "ST2State"]


class ST2State(NamedTuple):
    """The rest of a round, and the radii."""

    radius: jax.Array  # float32 (K,)
    first: jax.Array  # int32 (): the arm to pull next
    second: jax.Array  # int32 (): the one after it
    third: jax.Array  # int32 ()
    left: jax.Array  # int32 (): pulls that are left in this round
    ended: jax.Array  # bool (): whether every arm was known at the end of a round


@algorithm
class ST2(AllGoodArms):
    """Finds all epsilon-good arms: samples the best-looking arm, and on each side of the line the least sure one.

    A round pulls the arm with the largest upper bound, and two arms that are not known to be good or bad. Above the
    line that is the one with the least lower bound, below it the one with the largest upper bound. Intervals are mean
    +- b sqrt(ln(K log2(2N) / delta) / N).

    The line is best - epsilon, or (1 - epsilon) best with `multiplicative`. With probability at least 1 - delta the
    answer has every epsilon-good arm, and none that is not (epsilon + gamma)-good, for rewards in [0, b] or
    (b/2)-sub-Gaussian ones, if delta / K <= 0.29.

    Attributes:
        epsilon: how far below the best mean an arm may be, not negative; with `multiplicative` a share of it, below 1.
        delta: allowed probability of error, in (0, 1).
        gamma: accuracy, not negative, in the unit of epsilon. With 0 a run cannot end where a mean lies on the line.
        multiplicative: the line is (1 - epsilon) best, in place of best - epsilon. The best mean must not be negative.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.ST2(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.85, 0.3]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    def init(self, arms: Arms, key: jax.Array) -> ST2State:
        """Return the first round, after one pull of every arm."""
        del key
        return self._round(arms, self.radius(arms, arms.pulls))

    def update(self, state: ST2State, arms: Arms, arm: jax.Array, reward: jax.Array) -> ST2State:
        """Return the rest of the round, or the next round."""
        del reward
        radius = state.radius.at[arm].set(self.radius(arms, arms.pulls[arm]))
        rest = ST2State(radius, state.second, state.third, state.third, state.left - 1, jnp.zeros((), bool))
        over = state.left == 1
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), self._round(arms, radius), rest)

    def select(self, state: ST2State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the next arm of the round."""
        del arms, key
        return state.first

    def done(self, state: ST2State, arms: Arms) -> jax.Array:
        """Return whether every arm is known to be good or bad."""
        del arms
        return state.ended

    def recommend(self, state: ST2State, arms: Arms) -> jax.Array:
        """Return the good arms; before the end also those that look good and are not known."""
        known = self.bounds(arms.mean, arms.where_unread(state.radius, 0))
        return known.good | (self._looks_good(arms) & ~known.bad)

    def _round(self, arms: Arms, radius: jax.Array) -> ST2State:
        """Return a round: the largest upper bound; the unknown arms nearest to the line, from above and from below."""
        known = self.bounds(arms.mean, arms.where_unread(radius, 0))
        unknown, above = ~(known.good | known.bad), self._looks_good(arms)
        weakest = jnp.argmin(jnp.where(unknown & above, known.lower, jnp.inf))
        strongest = jnp.argmax(jnp.where(unknown & ~above, known.upper, -jnp.inf))
        is_above, is_below = jnp.any(unknown & above), jnp.any(unknown & ~above)
        return ST2State(
            radius=radius,
            first=jnp.argmax(known.upper),
            second=jnp.where(is_above, weakest, strongest),
            third=strongest,
            left=1 + is_above.astype(jnp.int32) + is_below.astype(jnp.int32),
            ended=~(is_above | is_below),
        )

    def _looks_good(self, arms: Arms) -> jax.Array:
        """Return which means are on the good side of the line, bool `(K,)`."""
        return arms.mean >= self.line(jnp.max(arms.mean))
