"""Baselines for budgets of cost: epsilon-first, density-greedy upper bounds (KUBE), Thompson sampling.

On a reservoir they take K(B) of its arms, as RCB-I.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.budget_state import BudgetState
from jaxbandits.algorithms.bases.index_with_budget import IndexWithBudget
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger, log
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.bits import key_words, threefry2x32
from jaxbandits.random.gamma_draws import beta
from jaxbandits.random.streams import POSTERIOR
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.confidence import hoeffding_radius

__all__ = ["KUBE", "BudgetedThompson", "EpsilonFirst", "ThompsonState"]

_TINY = 1e-30


def _density(reward: jax.Array, cost: jax.Array) -> jax.Array:
    """Reward over cost, infinite where nothing was paid yet."""
    return larger(reward, jnp.float32(_TINY)) / cost


@pytree
@dataclasses.dataclass(frozen=True)
class EpsilonFirst(IndexWithBudget):
    """Spends a share of the budget on all arms in turn, and the rest on the arm with the largest mean ratio.

    Tran-Thanh, Chapman, Munoz de Cote, Rogers, Jennings (2010), "Epsilon-first policies for budget-limited multi-armed
    bandits", AAAI. There costs are known; here means of costs take their place, and means go on being updated.

    Attributes:
        budget: B, positive, in units of cost.
        share: of the budget that is spent on exploring, in (0, 1): their epsilon.

    Raises:
        UsageError: a value outside its range.
    """

    share: Numeric = parameter("probability", default=0.1)
    traits = Traits(
        setting="budget of cost, reward collected",
        source="Tran-Thanh, Chapman, Munoz de Cote, Rogers, Jennings 2010",
        criterion="ratio",
        anytime=False,
        spends="budget",
    )

    def select(self, state: BudgetState) -> jax.Array:
        """The next arm in turn, or the best."""
        count = larger(state.arms.astype(jnp.int32), 1)
        exploring = ~state.ledger.beyond(self.budget * self.share) | (state.time < count)
        return jnp.where(exploring, state.time % count, super().select(state))

    def _index(self, state: BudgetState) -> jax.Array:
        return _density(state.statistics.mean, state.mean_cost)


@pytree
@dataclasses.dataclass(frozen=True)
class KUBE(IndexWithBudget):
    """Pulls the arm with the largest upper bound of the reward per mean cost: fractional KUBE.

    Tran-Thanh, Chapman, Rogers, Jennings (2012), "Knapsack based optimal policies for budget-limited multi-armed
    bandits", AAAI. There costs are known; here means of costs take their place, without a bound of their own.

    Attributes:
        budget: B, positive, in units of cost.

    Raises:
        UsageError: a value outside its range.
    """

    traits = Traits(
        setting="budget of cost, reward collected",
        source="Tran-Thanh, Chapman, Rogers, Jennings 2012",
        criterion="ratio",
        spends="budget",
    )

    def _index(self, state: BudgetState) -> jax.Array:
        """(r + sqrt(2 ln t / T)) / c."""
        rounds = larger(state.time, 1).astype(jnp.float32)
        radius = hoeffding_radius(jnp.sqrt(2 * log(rounds)), state.statistics.inverse_root)
        return _density(state.statistics.mean + radius, state.mean_cost)


@pytree
@dataclasses.dataclass(frozen=True)
class ThompsonState(BudgetState):
    """The state of a run, with a key of its own for its draws."""

    words: jax.Array  # uint32 (2, …)


@pytree
@dataclasses.dataclass(frozen=True)
class BudgetedThompson(IndexWithBudget):
    """Pulls the arm with the largest ratio of a reward to a cost, both drawn from Beta posteriors.

    Xia, Li, Qin, Yu, Liu (2015), "Thompson sampling for budgeted multi-armed bandits", IJCAI. Rewards and costs that
    are not 0 or 1 count as fractions of a success; the paper tosses a coin for each.

    Attributes:
        budget: B, positive, in units of cost.

    Raises:
        UsageError: a value outside its range.
    """

    traits = Traits(
        setting="budget of cost, reward collected",
        source="Xia, Li, Qin, Yu, Liu 2015",
        criterion="ratio",
        spends="budget",
    )

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> ThompsonState:
        """The state before the first pull."""
        state = super().begin(statistics, problem, key)
        fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(BudgetState)}
        return ThompsonState(**fields, words=jnp.stack(key_words(key)))

    def _index(self, state: ThompsonState) -> jax.Array:
        known = state.statistics
        sums = jnp.stack([known.total.astype(jnp.float32), state.costs.high])
        a = 1 + sums
        b = larger(1 + (known.pulls.astype(jnp.float32) - sums), jnp.float32(1))
        arm = arms.index(known.pulls.shape[0], state.time.shape).astype(jnp.uint32)
        stream = jnp.stack([2 * arm, 2 * arm + 1])  # one draw for the reward, one for the cost
        # Of a key of its own: `stream` would meet the reward table's counters.
        own = threefry2x32(state.words[0], state.words[1], jnp.uint32(POSTERIOR), state.time.astype(jnp.uint32))
        drawn = beta(threefry2x32(*own, stream, jnp.zeros_like(stream)), a, b)
        return _density(drawn[0], larger(drawn[1], jnp.float32(_TINY)))
