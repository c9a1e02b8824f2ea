"""The number of arms that rules draw from a reservoir: all at once, or ever more during the run."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.cost_budget.budget_index import BudgetIndex
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["FromReservoir", "Growing"]


@dataclasses.dataclass(frozen=True)
class FromReservoir(BudgetIndex):
    """A rule that draws its arms from a reservoir, K(B) of them."""

    beta: Numeric = parameter("positive", default=None)

    def check_live(self) -> None:
        """Refuse a live experiment.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{type(self).__name__} draws its arms from a reservoir: in a live experiment use RCB")

    def resolved(self, problem: Problem) -> Self:
        """Fill in the reservoir's beta if the rule has none.

        Raises:
            UsageError: the problem is no reservoir, or its beta is not known.
        """
        if not problem.drawn:
            raise UsageError(
                f"{type(self).__name__} draws its arms from a reservoir, and {problem.name} has given ones: use RCB"
            )
        super().resolved(problem)
        known: dict[str, object] = {"beta": self.scale(problem)[1]}
        return dataclasses.replace(self, **known)

    def follows(self, problem: Problem) -> bool:
        """Return whether beta is the reservoir's, as far as that is known, so that its theorems hold."""
        known = problem.regularity
        return known is None or self.beta is None or bool(np.isclose(self.beta, known, rtol=1e-5))

    def explored(self, problem: Problem) -> Problem:
        """Return the reservoir with K(B) arms, unless its number of arms is set."""
        if not problem.drawn or problem.arms:
            return problem
        budget, beta = self.scale(problem)
        exponent = beta / 2 if self.few(beta, problem.best_ratio) else beta / (1 + beta)
        power = self.rounds(budget, problem.smallest_cost) ** exponent
        return problem.sized(max(2, int(np.ceil(power * (1 - 1e-12)))))

    def few(self, beta: Numeric, best: Numeric) -> Numeric:
        """Return whether there are B^(beta/2) arms, not B^(beta/(1+beta)); `best` is the largest ratio."""
        del best
        return beta < 1

    def rounds(self, budget: float, smallest_cost: float) -> float:
        """Return the number of rounds; the number of arms is a power of it."""
        del smallest_cost
        return budget


@dataclasses.dataclass(frozen=True)
class Growing(FromReservoir):
    """An arm-increasing rule: round t draws a new arm if there are fewer than t^(beta/2), or t^(beta/(1+beta))."""

    def rounds(self, budget: float, smallest_cost: float) -> float:
        """Return a number of rounds that a run passes with probability below exp(-18 / (1 + 6 / sqrt(B))) (Chernoff).

        A run that passes it is truncated.
        """
        return (budget + 6 * budget**0.5 + 20) / smallest_cost

    def arms_needed(self, words: jax.Array, arms: Arms) -> jax.Array:
        """Return how many arms there must be in the next round; a whole power is not rounded up."""
        del words
        best = getattr(self, "best", None)
        few = self.few(self.beta, 1.0 if best is None else best)
        exponent = jnp.where(few, self.beta / 2, self.beta / (1 + self.beta))
        return jnp.ceil(jnp.exp(exponent * jnp.log(arms.time + 1)) * (1 - 1e-6)).astype(int)
