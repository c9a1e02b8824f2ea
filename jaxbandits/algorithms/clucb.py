"""CLUCB and CLUCB-PAC for top-K: combinatorial lower and upper confidence bounds, one pull a step.

Chen, Lin, King, Lyu, Chen (2014), "Combinatorial pure exploration of multi-armed bandits", NIPS 27, for the sets of K
arms; the version that stops early is in its appendix, and is what Chen, Chen, Zhang, Zhou (2017) compare with.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import log
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.confidence import hoeffding_radius, ugape_scale

__all__ = ["CLUCB", "CLUCBState"]


@pytree
@dataclasses.dataclass(frozen=True)
class CLUCBState(ArmState):
    """The state of a run; arms first, runs last.

    Both sets are kept from step to step: a pull changes one mean and moves few arms across a border, and finding these
    is a few passes over the arms where a selection from scratch takes dozens.
    """

    level: jax.Array  # float32 (…): ln(4 K / delta)
    chosen: jax.Array  # bool (K, …): M_t, the k largest means
    rival: jax.Array  # bool (K, …): M~_t, the k largest once the means are moved against M_t
    arm: jax.Array  # int32 (…): the next arm to pull
    close: jax.Array  # bool (…): w~(M~_t) - w~(M_t) <= k epsilon


@pytree
@dataclasses.dataclass(frozen=True)
class CLUCB(Sequential):
    """Pulls the least pulled arm that is in doubt, until the best that the rival set can gain is small.

    M_t are the k largest means. Moving these down and the others up by their radii gives another k largest, M~_t; with
    epsilon = 0 the run ends when both are equally good (CLUCB), and else once the sum of moved means over M~_t exceeds
    that over M_t by at most k epsilon (CLUCB-PAC). The radius is b sqrt(ln(4 n t^3 / delta) / (2 T)), that of rewards
    with range b, or (b/2)-sub-Gaussian. With probability at least 1 - delta the aggregate regret (the mean of the k
    best means less that of the returned) is at most epsilon (their Theorem 1 and its PAC version).

    A step costs a few passes over all arms, however large k is.

    Attributes:
        k: arms to return, 1 <= k < K.
        epsilon: the aggregate regret allowed, not negative.
        delta: allowed probability of error, in (0, 1).
        budget: number of pulls after which a run ends with its M_t, at least K; None for fixed confidence.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    k: Numeric = parameter("count")
    epsilon: Numeric = parameter("not negative", default=0.01)
    delta: Numeric = parameter("error probability", default=0.01)
    budget: Numeric = parameter("count", default=None)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence or budget, K arms by aggregate regret; ε = 0 for the exact set",
        source="Chen, Lin, King, Lyu, Chen 2014",
        criterion="aggregate",
        answers="k",
        tolerance="epsilon",
    )

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> CLUCBState:
        """The state after one pull of every arm."""
        shared = ArmState.of(statistics, problem, key, self.b)
        k = jnp.broadcast_to(jnp.asarray(self.k, jnp.int32), key.shape)
        chosen = shared.largest_means(k)
        nothing = jnp.zeros(key.shape, jnp.int32)
        state = CLUCBState(
            **shared.shared(), level=log(4 * shared.arms) - log_of(self.delta), chosen=chosen, rival=chosen,
            arm=nothing, close=nothing > 0,
        )  # fmt: skip
        # After one pull each the radii are equal and the sets differ in many arms: from scratch.
        rival = ranking.top_mask(self._moved(state), k, shared.order)
        return self._decided(dataclasses.replace(state, rival=rival), self._moved(state))

    def _moved(self, state: CLUCBState) -> jax.Array:
        """w~_t: means of M_t less their radius, of the others plus their radius, float32 `(K, …)`."""
        known = state.statistics
        radius = hoeffding_radius(ugape_scale(state.level, state.time, jnp.float32(0.5), state.b), known.inverse_root)
        return state.existing(jnp.where(state.chosen, known.mean - radius, known.mean + radius), -jnp.inf)

    def _decided(self, state: CLUCBState, moved: jax.Array) -> CLUCBState:
        """The state with its next arm and whether it is done, from its two sets."""
        doubt = state.chosen ^ state.rival
        _, place = ranking.arg_largest(jnp.where(doubt, state.statistics.inverse_root, -1), state.order)
        gain = arms.total(jnp.where(doubt, jnp.where(state.rival, moved, -moved), 0))
        return dataclasses.replace(
            state,
            arm=arm_at(place, state.order.shape[0], state.ties),
            close=gain <= self.epsilon * jnp.asarray(self.k, jnp.float32),
        )

    def select(self, state: CLUCBState) -> jax.Array:
        """The arm with the largest radius among those in one of the two sets, int32 `(…)`."""
        return state.arm

    def update(self, state: CLUCBState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> CLUCBState:
        """The state after one reward."""
        pulled = state.pulled(arm, reward, live)
        mean = pulled.existing(pulled.statistics.mean, -jnp.inf)
        # One mean has changed, so at most one arm of M_t.
        chosen, _ = ranking.exchange(mean, state.chosen, state.order)
        pulled = dataclasses.replace(pulled, chosen=chosen)
        moved = self._moved(pulled)

        def exchange(loop: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return ranking.exchange(moved, loop[0], state.order)

        start = (state.rival, jnp.ones_like(state.close))
        rival, _ = lax.while_loop(lambda loop: jnp.any(loop[1]), exchange, start)
        # Where nothing was pulled, nothing has changed: the same sets, arm and gain come out again.
        return self._decided(dataclasses.replace(pulled, rival=rival), moved)

    def done(self, state: CLUCBState) -> jax.Array:
        """The rival set can gain little, or the budget is spent."""
        return state.close if self.budget is None else state.close | (state.time >= self.budget)

    def recommend(self, state: CLUCBState) -> jax.Array:
        """M_t."""
        return state.chosen
