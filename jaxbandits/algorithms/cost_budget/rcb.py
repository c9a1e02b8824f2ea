"""RCB: ratio confidence bounds for rewards and costs, with finitely and with infinitely many arms.

Li and Xia (2017), "Infinitely many-armed bandits with budget constraints", AAAI.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits import theory
from jaxbandits.algorithms.cost_budget.budget_index import BudgetIndex
from jaxbandits.algorithms.cost_budget.exploration_sequences import exploration
from jaxbandits.algorithms.cost_budget.reservoir_arms import FromReservoir, Growing
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.problems.base import Problem

__all__ = ["RCB", "RCBAIR", "RCBI"]


@dataclasses.dataclass(frozen=True)
class _RatioBound(BudgetIndex):
    """The index of RCB."""

    sequence: str = parameter(default="log", static=True, choices=("log", "peeling"))

    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return min(r + E, 1) / max(c - E, 0), E = sqrt(E_(t-1) / (2 T)) (eq. 4); infinite if c <= E."""
        del key
        radius = jnp.sqrt(exploration(self.sequence, arms.time) / 2 / arms.pulls)
        # 0 / 0 would be NaN.
        upper = jnp.maximum(jnp.minimum(arms.mean + radius, 1), 1e-30)
        return upper / jnp.maximum(arms.mean_cost - radius, 0)


@algorithm
class RCB(_RatioBound):
    """Ratio confidence bounds on given arms (Algorithm 1): rewards and costs in [0, 1].

    Attributes:
        budget: B, positive, in units of cost.
        sequence: E_t: `log`, log t, or `peeling`, 2 log(4 (log2 t + 1)), the least that the analysis needs. Below
            t = 2391 `peeling` is the larger of the two.

    Raises:
        UsageError: a value outside its range; rewards or prices outside [0, 1].

    Example:
        >>> ds = jb.simulate(jb.RCB(budget=50), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    traits = Traits(
        setting="budget of cost, reward collected; given arms",
        source="Li, Xia 2017",
        criterion="ratio",
        spends="budget",
        unit_rewards=True,
    )


@algorithm
class RCBI(_RatioBound, FromReservoir):
    """RCB on K(B) arms of a reservoir (Algorithm 2), K(B) = B^(beta/2) below beta = 1, B^(beta/(1+beta)) from there on.

    Regret O(B^(1/2) log B) below beta = 1, O(B^(beta/(1+beta)) log B) above (Theorem 1; another log B at 1).

    Attributes:
        budget: B, positive, in units of cost.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: as in `RCB`.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.

    Example:
        >>> ds = jb.simulate(jb.RCBI(budget=50), jb.reservoir(beta=1), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    traits = Traits(
        setting="budget of cost, reward collected; K(B) arms of a reservoir",
        source="Li, Xia 2017",
        criterion="ratio",
        anytime=False,
        spends="budget",
    )

    def rate(self, problem: Problem) -> Theorem | None:
        """Return the rate of the regret (Theorem 1, or step S3 for a given number of arms); None for another beta."""
        if not self.follows(problem):
            return None
        if problem.arms and problem.arms != theory.reservoir_arms(float(self.budget), float(self.beta)):
            arguments = (self.budget, self.beta, problem.arms)
            return Theorem(theory.rcb_i_regret_rate_for_arms, arguments, "Li, Xia 2017, step S3, a rate")
        return Theorem(theory.rcb_i_regret_rate, (self.budget, self.beta), "Li, Xia 2017, Theorem 1, a rate")


@algorithm
class RCBAIR(_RatioBound, Growing):
    """RCB with an arm-increasing rule (Algorithm 3), which need not know the budget: one run covers smaller ones.

    Regret O((log B)^2 B^(1/2)) below beta = 1, O((log B)^2 B^(beta/(1+beta))) from there on (Theorem 3, which prints
    the two cases the other way round).

    Attributes:
        budget: B, positive, in units of cost; the run ends there.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        sequence: as in `RCB`.

    Raises:
        UsageError: a value outside its range, or a problem with given arms.

    Example:
        >>> ds = jb.simulate(jb.RCBAIR(budget=50), jb.reservoir(beta=1), seeds=20)
        >>> bool(ds.paid.max() <= 51)
        True
    """

    traits = Traits(
        setting="budget of cost, reward collected; ever more arms of a reservoir",
        source="Li, Xia 2017",
        criterion="ratio",
        spends="budget",
    )

    def rate(self, problem: Problem) -> Theorem | None:
        """Return the rate of the regret (Theorem 3); None for a beta that is not the reservoir's."""
        if not self.follows(problem):
            return None
        return Theorem(theory.rcb_air_regret_rate, (self.budget, self.beta), "Li, Xia 2017, Theorem 3, a rate")
