"""The generalised likelihood ratio statistic of one arm against every other, by the family of the rewards."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases import glr_families as words
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.interval_stopping import parted, rate_for
from jaxbandits.algorithms.bases.parameters import Numeric
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.arrays import arms
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger, rounded, smaller
from jaxbandits.random import ties
from jaxbandits.statistics.exponential_families import FAMILIES, Family
from jaxbandits.statistics.glr_thresholds import IN_RUNS, THRESHOLDS
from jaxbandits.statistics.pairwise_evidence import Evidence, Lead, among_family, among_normal
from jaxbandits.statistics.student_evidence import among_unknown_variances, discounted

__all__ = ["PairwiseStatistic"]

# In place of a mean of 0, where the family has none.
_LEAST = 1e-30


class PairwiseStatistic(Sequential):
    """Of rules with a family of rewards and a threshold."""

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
        """The family of the rewards, of those with one parameter."""
        return FAMILIES[self.family_word]

    def against(self, state: ArmState, place: jax.Array, lead: Numeric, top: jax.Array | None = None) -> Evidence:
        """An arm against every arm, `(K, …)`; infinite costs of itself and padded arms.

        Args:
            state: the state.
            place: the arm's place in the tie order, int32 `(…)`.
            lead: the epsilon of the statistic, in units of rewards, `(…)`.
            top: the arm's mean, if none is larger; None for any arm.
        """
        chosen = ties.mask_at(place, state.order)
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

    def tested(self, state: ArmState, place: jax.Array, cost: jax.Array, parted_before: jax.Array | None) -> jax.Array:
        """What must exceed the threshold, float32 `(…)`.

        Args:
            state: the state.
            place: the best-looking arm's place in the tie order, int32 `(…)`.
            cost: of `against`, `(K, …)`.
            parted_before: of `longest_parted`, `(K, …)`; None where arms are not eliminated.
        """
        chosen = ties.mask_at(place, state.order)
        if rate_for(self.stopping) is not None:
            cost = parted(state, chosen, _lead(self.epsilon))
            if parted_before is not None:
                cost = larger(cost, parted_before + self._growth(state))
            cost = state.existing(jnp.where(chosen, jnp.inf, cost), jnp.inf)
        elif self.threshold_word == words.STUDENT:
            pulls = state.pulls.astype(jnp.float32)
            cost = jnp.where(cost < jnp.inf, discounted(cost, _of(chosen, pulls), pulls), jnp.inf)
        return arms.smallest(cost)

    def longest_parted(self, state: ArmState, place: jax.Array, before: jax.Array) -> jax.Array:
        """The most, over time, by which each arm was below a best-looking one, with epsilon = 0, float32 `(K, …)`.

        As a part of the rate that does not depend on t: what exceeds the rest of it has been eliminated.
        """
        chosen = ties.mask_at(place, state.order)
        now = parted(state, chosen, Known(0)) - self._growth(state)
        return jnp.where(chosen, before, larger(before, now))

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
        """Means in the range of the family, `(K, …)`: those of normal rewards in standard deviations."""
        unit = self._unit(state)
        mean = state.statistics.mean if unit is None else rounded(state.statistics.mean * unit)
        if self.family_word == "gaussian":
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
