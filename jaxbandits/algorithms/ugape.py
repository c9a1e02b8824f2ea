"""UGapE: unified gap-based exploration, with fixed confidence (UGapEc) and fixed budget (UGapEb).

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25; UGapE-V (empirical Bernstein radii) and several bandits as in their appendix B, with the
constants of `jaxbandits.statistics.confidence`.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.gap_bounds import bernstein_complexity, gap_upper_bound, gaps, spread_lower_bound
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.algorithms.bases.ugape_selection import UGapE, UGapEState
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.confidence import bernstein_radius, hoeffding_radius

__all__ = ["UGapEb", "UGapEbState"]


@pytree
@dataclasses.dataclass(frozen=True)
class UGapEbState(UGapEState):
    """The state of a UGapEb run that returns the J(t) with the smallest index."""

    best_index: jax.Array  # float32 (…): smallest B_J(t) so far
    best: jax.Array  # bool (K, …): its J(t)


@pytree
@dataclasses.dataclass(frozen=True)
class UGapEb(UGapE):
    """UGapE with a fixed budget: after n pulls returns the J(t) with the smallest B_J(t), t = K+1, …, n (Figure 1).

    P(simple regret >= epsilon) <= 2 K n exp(-2a) for 0 < a <= (n - K) / (4 H_eps) (Theorem 1). At realistic budgets
    that a is so small that the
    smallest-index J is an early lucky one and the algorithm is worse than uniform sampling; `last` returns the last J,
    `adaptive` estimates H.

    Attributes:
        budget: number of pulls n, at least K (2K with `variance`).
        epsilon: accuracy, not negative.
        m: arms to return, 1 <= m < K.
        a: exploration parameter, positive. None computes the theorem's largest from the problem's true gaps: an oracle.
        adaptive: before every pull, a = (n - K) / (4 H) with H estimated by sum_i (gap_i + sqrt(1/(2 T_i)))^-2.
        variance: UGapE-V; a <= (n - 2K) / (2 H^sigma_eps).
        last: return the last J(t).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or both `a` and `adaptive`.
    """

    budget: Numeric = parameter("count")
    epsilon: Numeric = parameter("not negative", default=0.0)
    m: Numeric = parameter("count", default=1, common=1)
    a: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    variance: bool = parameter(default=False, static=True)
    last: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, (ε, m), several bandits, variances, adaptive",
        variants=({}, {"last": True}, {"adaptive": True}),
        source="Gabillon, Ghavamzadeh, Lazaric 2012",
        answers="m",
        tolerance="epsilon",
        anytime=False,
        multi_bandit=True,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Theorem 1, with the true complexity."""
        del variances, delta
        if self.adaptive or self.last:
            return None
        return Theorem(theory.ugape_b_error_bound, (means, self.budget, epsilon, m, b), "UGapE, Theorem 1")

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> UGapEState:
        """The state after the initial pulls; computes the theorem's a where it is asked for."""
        shared = ArmState.of(statistics, problem, key, self.b)
        a = jnp.zeros(())
        if not self.adaptive:
            a = self._oracle(shared, problem) if self.a is None else self.a
        level = jnp.broadcast_to(jnp.asarray(a, jnp.float32), key.shape)
        state = UGapEState(**shared.shared(), level=level)
        if self.last:
            return state
        infinite = jnp.full(key.shape, jnp.inf, jnp.float32)
        return UGapEbState(**shared.shared(), level=level, best_index=infinite, best=self.decide(state).chosen)

    def _radius(self, state: UGapEState) -> jax.Array:
        known = state.statistics
        a = self._estimated(state) if self.adaptive else state.level
        if self.variance:
            return bernstein_radius(a, known.variance(), known.pulls, known.inverse_root, state.b)
        return hoeffding_radius(state.b * jnp.sqrt(a), known.inverse_root)

    def _oracle(self, state: ArmState, problem: Problem) -> jax.Array:
        """The largest a of Theorem 1, from the true gaps."""
        gap = gaps(problem.mean, self.m, state.order, state.mask, state.bandits)
        distance = larger((gap + self.epsilon) / 2, jnp.asarray(self.epsilon, jnp.float32))
        if self.variance:
            spread = jnp.broadcast_to(jnp.sqrt(problem.variance), gap.shape)
            return (self.budget - 2 * state.arms) / (2 * bernstein_complexity(spread, distance, state.b, 13 / 3))
        ratio = state.b / distance
        return (self.budget - state.arms) / (4 * arms.total(rounded(ratio * ratio)))  # a = (n - K) / (4 H_eps)

    def _estimated(self, state: UGapEState) -> jax.Array:
        """The same a with an optimistic estimate of the complexity from the rewards so far."""
        known = state.statistics
        distance = gap_upper_bound(gaps(known.mean, self.m, state.order, state.mask, state.bandits), known)
        if self.variance:
            complexity = bernstein_complexity(spread_lower_bound(known), distance, state.b, 13 / 3)
            return (self.budget - 2 * state.arms) / (2 * complexity)
        ratio = state.b / distance
        return (self.budget - state.arms) / (4 * arms.total(rounded(ratio * ratio)))

    def update(self, state: UGapEState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True) -> UGapEState:
        """The state after one reward; J(t), chosen before the pull, is kept if its index is the smallest so far."""
        pulled = state.pulled(arm, reward, live)
        if not isinstance(pulled, UGapEbState) or not isinstance(state, UGapEbState):
            return pulled
        decision = self.decide(state)
        better = live & (decision.worst_index < state.best_index)
        return dataclasses.replace(
            pulled,
            best_index=jnp.where(better, decision.worst_index, state.best_index),
            best=jnp.where(better, decision.chosen, state.best),
        )

    def done(self, state: UGapEState) -> jax.Array:
        """All n pulls are made."""
        return state.time >= self.budget

    def recommend(self, state: UGapEState) -> jax.Array:
        """The J(t) with the smallest B_J(t), or the last one."""
        return state.best if isinstance(state, UGapEbState) else self.decide(state).chosen
