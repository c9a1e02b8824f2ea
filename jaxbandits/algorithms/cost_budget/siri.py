"""SiRI: a good arm of infinitely many, judged at the end.

Carpentier, Valko (2015), "Simple regret for infinitely many armed bandits", ICML.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["SiRI"]


@algorithm
class SiRI(Rule):
    """Pulls a number of arms once, and then doubles the pulls of the arm with the largest bound, again and again.

    Returns the arm pulled most often. The simple regret is n^(-1/2) for beta < 2, n^(-1/beta) above, up to logarithms
    (Theorem 2). The last doubling is cut at n pulls. Of equal bounds and of equal pulls one order of the arms
    decides, drawn for each run. The paper leaves ties open, and they are many: other ways have other regrets.

    Attributes:
        budget: number of pulls n.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        delta: probability with which the bounds may fail, in (0, 1).
        a: A, the factor of the number of arms, positive.
        c: C, the factor of the bounds, positive.

    Raises:
        UsageError: a value outside its range, a problem with given arms, or one whose pulls have prices.

    Example:
        >>> ds = jb.simulate(jb.SiRI(budget=100), jb.reservoir(beta=1, prices="unit"), seeds=20)
        >>> int(ds.pulls.max())
        100
    """

    budget: Numeric = parameter("count")
    beta: Numeric = parameter("positive", default=None)
    delta: Numeric = parameter("error probability", default=0.01)
    a: Numeric = parameter("positive", default=0.3)
    c: Numeric = parameter("positive", default=1.0)
    traits = Traits(
        setting="fixed budget, one arm of a reservoir",
        source="Carpentier, Valko 2015",
        criterion="ratio",
        anytime=False,
        in_batches=True,
    )

    initial_pulls = 0

    def explored(self, problem: Problem) -> Problem:
        """Return the reservoir with ceil(A(n) n^(b/2)) arms, b = min(beta, 2), at most n (their equation 4)."""
        if not problem.drawn or problem.arms:
            return problem
        budget, beta = self.scale(problem)
        factor, log_budget = float(self.a), np.log(max(budget, 2))  # a budget of 1 is refused later
        if beta == 2:
            factor /= log_budget**2
        elif beta > 2:
            factor /= log_budget
        wanted = int(np.ceil(factor * budget ** (min(beta, 2.0) / 2) * (1 - 1e-12)))
        return problem.sized(max(2, min(wanted, int(budget))))

    def resolved(self, problem: Problem) -> Self:
        """Fill in the reservoir's beta if the rule has none.

        Raises:
            UsageError: a problem with given arms, or one whose pulls have prices.
        """
        if not problem.drawn:
            raise UsageError(f"SiRI draws its arms from a reservoir, and {problem.name} has given ones")
        if not problem.unit_costs:
            use = "prices=unit" if "prices" in problem.choices else "RCBI, which pays them"
            raise UsageError(f"SiRI looks at rewards only, and pulls of {problem.name} have prices: use {use}")
        return dataclasses.replace(self, beta=self.scale(problem)[1])

    def check_live(self) -> None:
        """Refuse a live experiment.

        Raises:
            UsageError: always.
        """
        raise UsageError("SiRI draws its arms from a reservoir, which a live experiment has not")

    def request(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return one pull of each arm; after that, doubled pulls of the arm with the largest bound."""
        del key
        best = jnp.arange(len(arms)) == jnp.argmax(self._bound(arms))
        double = jnp.where(best, jnp.minimum(arms.pulls, self.budget - arms.time), 0)
        return jnp.where(arms.time == 0, 1, double)

    def _bound(self, arms: Arms) -> jax.Array:
        """Return the mean + 2 sqrt(C L / T) + 2 C L / T, L = log(2^(2 t / b) / (T delta)), t = floor(log2 K)."""
        pulls = jnp.maximum(arms.pulls, 1)
        halvings = 31 - lax.clz(arms.count)
        power = 2 * halvings / jnp.minimum(self.beta, 2) * jnp.log(2.0)
        share = self.c * jnp.maximum(power - jnp.log(pulls) - log_of(self.delta), 0) / pulls
        return arms.total / pulls + 2 * jnp.sqrt(share) + 2 * share

    def done(self, arms: Arms) -> jax.Array:
        """Return whether all n pulls are made."""
        return arms.time >= self.budget

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the arm pulled most often."""
        return jnp.argmax(arms.pulls)
