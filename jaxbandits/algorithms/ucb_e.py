"""UCB-E: upper confidence bounds for exploration with a fixed budget.

Audibert, Bubeck, Munos (2010), "Best arm identification in multi-armed bandits", COLT.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits import arms
from jaxbandits.algorithms.gaps import gaps
from jaxbandits.algorithms.index_policy import IndexPolicy, IndexState
from jaxbandits.algorithms.protocol import Numeric, parameter, register_algorithm
from jaxbandits.algorithms.state import ArmState
from jaxbandits.confidence import hoeffding_radius
from jaxbandits.numerics import rounded
from jaxbandits.problems.base import Problem

__all__ = ["UCBE"]


@register_algorithm
@dataclasses.dataclass(frozen=True)
class UCBE(IndexPolicy):
    """Pulls the arm with the largest mean + b sqrt(a / T); returns the largest mean.

    P(error) <= 2 n K exp(-2a/25) for 0 < a <= (25/36)(n - K) / H1 (Theorem 1).

    Attributes:
        budget: number of pulls n, at least K.
        a: exploration parameter, positive. None computes it from H1 of the true gaps: an oracle.
        eta: a = eta n / H1, positive; None takes the theorem's (25/36)(n - K) / H1.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    budget: Numeric = parameter("count")
    a: Numeric = parameter("positive", default=None)
    eta: Numeric = parameter("positive", default=None)
    b: Numeric = parameter("positive", default=None)

    def _first_exploration(self, state: ArmState, problem: Problem) -> jax.Array:
        if self.a is not None:
            return jnp.asarray(self.a)
        ratio = state.b / gaps(problem.mean, arms.Known(1), state.order, state.mask, 1)
        complexity = arms.total(rounded(ratio * ratio))  # H1, with the best arm's gap to the second
        theorem = 25 / 36 * (self.budget - state.arms)
        return (theorem if self.eta is None else self.eta * self.budget) / complexity

    def _index(self, state: IndexState) -> jax.Array:
        known = state.statistics
        return known.mean + hoeffding_radius(state.b * jnp.sqrt(state.exploration), known.inverse_root)
