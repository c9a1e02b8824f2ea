"""MAB-PPR: an epsilon-best arm where a pull costs its reward, at a cost that does not grow with the number of arms.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS; Algorithm 1.
"""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits import theory
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Batches, Rule, algorithm
from jaxbandits.algorithms.told_arms import LARGEST_BATCH
from jaxbandits.algorithms.traits import Theorem, Traits, understates
from jaxbandits.algorithms.uniform_sampling.batch_medians import lightest, twice_median, weights
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count, first_seed, one_of, tie_numbers
from jaxbandits.algorithms.uniform_sampling.weight_bounds import check_weights
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.instances.ppr_instances import UNSEEN

__all__ = ["MABPPR"]

# The rounds that slots are reserved for. In the last, delta_t is 10^-9 delta; no run gets near it.
_ROUNDS = 30
_CONSTANTS = tuple(field.name for field in dataclasses.fields(theory.PPRConstants))


class _State(NamedTuple):
    active: jax.Array  # bool (K,): S_t
    round: jax.Array  # int32 (): t - 1, rounds finished
    ordered: jax.Array  # bool (): whether the first batches of the round are done
    estimates: jax.Array  # int32 or float32 (K,): the estimates from these, times 2 l
    ended: jax.Array  # bool ()
    seed: jax.Array  # uint32 (2,): breaks ties


@algorithm
class MABPPR(Rule):
    """Removes, round by round, the arms at the bottom that hold a share of the weight (Algorithm 1).

    In round t a first batch of pulls orders the arms by medians of means. A second batch estimates the weight of every
    prefix of that order, by the median of means of the sums. The longest prefix with at most a share theta of the
    whole weight is removed.

    With valid constants the returned arm is within epsilon of the best with probability at least 1 - delta. The cost is
    O(W log(1/delta) max(1/epsilon^2, V/epsilon)), W the sum of all means (Theorem 3.1). Rewards must not be negative,
    with variance <= mean <= 1 (Assumption 2.1). For any set A of arms pulled together, with the sum X_A,
    Var(X_A) <= V E X_A (Assumption 2.2).

    The constants of `practical` have no proof. Those of `theory` are the cheapest valid ones, at a cost of 10^8 W
    log(1/delta)/epsilon^2: see `theory.ppr_constants`.

    Attributes:
        epsilon: how far the returned mean may lie below the best, in (0, 1).
        delta: allowed probability of error, in (0, 1).
        correlation: V, at least 1; None takes the problem's.
        constants: `practical` or `theory`, for those of the following that are not given.
        cq: C_q, positive.
        cq_prime: C'_q, positive.
        c1: C_1, positive.
        c2: C_2, positive.
        c3: C_3, positive.
        n_final: N_final, the number of arms with which the final round starts; positive.
        rho: factor of eps_t, in (0, 1).
        theta: share of the weight that is removed, in (0, 1).
        factor: 9/2 in q2 and q3 of the paper, positive.
        slots: the most batches in a request, part of the program; None for enough for 30 rounds.

    Raises:
        UsageError: a value outside its range; an arm that breaks Assumption 2.1; or numbers that are traced before
            `prepared` or `resolved` has filled in the others.

    Example:
        >>> ds = jb.simulate(jb.MABPPR(epsilon=0.5, delta=0.1), jb.ppr("one-good", k=4), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
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
    )

    initial_pulls = 0
    fresh_only = True
    shuffle_arms = False

    @property
    def proved(self) -> bool:
        """Whether Theorem 3.1 covers the constants: not those of `practical`."""
        full = vars(self.prepared())
        return theory.ppr_conditions(theory.PPRConstants(**{name: full[name] for name in _CONSTANTS})).valid

    def prepared(self) -> Self:
        """Fill in the constants that were not given, and the slots that they need."""
        correlation = 1.0 if self.correlation is None else self.correlation
        known = theory.PPR_PRACTICAL
        if self.constants == "theory":
            known = theory.ppr_constants(self.epsilon, self.delta, correlation, self.n_final).constants
        own = {name: getattr(self, name) for name in _CONSTANTS}
        own = {name: float(getattr(known, name)) if value is None else value for name, value in own.items()}
        new = dataclasses.replace(self, correlation=correlation, **own)
        return new if self.slots is not None else dataclasses.replace(new, slots=new._slots())

    def rate(self, problem: Problem) -> Theorem | None:
        """Return the rate of the cost (Theorem 3.1); None for a V below the problem's."""
        if understates(self.correlation, problem.correlation):
            return None
        weight = float(np.asarray(problem.mean, np.float64).sum())
        arguments = (self.epsilon, self.delta, self.correlation, weight)
        return Theorem(theory.ppr_cost_rate, arguments, "Sabato 2019, Theorem 3.1, a rate")

    def _slots(self) -> int:
        """Return the slots for the largest request of the first rounds: a power of two, for few programs."""
        level = _ROUNDS * np.log(2.0) - np.log(float(self.delta))
        first = self.cq * (np.log(float(self.cq_prime)) + level)
        other = self.factor * (np.log(max(12.0, float(self.n_final))) + level)
        return 1 << int(np.ceil(np.log2(max(first, other, 1) + 1)))

    def resolved(self, problem: Problem) -> Self:
        """Fill in the problem's V and the constants.

        Raises:
            UsageError: rewards may be negative, an arm breaks Assumption 2.1, sums exceed the range of counts, or the
                head of infinitely many arms is too short.
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
                f"MABPPR: the head must have more arms than n_final={new.n_final:g}, which start the final round, "
                f"got {problem.arms}: a longer head, with larger first_pulls"
            )
        if (unseen := new.unseen(problem) or 0.0) > UNSEEN:
            raise UsageError(
                f"MABPPR: with probability {unseen:.1g} an arm that is not simulated pays in the first round, above "
                f"{UNSEEN:g}: a longer head, first_pulls={new._first_pulls():.3g} or more"
            )
        return new

    def _first_pulls(self) -> float:
        """Return the joint pulls of the first round, for a prepared algorithm."""
        level = np.log(2.0) - np.log(float(self.delta))
        epsilon, v = float(self.epsilon), float(self.correlation)
        first = (1 - float(self.rho)) * epsilon / 2
        ordering = np.ceil(self.cq * (np.log(self.cq_prime) + level)) * np.ceil(self.c1 * max(first**-2, v / first))
        return float(ordering + np.ceil(self.factor * (np.log(12) + level)) * np.ceil(self.c2 * v / epsilon))

    def unseen(self, problem: Problem) -> float | None:
        """Return a bound of the probability that an unsimulated arm pays in the first round; None if there is none."""
        return None if problem.unseen_mean is None else self._first_pulls() * problem.unseen_mean

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        if self.slots is None:
            raise UsageError("MABPPR: fill in what is not given, with prepared() or resolved(problem), before tracing")
        no = jnp.bool_(False)
        return _State(jnp.ones(len(arms), bool), jnp.int32(0), no, arms.total, no, first_seed(key))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> Batches:
        """Return the joint pulls of the active arms in a batch, and the number of batches."""
        del arms, key
        level = (state.round + 1) * jnp.log(2.0) - log_of(self.delta)  # ln(1 / delta_t), lines 1 and 17
        epsilon_t = (1 - self.rho) * self.epsilon / 2 * self.rho**state.round
        l_1 = self.c1 * jnp.maximum(1 / epsilon_t**2, self.correlation / epsilon_t)
        q_1 = self.cq * (jnp.log(self.cq_prime) + level)  # line 4
        l_2 = self.c2 * self.correlation / self.epsilon
        q_2 = self.factor * (jnp.log(12.0) + level)  # line 8
        l_3 = self.c3 / self.epsilon**2
        q_3 = self.factor * (jnp.log(self.n_final) + level)  # line 20
        final = self._is_final(state)
        each = jnp.where(state.ordered, l_2, jnp.where(final, l_3, l_1))
        number = jnp.where(state.ordered, q_2, jnp.where(final, q_3, q_1))
        return Batches(jnp.where(state.active, as_count(each), 0), as_count(number))

    def absorb(self, state: _State, arms: Arms, counts: Batches, sums: jax.Array) -> _State:
        """Return the state after the first batches, the second batches, or the final round."""
        del arms
        return lax.cond(state.ordered, self._removed, self._ordered, state, counts, sums)

    def _ordered(self, state: _State, batches: Batches, sums: jax.Array) -> _State:
        """Return the state after the first batches, or the final round."""
        estimates = twice_median(sums, batches.number)  # lines 5 and 21
        ties, final = tie_numbers(state.seed, state.round, len(state.active)), self._is_final(state)
        best = jnp.arange(len(state.active)) == one_of(estimates, state.active, ties)  # line 22
        active = jnp.where(final, best, state.active)
        return state._replace(active=active, estimates=estimates, ordered=~final, ended=final)

    def _removed(self, state: _State, batches: Batches, sums: jax.Array) -> _State:
        """Return the state after the second batches, without the lightest arms."""
        number, active = batches.number, state.active
        weight = twice_median(weights(sums, active, number), number).astype(jnp.float32)
        light = weight <= jnp.max(batches.counts) * self.epsilon / 2  # line 15, in sums: 2 l W~ <= 2 l epsilon / 4
        some = jnp.arange(len(active)) == one_of(
            jnp.zeros(len(active)), active, tie_numbers(state.seed, -1, len(active))
        )
        ties = tie_numbers(state.seed, state.round, len(active))
        rest = active & ~lightest(state.estimates, active, ties, sums, number, self.theta * weight)
        return state._replace(
            active=jnp.where(light, some, rest), ordered=jnp.bool_(False), round=state.round + 1, ended=light
        )

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the answer is found."""
        del arms
        return state.ended

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the active arm with the largest estimate."""
        del arms
        return one_of(state.estimates, state.active, tie_numbers(state.seed, state.round, len(state.active)))

    def _is_final(self, state: _State) -> jax.Array:
        """Return whether the final round comes next (line 2)."""
        return ~state.ordered & (jnp.sum(state.active) <= self.n_final)
