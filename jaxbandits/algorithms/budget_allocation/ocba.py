"""OCBA, optimal computing budget allocation: Chen, Lin, Yücesan, Chick (2000), Discrete Event Dynamic Systems 10."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.budget_allocation.budget_increments import (
    BudgetIncrements,
    shares_of,
    variance_of,
)
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["OCBA"]


@algorithm
class OCBA(BudgetIncrements):
    """Allocates pulls so that, for normal rewards, the best-looking arm is most likely the best.

    Let d_i be how far the mean of arm i is below the best mean, and s_i its standard deviation. The pulls of the other
    arms are in proportion to (s_i / d_i)^2, and those of the best one are s_b sqrt(sum_i N_i^2 / s_i^2). Means and
    variances, and with them the shares, are estimated before each increment. The sampling does not depend on the
    budget. The shares are nearly optimal for a large budget and known variances. No bound of the error is proved.

    Parts of an increment are rounded down, and the best-looking arm gets the rest. An arm that is ahead of its part
    gets no pulls, and the others share them. The arm with most pulls left is next.

    It follows public programs, and was not checked against the paper. Where all rewards of an arm are equal, its
    variance is taken to be the mean of all arms' variances: with 0 it would not be pulled again.

    Attributes:
        budget: number of pulls, at least `initial` K.
        increment: pulls that are planned at once; with few, an arm with an unlucky start is pulled even less.
        initial: first pulls of each arm, at least 2.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.OCBA(budget=100), jb.gaussian([0.9, 0.4], sd=0.5), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(setting="fixed budget, one arm, by variances", source="Chen, Lin, Yücesan, Chick 2000")

    def shares(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return the shares; the best-looking arm gets what rounding leaves."""
        best, variance = jnp.argmax(arms.mean), variance_of(arms)
        gap = (arms.mean[best] - arms.mean).at[best].set(jnp.inf)
        others = shares_of(gap, variance)
        return others.at[best].set(jnp.sqrt(variance[best] * jnp.sum(others * others / variance))), best

    def recommend(self, owed: jax.Array, arms: Arms) -> jax.Array:
        """Return the arm with the largest mean."""
        del owed
        return jnp.argmax(arms.mean)
