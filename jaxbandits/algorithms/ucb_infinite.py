"""UCB-V for infinitely many arms, with a known number of rounds and with an arm-increasing rule.

Wang, Audibert, Munos (2008), "Algorithms for infinitely many-armed bandits", NIPS 21. They know of no costs: every pull
costs one. Under a budget of cost they look at rewards only.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.budget_state import BudgetState
from jaxbandits.algorithms.bases.exploration_sequences import exploration
from jaxbandits.algorithms.bases.from_reservoir import FromReservoir, Growing
from jaxbandits.algorithms.bases.index_with_budget import IndexWithBudget
from jaxbandits.algorithms.bases.parameters import parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays.numerics import larger, rounded
from jaxbandits.arrays.pytrees import pytree

__all__ = ["UCBAIR", "UCBVInf"]


@dataclasses.dataclass(frozen=True)
class _VarianceBound(IndexWithBudget):
    """The index of UCB-V."""

    sequence: str = parameter(default="log-log", static=True, choices=("log-log", "log"))

    @property
    def second_moments(self) -> bool:
        """Always."""
        return True

    def _index(self, state: BudgetState) -> jax.Array:
        """X + sqrt(2 V E / T) + 3 E / T, V the biased empirical variance (their section 2)."""
        known = state.statistics
        assert known.moments.squares is not None
        level = exploration(self.sequence, state.time)
        share = rounded(known.inverse_root * known.inverse_root)  # 1 / T
        spread = rounded(larger(known.moments.squares.high, jnp.float32(0)) * share)
        return known.mean + (rounded(jnp.sqrt(rounded(2 * level * spread) * share)) + rounded(3 * level * share))

    def _slow(self, beta: Any, best: Any) -> Any:
        """n^(beta/2) arms if beta < 1 and the best mean is below 1, else n^(beta/(1+beta))."""
        return (beta < 1) & (best < 1)


@pytree
@dataclasses.dataclass(frozen=True)
class UCBVInf(_VarianceBound, FromReservoir):
    """UCB-V on K arms of a reservoir, as UCB-V(infinity) or UCB-F.

    Attributes:
        budget: number of rounds n, positive, or a budget of cost.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: E_t: `log-log`, log(10 log t), the smallest that is allowed but for a factor of two, or `log`, log t.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.
    """

    traits = Traits(
        setting="budget of unit costs, reward collected; arms of a reservoir, with variances",
        source="Wang, Audibert, Munos 2008",
        criterion="ratio",
        anytime=False,
        spends="budget",
    )


@pytree
@dataclasses.dataclass(frozen=True)
class UCBAIR(_VarianceBound, Growing):
    """UCB-V with an arm-increasing rule, which need not know the number of rounds.

    Attributes:
        budget: number of rounds, positive, or a budget of cost: where the run ends.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: as in `UCBVInf`.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.
    """

    traits = Traits(
        setting="budget of unit costs, reward collected; ever more arms of a reservoir, with variances",
        source="Wang, Audibert, Munos 2008",
        criterion="ratio",
        spends="budget",
    )
