"""FAREAST: Mason, Jain, Tripathy, Nowak (2020), "Finding all epsilon-good arms in stochastic bandits", NeurIPS 33."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.good_arms.all_good_arms import AllGoodArms
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.told_arms import LARGEST_BATCH
from jaxbandits.arrays.probabilities import log_of

__all__ = ["FAREAST", "FAREASTState"]

#: With this probability the search for a nearly best arm may fail. That costs pulls; no answer becomes wrong.
_FAILS = 1 / 16
#: Between two looks the pulls of an arm grow by one part in this many.
_LOOKS = 16


class FAREASTState(NamedTuple):
    """What is known between two batches, and the search of this round."""

    round: jax.Array  # int32 (): k
    spent: jax.Array  # int32 (): pulls of this round, without sweeps
    left: jax.Array  # int32 (): sweeps over the active arms that are left in this round
    active: jax.Array  # bool (K,): neither known to be bad, nor known to be good and not best
    good: jax.Array  # bool (K,): known to be good
    best: jax.Array  # int32 (): the largest mean, of a good arm where there is one
    rival: jax.Array  # int32 (): the largest upper bound of the others
    found: jax.Array  # bool (): whether they are close enough


@algorithm
class FAREAST(AllGoodArms):
    """Finds all epsilon-good arms by rounds of growing precision: drops bad arms early, then sweeps over the others.

    Round k looks for an arm within b 2^-k of the best by LUCB, as the authors' program does. It pulls this arm and the
    unknown ones ceil(4^k ln(16 K k^2 / delta)) times. It drops an arm if the line of the largest mean of this batch is
    2 b 2^-k or more above its own. Then it spends as many pulls on sweeps over the active arms, whose intervals tell
    good arms from bad ones.

    Unlike that program, it uses all rewards of an arm in its intervals. It looks at them whenever the pulls of an arm
    have grown by 1/16, not after each pull. LUCB pulls each of its two arms 1 + floor(N/16) times. Sweeps are made
    together, 1 + floor(N/16) for the least N of the active arms; their number is rounded up. Intervals hold at all
    times, and sums are drawn at once. Those of LUCB, mean +- b sqrt(ln(16 log2(2N)) / N), err more often: the batch
    corrects it. LUCB looks among the active good arms, if there are some.

    The guarantee is that of `ST2`, if delta / K <= 0.58. Its bound of the pulls has smaller terms than that of
    `ST2`; it took more pulls on all instances that were tried here.

    Attributes:
        epsilon: how far below the best mean an arm may be, not negative; with `multiplicative` a share of it, below 1.
        delta: allowed probability of error, in (0, 1).
        gamma: accuracy, not negative, in the unit of epsilon. With 0 a run cannot end where a mean lies on the line.
        multiplicative: the line is (1 - epsilon) best, in place of best - epsilon. The best mean must not be negative.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.FAREAST(epsilon=0.3, delta=0.1), jb.bernoulli([0.9, 0.85, 0.3]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    def init(self, arms: Arms, key: jax.Array) -> FAREASTState:
        """Return the state after one pull of every arm: nothing is known."""
        del key
        nothing, zero = jnp.zeros(len(arms), bool), jnp.zeros((), jnp.int32)
        return self._searched(arms, k=zero + 1, spent=zero, left=zero, active=~nothing, good=nothing)

    def request(self, state: FAREASTState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return sweeps; or the batch that drops bad arms; or pulls of the two rivals of the search."""
        del key
        places, more = jnp.arange(len(arms)), 1 + arms.pulls // _LOOKS
        best, rival = places == state.best, places == state.rival
        sweeps = jnp.minimum(jnp.min(jnp.where(state.active, more, LARGEST_BATCH)), state.left)
        tested = (best | (state.active & ~state.good)) * self._batch(state.round, arms)
        search = jnp.where(state.found, tested, (best | rival) * more)
        return jnp.where(state.left > 0, state.active * sweeps, search)

    def absorb(self, state: FAREASTState, arms: Arms, counts: jax.Array, sums: jax.Array) -> FAREASTState:
        """Return what is known after a batch."""
        sweep, tested = state.left > 0, state.found & (counts > 0)
        means = jnp.where(tested, sums / jnp.maximum(counts, 1), -jnp.inf)
        below = self.line(jnp.max(means)) - means >= 2 * self._accuracy(state.round, arms)
        dropped = ~sweep & tested & below & ~state.good
        known = self.bounds(arms.mean, self.radius(arms, arms.pulls, events=2.0), state.active)
        good = state.good | (sweep & state.active & known.good)
        beaten = good & (known.upper < jnp.max(jnp.where(state.active, known.lower, -jnp.inf)))
        active = state.active & ~dropped & ~(sweep & (beaten | (known.bad & ~good)))
        spent = state.spent + jnp.sum(counts)
        due = jnp.where(state.found, -(-spent // jnp.maximum(jnp.sum(active), 1)), 0)
        left = jnp.where(sweep, state.left - jnp.max(counts), due)
        over = sweep & (left == 0)
        return self._searched(
            arms, k=state.round + over, spent=jnp.where(sweep, 0, spent), left=left, active=active, good=good
        )

    def done(self, state: FAREASTState, arms: Arms) -> jax.Array:
        """Return whether every active arm is known to be good."""
        del arms
        return ~jnp.any(state.active & ~state.good)

    def recommend(self, state: FAREASTState, arms: Arms) -> jax.Array:
        """Return the good arms; before the end also the active ones that look good."""
        best = jnp.max(jnp.where(state.active, arms.mean, -jnp.inf))
        return state.good | (state.active & (arms.mean >= self.line(best)))

    def _searched(
        self, arms: Arms, *, k: jax.Array, spent: jax.Array, left: jax.Array, active: jax.Array, good: jax.Array
    ) -> FAREASTState:  # fmt: skip
        """Return the state with the two rivals of LUCB, among the active good arms or, without one, all active arms."""
        among = active & (good | ~jnp.any(active & good))
        radius = self.range_of(arms) * jnp.sqrt((jnp.log(1 + jnp.log2(arms.pulls)) - math.log(_FAILS)) / arms.pulls)
        best = jnp.argmax(jnp.where(among, arms.mean, -jnp.inf))
        upper = jnp.where(among & (jnp.arange(len(arms)) != best), arms.mean + radius, -jnp.inf)
        found = jnp.max(upper) - (arms.mean - radius)[best] <= self._accuracy(k, arms)
        return FAREASTState(k, spent, left, active, good, best, jnp.argmax(upper), found)

    def _accuracy(self, k: jax.Array, arms: Arms) -> jax.Array:
        """Return b 2^-k."""
        return self.range_of(arms) * jnp.exp2(-k.astype(jnp.float32))

    def _batch(self, k: jax.Array, arms: Arms) -> jax.Array:
        """Return ceil(4^k ln(16 K k^2 / delta)), int32 `()`; a request that is too large ends the run."""
        level = jnp.log(16.0 * arms.count) + 2 * jnp.log(k) - log_of(self.delta)
        return jnp.minimum(jnp.ceil(jnp.exp2(2 * k.astype(jnp.float32)) * level), 2.0**30).astype(jnp.int32)
