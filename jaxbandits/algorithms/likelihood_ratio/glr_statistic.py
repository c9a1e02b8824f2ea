"""The generalised likelihood ratio statistic of one arm against every other, by the family of the rewards.

The statistic of the answer, the m best-looking arms, against the arms outside it is the least over pairs.

Confidence intervals may replace the likelihood ratio in the stopping rule (those by betting: `glr_stopping.py`). The
interval of an arm is
mean +- b sqrt(beta / (2 N)). Either end errs with probability at most exp(-beta), by Hoeffding's inequality. The
intervals of arms 1 and a are separated up to epsilon, U_a - L_1 < epsilon, if mu_1 - mu_a + epsilon > 0 and

    2 (mu_1 - mu_a + epsilon)^2 / (b^2 (1/sqrt(N_1) + 1/sqrt(N_a))^2) > beta(t).

So the left side replaces the likelihood ratio, and the rate beta(t) replaces its threshold (`lucb1` and `ugape` of
`jaxbandits.theory.glr_threshold`, with the proof).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.likelihood_ratio.glr_families import FamilyRule
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.arm_statistics import variance_by_pulls
from jaxbandits.statistics.exponential_families import FAMILIES, GAUSSIAN, Family
from jaxbandits.statistics.glr import Evidence, Lead, among_family, among_normal
from jaxbandits.statistics.glr_boundaries import THRESHOLDS
from jaxbandits.statistics.glr_unknown_variance import among_unknown_variances, discounted

__all__ = ["PairwiseStatistic", "Standing"]

# Replaces a mean of 0 in families without one.
_LEAST = 1e-30


class Standing(NamedTuple):
    """The answer compared with every arm outside it, `(K,)`; the costs of its own arms are infinite.

    Attributes:
        answer: mask of the m best-looking arms, bool.
        nearest: the arm of the answer that is hardest to distinguish from each arm, int32; `()` if m is static.
        evidence: the evidence of that pair, with the test's epsilon.
        tested: what must exceed the threshold, the least over the answer, float32.
        apart: the largest rate at which an arm's interval is below those of the whole answer, with epsilon = 0,
            float32; None if arms are not eliminated.
    """

    answer: jax.Array
    nearest: jax.Array
    evidence: Evidence
    tested: jax.Array
    apart: jax.Array | None


class PairwiseStatistic(FamilyRule):
    """The statistic of a rule with a family of rewards and a threshold."""

    #: The number of arms to find; a rule that finds several has a hyperparameter of that name.
    m: Numeric = StaticInt(1)
    stopping: str
    epsilon: Numeric

    @property
    def threshold_word(self) -> str:
        """The threshold."""
        rate = words.rate_for(self.stopping)
        if rate is not None:
            return rate
        return words.threshold_for(self.family_word) if self.threshold is None else self.threshold

    @property
    def second_moments(self) -> bool:
        """Whether the variances are unknown."""
        return self.family_word == words.UNKNOWN_VARIANCE

    @property
    def rewards(self) -> Family:
        """The family of the rewards; the normal one also if variances are unknown."""
        return GAUSSIAN if self.second_moments else FAMILIES[self.family_word]

    def against(self, arms: Arms, arm: jax.Array, lead: Numeric) -> Evidence:
        """Return the evidence of an arm against every arm, `(K,)`; the cost against itself is infinite.

        Args:
            arms: what is known of the arms.
            arm: int32 `()`.
            lead: the epsilon of the statistic, in units of rewards.
        """
        pulls = arms.pulls.astype(jnp.float32)
        if self.second_moments:
            mean, variance = arms.mean, variance_by_pulls(arms.squares, arms.pulls)
            own = mean[arm], pulls[arm], variance[arm]
            evidence = among_unknown_variances(*own, mean, pulls, variance, _lead(lead))
        elif self.family_word == "gaussian":
            mean, b = arms.mean, self.range_of(arms)
            evidence = among_normal(mean[arm], pulls[arm], mean, pulls, _lead(lead), 4 / (b * b))
        else:
            mean, epsilon = self.scaled_means(arms), self.scaled_lead(arms, lead)
            evidence = among_family(self.rewards, mean[arm], pulls[arm], mean, pulls, epsilon)
        return evidence._replace(cost=evidence.cost.at[arm].set(jnp.inf))

    def boundary(self, arms: Arms, log_delta: jax.Array) -> jax.Array:
        """Return the threshold of the statistic for a probability of error, by its logarithm, float32 `()`."""
        threshold = THRESHOLDS[self.threshold_word]
        events = jnp.maximum(threshold.events(arms.count.astype(jnp.float32), self.m), 1.0)
        return threshold.constant(events, log_delta) + self.growth(arms)

    def growth(self, arms: Arms) -> jax.Array:
        """Return the part of the threshold that grows with the number of pulls, float32 `()`."""
        return THRESHOLDS[self.threshold_word].growth(arms.time.astype(jnp.float32))

    def standing(self, arms: Arms) -> Standing:
        """Compare the answer with the arms outside it.

        Each arm of the answer is compared with all others. If numbers of pulls differ, the hardest arm to distinguish
        need not be the one with the next smaller mean.
        """
        if isinstance(self.m, StaticInt):
            return self._of_one(arms, jnp.argmax(arms.mean))

        def with_next(_: jax.Array | int, found: Standing) -> Standing:
            """Add the arm with the next smaller mean."""
            arm = jnp.argmax(jnp.where(found.answer, -jnp.inf, arms.mean))
            new = self._of_one(arms, arm)
            nearer = new.evidence.cost < found.evidence.cost
            return Standing(
                answer=found.answer | new.answer,
                nearest=jnp.where(nearer, arm, found.nearest),
                evidence=jax.tree.map(lambda x, y: jnp.where(nearer, x, y), new.evidence, found.evidence),
                tested=jnp.minimum(new.tested, found.tested),
                apart=None if new.apart is None or found.apart is None else jnp.minimum(new.apart, found.apart),
            )

        none = jnp.zeros_like(arms.pulls)
        nothing = jnp.full_like(arms.mean, jnp.inf)
        start = Standing(none > 0, none, Evidence(nothing, nothing), nothing, nothing if self.parts_arms else None)
        found = jax.lax.fori_loop(0, jnp.asarray(self.m, jnp.int32), with_next, start)
        evidence = found.evidence._replace(cost=jnp.where(found.answer, jnp.inf, found.evidence.cost))
        return found._replace(evidence=evidence, tested=jnp.where(found.answer, jnp.inf, found.tested))

    def _of_one(self, arms: Arms, arm: jax.Array) -> Standing:
        """Return `standing` of an answer of one arm."""
        evidence = self.against(arms, arm, self.epsilon)
        tested = evidence.cost
        if words.rate_for(self.stopping) is not None:
            tested = self._parted(arms, arm, _lead(self.epsilon)).at[arm].set(jnp.inf)
        elif self.threshold_word == words.STUDENT:
            pulls = arms.pulls.astype(jnp.float32)
            tested = discounted(tested, pulls[arm], pulls).at[arm].set(jnp.inf)
        apart = self._parted(arms, arm, StaticInt(0)) if self.parts_arms else None
        return Standing(jnp.arange(len(arms)) == arm, arm, evidence, tested, apart)

    def _parted(self, arms: Arms, arm: jax.Array, lead: Lead) -> jax.Array:
        """Return the largest rate at which an arm's interval is above each other one, `(K,)`; unused for itself."""
        way = arms.mean[arm] - arms.mean
        if not isinstance(lead, StaticInt):
            way = way + lead
        widths = arms.inverse_root[arm] + arms.inverse_root
        ratio = jnp.maximum(way, 0.0) / (self.range_of(arms) * widths)
        return 2 * (ratio * ratio)

    @property
    def parts_arms(self) -> bool:
        """Whether arms that were once below all best-looking arms count as eliminated."""
        return self.stopping == "elimination"

    def spread(self, arms: Arms) -> jax.Array:
        """Return the standard deviation of rewards, known or by the empirical mean or variance; `()` or `(K,)`."""
        if self.second_moments:
            return jnp.sqrt(variance_by_pulls(arms.squares, arms.pulls))
        if self.family_word in ("bernoulli", "gaussian"):
            return self.range_of(arms) / 2
        mean = self.scaled_means(arms)
        return jnp.sqrt(self.rewards.variance(mean, mean))

    def scaled_lead(self, arms: Arms, lead: Numeric) -> Lead:
        """Return an epsilon in the unit of `scaled_means`."""
        unit, lead = self._unit(arms), _lead(lead)
        return lead if isinstance(lead, StaticInt) or unit is None else lead * unit

    def scaled_means(self, arms: Arms) -> jax.Array:
        """Return means in the range of the family, `(K,)`; for known variances in standard deviations."""
        unit = self._unit(arms)
        mean = arms.mean if unit is None else arms.mean * unit
        if self.rewards is GAUSSIAN:
            return mean
        mean = jnp.maximum(mean, 0.0 if self.rewards.reaches_lowest else _LEAST)
        return jnp.minimum(mean, 1.0) if self.family_word == "bernoulli" else mean

    def _unit(self, arms: Arms) -> jax.Array | None:
        """Return the factor that scales rewards; None for no scaling."""
        if self.family_word == "gaussian":
            return 2 / self.range_of(arms)
        return 1 / self.range_of(arms) if self.family_word == "bernoulli" else None


def _lead(lead: Numeric) -> Lead:
    return lead if isinstance(lead, StaticInt) else jnp.asarray(lead, jnp.float32)
