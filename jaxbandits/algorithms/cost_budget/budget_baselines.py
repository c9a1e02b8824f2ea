"""Baselines for budgets of cost: epsilon-first, density-greedy upper bounds (KUBE), Thompson sampling.

On a reservoir they take K(B) of its arms, as RCB-I does.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.cost_budget.budget_index import BudgetIndex
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.random.gamma_draws import beta
from jaxbandits.random.threefry import key_words

__all__ = ["KUBE", "BudgetedThompson", "EpsilonFirst"]

_TINY = 1e-30


def _density(reward: jax.Array, cost: jax.Array) -> jax.Array:
    """Return reward over cost; infinite if nothing was paid yet."""
    return jnp.maximum(reward, _TINY) / cost


@algorithm
class EpsilonFirst(BudgetIndex):
    """Spends a share of the budget on all arms in turn, and the rest on the arm with the largest mean ratio.

    Tran-Thanh, Chapman, Munoz de Cote, Rogers, Jennings (2010), "Epsilon-first policies for budget-limited multi-armed
    bandits", AAAI. The paper's costs are known; here means of costs take their place. All means are always updated.

    Attributes:
        budget: B, positive, in units of cost.
        share: share of the budget that is spent on exploring, in (0, 1): the paper's epsilon.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.EpsilonFirst(budget=50), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    share: Numeric = parameter("probability", default=0.1)
    traits = Traits(
        setting="budget of cost, reward collected",
        source="Tran-Thanh, Chapman, Munoz de Cote, Rogers, Jennings 2010",
        criterion="ratio",
        anytime=False,
        spends="budget",
    )

    def select(self, words: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the next arm in turn, or the best arm after the exploration."""
        exploring = arms.spent <= self.budget * self.share
        return jnp.where(exploring, arms.time % arms.count, super().select(words, arms, key))

    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return r / c."""
        del key
        return _density(arms.mean, arms.mean_cost)


@algorithm
class KUBE(BudgetIndex):
    """Pulls the arm with the largest upper bound of the reward per mean cost: fractional KUBE.

    Tran-Thanh, Chapman, Rogers, Jennings (2012), "Knapsack based optimal policies for budget-limited multi-armed
    bandits", AAAI. The paper's costs are known; here means of costs take their place, without confidence bounds. Its
    upper bounds are those of rewards in [0, 1]; other rewards are not refused.

    Attributes:
        budget: B, positive, in units of cost.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.KUBE(budget=50), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    traits = Traits(
        setting="budget of cost, reward collected",
        source="Tran-Thanh, Chapman, Rogers, Jennings 2012",
        criterion="ratio",
        spends="budget",
    )

    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return (r + sqrt(2 ln t / T)) / c."""
        del key
        return _density(arms.mean + jnp.sqrt(2 * jnp.log(arms.time) / arms.pulls), arms.mean_cost)


@algorithm
class BudgetedThompson(BudgetIndex):
    """Pulls the arm with the largest ratio of a reward to a cost, both drawn from Beta posteriors.

    Xia, Li, Qin, Yu, Liu (2015), "Thompson sampling for budgeted multi-armed bandits", IJCAI. Rewards and costs between
    0 and 1 count as fractions of a success; the paper tosses a coin for each.

    Attributes:
        budget: B, positive, in units of cost.

    Raises:
        UsageError: a value outside its range; rewards or prices outside [0, 1].

    Example:
        >>> ds = jb.simulate(jb.BudgetedThompson(budget=50), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    traits = Traits(
        setting="budget of cost, reward collected",
        source="Xia, Li, Qin, Yu, Liu 2015",
        criterion="ratio",
        spends="budget",
        unit_rewards=True,
    )

    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return a draw of the reward over one of the cost, each of Beta(1 + S, 1 + T - S), S the sum of T pulls."""

        def drawn(key: jax.Array, sums: jax.Array) -> jax.Array:
            words = key_words(jax.random.split(key, len(arms)))
            return beta(words, 1 + sums, jnp.maximum(1 + (arms.pulls - sums), 1))

        of_rewards, of_costs = jax.random.split(key)
        cost = drawn(of_costs, arms.total_cost)
        return _density(drawn(of_rewards, arms.total.astype(jnp.float32)), jnp.maximum(cost, _TINY))
