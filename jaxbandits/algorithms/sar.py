"""Successive Accepts and Rejects (SAR) with a fixed budget: the m best arms, or the best of each of several bandits.

Bubeck, Wang, Viswanathan (2013), "Multiple identifications in multi-armed bandits", ICML.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.phases import EliminationInPhases, RejectsPhases
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import per_bandit
from jaxbandits.statistics.robust_means import EmpiricalMean, MeanEstimator

__all__ = ["SAR"]


class _Plan(NamedTuple):
    phases: RejectsPhases
    accepted: jax.Array  # bool (K, …)
    left: jax.Array  # int32 (…): arms still to be accepted, of all bandits: m(k)


class _Deactivation(NamedTuple):
    active: jax.Array  # bool (K, …)
    accepted: jax.Array  # bool (K, …)
    number: jax.Array  # int32 (…): active arms
    left: jax.Array  # int32 (…)
    phases: jax.Array  # int32 (…): ended phases whose arm is still active


@pytree
@dataclasses.dataclass(frozen=True)
class SAR(EliminationInPhases):
    """K - 1 phases of Successive Rejects' lengths; at the end of each, the arm that is surest is accepted or rejected.

    At the end of phase k every active arm has n_k = ceil((n - K) / (logbar(K) (K + 1 - k))) pulls, logbar(K) = 1/2 +
    sum_{i=2}^K 1/i; these are exact integers. One bandit: the active arm whose mean is farthest from the border between
    the m(k) best active arms and the rest is deactivated, and accepted if it is above the border. When no arm is left
    to accept, or as many as are active, the run ends. P(error) <= 2 K^2 exp(-(n - K) / (8 logbar(K) H2)),
    H2 = max_i i / gap_(i)^2.

    Several bandits, the best arm of each: K is the number of arms of all bandits together; an arm that is alone in its
    bandit is accepted, and where there is none, the arm farthest below the best active arm of its bandit is rejected.

    Attributes:
        budget: number of pulls n of all bandits, at least the number of arms.
        m: arms to return, 1 <= m < K; 1 for several bandits, for which the paper has no other rule.

    Raises:
        UsageError: a value outside its range.
    """

    budget: Numeric = parameter("count")
    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed budget, m arms, or one arm of each of several bandits",
        source="Bubeck, Wang, Viswanathan 2013",
        criterion="exact",
        answers="m",
        anytime=False,
        multi_bandit=True,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Also that m is 1 for several bandits."""
        super().check(arms_per_bandit, bandits)
        if bandits > 1 and self.m != 1:
            raise UsageError(f"SAR returns one arm of each bandit where there are several, got m={self.m:g}")

    def _plan(self, state: EliminationState) -> tuple[MeanEstimator, _Plan]:
        phases = RejectsPhases.of(self.budget, state.arms, state.pulls.shape[0])
        left = jnp.broadcast_to(jnp.asarray(self.m, jnp.int32) * state.bandits, state.count.shape)
        return EmpiricalMean(), _Plan(phases, jnp.zeros_like(state.active), left)

    def _target(self, state: EliminationState) -> jax.Array:
        return state.plan.phases.target

    def _kept(self, state: EliminationState) -> tuple[jax.Array, Any]:
        plan, order = state.plan, state.order
        ended = plan.phases.ended(state.round, state.arms)
        # Active arms have equally many pulls: sums are ordered as means are, and equal gaps of whole sums are equal.
        values = jnp.where(state.active, state.sums.high, -jnp.inf)
        if state.bandits == 1:
            # Deactivations move the border's rank with the ranks, so it stays between these two values.
            m = self.m if isinstance(self.m, Known) else plan.left
            inner, outer, _ = ranking.kth_and_next_largest(values, m, order)
            gap = larger(values - outer, inner - values)
        else:
            each = per_bandit(values, state.bandits)
            gap = (arms.largest(each) - each).reshape(values.shape)

        def pending(now: _Deactivation) -> jax.Array:
            return (now.phases > 0) & (now.left > 0) & (now.left < now.number)

        def deactivate(now: _Deactivation) -> _Deactivation:
            going = pending(now)
            if state.bandits == 1:
                acceptable, distance = values > outer, gap
            else:
                acceptable = _alone(now.active, state.bandits)
                distance = jnp.where(acceptable, jnp.inf, gap)
            _, place = ranking.arg_largest(jnp.where(now.active, distance, -jnp.inf), order)
            arm = (order == place) & going
            accepted = arm & acceptable
            return _Deactivation(
                active=now.active & ~arm,
                accepted=now.accepted | accepted,
                number=now.number - going.astype(jnp.int32),
                left=now.left - arms.any_arm(accepted).astype(jnp.int32),
                phases=now.phases - 1,
            )

        behind = ended - (state.arms.astype(jnp.int32) - state.count)
        start = _Deactivation(state.active, plan.accepted, state.count, plan.left, behind)
        now = lax.while_loop(lambda now: jnp.any(pending(now)), deactivate, start)
        return now.active, _Plan(plan.phases.after(ended), now.accepted, now.left)

    def done(self, state: EliminationState) -> jax.Array:
        """Every arm that is active is to be rejected, or every one to be accepted."""
        return (state.plan.left == 0) | (state.plan.left == state.count)

    def recommend(self, state: EliminationState) -> jax.Array:
        """The accepted arms, and the active arms with the largest means up to m (of each bandit)."""
        ranked = jnp.where(state.plan.accepted, jnp.inf, state.estimates)
        top = ranking.top_mask(per_bandit(ranked, state.bandits), self.m, per_bandit(state.order, state.bandits))
        return top.reshape(ranked.shape)


def _alone(active: jax.Array, bandits: int) -> jax.Array:
    """The active arms whose bandit has no other, bool `(K, …)`."""
    each = per_bandit(active, bandits)
    return (each & (arms.total(each.astype(jnp.int32)) == 1)).reshape(active.shape)
