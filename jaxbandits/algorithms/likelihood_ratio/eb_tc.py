"""EB-TC: a top-two rule led by the empirical best arm, for an epsilon-best arm.

Jourdan, Degenne, Kaufmann (2023), "An epsilon-best-arm identification algorithm for fixed-confidence and beyond",
NeurIPS 36.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import Remembered
from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import TopTwo, Tracking, check_pairs, pay_pair
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["EBTC"]


@algorithm
class EBTC(TopTwo):
    """EB-TC: the empirical best arm leads; the challenger is the arm hardest to distinguish from it, with a slack.

    The challenger C minimises the statistic against the leader B with epsilon = slack. For normal rewards this is
    (mu_B - mu_C + slack) / sqrt(1/N_B + 1/N_C). Each pair of leader and challenger has a count of its times, this one
    included. C is pulled if its pulls in this role are at most the sum of 1 - share over these times; else B (Jourdan,
    Degenne, Kaufmann 2023, Algorithm 1). The paper is about normal rewards; others take their own statistic.

    Attributes:
        delta: as for `UniformGLR`, as are epsilon, threshold, family, b and stopping.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        slack: the paper's epsilon_0, not negative, in units of rewards. With 0 a run may stay with the wrong two arms
            for very long.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, more than 256 arms.

    Example:
        >>> ds = jb.simulate(jb.EBTC(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    slack: Numeric = parameter("not negative", default=0.1, common=0)
    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best-looking arm and its closest rival",
        source="Jourdan, Degenne, Kaufmann 2023",
        tolerance="epsilon",
        stops_by=("delta", "epsilon"),
        relative_cost=14,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that the accounts of all pairs are not too many."""
        super().check(arms_per_bandit, bandits)
        check_pairs(self, arms_per_bandit)

    def init(self, arms: Arms, key: jax.Array) -> Tracking:
        """Return the state after the first pulls, with an account for every pair of leader and challenger."""
        del key
        return self._decided(self.first_parted(arms), arms, jnp.zeros((len(arms), len(arms)), jnp.int32))

    def update(self, state: Tracking, arms: Arms, arm: jax.Array, reward: jax.Array) -> Tracking:
        """Return the state after a reward, with the next decision."""
        return self._decided(self.next_parted(state.parted, arms, arm, reward), arms, state.owed)

    def _decided(self, parted: Remembered, arms: Arms, owed: jax.Array) -> Tracking:
        """Decide on the challenger while it is owed a pull, else on the leader (Algorithm 1)."""
        leader = jnp.argmax(arms.mean)
        near = self.against(arms, leader, self.slack)
        challenger = jnp.argmin(near.cost)
        return Tracking(parted, *pay_pair(owed, leader, challenger, self.leaders_share(near, challenger)))

    def select(self, state: Tracking, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that was decided on."""
        del arms, key
        return state.following
