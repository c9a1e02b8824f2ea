"""Successive elimination with fixed confidence: SE-delta for heavy tails, and its sub-Gaussian forerunner.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI, Algorithm 1;
Even-Dar, Mannor, Mansour (2006), "Action elimination and stopping conditions", JMLR 7.
"""

import dataclasses
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.elimination import Elimination, EliminationState
from jaxbandits.algorithms.moments import central_moment, raw_moment
from jaxbandits.algorithms.protocol import Numeric, parameter
from jaxbandits.errors import UsageError
from jaxbandits.numerics import exp, log, rounded
from jaxbandits.problems.base import Problem
from jaxbandits.pytrees import pytree

__all__ = ["SuccessiveElimination"]


class _Plan(NamedTuple):
    """A radius exp(level - slope ln t) and thresholds exp(cut + ln(i) / p); for Hoeffding's, ln(4K/delta) and ln b."""

    level: jax.Array  # float32 (…)
    slope: jax.Array  # float32 (…)
    cut: jax.Array  # float32 (…)
    inverse_p: jax.Array  # float32 (…)


@pytree
@dataclasses.dataclass(frozen=True)
class SuccessiveElimination(Elimination):
    """Pulls the surviving arms in turn; after round t drops those with an estimate 2 c_t below the largest.

    Returns the best arm with probability at least 1 - delta as the paper argues; its proof takes no union over t, so
    the statement is not strictly one for all times (with `hoeffding` it is). Estimators and radii (Lemma 1):

    * `ea`, empirical mean: c_t = (2 K C / (t^(p-1) delta))^(1/p);
    * `tea`, the i-th reward of an arm counts where it is at most b_i = (B i / ln(2K/delta))^(1/p) in size:
      c_t = 5 B^(1/p) (ln(2K/delta) / t)^((p-1)/p);
    * `hoeffding`, empirical mean of rewards in an interval of length b: c_t = b sqrt(ln(4 K t^2 / delta) / (2t)), the
      naive choice where tails are heavy.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        estimator: `ea`, `tea` or `hoeffding`.
        p: the moment that is bounded, above 1; above 2 the rates are those of 2, as in the paper for `tea`.
        moment_b: B, bound of E|X|^p, positive; None takes the problem's largest (`tea`).
        moment_c: C, bound of E|X - mean|^p, positive; None takes the problem's largest (`ea`).
        b: range of the rewards (`hoeffding`); None takes the problem's.

    Raises:
        UsageError: a value outside its range, or a moment that the problem does not have.
    """

    delta: Numeric = parameter("probability")
    estimator: str = parameter(default="tea", static=True, choices=("ea", "tea", "hoeffding"))
    p: Numeric = parameter("above one", default=2.0)
    moment_b: Numeric = parameter("positive", default=None)
    moment_c: Numeric = parameter("positive", default=None)
    b: Numeric = parameter("positive", default=None)
    anytime = True

    def resolved(self, problem: Problem) -> Self:
        """With the moment or the range that the estimator needs, from the problem."""
        if self.estimator == "hoeffding" and self.b is None:
            return dataclasses.replace(super().resolved(problem), b=float(np.asarray(problem.reward_range)))
        if self.estimator == "ea" and self.moment_c is None:
            return dataclasses.replace(self, moment_c=central_moment(problem, self.p, type(self).__name__))
        if self.estimator == "tea" and self.moment_b is None:
            return dataclasses.replace(self, moment_b=raw_moment(problem, self.p, type(self).__name__))
        return self

    def _plan(self, state: EliminationState) -> _Plan:
        log_delta, log_arms = log(self.delta), log(state.arms)
        p = jnp.minimum(jnp.asarray(self.p, jnp.float32), 2.0)
        zero = jnp.zeros_like(log_arms)
        if self.estimator == "hoeffding":
            if self.b is None:
                raise UsageError("SuccessiveElimination with hoeffding needs b")
            return _Plan(jnp.float32(np.log(4.0)) + log_arms - log_delta, zero, log(self.b) + zero, zero)
        level = jnp.float32(np.log(2.0)) + log_arms - log_delta  # ln(2K / delta)
        if self.estimator == "ea":
            if self.moment_c is None:
                raise UsageError("SuccessiveElimination with ea needs moment_c")
            # (2 K C / (t^(p-1) delta))^(1/p)
            return _Plan((level + log(self.moment_c)) / p, (p - 1) / p + zero, zero, zero)
        if self.moment_b is None:
            raise UsageError("SuccessiveElimination with tea needs moment_b")
        # The moment is of order self.p, whatever the rate: B^(1/p) with the same p in both.
        root = log(self.moment_b) / self.p
        slope = (p - 1) / p
        # 5 B^(1/p) (ln(2K/delta) / t)^((p-1)/p), and b_i = (B i / ln(2K/delta))^(1/p)
        radius = jnp.float32(np.log(5.0)) + root + slope * log(level)
        return _Plan(radius, slope + zero, root - log(level) / p, 1 / p + zero)

    def _contribution(self, plan: _Plan, reward: jax.Array, number: jax.Array) -> jax.Array:
        if self.estimator != "tea":
            return reward
        threshold = exp(plan.cut + rounded(plan.inverse_p * log(number)))  # b_i, i the reward's own number
        return jnp.where(jnp.abs(reward) <= threshold, reward, 0)

    def _due(self, state: EliminationState) -> jax.Array:
        return state.highest - state.lowest > self._allowance(state)

    def _kept(self, state: EliminationState) -> tuple[jax.Array, Any]:
        return state.highest - state.estimates <= self._allowance(state), state.plan

    def _allowance(self, state: EliminationState) -> jax.Array:
        """2 c_t, float32 `(…)`."""
        plan, log_t = state.plan, log(state.round)
        if self.estimator == "hoeffding":
            ratio = (plan.level + 2 * log_t) / (2 * state.round.astype(jnp.float32))
            return 2 * exp(plan.cut) * jnp.sqrt(ratio)
        return 2 * exp(plan.level - rounded(plan.slope * log_t))
