"""UCB-V for infinitely many arms, with a known number of rounds and with an arm-increasing rule.

Wang, Audibert, Munos (2008), "Algorithms for infinitely many-armed bandits", NIPS 21. The paper has no costs: every
pull costs one. Under a budget of cost these rules use the rewards only.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.cost_budget.budget_index import BudgetIndex
from jaxbandits.algorithms.cost_budget.exploration_sequences import exploration
from jaxbandits.algorithms.cost_budget.reservoir_arms import FromReservoir, Growing
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.problems.base import Problem

__all__ = ["UCBAIR", "UCBVInf"]


@dataclasses.dataclass(frozen=True)
class _VarianceBound(BudgetIndex):
    """The index of UCB-V."""

    sequence: str = parameter(default="log-log", static=True, choices=("log-log", "log"))

    second_moments = True

    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return X + sqrt(2 V E / T) + 3 E / T, V the biased empirical variance (their section 2)."""
        del key
        assert arms.squares is not None
        level = exploration(self.sequence, arms.time)
        variance = jnp.maximum(arms.squares, 0) / arms.pulls
        return arms.mean + jnp.sqrt(2 * variance * level / arms.pulls) + 3 * level / arms.pulls

    def few(self, beta: Numeric, best: Numeric) -> Numeric:
        """Return whether there are n^(beta/2) arms: beta < 1 and the best mean is below 1."""
        return (beta < 1) & (best < 1)


@algorithm
class UCBVInf(_VarianceBound, FromReservoir):
    """UCB-V on K arms of a reservoir, as UCB-V(infinity) or UCB-F.

    Attributes:
        budget: number of rounds n, positive, or a budget of cost.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: E_t: `log-log`, log(10 log t), the smallest allowed up to a factor of two, or `log`, log t.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.

    Example:
        >>> ds = jb.simulate(jb.UCBVInf(budget=50), jb.reservoir(beta=1, prices="unit"), seeds=20)
        >>> int(ds.pulls.max())
        51
    """

    traits = Traits(
        setting="budget of unit costs, reward collected; arms of a reservoir, with variances",
        source="Wang, Audibert, Munos 2008",
        criterion="ratio",
        anytime=False,
        spends="budget",
    )


@algorithm
class UCBAIR(_VarianceBound, Growing):
    """UCB-V with an arm-increasing rule, which need not know the number of rounds.

    Attributes:
        budget: number of rounds, positive, or a budget of cost; the run ends there.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: as in `UCBVInf`.
        best: the largest mean that there is, positive; None takes the reservoir's.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.

    Example:
        >>> ds = jb.simulate(jb.UCBAIR(budget=50), jb.reservoir(beta=1, prices="unit"), seeds=20)
        >>> int(ds.pulls.max())
        51
    """

    best: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="budget of unit costs, reward collected; ever more arms of a reservoir, with variances",
        source="Wang, Audibert, Munos 2008",
        criterion="ratio",
        spends="budget",
    )

    def resolved(self, problem: Problem) -> Self:
        """Fill in the reservoir's beta and its largest mean if the rule has none.

        Raises:
            UsageError: the problem is no reservoir, or its beta is not known.
        """
        best = problem.best_ratio if self.best is None and problem.drawn else self.best
        return dataclasses.replace(super().resolved(problem), best=best)
