"""The proportions w* of the empirical means, from pull to pull: what Track-and-Stop and its kin sample by.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT, section 3.
"""

import dataclasses
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.glr_stopped import GLRState, GLRStopped
from jaxbandits.algorithms.bases.parameters import parameter
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import where_few
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT, larger, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random import ties
from jaxbandits.statistics.exponential_families import GAUSSIAN
from jaxbandits.statistics.optimal_proportions import Proportions, proportions

__all__ = ["Tracked", "TrackedState", "behind", "least_pulled"]

# Rounds from the last pull's split: they leave w* within 1e-5 of where it is, two would but for the first 20 pulls
# (measured; tests/algorithms/test_glr_families.py).
_ROUNDS, _ROUNDS_WITH_EPSILON = 3, 4
# From a split of some pulls ago.
_LAZY_ROUNDS, _LAZY_ROUNDS_WITH_EPSILON = 4, 8
# A start beyond this is none.
_FAR = 1e6
# Where w* is not computed at every pull, it is again after 1/64 more of them.
_SHIFT = 6
_WIDTH = 64
# A variance that is less, beside the largest one, counts as this: after few pulls that may be equal.
_LEAST_VARIANCE = 1e-6


@pytree
@dataclasses.dataclass(frozen=True)
class TrackedState(GLRState):
    """The state of a run; arms first, runs last."""

    split: jax.Array  # float32 (K, …): with which the next w* is begun; 1 of the best-looking arm
    weights: jax.Array  # float32 (K, …): w*
    renewal: jax.Array | None  # int32 (…): the time at which w* is computed again; None for every time

    def of_the_tracking(self) -> dict[str, Any]:
        """The fields of this class by name, to build a state with more."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(TrackedState)}


S = TypeVar("S", bound=TrackedState)


@dataclasses.dataclass(frozen=True)
class Tracked(GLRStopped):
    """A rule that samples by w*.

    Where nobody knows the variances of normal arms, w* is that of arms which have the empirical ones (Jourdan, Degenne,
    Kaufmann 2023, "Dealing with unknown variances in best-arm identification", ALT).

    Attributes:
        lazy: compute w* when the pulls have grown by a 64th only, and not, as the paper does, after every pull.
    """

    lazy: bool = parameter(default=False, static=True)

    def first(self, state: GLRState, key: jax.Array) -> TrackedState:
        """With any weights."""
        del key
        even = jnp.ones(state.order.shape, jnp.float32)
        renewal = jnp.zeros(state.time.shape, jnp.int32) if self.lazy else None
        return TrackedState(**state.of_the_test(), split=even, weights=even, renewal=renewal)

    def weighed(self, state: S, best: jax.Array, live: jax.Array | bool) -> S:
        """The state with the w* of its means, in the first steps of which the last one's split is a start.

        Where several arms look best, w* is uniform over them (`optimal_proportions`).
        """
        old, variances = (state.split, state.weights), None
        if self.second_moments:
            variances = state.existing(state.statistics.variance_by_pulls(), 0.0)
        means, lead = self.scaled_means(state), self.scaled_lead(state, self.epsilon)
        fixed = (means, best, state.order, state.mask, lead, variances)
        if state.renewal is None:
            new, renewal = self._solved(old, *fixed), None
            new = jax.tree.map(lambda new, old: jnp.where(live, new, old), new, old)
        else:
            due = (state.time >= state.renewal) & live
            new = where_few(due, self._solved, old, *fixed, width=_WIDTH)
            # A whole number, so that it is the same however runs are batched; it stays in the range of the counts.
            step = larger(jnp.right_shift(state.time, _SHIFT), 1)
            renewal = jnp.where(
                due, jnp.where(state.time < MAX_COUNT - step, state.time + step, MAX_COUNT), state.renewal
            )
        return dataclasses.replace(state, split=new[0], weights=new[1], renewal=renewal)

    def _solved(
        self,
        old: tuple[jax.Array, jax.Array],
        means: jax.Array,
        best: jax.Array,
        order: jax.Array,
        mask: jax.Array | None,
        lead: jax.Array | Known,
        variances: jax.Array | None,
    ) -> tuple[jax.Array, jax.Array]:
        """Split and weights of these means, from the old ones; the best-looking arm by its place in the tie order."""
        family, chosen, split = self.rewards, ties.mask_at(best, order), old[0]
        if variances is not None:
            means, lead, variances = _in_standard_deviations(means, lead, variances, chosen)
        # The split is one of pairs with another arm if that looked best: its entries are ratios to each other.
        start = split * (1 / arms.largest(jnp.where(chosen, split, 0.0)))
        start = jnp.where((start > 1 / _FAR) & (start < _FAR), start, 1.0)

        def found(means: jax.Array, epsilon: jax.Array | None) -> Proportions:
            few, many = (_ROUNDS, _ROUNDS_WITH_EPSILON) if not self.lazy else (_LAZY_ROUNDS, _LAZY_ROUNDS_WITH_EPSILON)
            rounds = few if epsilon is None else many
            return proportions(
                family, means, mask=mask, best=chosen, epsilon=epsilon, variances=variances, start=start, rounds=rounds
            )

        if isinstance(lead, Known):
            new = found(means, None)
        elif family is GAUSSIAN:  # only the gaps count
            new = found(jnp.where(chosen, means + lead, means), None)
        else:
            lead = jnp.broadcast_to(lead, means.shape[1:])
            wide, plain = found(means, lead), found(means, None)
            new = jax.tree.map(lambda x, y: jnp.where(lead > 0, x, y), wide, plain)
        usual = (new.time > 0) & (new.time < jnp.inf)  # at an edge the split is that of other means
        return jnp.where(usual & ~chosen, new.split, start), new.weights


def _in_standard_deviations(
    means: jax.Array, lead: jax.Array | Known, variances: jax.Array, best: jax.Array
) -> tuple[jax.Array, jax.Array | Known, jax.Array]:
    """Means `(K, …)` and lead `(…)` in standard deviations of the best arm, and variances, `(K, …)` and positive."""
    most = arms.largest(variances)
    variances = larger(variances, jnp.where(most > 0, most, 1.0) * _LEAST_VARIANCE)
    unit = 1 / jnp.sqrt(arms.largest(jnp.where(best, variances, 0.0)))
    return rounded(means * unit), lead if isinstance(lead, Known) else rounded(lead * unit), variances


def least_pulled(state: GLRState) -> tuple[jax.Array, jax.Array]:
    """The arm pulled least, by its place, and whether it is to be explored: N < sqrt(t) - K/2; `(…)` each."""
    fewest, place = ranking.arg_smallest(state.existing(state.pulls, MAX_COUNT), state.order)
    bound = jnp.sqrt(state.time.astype(jnp.float32)) - state.arms / 2
    return place, fewest.astype(jnp.float32) < bound


def behind(state: TrackedState) -> jax.Array:
    """How far each arm is behind its proportion: t w* - N, `(K, …)`."""
    target = rounded(state.time.astype(jnp.float32) * state.weights)
    return state.existing(target - state.pulls.astype(jnp.float32), -jnp.inf)
