"""The proportions w* of the empirical means, updated with the pulls, for Track-and-Stop and Best Challenger.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 3.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped, Remembered
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.arm_statistics import variance_by_pulls
from jaxbandits.statistics.exponential_families import GAUSSIAN
from jaxbandits.statistics.optimal_proportions import Proportions, proportions

__all__ = ["Tracked", "Weighed", "least_pulled"]

# Rounds from the last pull's split. They bring w* within 1e-5 of its value; two would do after the first 20 pulls
# (measured; tests/algorithms/test_glr_families.py).
_ROUNDS, _ROUNDS_WITH_EPSILON = 3, 4
# Rounds from the split of some pulls ago.
_LAZY_ROUNDS, _LAZY_ROUNDS_WITH_EPSILON = 4, 8
# A start beyond this is discarded.
_FAR = 1e6
# With `lazy`, w* is computed again after 1/64 more pulls.
_SHIFT = 6
# The least variance relative to the largest one: after few pulls, equal rewards have the empirical variance 0.
_LEAST_VARIANCE = 1e-6


class Weighed(NamedTuple):
    """The state of a rule that samples by w*."""

    parted: Remembered  # see `GLRStopped.first_parted`
    split: jax.Array  # float32 (K,): the start for the next w*; 1 for the best-looking arm
    weights: jax.Array  # float32 (K,): w*
    renewal: jax.Array | None  # int32 (): the time at which w* is computed again; None for every time
    asked: CompensatedSum | None  # (K,): sums of the proportions so far, in C-tracking


@dataclasses.dataclass(frozen=True)
class Tracked(GLRStopped):
    """A rule that samples by w*.

    If the variances of normal arms are unknown, w* is computed with the empirical variances (Jourdan, Degenne, Kaufmann
    2023, "Dealing with unknown variances in best-arm identification", ALT).

    Attributes:
        lazy: compute w* only when the pulls have grown by a 64th, not after every pull as in the paper.
    """

    lazy: bool = parameter(default=False, static=True)

    def init(self, arms: Arms, key: jax.Array) -> Weighed:
        """Return the state after the first pulls, with their w*."""
        del key
        even = jnp.ones(len(arms), jnp.float32)
        renewal = jnp.int32(0) if self.lazy else None
        return self._weighed(Weighed(self.first_parted(arms), even, even, renewal, None), arms)

    def update(self, state: Weighed, arms: Arms, arm: jax.Array, reward: jax.Array) -> Weighed:
        """Return the state after a reward, with the w* of the means."""
        return self._weighed(state._replace(parted=self.next_parted(state.parted, arms, arm, reward)), arms)

    def _weighed(self, state: Weighed, arms: Arms) -> Weighed:
        """Return the state with the w* of the means, computed from the last split as a start.

        If several arms look best, w* is uniform over them (`optimal_proportions`).
        """
        if state.renewal is None:
            split, weights = self._solved(state.split, arms)
            return state._replace(split=split, weights=weights)
        due = arms.time >= state.renewal
        split, weights = jax.lax.cond(
            due, lambda split, _: self._solved(split, arms), lambda *old: old, state.split, state.weights
        )
        later = arms.time + jnp.minimum(jnp.maximum(arms.time >> _SHIFT, 1), MAX_COUNT - arms.time)
        return state._replace(split=split, weights=weights, renewal=jnp.where(due, later, state.renewal))

    def _solved(self, split: jax.Array, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return split and weights of the means, starting from a split."""
        family, means, lead, variances = (
            self.rewards,
            self.scaled_means(arms),
            self.scaled_lead(arms, self.epsilon),
            None,
        )
        best = jnp.argmax(arms.mean)
        chosen = jnp.arange(len(arms)) == best
        if self.second_moments:
            means, lead, variances = _in_standard_deviations(means, lead, arms, best)
        # If another arm looked best before, the split belongs to pairs with that arm; only ratios of entries count.
        start = split / split[best]
        start = jnp.where((start > 1 / _FAR) & (start < _FAR), start, 1.0)

        def found(means: jax.Array, epsilon: jax.Array | None) -> Proportions:
            few, many = (_LAZY_ROUNDS, _LAZY_ROUNDS_WITH_EPSILON) if self.lazy else (_ROUNDS, _ROUNDS_WITH_EPSILON)
            rounds = few if epsilon is None else many
            return proportions(
                family, means, best=chosen, epsilon=epsilon, variances=variances, start=start, rounds=rounds
            )

        if isinstance(lead, StaticInt):
            new = found(means, None)
        elif family is GAUSSIAN:  # only the gaps count
            new = found(means.at[best].add(lead), None)
        else:
            new = jax.lax.cond(lead > 0, lambda: found(means, lead), lambda: found(means, None))
        usual = (new.time > 0) & (new.time < jnp.inf)  # at an edge the split belongs to other means
        return jnp.where(usual & ~chosen, new.split, start), new.weights


def _in_standard_deviations(
    means: jax.Array, lead: jax.Array | StaticInt, arms: Arms, best: jax.Array
) -> tuple[jax.Array, jax.Array | StaticInt, jax.Array]:
    """Return means and lead in standard deviations of the best arm, and variances, `(K,)` and positive."""
    variances = variance_by_pulls(arms.squares, arms.pulls)
    most = jnp.max(variances)
    variances = jnp.maximum(variances, jnp.where(most > 0, most, 1.0) * _LEAST_VARIANCE)
    unit = 1 / jnp.sqrt(variances[best])
    return means * unit, lead if isinstance(lead, StaticInt) else lead * unit, variances


def least_pulled(arms: Arms) -> tuple[jax.Array, jax.Array]:
    """Return the arm pulled least, and whether it is to be explored: N < sqrt(t) - K/2."""
    return jnp.argmin(arms.pulls), jnp.min(arms.pulls) < jnp.sqrt(arms.time) - arms.count / 2
