"""AdaptiveTopK: K arms whose mean is within epsilon of the best K arms' mean.

Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML; Algorithm 1.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.parameters import Numeric, parameter, reaches
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.top_k.top_k_rounds import Rounds, around, as_pulls, first_round, with_best
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of

__all__ = ["AdaptiveTopK"]


@algorithm
class AdaptiveTopK(Rule):
    """Accepts and rejects arms in rounds of growing precision (Algorithm 1).

    Round r pulls every active arm m_r = ceil(scale^2 4^r ln(2 n r^2 / delta)) times. It accepts the arms whose mean is
    more than 2 2^-r above the (K-|A|+1)-th largest, and rejects those more than 2 2^-r below the (K-|A|)-th.

    With fixed confidence (no budget) it stops once 2 2^-r (K-|A|) <= epsilon K. The aggregate regret (the mean of the K
    best means less that of the returned) is then at most epsilon, with probability at least 1 - delta, for rewards in
    [0, 1].

    With a budget it continues until the budget is spent. The last round, if it does not fit, spends what is left
    evenly, and the arms are ranked by all their rewards. With the literal constants (`scale` 1) a budget below 49 n is
    plain uniform sampling.

    Attributes:
        k: arms to return, K, 1 <= K < n.
        epsilon: the aggregate regret allowed, positive.
        delta: allowed probability of error, in (0, 1).
        budget: number of pulls, at least n; None for fixed confidence.
        schedule: `paper`, the rounds above; `fine`, one pull of every active arm a round, and radius
            scale sqrt(ln(2 n t^2 / delta) / t) in place of 2^-r.
        scale: factor of the radius, positive; the guarantee is for 1 and more.
        reuse: whether decisions of the `paper` schedule use the rewards of all rounds.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.AdaptiveTopK(k=1, epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
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
        proof_range=1.0,
    )

    initial_pulls = 0
    shuffle_arms = False

    @property
    def proved(self) -> bool:
        """Whether it runs until it is sure: no budget ends it, and the radius is not reduced."""
        return self.budget is None and reaches(self.scale, 1)

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 4, for fixed confidence and the printed rounds, on rewards of a range of at most 1."""
        del variances, m
        if self.budget is not None or self.schedule != "paper" or self.scale != 1 or self.reuse or b > 1:
            return None
        arguments = (means, epsilon, delta, self.k)
        return Theorem(theory.adaptive_top_k_pulls_bound, arguments, "Chen et al. 2017, Theorem 4")

    def init(self, arms: Arms, key: jax.Array) -> Rounds:
        """Return the state before the first pull."""
        return first_round(arms, key)

    def request(self, state: Rounds, arms: Arms, key: jax.Array) -> jax.Array:
        """Return m_r pulls of every active arm, or an even share of the remaining budget."""
        del key
        each = self._pulls(state.round, arms)
        if self.budget is not None:
            each = jnp.minimum(each, (self.budget - arms.time) // jnp.sum(state.active))
        return jnp.where(state.active, each, 0)

    def absorb(self, state: Rounds, arms: Arms, counts: jax.Array, sums: jax.Array) -> Rounds:
        """Return the state after round r."""
        whole = (self.budget is None) | (jnp.max(counts) == self._pulls(state.round, arms))
        cumulative = self.reuse or self.schedule == "fine"
        values, pulls = (arms.total, jnp.max(arms.pulls)) if cumulative else (sums, jnp.max(counts))
        # More than 2 2^-r above the (K-|A|+1)-th largest mean, or below the (K-|A|)-th, in sums of `pulls` rewards.
        inner, outer = around(values, state.left(self.k), state.active)
        radius = self._radius(state.round, arms)
        accepted = whole & state.active & (values - outer > 2 * radius * pulls)
        rejected = whole & state.active & (inner - values > 2 * radius * pulls)
        new = state.after(accepted, rejected, values if self.budget is None else jnp.where(whole, values, arms.total))
        close = 2 * radius * new.left(self.k) <= self.epsilon * self.k
        return new.ending(self.k, close if self.budget is None else ~whole)

    def done(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return whether the budget is spent, all arms are decided, or the remaining arms are close enough."""
        del arms
        return state.ended

    def recommend(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return A and the K - |A| best active arms."""
        del arms
        return with_best(state, state.values, self.k)

    def _level(self, r: jax.Array, arms: Arms) -> jax.Array:
        """Return ln(2 n r^2 / delta)."""
        return jnp.log(2 * arms.count) + 2 * jnp.log(r) - log_of(self.delta)

    def _pulls(self, r: jax.Array, arms: Arms) -> jax.Array:
        """Return m_r = ceil(scale^2 4^r ln(2 n r^2 / delta)), or 1."""
        return (
            jnp.int32(1)
            if self.schedule == "fine"
            else as_pulls(self.scale**2 * jnp.exp2(2 * r) * self._level(r, arms))
        )

    def _radius(self, r: jax.Array, arms: Arms) -> jax.Array:
        """Return the assumed error of a mean."""
        return self.scale * jnp.sqrt(self._level(r, arms) / r) if self.schedule == "fine" else jnp.exp2(-r)
