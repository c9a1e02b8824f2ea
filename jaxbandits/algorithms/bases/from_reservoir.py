"""What the algorithms share that draw their arms from a reservoir, all at once or as they go."""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.budget_state import BudgetState
from jaxbandits.algorithms.bases.index_with_budget import IndexWithBudget
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.arrays.numerics import exp, log, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["FromReservoir", "Growing"]


@dataclasses.dataclass(frozen=True)
class FromReservoir(IndexWithBudget):
    """An algorithm that draws its arms from a reservoir, K(B) of them."""

    beta: Numeric = parameter("positive", default=None)

    def check_live(self) -> None:
        """Not in a live experiment.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{type(self).__name__} draws its arms from a reservoir: in a live experiment use RCB")

    def resolved(self, problem: Problem) -> Self:
        """The algorithm with the reservoir's beta, where it has none of its own.

        Raises:
            UsageError: the problem is no reservoir, or its beta is not known.
        """
        if not problem.drawn:
            raise UsageError(
                f"{type(self).__name__} draws its arms from a reservoir, and {problem.name} has given ones: use RCB"
            )
        super().resolved(problem)
        known: dict[str, Any] = {"beta": self.scale(problem)[1]}
        return dataclasses.replace(self, **known)

    def explored(self, problem: Problem) -> Problem:
        """The reservoir with K(B) arms, unless it says itself how many."""
        if not problem.drawn or problem.arms:
            return problem
        budget, beta = self.scale(problem)
        exponent = beta / 2 if self._slow(beta, problem.best_ratio) else beta / (1 + beta)
        return problem.sized(_power(self._rounds(budget, problem.smallest_cost), exponent))

    def _slow(self, beta: Any, best: Any) -> Any:
        """Whether there are B^(beta/2) arms, else B^(beta/(1+beta)) (eq. 5); `best` is the largest ratio."""
        del best
        return beta < 1

    def _rounds(self, budget: float, smallest_cost: float) -> float:
        del smallest_cost
        return budget


@pytree
@dataclasses.dataclass(frozen=True)
class GrowingState(BudgetState):
    """The state of a run that draws arms as it goes."""

    exponent: jax.Array  # float32 (…): round t has at least t^exponent arms


class Growing(FromReservoir):
    """An arm-increasing rule: round t draws a new arm if there are fewer than t^exponent."""

    def _rounds(self, budget: float, smallest_cost: float) -> float:
        # A run has more rounds with probability below exp(-18 / (1 + 6 / sqrt(B))) (Chernoff), and is then stopped.
        return (budget + 6 * budget**0.5 + 20) / smallest_cost

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> GrowingState:
        """The state before the first pull."""
        state = super().begin(statistics, problem, key)
        beta = jnp.asarray(self.beta)
        best = jnp.float32(1) if problem.supremum is None else problem.supremum
        exponent = jnp.where(self._slow(beta, best), beta / 2, beta / (1 + beta))
        fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(BudgetState)}
        return GrowingState(**fields, exponent=jnp.broadcast_to(jnp.asarray(exponent, jnp.float32), key.shape))

    def _wanting(self, state: GrowingState) -> jax.Array:
        wanted = exp(rounded(state.exponent * log((state.time + 1).astype(jnp.float32))))
        return state.known.astype(jnp.float32) < wanted * jnp.float32(1 - 1e-6)  # exact powers, in spite of rounding

    def exhausted(self, state: GrowingState) -> jax.Array:
        """Whether the rule asks for an arm that is not simulated."""
        return self._wanting(state) & (state.known >= state.arms.astype(jnp.int32))


def _power(base: float, exponent: float) -> int:
    """base^exponent, rounded up to a number of arms."""
    return max(2, int(np.ceil(base**exponent * (1 - 1e-12))))
