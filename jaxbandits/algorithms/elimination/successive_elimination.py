"""Successive elimination with fixed confidence: SE-delta for heavy tails, and the earlier sub-Gaussian version.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI, Algorithm 1;
Even-Dar, Mannor, Mansour (2006), "Action elimination and stopping conditions", JMLR 7.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.elimination.moments_of_rewards import central_moment, finite_order, raw_moment
from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits, understates
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import (
    MOST_BATCHES,
    Catoni,
    EmpiricalMean,
    MeanEstimator,
    MedianOfMeans,
    TruncatedMean,
)

__all__ = ["SuccessiveElimination"]

# Expensive estimates are computed whenever the number of rewards has grown by about this factor.
_LOG_GROWTH = np.float32(np.log(1.1))


@algorithm
class SuccessiveElimination(Rule):
    """Pulls the surviving arms in turn; after round t drops those with an estimate 2 c_t below the largest.

    It returns the best arm with probability at least 1 - delta, as the paper argues. The paper's proof takes no union
    over t, so strictly the statement does not hold for all times at once; with `hoeffding` it does. The estimators have
    radii that hold for every arm with probability 1 - delta at one t:

    * `ea`, the empirical mean: c_t = (2 K C / (t^(p-1) delta))^(1/p) (Lemma 1); for p above 2, C_p in place of 2 C and
      p/2 in place of p - 1.
    * `tea`, the truncated mean: the i-th reward of an arm counts if its size is at most
      b_i = (B i / ln(2K/delta))^(1/p). c_t = 5 B^(1/p) (ln(2K/delta) / t)^((p-1)/p) (Lemma 1).
    * `mom`, the median of the means of k = ceil(8 ln(2K/delta)) batches, computed when all have N = t/k rewards. The
      radius is c_t = (12 C / N^(p-1))^(1/p) (Bubeck, Cesa-Bianchi, Lugosi 2013, proof of Lemma 2, without rounding
      t/k).
    * `catoni`, Catoni's M-estimator, with the radius derived at `robust_means.Catoni`. It draws all rewards again for
      every decision.
    * `hoeffding`, the empirical mean of rewards in an interval of length b: c_t = b sqrt(ln(4 K t^2 / delta) / (2t)),
      the naive choice for heavy tails.

    None takes the estimator that suits the problem. That is `tea` for heavy tails, or if a moment or a p other than 2
    is given. It is `tea` also for a table with a few extreme values: 5 sqrt(B) < b / sqrt(2), the two radii without
    their logarithms. Otherwise it is `hoeffding`. On rewards in [0, 1] the paper's `tea` takes several times the pulls
    of `hoeffding`.

    `mom` and `catoni` are expensive, and are computed when the number of rewards has grown by about a tenth.

    Attributes:
        delta: allowed probability of error, in (0, 1); for `mom` at least 2 K exp(-24).
        estimator: `ea`, `tea`, `mom`, `catoni` or `hoeffding`; None for the one that suits the problem.
        p: the moment that is bounded, above 1; above 2 the rates are those of 2.
        moment_b: B, bound of E|X|^p, positive; None takes the problem's largest (`tea`).
        moment_c: C, bound of E|X - mean|^p, positive; None takes the problem's largest (`ea`, `mom`, `catoni`).
        b: range of the rewards (`hoeffding`); None takes the problem's or the session's.

    Raises:
        UsageError: a value outside its range, or a moment that the problem does not have.

    Example:
        >>> ds = jb.simulate(jb.SuccessiveElimination(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    delta: Numeric = parameter("error probability")
    estimator: str | None = parameter(default=None, static=True, choices=("ea", "tea", "mom", "catoni", "hoeffding"))
    p: Numeric = parameter("above one", default=2.0)
    moment_b: Numeric = parameter("positive", default=None)
    moment_c: Numeric = parameter("positive", default=None)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, one arm; by Hoeffding, or, for heavy tails, with empirical or truncated means, "
        "medians of means or Catoni; the problem decides unless `estimator` does",
        source="Yu, Shao, Lyu, King 2018; Bubeck, Cesa-Bianchi, Lugosi 2013; Even-Dar, Mannor, Mansour 2006",
    )

    @property
    def _chosen(self) -> str:
        """The estimator; without a problem, the one that fits the given parameters."""
        if self.estimator is not None:
            return self.estimator
        return "hoeffding" if self.moment_b is None and self.moment_c is None else "tea"

    @property
    def _needs(self) -> str:
        return {"hoeffding": "b", "tea": "moment_b"}.get(self._chosen, "moment_c")

    @property
    def uses_range(self) -> bool:
        """Whether it counts on the range b of the rewards: by Hoeffding only."""
        return self._chosen == "hoeffding"

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str | float], ...]:
        """Give a p below the tails' index, where variances are infinite."""
        return cls.traits.variants if (order := finite_order(problem)) == 2 else ({"p": order},)

    def prepared(self) -> Self:
        """Fill in the estimator: without a problem, the one that fits the given parameters."""
        return dataclasses.replace(self, estimator=self._chosen)

    def resolved(self, problem: Problem) -> Self:
        """Fill in the estimator, and from the problem the moment or the range that it needs."""
        if self.estimator is None:
            return dataclasses.replace(self, estimator=self._suitable(problem)).resolved(problem)
        if getattr(self, self._needs) is not None:
            return self
        if self.estimator == "hoeffding":
            return dataclasses.replace(super().resolved(problem), b=float(np.asarray(problem.reward_range)))
        moment = raw_moment if self.estimator == "tea" else central_moment
        found: dict[str, Any] = {self._needs: moment(problem, self.p, type(self).__name__)}
        return dataclasses.replace(self, **found)

    def _suitable(self, problem: Problem) -> str:
        if self._chosen == "tea" or float(self.p) != 2 or (self.b is None and not problem.bounded):
            return "tea"
        if self.b is not None or not problem.has_moments:
            return "hoeffding"
        b = float(np.asarray(problem.reward_range))
        return "tea" if 5 * raw_moment(problem, 2, type(self).__name__) ** 0.5 < b / 2**0.5 else "hoeffding"

    def rate(self, problem: Problem) -> Theorem | None:
        """Return the pulls of the paper's two versions (Yu et al. 2018, Theorem 1), for moments of order at most 2.

        There are none where the moment of an arm may exceed the one that the radii are made for.
        """
        if self._chosen not in ("ea", "tea") or float(self.p) > 2 or problem.bandits > 1:
            return None
        cut = self._chosen == "tea"
        formula = theory.se_tea_pulls_bound if cut else theory.se_ea_pulls_bound
        moment = getattr(self, self._needs)
        try:
            least = (raw_moment if cut else central_moment)(problem, self.p, type(self).__name__)
        except UsageError:  # infinite or not known
            return None
        if understates(moment, least):
            return None
        return Theorem(formula, (np.asarray(problem.mean), self.delta, self.p, moment), "Yu et al. 2018, Theorem 1")

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that delta does not need too many batches."""
        super().check(arms_per_bandit, bandits)
        if self._chosen == "mom" and isinstance(self.delta, int | float):
            batches = np.ceil(8 * (np.log(2 * arms_per_bandit) - np.log(self.delta)))
            if batches > MOST_BATCHES:
                raise UsageError(
                    f"SuccessiveElimination with mom takes at most {MOST_BATCHES} batches, and delta={self.delta:g} "
                    f"needs {batches:g}"
                )

    def check_live(self) -> None:
        """Refuse Catoni's estimator, which needs the run's table of rewards."""
        if self._chosen == "catoni":
            raise UsageError(
                "SuccessiveElimination with catoni looks at all earlier rewards again, which a live experiment does "
                "not keep: use mom or tea"
            )

    def mean_estimator(self, arms: SurvivingArms) -> MeanEstimator:
        """Return the estimator of means."""
        if not self.uses_range and getattr(self, self._needs) is None:
            raise UsageError(f"SuccessiveElimination with {self._chosen} needs {self._needs}")
        order, p = self._orders
        level = self._level(arms)
        if self._chosen == "tea":  # b_i = (B i / ln(2K/delta))^(1/p)
            return TruncatedMean(jnp.log(self.moment_b) / order - jnp.log(level) / p, 1 / p)
        if self._chosen == "catoni":
            return self._catoni(arms)
        return MedianOfMeans(self._batches(arms)) if self._chosen == "mom" else EmpiricalMean()

    def due(self, arms: SurvivingArms) -> jax.Array:
        """Return whether an estimate may be 2 c_t below the largest, or whether an expensive estimate is due."""
        t = arms.round
        if self._chosen == "mom":
            k = self._batches(arms)
            return (t % k == 0) & _grown(t // k)
        if self._chosen == "catoni":
            return _grown(t) & (t >= self._catoni(arms).fewest)
        return arms.highest - arms.lowest > 2 * self._radius(arms)

    def keep(self, arms: SurvivingArms, key: jax.Array) -> jax.Array:
        """Return the arms with an estimate at most 2 c_t below the largest."""
        del key
        return jnp.max(arms.mean) - arms.mean <= 2 * self._radius(arms)

    def _radius(self, arms: SurvivingArms) -> jax.Array:
        """Return c_t."""
        t, level, log_t, (order, p) = arms.round, self._level(arms), jnp.log(arms.round), self._orders
        if self._chosen == "hoeffding":
            return self.range_of(arms) * jnp.sqrt((jnp.log(2.0) + level + 2 * log_t) / (2 * t))
        if self._chosen == "tea":  # the moment has the given order, which may exceed that of the rate
            return 5 * jnp.exp(jnp.log(self.moment_b) / order + (p - 1) / p * (jnp.log(level) - log_t))
        if self._chosen == "ea":
            # (2 K C / (t^(p-1) delta))^(1/p); above 2, (C_p K C / (t^(p/2) delta))^(1/p) with C_p^(1/p) =
            # 8 (p - 1) max(1, 2^(p-3)).
            heavy = level + jnp.log(self.moment_c)
            factor = jnp.log(8.0) + jnp.log(order - 1) + jnp.log(2.0) * jnp.maximum(order - 3, 0)
            above = factor + (heavy - jnp.log(2.0)) / order - log_t / 2
            return jnp.exp(jnp.where(order <= 2, (heavy - (p - 1) * log_t) / p, above))
        if self._chosen == "catoni":
            return self._catoni(arms).radius(t)
        n = log_t - jnp.log(self._batches(arms))  # ln N
        return jnp.exp((jnp.log(12.0) + self._log_c - (p - 1) * n) / p)

    @property
    def _orders(self) -> tuple[jax.Array, jax.Array]:
        """The order of the given moment, and the order of the rate, at most 2."""
        order = jnp.asarray(self.p, jnp.float32)
        return order, jnp.minimum(order, 2)

    @property
    def _log_c(self) -> jax.Array:
        """The logarithm of the bound C^(p/order) of the p-th moment (Jensen)."""
        order, p = self._orders
        return jnp.log(self.moment_c) * (p / order)

    def _level(self, arms: SurvivingArms) -> jax.Array:
        """Return ln(2K / delta)."""
        return jnp.log(2.0) + jnp.log(arms.count) - log_of(self.delta)

    def _batches(self, arms: SurvivingArms) -> jax.Array:
        """Return k = ceil(8 ln(2K/delta)), for `mom`."""
        return jnp.ceil(8 * self._level(arms) - 1e-4).astype(jnp.int32)

    def _catoni(self, arms: SurvivingArms) -> Catoni:
        return Catoni(self._level(arms), self._log_c, self._orders[1])


def _grown(number: jax.Array) -> jax.Array:
    """Return whether a count is the first that reaches its power of the growth factor."""
    power, before = (jnp.floor(jnp.log(n) / _LOG_GROWTH) for n in (number, jnp.maximum(number - 1, 1)))
    return (power > before) | (number == 1)
