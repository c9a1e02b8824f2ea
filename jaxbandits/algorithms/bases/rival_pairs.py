"""LUCB and its kin: every round pulls the weakest of the m best-looking arms and the strongest of the rest.

What differs is one function: a lower confidence bound. The upper bound of a mean is b less the lower bound of what it
lacks to b, so the strongest of the rest is the one whose lack has the smallest lower bound, to all digits near b too. A
subclass whose bounds of small means have more digits than that gives another number that falls as the bound rises.
"""

import abc
import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.round_based import RoundBased
from jaxbandits.arrays import ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["RivalPairs", "RivalState"]


@pytree
@dataclasses.dataclass(frozen=True)
class RivalState(ArmState):
    """The state of a run; arms first, runs last. The next pair is kept: bounds are dear, and are computed once."""

    level: jax.Array  # float32 (…), or with axes in front: the part of the exploration rate that stays
    rounds: jax.Array  # int32 (…): t, 1 after the first pull of every arm
    chosen: jax.Array  # bool (K, …): the m largest means
    low_place: jax.Array  # int32 (…): h, the smallest lower bound among them, by its place in the tie order
    high_place: jax.Array  # int32 (…): l, the largest upper bound among the rest
    distance: jax.Array  # float32 (…): U_l - L_h


@dataclasses.dataclass(frozen=True)
class RivalPairs(RoundBased):
    """Pulls h and l until they are less than epsilon apart; a subclass has the bounds."""

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1, common=1)
    b: Numeric = parameter("positive", default=None)

    @abc.abstractmethod
    def _level(self, state: ArmState) -> jax.Array:
        """The part of the exploration rate that stays, float32 `(…)` or with axes in front."""

    @abc.abstractmethod
    def _lower(self, state: RivalState, own: jax.Array, chosen: jax.Array) -> jax.Array:
        """Lower confidence bounds, float32 `(K, …)`; of arms that are not chosen what `_upper` takes.

        Args:
            state: the state.
            own: float32 `(K, …)`, the means of the arms that are chosen, and what those of the others lack to b.
            chosen: bool `(K, …)`.
        """

    def _upper(self, state: RivalState, lower: jax.Array) -> jax.Array:
        """The upper confidence bound of an arm that is not chosen, float32 `(…)`, of what `_lower` gives for it."""
        return state.b - lower

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> RivalState:
        """The state after one pull of every arm."""
        state = ArmState.of(statistics, problem, key, self.b)
        nothing = jnp.zeros(key.shape, jnp.int32)
        first = RivalState(
            **state.shared(), level=self._level(state), rounds=nothing + 1, chosen=state.largest_means(self.m),
            low_place=nothing, high_place=nothing, distance=jnp.zeros(key.shape),
        )  # fmt: skip
        return self._decided(first)

    def request(self, state: RivalState) -> jax.Array:
        """H and l, int32 `(2, …)`."""
        return arm_at(jnp.stack([state.low_place, state.high_place]), state.order.shape[0], state.ties)

    def absorb(
        self, state: RivalState, requested: jax.Array, rewards: jax.Array, live: jax.Array | bool = True
    ) -> RivalState:
        """The state after a round's two rewards."""
        for slot in range(requested.shape[0]):
            state = state.pulled(requested[slot], rewards[slot], live)
        mean, chosen = state.existing(state.statistics.mean, -jnp.inf), state.chosen
        if isinstance(self.m, Known):
            chosen = ranking.top_mask(mean, self.m, state.order)
        else:
            for _ in range(requested.shape[0]):  # a mean that changed moves at most one arm
                chosen, _ = ranking.exchange(mean, chosen, state.order)
        rounds = state.rounds + jnp.asarray(live).astype(jnp.int32)
        # Where nothing was pulled, nothing has changed: the same pair comes out again.
        return self._decided(dataclasses.replace(state, rounds=rounds, chosen=chosen))

    def done(self, state: RivalState) -> jax.Array:
        """U_l - L_h < epsilon."""
        return state.distance < self.epsilon

    def recommend(self, state: RivalState) -> jax.Array:
        """The m largest means."""
        return state.chosen

    def _decided(self, state: RivalState) -> RivalState:
        """The state with its next pair, from its means and the arms chosen."""
        own = jnp.where(state.chosen, state.statistics.mean, state.b - state.statistics.mean)
        lower = state.existing(self._lower(state, own, state.chosen), jnp.inf)
        low, low_place = ranking.arg_smallest(jnp.where(state.chosen, lower, jnp.inf), state.order)
        high, high_place = ranking.arg_smallest(jnp.where(state.chosen, jnp.inf, lower), state.order)
        distance = self._upper(state, high) - low
        return dataclasses.replace(state, low_place=low_place, high_place=high_place, distance=distance)
