"""EB-TC without a confidence, for budgets that are not known: Jourdan, Degenne, Kaufmann (2023), NeurIPS 36.

"An epsilon-best-arm identification algorithm for fixed-confidence and beyond".
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.top_two_pulls import check_pairs, pay_pair, share_of
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.statistics.glr import among_normal

__all__ = ["AnytimeEBTC"]


class _State(NamedTuple):
    owed: jax.Array  # int32 (K, K): accounts of the pairs of leader and challenger
    following: jax.Array  # int32 (): the arm to pull next


@algorithm
class AnytimeEBTC(Rule):
    """Pulls as `EBTC` does for normal rewards, and returns the largest mean at any time.

    The leader B is the best-looking arm. The challenger minimises (mu_B - mu_C + slack) / sqrt(1/N_B + 1/N_C). One of
    the two is pulled, so that each pair keeps its shares (Algorithm 1). The sampling depends neither on the budget nor
    on the scale of the rewards, and has no delta. The paper bounds its probability of error at any time.

    Attributes:
        budget: number of pulls, at least K.
        share: share of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C).
        slack: the paper's epsilon_0, not negative, in units of rewards. With 0 a run may stay with the wrong two arms
            for very long.

    Raises:
        UsageError: a value outside its range, more than 256 arms.

    Example:
        >>> ds = jb.simulate(jb.AnytimeEBTC(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    share: Numeric = parameter("probability", default=0.5, words=("ids",))
    slack: Numeric = parameter("not negative", default=0.1)
    traits = Traits(
        setting="fixed budget, one arm, at any time; top two", source="Jourdan, Degenne, Kaufmann 2023", relative_cost=5
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that the accounts of all pairs are not too many."""
        super().check(arms_per_bandit, bandits)
        check_pairs(self, arms_per_bandit)

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after the first pulls, with an account for every pair of leader and challenger."""
        del key
        return self._decided(jnp.zeros((len(arms), len(arms)), jnp.int32), arms)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a reward, with the next decision."""
        del arm, reward
        return self._decided(state.owed, arms)

    def _decided(self, owed: jax.Array, arms: Arms) -> _State:
        leader, pulls = jnp.argmax(arms.mean), arms.pulls.astype(jnp.float32)
        slack, unit = jnp.asarray(self.slack, jnp.float32), jnp.float32(1)
        near = among_normal(arms.mean[leader], pulls[leader], arms.mean, pulls, slack, unit)
        challenger = jnp.argmin(near.cost.at[leader].set(jnp.inf))
        return _State(*pay_pair(owed, leader, challenger, share_of(self.share, near, challenger)))

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm that was decided on."""
        del arms, key
        return state.following

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del state
        return arms.time >= self.budget

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the arm with the largest mean."""
        del state
        return jnp.argmax(arms.mean)
