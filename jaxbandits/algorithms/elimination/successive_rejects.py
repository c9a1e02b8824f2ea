"""Successive Rejects with a fixed budget, also with estimators for heavy tails (SR-T).

Audibert, Bubeck, Munos (2010), "Best arm identification in multi-armed bandits", COLT, Figure 3;
Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI, Algorithm 2.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.elimination.moments_of_rewards import central_moment, raw_moment
from jaxbandits.algorithms.elimination.rejects_phases import ceil_share, rejects_share
from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits, understates
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import EmpiricalMean, MeanEstimator, MedianOfMeans, TruncatedMean

__all__ = ["SuccessiveRejects"]


@algorithm
class SuccessiveRejects(Rule):
    """K - 1 phases; at the end of phase k every surviving arm has n_k pulls, and the one with the least estimate goes.

    n_k = ceil((T - K) / (Kbar (K + 1 - k))) with Kbar = 1/2 + sum_{i=2}^K 1/i (`harmonic="half"`, Audibert et al. 2010)
    or sum_{i=1}^K 1/i (`full`, Yu et al. 2018). `full` leaves some of the budget unused: a seventh with 20 arms. The
    n_k are exact integers for every budget.

    Attributes:
        budget: number of pulls T, at least K.
        estimator: `ea`, empirical means; `tea`, truncated means: rewards above b = (3 B p / gap)^(1/(p-1)) in size
            count as 0; `mom`, the median of the means of batches.
        p: the moment that is bounded, above 1 (`tea`); above 2, b is that of 2, with B^(2/p) in place of B.
        moment_b: B, bound of E|X|^p, positive; None takes the problem's largest (`tea`).
        gap: the gap in b, positive; None takes the problem's smallest: an oracle (`tea`).
        threshold: b itself, positive, in place of the three.
        batches: number of batches (`mom`), at most the number of rewards.
        harmonic: `half` or `full`; the theorems of Yu et al. hold for `full`.

    Raises:
        UsageError: a value outside its range, or a moment that the problem does not have.

    Example:
        >>> ds = jb.simulate(jb.SuccessiveRejects(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    estimator: str = parameter(default="ea", static=True, choices=("ea", "tea", "mom"))
    p: Numeric = parameter("above one", default=2.0)
    moment_b: Numeric = parameter("positive", default=None)
    gap: Numeric = parameter("positive", default=None)
    threshold: Numeric = parameter("positive", default=None)
    batches: int = parameter("count", default=5, static=True)
    harmonic: str = parameter(default="half", static=True, choices=("half", "full"))
    traits = Traits(
        setting="fixed budget, one arm; empirical or truncated means, medians of means; `harmonic='full'` for the "
        "phases of Yu et al.",
        source="Audibert, Bubeck, Munos 2010; Yu et al. 2018",
        anytime=False,
    )

    def resolved(self, problem: Problem) -> Self:
        """Fill in the threshold that the estimator needs, from the problem."""
        if self.estimator != "tea" or self.threshold is not None:
            return self
        return dataclasses.replace(self, threshold=_threshold(*self._moment_and_gap(problem)))

    def _moment_and_gap(self, problem: Problem) -> tuple[float, float, float]:
        """Return p, B and the gap, as given or of the problem."""
        p = min(float(self.p), 2.0)
        if self.moment_b is None:
            moment = raw_moment(problem, p, type(self).__name__)
        else:  # of the given order; Jensen
            moment = float(self.moment_b) ** (p / float(self.p))
        if self.gap is not None:
            return p, moment, float(self.gap)
        best = np.sort(np.asarray(problem.mean, np.float64))[::-1]
        gap = float(best[0] - best[1])
        if gap <= 0:
            raise UsageError("SuccessiveRejects: two arms share the largest mean, so there is no gap to take: give gap")
        return p, moment, gap

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 2 of Audibert et al., for empirical means and their phases."""
        del variances, delta, epsilon
        if (self.estimator, self.harmonic, m) != ("ea", "half", 1):
            return None
        bound = theory.successive_rejects_error_bound
        return Theorem(bound, (means / b, self.budget), "Audibert et al. 2010, Theorem 2")

    def theorem_of_moments(self, problem: Problem) -> Theorem | None:
        """Return Theorem 2 of Yu et al.; it holds for phases of `half`, too, which are longer than those of `full`."""
        means, source = np.asarray(problem.mean), "Yu et al. 2018, Theorem 2"
        try:
            if self.estimator == "ea":
                c = central_moment(problem, 2, type(self).__name__)
                return Theorem(theory.sr_ea_error_bound, (means, self.budget, 2.0, c), source)
            p, moment, gap = self._moment_and_gap(problem)
            least = raw_moment(problem, p, type(self).__name__)
        except UsageError:  # a moment that is infinite or not known, or no gap
            return None
        promised = self.estimator == "tea" and np.isclose(self.threshold, _threshold(p, moment, gap), rtol=1e-5)
        if not promised or understates(moment, least):
            return None
        return Theorem(theory.sr_tea_error_bound, (means, self.budget, p, moment, gap), source)

    def init(self, arms: SurvivingArms, key: jax.Array) -> jax.Array:
        """Return ceil((T - K) / Kbar), from which n_k follows."""
        del key
        return rejects_share(self.budget, arms.count, len(arms), half=self.harmonic == "half")

    def rounds(self, share: jax.Array, arms: SurvivingArms) -> jax.Array:
        """Return n_k less the pulls so far; in phase k, K + 1 - k arms are left."""
        return ceil_share(share, arms.left) - arms.round

    def keep(self, share: jax.Array, arms: SurvivingArms, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the arms without the one with the least estimate."""
        del key
        worst = jnp.argmin(jnp.where(arms.active, arms.mean, jnp.inf))
        return share, arms.active & (jnp.arange(len(arms)) != worst)

    def mean_estimator(self, share: jax.Array, arms: SurvivingArms) -> MeanEstimator:
        """Return the estimator of means."""
        del share, arms
        if self.estimator == "ea":
            return EmpiricalMean()
        if self.estimator == "mom":
            return MedianOfMeans(jnp.int32(self.batches), slots=self.batches)
        if self.threshold is None:
            raise UsageError("SuccessiveRejects with tea needs threshold, or moment_b and gap of a problem")
        return TruncatedMean(jnp.log(self.threshold), jnp.float32(0))


def _threshold(p: float, moment: float, gap: float) -> float:
    """Return b = (3 B p / gap)^(1/(p-1)) (Yu et al. 2018, section 4); beyond 10^30 nothing is cut."""
    return float(np.exp(min(np.log(3 * moment * p / gap) / (p - 1), np.log(1e30))))
