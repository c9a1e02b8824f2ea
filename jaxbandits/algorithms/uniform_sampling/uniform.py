"""Uniform sampling: the baseline of every fixed-budget figure."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["Uniform"]


@algorithm
class Uniform(Rule):
    """Pulls the arm pulled least, ties at random, and returns the m arms with the largest means (of each bandit).

    Attributes:
        budget: number of pulls, at least K.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.Uniform(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed budget, m arms, several bandits",
        answers="m",
        multi_bandit=True,
    )

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return an arm pulled least."""
        del key
        return jnp.argmin(arms.pulls)

    def done(self, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        return arms.time >= self.budget

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the m largest means of each bandit."""
        return is_largest(arms.per_bandit(arms.mean), self.m).reshape(-1)
