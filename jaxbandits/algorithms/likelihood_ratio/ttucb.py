"""TTUCB: a top-two rule led by an upper confidence bound.

Jourdan, Degenne (2023), "Non-asymptotic analysis of a UCB-based top two algorithm", NeurIPS 36.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import Remembered
from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import TopTwo, Tracking, paid
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["TTUCB"]

#: g(n) = 2 alpha (1 + s) log n with alpha = s = 1.2, as in the paper's experiments.
_BONUS = 2 * 1.2 * (1 + 1.2)


@algorithm
class TTUCB(TopTwo):
    """TTUCB: the arm with the largest upper bound leads; the challenger is the arm hardest to distinguish from it.

    The bound is mu + sd sqrt(g(n) / N), g(n) = 2 alpha (1 + s) log n with alpha = s = 1.2, for the n-th pull. The
    challenger minimises the statistic against the leader, which is 0 for arms with a larger mean. The leader is pulled
    if its pulls while it led are at most the sum of its shares over the times that it led, now included (Jourdan,
    Degenne 2023, Algorithm 1). The standard deviation sd is b / 2. For other families, which the paper does not cover,
    it is that of a reward with the empirical mean. If variances are unknown it is the empirical one.

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.

    Example:
        >>> ds = jb.simulate(jb.TTUCB(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the largest upper bound and its closest rival",
        source="Jourdan, Degenne 2023",
        tolerance="epsilon",
        stops_by=("delta",),
        relative_cost=10,
    )

    def init(self, arms: Arms, key: jax.Array) -> Tracking:
        """Return the state after the first pulls, with an account for every leader."""
        del key
        return self._decided(self.first_parted(arms), arms, jnp.zeros_like(arms.pulls))

    def update(self, state: Tracking, arms: Arms, arm: jax.Array, reward: jax.Array) -> Tracking:
        """Return the state after a reward, with the next decision."""
        return self._decided(self.next_parted(state.parted, arms, arm, reward), arms, state.owed)

    def _decided(self, parted: Remembered, arms: Arms, owed: jax.Array) -> Tracking:
        """Decide on the leader while it is owed a pull, else on the challenger (Algorithm 1)."""
        bonus = jnp.sqrt(_BONUS * jnp.log(arms.time + 1))
        leader = jnp.argmax(arms.mean + self.spread(arms) * bonus / jnp.sqrt(arms.pulls))
        near = self.against(arms, leader, self.epsilon)
        challenger = jnp.argmin(near.cost)
        account, pull = paid(owed[leader], self.leaders_share(near, challenger))
        return Tracking(parted, owed.at[leader].set(account), jnp.where(pull, leader, challenger))

    def select(self, state: Tracking, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that was decided on."""
        del arms, key
        return state.following
