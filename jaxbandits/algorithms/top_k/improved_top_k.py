"""ImprovedTopK: K arms whose mean is within epsilon of the best K arms' mean, with pulls free of ln n.

After Chen, Chen, Zhang, Zhou (2017), "Adaptive multiple-arm identification", ICML.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import are_largest, kth_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.top_k.top_k_rounds import Rounds, as_pulls, first_round, with_best
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.joint_rounds import tie_numbers
from jaxbandits.arrays.probabilities import log_of

__all__ = ["ImprovedTopK"]


@algorithm
class ImprovedTopK(Rule):
    """A variant with a pull count free of ln n where n = O(K): derived, not the authors' ImprovedTopK.

    The paper does not print its Algorithm 3 in full. This variant has the bound of its Theorem 2 up to ln(n/K). The
    argument: round r has the slack s_r = floor(epsilon K / (16 r (r+1))) and eta_r = (s_r + 1) delta / (n r (r+1)). It
    pulls m_r = ceil(2^(2r-1) ln(2/eta_r)) times. By Markov's inequality at most s_r means are off by 2^-r, except with
    probability delta / (r (r+1)). So the order statistics s_r ranks outside the border are right to 2^-r. Arms more
    than 2 2^-r above or below them are decided with at most 6 s_r mistakes a round, 0.375 epsilon K in all. The loss of
    the last round is at most 2 2^-r (K-|A|) + s_r, which is below 0.5625 epsilon K when it stops. So the aggregate
    regret is at most epsilon with probability 1 - delta, for rewards in [0, 1].

    Attributes:
        k: arms to return, K, 1 <= K < n.
        epsilon: the aggregate regret allowed, positive.
        delta: allowed probability of error, in (0, 1).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.ImprovedTopK(k=1, epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
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
        proof_range=1.0,
    )

    initial_pulls = 0
    shuffle_arms = False

    def init(self, arms: Arms, key: jax.Array) -> Rounds:
        """Return the state before the first pull."""
        return first_round(arms, key)

    def request(self, state: Rounds, arms: Arms, key: jax.Array) -> jax.Array:
        """Return m_r = ceil(2^(2r-1) ln(2 / eta_r)) pulls of every active arm."""
        del key
        r, slack = state.round, self._slack(state.round)
        level = jnp.log(2 * arms.count) + jnp.log(r) + jnp.log(r + 1) - jnp.log(slack + 1) - log_of(self.delta)
        return jnp.where(state.active, as_pulls(jnp.exp2(2 * r - 1) * level), 0)

    def absorb(self, state: Rounds, arms: Arms, counts: jax.Array, sums: jax.Array) -> Rounds:
        """Return the state after round r."""
        active, left, count = state.active, state.left(self.k), jnp.sum(state.active)
        radius = jnp.exp2(-state.round)
        width = 2 * radius * jnp.max(counts)
        # The order statistics s_r ranks outside the border.
        below, above = left + 1 + self._slack(state.round), left - self._slack(state.round)
        outer = jnp.where(below > count, -jnp.inf, kth_largest(sums, jnp.clip(below, 1, count), active))
        inner = jnp.where(above < 1, jnp.inf, kth_largest(sums, jnp.clip(above, 1, count), active))
        best = are_largest(sums, left, active, tie_numbers(state.seed, state.round, len(arms)))
        accepted = best & (sums - outer > width)  # at most K - |A|, best first
        rejected = active & ~accepted & (inner - sums > width)
        new = state.after(accepted, rejected, sums)
        return new.ending(self.k, 2 * radius * new.left(self.k) <= self.epsilon * self.k / 2)

    def done(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return whether all arms are decided, or the remaining arms are close enough."""
        del arms
        return state.ended

    def recommend(self, state: Rounds, arms: Arms) -> jax.Array:
        """Return A and the K - |A| best active arms."""
        del arms
        return with_best(state, state.values, self.k)

    def _slack(self, r: jax.Array) -> jax.Array:
        """Return s_r = floor(epsilon K / (16 r (r+1))), int32 `()`; rounding errors cannot lower the floor."""
        return jnp.floor(self.epsilon * self.k / (16 * r * (r + 1)) * (1 + 4e-7)).astype(jnp.int32)
