"""OCBA-m: Chen, He, Fu, Lee (2008), "Efficient simulation budget allocation for selecting an optimal subset"."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.budget_allocation.budget_increments import (
    BudgetIncrements,
    shares_of,
    variance_of,
)
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["OCBAm"]


@algorithm
class OCBAm(BudgetIncrements):
    """Allocates pulls by how far means are from a border between the m best-looking arms and the others.

    Pulls are in proportion to (s_i / (mean_i - c))^2. The border c divides the distance of the m-th and the next mean
    in the ratio of their standard errors, e = s / sqrt(N): c = (e_{m+1} mean_m + e_m mean_{m+1}) / (e_m + e_{m+1}).
    Means and variances, and with them the shares, are estimated before each increment. The sampling does not
    depend on the budget. No bound of the error is proved.

    It follows public programs, and was not checked against the paper. The m-th best-looking arm gets what
    rounding leaves; variances of equal rewards are taken as in OCBA.

    Attributes:
        budget: number of pulls, at least `initial` K.
        increment: pulls that are planned at once.
        initial: first pulls of each arm, at least 2.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.OCBAm(budget=200, m=2), jb.gaussian([0.9, 0.8, 0.3], sd=0.5), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(setting="fixed budget, m arms, by variances", source="Chen, He, Fu, Lee 2008", answers="m")

    def shares(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return the shares; the m-th best-looking arm gets what rounding leaves."""
        chosen, variance = is_largest(arms.mean, self.m), variance_of(arms)
        last = jnp.argmin(jnp.where(chosen, arms.mean, jnp.inf))
        following = jnp.argmax(jnp.where(chosen, -jnp.inf, arms.mean))
        error = jnp.sqrt(variance / arms.pulls)
        part = error[last] / (error[last] + error[following])
        border = arms.mean[last] - part * (arms.mean[last] - arms.mean[following])
        return shares_of(jnp.abs(arms.mean - border), variance), last

    def recommend(self, owed: jax.Array, arms: Arms) -> jax.Array:
        """Return the m largest means."""
        del owed
        return is_largest(arms.mean, self.m)
