"""AdaptiveTopK and ImprovedTopK: K arms whose mean is within epsilon of the best K arms' mean.

Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML; Algorithm 1.
"""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import arms
from jaxbandits.algorithms.protocol import BatchBased, Numeric, parameter
from jaxbandits.algorithms.state import ArmState
from jaxbandits.estimators import ArmStatistics
from jaxbandits.numerics import MAX_COUNT, exp, larger, log, rounded
from jaxbandits.problems.base import Problem
from jaxbandits.pytrees import pytree

__all__ = ["AdaptiveTopK", "ImprovedTopK", "TopKState"]

_LOG2 = np.float32(np.log(2.0))


@pytree
@dataclasses.dataclass(frozen=True)
class TopKState(ArmState):
    """The state of a run; arms first, runs last."""

    active: jax.Array  # bool (K, …): S_r, the arms that are neither accepted nor rejected
    accepted: jax.Array  # bool (K, …): A
    means: jax.Array  # float32 (K, …): what the last decision looked at
    round: jax.Array  # int32 (…): finished rounds
    ended: jax.Array  # bool (…)

    @classmethod
    def start(cls, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> "TopKState":
        """Before the first pull."""
        state = ArmState.of(statistics, problem, key, None)
        exists = jnp.ones(state.order.shape, bool) if state.mask is None else state.mask
        nothing = jnp.zeros(key.shape, jnp.int32)
        return cls(
            **state.shared(), active=exists, accepted=jnp.zeros_like(exists), means=jnp.zeros(exists.shape),
            round=nothing, ended=nothing > 0,
        )  # fmt: skip

    def left(self, k: jax.Array) -> jax.Array:
        """K - |A|, int32 `(…)`."""
        return jnp.asarray(k, jnp.int32) - arms.total(self.accepted.astype(jnp.int32))

    @property
    def count(self) -> jax.Array:
        """|S_r|, int32 `(…)`."""
        return arms.total(self.active.astype(jnp.int32))

    def around(self, ranked: jax.Array, left: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The `left`-th and the next largest of values `(K, …)` that are -inf for arms that are not active.

        The latter is -inf where no more than `left` arms are active.
        """
        inner, outer = (arms.kth_largest(ranked, jnp.clip(k, 1, ranked.shape[0])) for k in (left, left + 1))
        return inner, jnp.where(left >= self.count, -jnp.inf, outer)


class _Decision(NamedTuple):
    means: jax.Array  # float32 (K, …)
    accepted: jax.Array  # bool (K, …): newly
    rejected: jax.Array  # bool (K, …)


class _TopK(BatchBased):
    """Rounds of equally many pulls of every active arm; a subclass says how many, and who is accepted or rejected."""

    criterion = "aggregate"
    k: Numeric
    budget: Numeric = None

    @abc.abstractmethod
    def _pulls(self, state: TopKState) -> jax.Array:
        """Pulls of every active arm in the next round, float32 `(…)`, not rounded."""

    @abc.abstractmethod
    def _decide(self, state: TopKState, fresh: jax.Array) -> _Decision:
        """After a whole round with these means of its own rewards, `(K, …)`; `state` has the round's pulls."""

    @abc.abstractmethod
    def _close_enough(self, state: TopKState) -> jax.Array:
        """Whether any K - |A| of the best-looking active arms will do after this round, bool `(…)`."""

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> TopKState:
        """The state before the first pull."""
        return TopKState.start(statistics, problem, key)

    def request(self, state: TopKState) -> jax.Array:
        """A round's pulls of every active arm, or what the budget leaves, evenly; int32 `(K, …)`."""
        return jnp.where(state.active, self._round(state)[0], 0)

    def _round(self, state: TopKState) -> tuple[jax.Array, jax.Array]:
        """Pulls per active arm, int32 `(…)`, and whether the round is whole."""
        # A ceiling that rounding of the product cannot lift.
        wanted = jnp.ceil(self._pulls(state) * (1 - 4e-7))
        limit = MAX_COUNT if self.budget is None else jnp.asarray(self.budget, jnp.int32)
        spare = (limit - state.time) // jnp.maximum(state.count, 1)
        whole = wanted <= spare.astype(jnp.float32)
        return jnp.where(whole, wanted, spare.astype(jnp.float32)).astype(jnp.int32), whole

    def absorb(self, state: TopKState, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> TopKState:
        """The state after a round."""
        _, whole = self._round(state)
        live = jnp.broadcast_to(live, state.ended.shape)
        fresh = sums.astype(jnp.float32) / larger(count, jnp.int32(1)).astype(jnp.float32)
        pulled = dataclasses.replace(
            state, statistics=state.statistics.add_sums(sums, count), round=state.round + live.astype(jnp.int32)
        )
        decision = self._decide(pulled, fresh)
        settled = (live & whole) & (decision.accepted | decision.rejected)
        new = dataclasses.replace(
            pulled,
            active=state.active & ~settled,
            accepted=state.accepted | (settled & decision.accepted),
            means=jnp.where(live, jnp.where(whole, decision.means, pulled.statistics.mean), state.means),
        )
        left = new.left(self.k)
        over = (left == 0) | (left == new.count) | ~whole
        if self.budget is None:
            over |= self._close_enough(new)
        return dataclasses.replace(new, ended=state.ended | (live & over))

    def done(self, state: TopKState) -> jax.Array:
        """The budget is spent, the arms are told apart, or what is left is close enough."""
        return state.ended

    def recommend(self, state: TopKState) -> jax.Array:
        """A, and the K - |A| active arms with the largest means."""
        ranked = jnp.where(state.accepted, jnp.inf, jnp.where(state.active, state.means, -jnp.inf))
        return arms.top_mask(ranked, jnp.asarray(self.k, jnp.int32), state.order)


@pytree
@dataclasses.dataclass(frozen=True)
class AdaptiveTopK(_TopK):
    """Accepts and rejects arms in rounds of growing precision (Algorithm 1).

    Round r pulls every active arm m_r = ceil(scale^2 4^r ln(2 n r^2 / delta)) times, accepts the arms whose mean is
    more than 2 2^-r above the (K-|A|+1)-th largest and rejects those more than 2 2^-r below the (K-|A|)-th. With fixed
    confidence (no budget) it stops once 2 2^-r (K-|A|) <= epsilon K, and the aggregate regret (the mean of the K best
    means less that of the returned) is at most epsilon with probability at least 1 - delta for rewards in [0, 1].
    With a budget it goes on until that is spent; a round that does not fit spends what is left evenly, and the arms
    are then ranked by all their rewards. With the literal constants (`scale` 1) a budget below 49 n is plain uniform
    sampling.

    Attributes:
        k: arms to return, K, 1 <= K < n.
        epsilon: the aggregate regret allowed, positive.
        delta: allowed probability of error, in (0, 1).
        budget: number of pulls, at least n; None for fixed confidence.
        schedule: `paper`, the rounds above; `fine`, one pull of every active arm a round, and radius
            scale sqrt(ln(2 n t^2 / delta) / t) in place of 2^-r.
        scale: multiplies the radius, positive; the guarantee is that of 1.
        reuse: whether decisions of the `paper` schedule rest on the rewards of all rounds.

    Raises:
        UsageError: a value outside its range.
    """

    k: Numeric = parameter("count")
    epsilon: Numeric = parameter("positive", default=0.01)
    delta: Numeric = parameter("probability", default=0.01)
    budget: Numeric = parameter("count", default=None)
    schedule: str = parameter(default="paper", static=True, choices=("paper", "fine"))
    scale: Numeric = parameter("positive", default=1.0)
    reuse: bool = parameter(default=False, static=True)

    def _level(self, state: TopKState, number: jax.Array) -> jax.Array:
        """ln(2 n r^2 / delta) in the round of this number."""
        return _LOG2 + log(state.arms) + 2 * log(number) - log(self.delta)

    def _pulls(self, state: TopKState) -> jax.Array:
        if self.schedule == "fine":
            return jnp.ones(state.ended.shape)
        following = state.round + 1
        growth = jnp.asarray(self.scale, jnp.float32) ** 2 * exp(2 * _LOG2 * following.astype(jnp.float32))
        return growth * self._level(state, following)

    def _radius(self, state: TopKState) -> jax.Array:
        number = larger(state.round, jnp.int32(1))
        if self.schedule == "fine":
            return self.scale * jnp.sqrt(self._level(state, number) / number.astype(jnp.float32))
        return jnp.exp2(-number.astype(jnp.float32))

    def _decide(self, state: TopKState, fresh: jax.Array) -> _Decision:
        means = state.statistics.mean if self.reuse or self.schedule == "fine" else fresh
        ranked, left = jnp.where(state.active, means, -jnp.inf), state.left(self.k)
        inner, outer = state.around(ranked, left)
        width = 2 * self._radius(state)
        accepted = state.active & (means - outer > width)
        return _Decision(means, accepted, state.active & ~accepted & (inner - means > width))

    def _close_enough(self, state: TopKState) -> jax.Array:
        k = jnp.asarray(self.k, jnp.float32)
        return 2 * self._radius(state) * state.left(self.k).astype(jnp.float32) <= self.epsilon * k


@pytree
@dataclasses.dataclass(frozen=True)
class ImprovedTopK(_TopK):
    """A variant with a pull count free of ln n where n = O(K): derived, not the authors' ImprovedTopK.

    The paper does not print its Algorithm 3 in full; this one has the bound of its Theorem 2 up to ln(n/K), by this
    argument. Round r, with slack s_r = floor(epsilon K / (16 r (r+1))), pulls m_r = ceil(2^(2r-1) ln(2/eta_r)) times,
    eta_r = (s_r + 1) delta / (n r (r+1)). By Markov's inequality at most s_r means are off by 2^-r, but with
    probability delta / (r (r+1)); so the order statistics s_r ranks outside the border are right to 2^-r, and arms more
    than 2 2^-r above or below them are settled with at most 6 s_r mistakes a round, 0.375 epsilon K in all. The last
    round's loss is at most 2 2^-r (K-|A|) + s_r, below 0.5625 epsilon K where it stops. So the aggregate regret is at
    most epsilon with probability 1 - delta, for rewards in [0, 1].

    Attributes:
        k: arms to return, K, 1 <= K < n.
        epsilon: the aggregate regret allowed, positive.
        delta: allowed probability of error, in (0, 1).

    Raises:
        UsageError: a value outside its range.
    """

    k: Numeric = parameter("count")
    epsilon: Numeric = parameter("positive", default=0.01)
    delta: Numeric = parameter("probability", default=0.01)

    def _slack(self, number: jax.Array) -> jax.Array:
        """s_r in the round of this number, float32 `(…)`."""
        r = number.astype(jnp.float32)
        return jnp.floor(self.epsilon * jnp.asarray(self.k, jnp.float32) / (16 * r * (r + 1)) * (1 + 4e-7))

    def _pulls(self, state: TopKState) -> jax.Array:
        following = state.round + 1
        r = following.astype(jnp.float32)
        # ln(2 / eta_r)
        level = _LOG2 + log(state.arms) + log(r) + log(r + 1) - log(self._slack(following) + 1) - log(self.delta)
        return exp(rounded(_LOG2 * (2 * r - 1))) * level

    def _decide(self, state: TopKState, fresh: jax.Array) -> _Decision:
        ranked, left, count = jnp.where(state.active, fresh, -jnp.inf), state.left(self.k), state.count
        slack = self._slack(larger(state.round, jnp.int32(1))).astype(jnp.int32)
        below, above = left + 1 + slack, left - slack
        outer = arms.kth_largest(ranked, jnp.clip(below, 1, count))  # a_r
        inner = arms.kth_largest(ranked, jnp.clip(above, 1, count))  # b_r
        outer = jnp.where(below > count, -jnp.inf, outer)
        inner = jnp.where(above < 1, jnp.inf, inner)
        precision = jnp.exp2(-state.round.astype(jnp.float32))
        accepted = state.active & (fresh > outer + 2 * precision)
        # At most K - |A|, best first.
        accepted &= arms.top_mask(ranked, jnp.clip(left, 1, count), state.order)
        return _Decision(fresh, accepted, state.active & ~accepted & (fresh < inner - 2 * precision))

    def _close_enough(self, state: TopKState) -> jax.Array:
        k, left = jnp.asarray(self.k, jnp.float32), state.left(self.k).astype(jnp.float32)
        return 2 * jnp.exp2(-state.round.astype(jnp.float32)) * left <= self.epsilon * k / 2
