"""SiRI: a good arm of infinitely many, judged at the end.

Carpentier, Valko (2015), "Simple regret for infinitely many armed bandits", ICML.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.batch_based import BatchBased
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger, log, rounded, smaller
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["SiRI", "SiRIState"]


@pytree
@dataclasses.dataclass(frozen=True)
class SiRIState(ArmState):
    """The state of a run; arms first, runs last."""

    round: jax.Array  # int32 (…): decisions made


@pytree
@dataclasses.dataclass(frozen=True)
class SiRI(BatchBased):
    """Pulls a number of arms once, and then doubles the pulls of the arm with the largest bound, again and again.

    Returns the arm pulled most often. Simple regret n^(-1/2) for beta < 2, n^(-1/beta) above, logarithms apart
    (Theorem 2). The last doubling is cut so that n pulls are not exceeded.

    Attributes:
        budget: number of pulls n.
        beta: regularity of the reservoir, positive; None takes the reservoir's.
        delta: probability with which the bounds may fail, in (0, 1).
        a: A, the factor of the number of arms, positive.
        c: C, the factor of the bounds, positive.

    Raises:
        UsageError: a value outside its range, a problem with given arms, or one whose pulls have prices.
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

    def explored(self, problem: Problem) -> Problem:
        """The reservoir with ceil(A(n) n^(b/2)) arms, b = min(beta, 2), at most n (their equation 4)."""
        if not problem.drawn or problem.arms:
            return problem
        budget, beta = self.scale(problem)
        factor = float(self.a)
        if beta == 2:
            factor /= np.log(budget) ** 2
        elif beta > 2:
            factor /= np.log(budget)
        wanted = int(np.ceil(factor * budget ** (min(beta, 2.0) / 2) * (1 - 1e-12)))
        return problem.sized(max(2, min(wanted, int(budget))))

    def resolved(self, problem: Problem) -> Self:
        """The algorithm with the reservoir's beta, where it has none of its own.

        Raises:
            UsageError: a problem with given arms, or one whose pulls have prices.
        """
        if not problem.drawn:
            raise UsageError(f"SiRI draws its arms from a reservoir, and {problem.name} has given ones")
        if not problem.unit_costs:
            raise UsageError(f"SiRI looks at rewards only, and pulls of {problem.name} have prices: use prices=unit")
        return dataclasses.replace(self, beta=self.scale(problem)[1])

    def check_live(self) -> None:
        """Not in a live experiment.

        Raises:
            UsageError: always.
        """
        raise UsageError("SiRI draws its arms from a reservoir, which a live experiment has not")

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> SiRIState:
        """The state before the first pull."""
        shared = ArmState.of(statistics, problem, key, None).shared()
        return SiRIState(**shared, round=jnp.zeros(key.shape, jnp.int32))

    def request(self, state: SiRIState) -> jax.Array:
        """One pull of each arm; then as many of the best bound's arm as it has."""
        first = state.round == 0
        exists = jnp.ones(state.order.shape, jnp.int32) if state.mask is None else state.mask.astype(jnp.int32)
        _, place = ranking.arg_largest(state.existing(self._bound(state), -jnp.inf), state.order)
        left = larger(jnp.asarray(self.budget, jnp.int32) - state.time, jnp.int32(0))
        double = jnp.where(state.order == place, smaller(state.pulls, left), 0)
        return jnp.where(first, exists, double)

    def _bound(self, state: SiRIState) -> jax.Array:
        """The mean + 2 sqrt(C L / T) + 2 C L / T, L = log(2^(2 t / b) / (T delta)), t = floor(log2 K)."""
        pulls = larger(state.pulls, 1).astype(jnp.float32)
        mean = state.statistics.total.astype(jnp.float32) / pulls
        halvings = (31 - lax.clz(state.arms.astype(jnp.int32))).astype(jnp.float32)
        start = halvings * (2 * np.float32(np.log(2))) / smaller(jnp.asarray(self.beta, jnp.float32), jnp.float32(2))
        level = larger(start - (log(pulls) + log_of(self.delta)), jnp.float32(0))
        share = rounded(self.c * level) / pulls
        return mean + (2 * jnp.sqrt(share) + 2 * share)

    def absorb(self, state: SiRIState, count: jax.Array, sums: jax.Array, live: jax.Array | bool = True) -> SiRIState:
        """The state after these pulls."""
        number = jnp.where(live, count, 0)
        return dataclasses.replace(
            state,
            statistics=state.statistics.add_sums(sums, number),
            round=state.round + jnp.broadcast_to(live, state.round.shape).astype(jnp.int32),
        )

    def done(self, state: SiRIState) -> jax.Array:
        """All n pulls are made."""
        return state.time >= self.budget

    def recommend(self, state: SiRIState) -> jax.Array:
        """The arm pulled most often."""
        return ranking.top_mask(state.pulls, Known(1), state.order)
