"""GapE and GapE-V: gap-based exploration of several bandits with one budget.

Gabillon, Ghavamzadeh, Lazaric, Bubeck (2011), "Multi-bandit best arm identification", NIPS 24.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.gap_bounds import bernstein_complexity, gap_upper_bound, gaps, spread_lower_bound
from jaxbandits.algorithms.bases.index_policy import IndexPolicy, IndexState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.confidence import bernstein_radius, hoeffding_radius

__all__ = ["GapE"]


@pytree
@dataclasses.dataclass(frozen=True)
class GapE(IndexPolicy):
    """Pulls the arm with the largest B = -gap + b sqrt(a / T) over all bandits; returns the best mean of each.

    P(any bandit wrong) <= 2 M K n exp(-a / 64) for 0 < a <= (4/9)(n - MK) / H (Theorem 1). The paper's figures use a =
    eta n / H.

    Attributes:
        budget: number of pulls n, at least the number of arms of all bandits (twice that with `variance`).
        a: exploration parameter, positive. None computes it from the complexity H: of the true gaps (an oracle), or
            estimated.
        eta: a = eta n / H, positive; None takes the theorem's (4/9)(n - MK) / H, or (8/9)(n - 2MK) / H^sigma with
            `variance`.
        adaptive: estimate H before every pull (A-GapE, section 5.1).
        variance: GapE-V, empirical Bernstein radii; H^sigma in place of H.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    budget: Numeric = parameter("count")
    a: Numeric = parameter("positive", default=None)
    eta: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    variance: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, several bandits, variances, adaptive",
        variants=({"adaptive": True},),
        source="Gabillon, Ghavamzadeh, Lazaric, Bubeck 2011",
        anytime=False,
        multi_bandit=True,
    )

    def _first_exploration(self, state: ArmState, problem: Problem) -> jax.Array:
        if self.a is not None:
            return jnp.asarray(self.a)
        if self.adaptive:
            return jnp.zeros(())
        gap = gaps(problem.mean, Known(1), state.order, state.mask, state.bandits)
        return self._from_complexity(state, gap, lambda: jnp.broadcast_to(jnp.sqrt(problem.variance), gap.shape))

    def _from_complexity(self, state: ArmState, distance: jax.Array, spread: Callable[[], jax.Array]) -> jax.Array:
        if self.variance:
            complexity = bernstein_complexity(spread(), distance, state.b, 16 / 3)
            theorem = 8 / 9 * (self.budget - 2 * state.arms)  # section 4
        else:
            ratio = state.b / distance
            complexity = arms.total(rounded(ratio * ratio))
            theorem = 4 / 9 * (self.budget - state.arms)  # Theorem 1
        return (theorem if self.eta is None else self.eta * self.budget) / complexity

    def _index(self, state: IndexState) -> jax.Array:
        known = state.statistics
        gap = gaps(known.mean, Known(1), state.order, state.mask, state.bandits)
        a = state.exploration
        if self.adaptive and self.a is None:
            a = self._from_complexity(state, gap_upper_bound(gap, known), lambda: spread_lower_bound(known))
        if self.variance:
            return bernstein_radius(a, known.variance(), known.pulls, known.inverse_root, state.b) - gap
        return hoeffding_radius(state.b * jnp.sqrt(a), known.inverse_root) - gap
