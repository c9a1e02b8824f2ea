"""AdaptiveTopK and ImprovedTopK: K arms whose mean is within epsilon of the best K arms' mean.

Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML; Algorithm 1.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.top_k_rounds import RoundState, TopKRounds
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.numerics import exp, larger, log, rounded, smaller
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random.ties import order_at

__all__ = ["AdaptiveTopK", "ImprovedTopK"]

_LOG2 = np.float32(np.log(2.0))


@pytree
@dataclasses.dataclass(frozen=True)
class AdaptiveTopK(TopKRounds):
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
    delta: Numeric = parameter("error probability", default=0.01)
    budget: Numeric = parameter("count", default=None)
    schedule: str = parameter(default="paper", static=True, choices=("paper", "fine"))
    scale: Numeric = parameter("positive", default=1.0)
    reuse: bool = parameter(default=False, static=True)
    traits = Traits(
        setting="fixed confidence or budget, K arms by aggregate regret; sums of rewards are drawn at once",
        source="Chen, Chen, Zhang, Zhou 2017",
        criterion="aggregate",
        answers="k",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def _level(self, state: RoundState, number: jax.Array) -> jax.Array:
        """ln(2 n r^2 / delta) in the round of this number."""
        return _LOG2 + log(state.arms) + 2 * log(number) - log_of(self.delta)

    @property
    def _cumulative(self) -> bool:
        return self.reuse or self.schedule == "fine"

    def _pulls(self, state: RoundState, number: jax.Array) -> jax.Array:
        if self.schedule == "fine":
            return jnp.ones(state.ended.shape)
        growth = jnp.asarray(self.scale, jnp.float32) ** 2 * exp(2 * _LOG2 * number.astype(jnp.float32))
        return growth * self._level(state, number)

    def _radius(self, state: RoundState, number: jax.Array) -> jax.Array:
        if self.schedule == "fine":
            return self.scale * jnp.sqrt(self._level(state, number) / number.astype(jnp.float32))
        return super()._radius(state, number)

    def _decide(self, state: RoundState, sums: jax.Array, pulls: jax.Array) -> tuple[jax.Array, jax.Array]:
        inner, outer = state.around(sums, state.left(self.k))
        sums, width = sums.astype(jnp.float32), 2 * state.radius * pulls.astype(jnp.float32)
        accepted = state.active & (sums - outer > width)
        return accepted, state.active & ~accepted & (inner - sums > width)

    def _close_enough(self, state: RoundState, left: jax.Array) -> jax.Array:
        return 2 * state.radius * left.astype(jnp.float32) <= self.epsilon * jnp.asarray(self.k, jnp.float32)


@pytree
@dataclasses.dataclass(frozen=True)
class ImprovedTopK(TopKRounds):
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
    delta: Numeric = parameter("error probability", default=0.01)
    traits = Traits(
        setting="fixed confidence, K arms by aggregate regret; derived, see its docstring",
        source="after Chen, Chen, Zhang, Zhou 2017",
        criterion="aggregate",
        answers="k",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    def _slack(self, number: jax.Array) -> jax.Array:
        """s_r in the round of this number, float32 `(…)`."""
        r = number.astype(jnp.float32)
        return jnp.floor(self.epsilon * jnp.asarray(self.k, jnp.float32) / (16 * r * (r + 1)) * (1 + 4e-7))

    def _pulls(self, state: RoundState, number: jax.Array) -> jax.Array:
        r = number.astype(jnp.float32)
        # ln(2 / eta_r)
        level = _LOG2 + log(state.arms) + log(r) + log(r + 1) - log(self._slack(number) + 1) - log_of(self.delta)
        return exp(rounded(_LOG2 * (2 * r - 1))) * level

    def _decide(self, state: RoundState, sums: jax.Array, pulls: jax.Array) -> tuple[jax.Array, jax.Array]:
        left, count, slack = state.left(self.k), state.count, self._slack(state.round + 1).astype(jnp.int32)
        below, above = left + 1 + slack, left - slack
        a = ranking.kth_largest(sums, smaller(larger(below, 1), count), state.active).astype(jnp.float32)  # a_r
        b = ranking.kth_largest(sums, smaller(larger(above, 1), count), state.active).astype(jnp.float32)  # b_r
        outer, inner = jnp.where(below > count, -jnp.inf, a), jnp.where(above < 1, jnp.inf, b)
        order = order_at(state.ties, state.round, state.order.shape[0])
        best = ranking.top_mask(sums, left, order, state.active)
        sums, width = sums.astype(jnp.float32), 2 * state.radius * pulls.astype(jnp.float32)
        # At most K - |A|, best first.
        accepted = best & (sums - outer > width)
        return accepted, state.active & ~accepted & (inner - sums > width)

    def _close_enough(self, state: RoundState, left: jax.Array) -> jax.Array:
        k = jnp.asarray(self.k, jnp.float32)
        return 2 * state.radius * left.astype(jnp.float32) <= self.epsilon * k / 2
