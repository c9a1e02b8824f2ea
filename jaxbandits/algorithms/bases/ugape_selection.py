"""Which arm UGapE pulls and which it returns, by the radii of its confidence intervals (SELECT-ARM, Figure 2).

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT, smaller
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import per_bandit
from jaxbandits.random import ties

__all__ = ["Decision", "UGapE", "UGapEState"]


@pytree
@dataclasses.dataclass(frozen=True)
class UGapEState(ArmState):
    """The state of a run; arms first, runs last."""

    level: jax.Array  # float32 (…): what stays of the radius: UGapEc's ln(4 K / delta), UGapEb's a


class Decision(NamedTuple):
    """SELECT-ARM of the paper (Figure 2), with the bandit axis gone."""

    worst_index: jax.Array  # float32 (…): B_J(t), the largest over bandits
    chosen: jax.Array  # bool (K, …): J(t)
    arm: jax.Array  # int32 (…): I(t)


class UGapE(Sequential):
    """What UGapEc and UGapEb share: indices, J(t), the arm to pull."""

    m: Numeric
    variance: bool
    b: Numeric
    traits = Traits(answers="m", tolerance="epsilon", multi_bandit=True)

    @abc.abstractmethod
    def _radius(self, state: UGapEState) -> jax.Array:
        """Confidence radius of each arm, float32 `(K, …)`."""

    def select(self, state: UGapEState) -> jax.Array:
        """I(t), int32 `(…)`."""
        return self.decide(state).arm

    def _breadth(self, state: UGapEState, arm: jax.Array) -> jax.Array:
        """What orders arms by their radius, `(…)`: without variances, fewer pulls mean a larger one."""
        return arms.take(self._radius(state) if self.variance else state.statistics.inverse_root, arm)

    def decide(self, state: UGapEState) -> Decision:
        """SELECT-ARM in this state."""
        count = state.order.shape[0]

        def view(x: jax.Array) -> jax.Array:
            return per_bandit(x, state.bandits)

        def only(place: jax.Array) -> jax.Array:
            return ties.mask_at(place, order) if state.bandits == 1 else order == place

        order, mean, radius = view(state.order), view(state.statistics.mean), view(self._radius(state))
        upper, lower = mean + radius, mean - radius
        if state.mask is not None:
            upper = jnp.where(view(state.mask), upper, -jnp.inf)
        one = isinstance(self.m, Known) and self.m == 1
        if one:
            kth, top_place = ranking.arg_largest(upper, order)
            top = only(top_place)
            following = arms.largest(jnp.where(top, -jnp.inf, upper))
        else:
            kth, following, top = ranking.kth_and_next_largest(upper, self.m, order)
        index = jnp.where(top, following, kth) - lower  # eq. 3: the m-th largest U over the other arms
        if state.mask is not None:
            index = jnp.where(view(state.mask), index, jnp.inf)
        if one:  # the same decision in fewer passes: J(t) is one arm, l_t is that arm, the others' largest U is known
            worst_index, low_place = ranking.arg_smallest(index, order)
            chosen = only(low_place)
            best_other = jnp.where(low_place == top_place, following, kth)
        else:
            chosen = ranking.top_mask(-index, self.m, order)  # J(t)
            worst_index = arms.largest(jnp.where(chosen, index, -jnp.inf))
            _, low_place = ranking.arg_smallest(jnp.where(chosen, lower, jnp.inf), order)  # l_t
            best_other = arms.largest(jnp.where(chosen, -jnp.inf, upper))
        # u_t; equal bounds with different radii, which the paper ranks too, only arise from rounding.
        high_place = ranking.first_place(~chosen & (upper == best_other), order)
        low, high = (self._breadth(state, ties.arm_at(p, count, state.ties)) for p in (low_place, high_place))
        place = jnp.where(high > low, high_place, low_place)  # I(t): the larger radius
        place = jnp.where(high == low, smaller(high_place, low_place), place)
        if state.bandits > 1:  # the bandit with the largest B_J(t)
            bandit = worst_index == arms.largest(worst_index)
            place = arms.smallest(jnp.where(bandit, place, MAX_COUNT))
            worst_index = arms.largest(worst_index)
        chosen = chosen.reshape(state.order.shape)
        return Decision(worst_index=worst_index, chosen=chosen, arm=ties.arm_at(place, count, state.ties))
