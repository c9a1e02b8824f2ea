"""MAB-PPR: an epsilon-best arm where a pull costs its reward, at a cost that does not grow with the number of arms.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS; Algorithm 1.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits import theory
from jaxbandits.algorithms.bases.batch_medians import middle_sums
from jaxbandits.algorithms.bases.joint_batches import LARGEST_BATCH, Batches, JointBatches, whole
from jaxbandits.algorithms.bases.joint_state import JointState
from jaxbandits.algorithms.bases.light_prefixes import lightest, prefix_sums
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.algorithms.bases.weights import check_weights
from jaxbandits.arrays import ranking
from jaxbandits.arrays.numerics import exp, larger, log, rounded
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.pay_per_reward import UNSEEN

__all__ = ["MABPPR"]

_LOG2 = np.float32(np.log(2.0))
# What an algorithm is prepared for; delta_t is then 10^-9 delta, and no run comes near.
_ROUNDS = 30


@pytree
@dataclasses.dataclass(frozen=True)
class PPRState(JointState):
    """With the round, and which of its two batches comes next."""

    round: jax.Array  # int32 (…): t - 1, rounds finished
    ordered: jax.Array  # bool (…): the first batch of the round is in, `values` are its estimates

    @property
    def rankings(self) -> jax.Array:
        """One a round."""
        return self.round


@pytree
@dataclasses.dataclass(frozen=True)
class MABPPR(JointBatches):
    """Removes, round by round, the arms at the bottom that hold a share of the weight (Algorithm 1).

    In round t a first batch of pulls orders the arms by medians of means; a second one estimates the weight of every
    prefix of that order by the median of means *of the sums*, and the longest prefix with at most a share theta of the
    whole weight goes. With valid constants the returned arm is within epsilon of the best with probability at least
    1 - delta, at a cost O(W log(1/delta) max(1/epsilon^2, V/epsilon)), W the sum of all means (Theorem 3.1), for
    rewards that are not negative with variance <= mean <= 1 (Assumption 2.1) and Var(X_A) <= V E X_A for the sum over
    any set A of arms pulled together (Assumption 2.2).

    The constants of `practical` have no proof; those of `theory` are the cheapest valid ones, and cost 10^8 W
    log(1/delta)/epsilon^2: see `theory.ppr_constants`.

    Attributes:
        epsilon: how far the returned mean may lie below the best, in (0, 1).
        delta: allowed probability of error, in (0, 1).
        correlation: V, at least 1; the problem's own when not given.
        constants: `practical` or `theory`, for those of the following that are not given.
        cq: C_q, positive.
        cq_prime: C'_q, positive.
        c1: C_1, positive.
        c2: C_2, positive.
        c3: C_3, positive.
        n_final: N_final, with so many arms the final round starts; positive.
        rho: factor of eps_t, in (0, 1).
        theta: share of the weight that goes, in (0, 1).
        factor: 9/2 in q2 and q3 of the paper, positive.
        slots: most batches in a request, part of the program; enough for 30 rounds when not given.

    Raises:
        UsageError: a value outside its range; an arm that breaks Assumption 2.1, or rewards that may be negative; or
            numbers that are traced before `prepared` or `resolved` has filled in the others.
    """

    epsilon: Numeric = parameter("probability")
    delta: Numeric = parameter("error probability")
    correlation: Numeric = parameter("at least one", default=None)
    constants: str = parameter(default="practical", static=True, choices=("practical", "theory"))
    cq: Numeric = parameter("positive", default=None)
    cq_prime: Numeric = parameter("positive", default=None)
    c1: Numeric = parameter("positive", default=None)
    c2: Numeric = parameter("positive", default=None)
    c3: Numeric = parameter("positive", default=None)
    n_final: Numeric = parameter("positive", default=None)
    rho: Numeric = parameter("probability", default=None)
    theta: Numeric = parameter("probability", default=None)
    factor: Numeric = parameter("positive", default=None)
    slots: int | None = parameter("count", default=None, static=True)  # type: ignore[assignment]
    traits = Traits(
        setting="fixed confidence, one arm, pay per reward; joint pulls, any number of arms",
        source="Sabato 2019",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    @property
    def proved(self) -> bool:
        """Not with the constants of `practical`."""
        return self.constants == "theory"

    def prepared(self) -> Self:
        """With the constants that were not given, and as many slots as they need."""
        correlation = 1.0 if self.correlation is None else self.correlation
        known = theory.PPR_PRACTICAL
        if self.constants == "theory":
            known = theory.ppr_constants(self.epsilon, self.delta, correlation, self.n_final).constants
        fields = [field.name for field in dataclasses.fields(known)]
        own = {name: getattr(self, name) for name in fields}
        own = {name: float(getattr(known, name)) if value is None else value for name, value in own.items()}
        new = dataclasses.replace(self, correlation=correlation, **own)
        return new if self.slots is not None else dataclasses.replace(new, slots=new._slots())

    def rate(self, problem: Problem) -> Theorem | None:
        """Its cost (Theorem 3.1)."""
        weight = float(np.asarray(problem.mean, np.float64).sum())
        arguments = (self.epsilon, self.delta, self.correlation, weight)
        return Theorem(theory.ppr_cost_rate, arguments, "Sabato 2019, Theorem 3.1, a rate")

    def _slots(self) -> int:
        """Enough for the largest request of the first rounds, a power of two so that few programs are made."""
        level = _ROUNDS * np.log(2.0) - np.log(float(self.delta))
        first = self.cq * (np.log(float(self.cq_prime)) + level)
        other = self.factor * (np.log(max(12.0, float(self.n_final))) + level)
        return 1 << int(np.ceil(np.log2(max(first, other, 1) + 1)))

    def resolved(self, problem: Problem) -> Self:
        """With the problem's V and the constants filled in.

        Raises:
            UsageError: rewards that may be negative, an arm that breaks Assumption 2.1, sums beyond the counts, or too
                short a head of infinitely many arms.
        """
        check_weights(type(self).__name__, problem)
        own = problem.correlation if self.correlation is None else self.correlation
        new = dataclasses.replace(self, correlation=own).prepared()
        weight = float(np.sum(np.asarray(problem.mean, np.float64)))
        batch = float(new.c2) * float(new.correlation) / float(new.epsilon) * weight  # l^(2) W
        if problem.arms > float(new.n_final) and batch > LARGEST_BATCH / 2:
            raise UsageError(
                f"MABPPR: a batch of the second kind would pay {batch:.3g} rewards, more than {LARGEST_BATCH / 2:.3g}: "
                "larger epsilon, smaller weights, or other constants"
            )
        if problem.unseen_mean is not None and problem.arms <= float(new.n_final):
            raise UsageError(
                f"MABPPR: the {problem.arms} arms of the head would go to the final round (n_final={new.n_final:g}), "
                "and infinitely many would not: a longer head, with larger first_pulls"
            )
        if (unseen := new.unseen(problem) or 0.0) > UNSEEN:
            raise UsageError(
                f"MABPPR: with probability {unseen:.1g} an arm that is not simulated pays in the first round, above "
                f"{UNSEEN:g}: a longer head, first_pulls={new._first_pulls():.3g} or more"
            )
        return new

    def _first_pulls(self) -> float:
        """Joint pulls of the first round, of a prepared algorithm."""
        level = np.log(2.0) - np.log(float(self.delta))
        epsilon, v = float(self.epsilon), float(self.correlation)
        first = (1 - float(self.rho)) * epsilon / 2
        ordering = np.ceil(self.cq * (np.log(self.cq_prime) + level)) * np.ceil(self.c1 * max(first**-2, v / first))
        return float(ordering + np.ceil(self.factor * (np.log(12) + level)) * np.ceil(self.c2 * v / epsilon))

    def unseen(self, problem: Problem) -> float | None:
        """Probability that an arm which is not simulated pays in the first round, at most; None if all are."""
        return None if problem.unseen_mean is None else self._first_pulls() * problem.unseen_mean

    def start(self, problem: Problem, key: jax.Array) -> PPRState:
        """The state before the first pull."""
        if self.slots is None:
            raise UsageError("MABPPR: fill in what is not given, with prepared() or resolved(problem), before tracing")
        nothing = jnp.zeros(key.shape, jnp.int32)
        return PPRState.start(problem, key, round=nothing, ordered=nothing > 0)

    def _final(self, state: PPRState) -> jax.Array:
        """Whether the final round comes next (line 2), bool `(…)`."""
        return ~state.ordered & (state.count.astype(jnp.float32) <= self.n_final)

    def _sizes(self, state: PPRState) -> tuple[jax.Array, jax.Array]:
        """Joint pulls in a batch and number of batches, float32 `(…)`, of the next request."""
        numbers = (self.epsilon, self.correlation, self.rho)  # Python's would be more precise than arrays
        epsilon, v, rho = (jnp.asarray(x, jnp.float32) for x in numbers)
        t = (state.round + 1).astype(jnp.float32)
        level = rounded(_LOG2 * t) - log_of(self.delta)  # log(1 / delta_t), lines 1 and 17
        epsilon_t = (1 - rho) * exp(rounded(state.round.astype(jnp.float32) * log(rho))) * (epsilon / 2)
        first = self.c1 * larger(1 / (epsilon_t * epsilon_t), v / epsilon_t)  # l_t, line 4
        second = self.c2 * v / epsilon  # l^(2), line 8
        last = self.c3 / (epsilon * epsilon)  # l^(3), line 20
        q1 = self.cq * (log(self.cq_prime) + level)  # line 4
        q2 = self.factor * (log(jnp.float32(12)) + level)  # line 8
        q3 = self.factor * (log(self.n_final) + level)  # line 20
        final = self._final(state)
        each = jnp.where(state.ordered, second, jnp.where(final, last, first))
        number = jnp.where(state.ordered, q2, jnp.where(final, q3, q1))
        return whole(each), whole(number)

    def size(self, state: PPRState) -> jax.Array:
        """l_t, l^(2) or l^(3)."""
        return self._sizes(state)[0]

    def number(self, state: PPRState) -> jax.Array:
        """q1, q2 or q3."""
        return self._sizes(state)[1]

    def absorb(self, state: PPRState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True) -> PPRState:
        """The state after a first batch, a second batch, or the final round."""
        live = jnp.broadcast_to(live, state.ended.shape)
        number = jnp.where(live, batches.number, 1)
        final = self._final(state)
        estimated, removing = live & ~state.ordered, live & state.ordered

        def estimate(values: jax.Array) -> jax.Array:
            return jnp.where(estimated, middle_sums(sums, number), values)  # lines 5 and 21, times 2 l

        def remove(state: PPRState) -> tuple[jax.Array, jax.Array]:
            weight = middle_sums(prefix_sums(sums, state.active, number), number).astype(jnp.float32)
            # Line 15, in sums: 2 l W~ <= 2 l epsilon / 4.
            light = weight <= rounded(batches.each.astype(jnp.float32) * self.epsilon) * 0.5
            # Any arm will do: the first in an order that has decided no tie.
            some = ranking.first_place(state.active, state.order) == state.order
            rest = state.active & ~lightest(state, sums, number, rounded(self.theta * weight))
            return jnp.where(removing, jnp.where(light, some, rest), state.active), removing & light

        def keep(state: PPRState) -> tuple[jax.Array, jax.Array]:
            return state.active, jnp.zeros_like(state.ended)

        values = lax.cond(jnp.any(estimated), estimate, lambda values: values, state.values)
        active, light = lax.cond(jnp.any(removing), remove, keep, state)
        new = dataclasses.replace(state, values=values, active=active)
        answered = estimated & final
        return dataclasses.replace(
            new,
            active=jnp.where(answered, new.best(), active),  # line 22
            ordered=jnp.where(live, ~state.ordered & ~final, state.ordered),
            round=state.round + removing.astype(jnp.int32),
            ended=state.ended | answered | light,
        )
