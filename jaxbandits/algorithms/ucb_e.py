"""UCB-E: upper confidence bounds for exploration with a fixed budget.

Audibert, Bubeck, Munos (2010), "Best arm identification in multi-armed bandits", COLT.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.gap_bounds import gaps
from jaxbandits.algorithms.bases.index_policy import IndexPolicy, IndexState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.phases import rejects_pulls
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import where_any
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.confidence import hoeffding_radius

__all__ = ["UCBE", "AdaptiveUCBEState"]


@pytree
@dataclasses.dataclass(frozen=True)
class AdaptiveUCBEState(IndexState):
    """The state of a run that estimates H1 at the end of each phase."""

    ends: jax.Array  # int32 (K, …): t_1 < t_2 < … of the paper, pulls at which a phase ends; 0 where there is none


@pytree
@dataclasses.dataclass(frozen=True)
class UCBE(IndexPolicy):
    """Pulls the arm with the largest mean + b sqrt(a / T); returns the largest mean.

    P(error) <= 2 n K exp(-2a/25) for 0 < a <= (25/36)(n - K) / H1 (Theorem 1).

    Attributes:
        budget: number of pulls n, at least K.
        a: exploration parameter, positive. None computes it from H1 of the true gaps: an oracle.
        eta: a = eta n / H1, positive; None takes the theorem's (25/36)(n - K) / H1, and 1 with `adaptive`.
        adaptive: Adaptive UCB-E (Figure 4): a = eta n / H1 with H1 estimated at the ends of K phases.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or both `a` and `adaptive`.
    """

    budget: Numeric = parameter("count")
    a: Numeric = parameter("positive", default=None)
    eta: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, one arm, adaptive",
        source="Audibert, Bubeck, Munos 2010",
        anytime=False,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Theorem 1, with the true complexity."""
        del variances, delta, epsilon, m
        return Theorem(theory.ucb_e_error_bound, (means / b, self.budget), "UCB-E, Theorem 1")

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Also whether the best arm is one.

        Raises:
            UsageError: why not.
        """
        super().check_suitable(problem, m)
        if np.sum(np.asarray(problem.mean) == np.max(problem.mean)) > 1:
            raise UsageError("its parameter is computed from the gaps, and the best arms tie")

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> IndexState:
        """The state after the initial pulls."""
        state = super().begin(statistics, problem, key)
        if not self.adaptive:
            return state
        axis = state.order.shape[0]
        pulls = rejects_pulls(self.budget, state.arms, axis)
        phase = arms.index(axis, key.shape) + 1
        left = (state.arms - phase + 1).astype(jnp.int32)
        ends = jnp.cumsum(pulls, axis=0) - pulls + left * pulls  # t_k = n_1 + … + n_{k-1} + (K - k + 1) n_k
        ends = jnp.where(phase < state.arms, ends, 0)
        return AdaptiveUCBEState(**state.shared(), exploration=state.exploration, ends=ends)

    def update(self, state: IndexState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> IndexState:
        """The state after one reward; a new estimate of H1 where a phase ends."""
        new = state.pulled(arm, reward, live)
        if not isinstance(new, AdaptiveUCBEState):
            return new
        ended = arms.any_arm(new.ends == new.time)

        def estimate(state: AdaptiveUCBEState) -> AdaptiveUCBEState:
            return dataclasses.replace(state, exploration=self._estimated(state))

        return where_any(ended & live, estimate, new)

    def _estimated(self, state: AdaptiveUCBEState) -> jax.Array:
        """C n / H1 with H1 the largest i / gap_<i>^2 of the k largest gaps, in phase k; about K^2 operations."""
        phase = arms.total(((state.ends > 0) & (state.ends <= state.time)).astype(jnp.int32))
        distance = gaps(state.statistics.mean, Known(1), state.order, state.mask, 1)
        # The best arm's gap is 0 here, not its lead; -1 keeps it first, and padded arms behind every other.
        best = state.largest_means(Known(1))
        distance = jnp.where(best, -1, state.existing(distance, -2))
        position = state.arms - ranking.rank(distance, state.order).astype(jnp.float32)  # i, 1 for the smallest gap
        ratio = state.b / jnp.where(distance > 0, distance, 1)
        terms = jnp.where(distance > 0, position * rounded(ratio * ratio), jnp.inf)
        counted = (distance >= 0) & (position > state.arms - phase.astype(jnp.float32))
        return self._eta() * self.budget / arms.largest(jnp.where(counted, terms, 0))

    def _eta(self) -> Numeric:
        return 1.0 if self.eta is None else self.eta

    def _first_exploration(self, state: ArmState, problem: Problem) -> jax.Array:
        if self.adaptive:
            return self._eta() * self.budget / state.arms  # the first estimate of H1 is K
        if self.a is not None:
            return jnp.asarray(self.a)
        ratio = state.b / gaps(problem.mean, Known(1), state.order, state.mask, 1)
        complexity = arms.total(rounded(ratio * ratio))  # H1, with the best arm's gap to the second
        theorem = 25 / 36 * (self.budget - state.arms)
        return (theorem if self.eta is None else self.eta * self.budget) / complexity

    def _index(self, state: IndexState) -> jax.Array:
        known = state.statistics
        return known.mean + hoeffding_radius(state.b * jnp.sqrt(state.exploration), known.inverse_root)
