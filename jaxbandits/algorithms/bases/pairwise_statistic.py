"""The generalised likelihood ratio statistic of one arm against every other, by the family of the rewards.

And of the answer, the m best-looking arms, against the arms outside it: the least over pairs.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases import glr_families as words
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.interval_stopping import parted, rate_for
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger, rounded, smaller
from jaxbandits.random import ties
from jaxbandits.statistics.exponential_families import FAMILIES, GAUSSIAN, Family
from jaxbandits.statistics.glr_thresholds import IN_RUNS, THRESHOLDS
from jaxbandits.statistics.pairwise_evidence import Evidence, Lead, among_family, among_normal
from jaxbandits.statistics.student_evidence import among_unknown_variances, discounted

__all__ = ["PairwiseStatistic", "Standing"]

# In place of a mean of 0, where the family has none.
_LEAST = 1e-30


class Standing(NamedTuple):
    """The answer against every arm outside it, `(K, …)`; infinite costs of its own arms and of padded ones.

    Attributes:
        answer: mask of the m best-looking arms, bool.
        nearest: the place in the tie order of the one of them that is least apart from an arm, int32; of one, `(…)`.
        evidence: of that pair, with the test's epsilon.
        tested: what must exceed the threshold, the least over the answer, float32.
        apart: the rate up to which an arm's interval is below those of all of the answer, with epsilon = 0, float32;
            None where arms are not eliminated.
    """

    answer: jax.Array
    nearest: jax.Array
    evidence: Evidence
    tested: jax.Array
    apart: jax.Array | None


class PairwiseStatistic(Sequential):
    """Of rules with a family of rewards and a threshold."""

    #: The number of arms to find; a rule that finds several has a hyperparameter of that name.
    m: Any = Known(1)
    family: str | None
    threshold: str | None
    stopping: str
    epsilon: Any
    b: Any

    @property
    def family_word(self) -> str:
        """The family, where none is given the one that is taken without a problem."""
        return words.family_for(self.threshold) if self.family is None else self.family

    @property
    def threshold_word(self) -> str:
        """The threshold."""
        rate = rate_for(self.stopping)
        if rate is not None:
            return rate
        return words.threshold_for(self.family_word) if self.threshold is None else self.threshold

    @property
    def second_moments(self) -> bool:
        """Where nobody knows the variances."""
        return self.family_word == words.UNKNOWN_VARIANCE

    @property
    def rewards(self) -> Family:
        """The family of the rewards: normal ones also where nobody knows the variances."""
        return GAUSSIAN if self.second_moments else FAMILIES[self.family_word]

    def against(self, state: ArmState, chosen: jax.Array, lead: Numeric, top: jax.Array | None = None) -> Evidence:
        """An arm against every arm, `(K, …)`; infinite costs of itself and padded arms.

        Args:
            state: the state.
            chosen: mask of the arm, bool `(K, …)`.
            lead: the epsilon of the statistic, in units of rewards, `(…)`.
            top: the arm's mean, if none is larger; None for any arm.
        """
        pulls = state.pulls.astype(jnp.float32)
        if self.second_moments:
            mean, variance = state.statistics.mean, state.statistics.variance_by_pulls()
            top, own, spread = (_of(chosen, x) for x in (mean, pulls, variance))
            evidence = among_unknown_variances(top, own, spread, mean, pulls, variance, _lead(lead))
        elif self.family_word == "gaussian":
            mean = state.statistics.mean
            precision = 4 / rounded(state.b * state.b)
            highest = _of(chosen, mean) if top is None else top
            own = _of(chosen, pulls)
            evidence = among_normal(highest, own, mean, pulls, _lead(lead), precision, best=top is not None)
        else:
            mean = self.scaled_means(state)
            own = _of(chosen, pulls)
            evidence = among_family(self.rewards, _of(chosen, mean), own, mean, pulls, self.scaled_lead(state, lead))
        return evidence._replace(cost=state.existing(jnp.where(chosen, jnp.inf, evidence.cost), jnp.inf))

    def standing(self, state: ArmState) -> Standing:
        """How the answer stands against the arms outside it.

        Each of its arms is compared with all others: where numbers of pulls differ, the arm with the next smaller mean
        need not be the nearest one.
        """
        mean = state.existing(state.statistics.mean, -jnp.inf)
        if isinstance(self.m, Known):
            top, best = ranking.arg_largest(mean, state.order)
            return self._of_one(state, best, top)
        wanted = jnp.broadcast_to(jnp.asarray(self.m, jnp.int32), state.time.shape)

        def with_next(i: jax.Array | int, found: Standing) -> Standing:
            """With the next smaller mean, where the answer is not complete."""
            _, place = ranking.arg_largest(jnp.where(found.answer, -jnp.inf, mean), state.order)
            new = self._of_one(state, place)
            nearer = new.evidence.cost < found.evidence.cost
            new = Standing(
                answer=found.answer | new.answer,
                nearest=jnp.where(nearer, new.nearest, found.nearest),
                evidence=jax.tree.map(lambda x, y: jnp.where(nearer, x, y), new.evidence, found.evidence),
                tested=smaller(new.tested, found.tested),
                apart=None if new.apart is None or found.apart is None else smaller(new.apart, found.apart),
            )
            return jax.tree.map(lambda x, y: jnp.where(i < wanted, x, y), new, found)

        nothing = jnp.full(state.order.shape, jnp.inf, jnp.float32)
        none = jnp.zeros_like(state.order)
        start = Standing(none > 0, none, Evidence(nothing, nothing), nothing, nothing if self._eliminates else None)
        found = lax.fori_loop(0, jnp.max(wanted), with_next, start)
        evidence = found.evidence._replace(cost=jnp.where(found.answer, jnp.inf, found.evidence.cost))
        return found._replace(evidence=evidence, tested=jnp.where(found.answer, jnp.inf, found.tested))

    def _of_one(self, state: ArmState, place: jax.Array, top: jax.Array | None = None) -> Standing:
        """`standing` of the arm at a place in the tie order, `(…)`; `top` as for `against`."""
        chosen = ties.mask_at(place, state.order)
        evidence = self.against(state, chosen, self.epsilon, top)
        tested = evidence.cost
        if rate_for(self.stopping) is not None:
            tested = state.existing(jnp.where(chosen, jnp.inf, parted(state, chosen, _lead(self.epsilon))), jnp.inf)
        elif self.threshold_word == words.STUDENT:
            pulls = state.pulls.astype(jnp.float32)
            tested = jnp.where(tested < jnp.inf, discounted(tested, _of(chosen, pulls), pulls), jnp.inf)
        apart = parted(state, chosen, Known(0)) if self._eliminates else None
        return Standing(chosen, place, evidence, tested, apart)

    @property
    def _eliminates(self) -> bool:
        return self.stopping == "elimination"

    def least(self, state: ArmState, standing: Standing, longest: jax.Array | None) -> jax.Array:
        """What must exceed the threshold, float32 `(…)`; `longest` of `longest_parted`, or None."""
        tested = standing.tested
        if longest is not None:
            tested = larger(tested, longest + self._growth(state))
        return arms.smallest(tested)

    def longest_parted(self, state: ArmState, standing: Standing, before: jax.Array) -> jax.Array:
        """The most, over time, by which each arm was below all of an answer, with epsilon = 0, float32 `(K, …)`.

        As a part of the rate that does not depend on t: what exceeds the rest of it has been eliminated.
        """
        assert standing.apart is not None
        return jnp.where(standing.answer, before, larger(before, standing.apart - self._growth(state)))

    def _growth(self, state: ArmState) -> jax.Array:
        return rounded(THRESHOLDS[self.threshold_word].growth(IN_RUNS, state.time.astype(jnp.float32)))

    def spread(self, state: ArmState) -> jax.Array:
        """The standard deviation of rewards: known, or that of the empirical mean or variance; `(…)` or `(K, …)`."""
        if self.second_moments:
            return jnp.sqrt(state.statistics.variance_by_pulls())
        if self.family_word in ("bernoulli", "gaussian"):
            return state.b / 2
        mean = self.scaled_means(state)
        return jnp.sqrt(self.rewards.variance(mean, mean))

    def scaled_lead(self, state: ArmState, lead: Numeric) -> Lead:
        """An epsilon in the unit of `scaled_means`."""
        unit = self._unit(state)
        lead = _lead(lead)
        return lead if isinstance(lead, Known) or unit is None else rounded(lead * unit)

    def scaled_means(self, state: ArmState) -> jax.Array:
        """Means in the range of the family, `(K, …)`: those of normal rewards in standard deviations that are known."""
        unit = self._unit(state)
        mean = state.statistics.mean if unit is None else rounded(state.statistics.mean * unit)
        if self.rewards is GAUSSIAN:
            return mean
        mean = larger(mean, jnp.float32(0 if self.rewards.reaches_lowest else _LEAST))
        return smaller(mean, jnp.float32(1)) if self.family_word == "bernoulli" else mean

    def _unit(self, state: ArmState) -> jax.Array | None:
        """What rewards are multiplied by, `(…)`; None for nothing."""
        if self.family_word == "gaussian":
            return 2 / state.b
        return 1 / state.b if self.family_word == "bernoulli" else None


def _of(chosen: jax.Array, x: jax.Array) -> jax.Array:
    """The entry of one arm, `(K, …)` to `(…)`."""
    return arms.largest(jnp.where(chosen, x, -jnp.inf))


def _lead(lead: Numeric) -> Lead:
    return lead if isinstance(lead, Known) else jnp.asarray(lead, jnp.float32)
