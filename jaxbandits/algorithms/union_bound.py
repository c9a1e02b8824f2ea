"""Every arm equally often, once: so often that all estimates are right at the same time.

By Hoeffding (1963), "Probability inequalities for sums of bounded random variables", and a union bound; or by medians
of means, the final round of Algorithm 1 of Sabato (2019), "Epsilon-best-arm identification in pay-per-reward
multi-armed bandits", NeurIPS, for all arms.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.batch_medians import middle_sums
from jaxbandits.algorithms.bases.joint_batches import Batches, JointBatches, whole
from jaxbandits.algorithms.bases.joint_state import RangedState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.algorithms.bases.weights import check_weights
from jaxbandits.arrays.numerics import log
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import MOST_BATCHES

__all__ = ["UnionBound"]

_LOG2 = np.float32(np.log(2.0))


@pytree
@dataclasses.dataclass(frozen=True)
class UnionBound(JointBatches):
    """Pulls every arm equally often and returns the one with the largest estimate.

    All estimates are within epsilon / 2 of the means with probability at least 1 - delta, and the arm then within
    epsilon of the best. `hoeffding` pulls ceil(2 b^2 ln(2 K / delta) / epsilon^2) times, for rewards in [0, b], and
    takes the mean. `mom` takes the median of the means of ceil(factor ln(K / delta)) batches of ceil(c3 / epsilon^2)
    pulls, for rewards that are not negative with variance <= mean <= 1, in no interval: with c3 = 96 Chebyshev's
    inequality has a batch err with probability 1/24 at most, half of q batches with exp(-0.9 q), and so all arms
    together with delta for a factor of 9/2.

    Attributes:
        epsilon: accuracy, positive.
        delta: allowed probability of error, in (0, 1).
        estimator: `hoeffding` or `mom`.
        c3: size of a batch of `mom` times epsilon^2, positive.
        factor: batches of `mom` per unit of ln(K / delta), positive.
        b: range of the rewards, for `hoeffding`; None takes the problem's.

    Raises:
        UsageError: a value outside its range; with `mom`, rewards that may be negative, an arm that breaks
            variance <= mean <= 1, or more than 192 batches.
    """

    epsilon: Numeric = parameter("positive")
    delta: Numeric = parameter("error probability")
    estimator: str = parameter(default="hoeffding", static=True, choices=("hoeffding", "mom"))
    c3: Numeric = parameter("positive", default=96.0)
    factor: Numeric = parameter("positive", default=4.5)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, 1): all arms equally often, by Hoeffding or medians of means",
        tolerance="epsilon",
        anytime=False,
        in_batches=True,
    )

    @property
    def slots(self) -> int:
        """One batch, or room for all that `mom` may need."""
        return 1 if self.estimator == "hoeffding" else MOST_BATCHES

    def resolved(self, problem: Problem) -> Self:
        """The algorithm itself.

        Raises:
            UsageError: rewards that the estimator is not for.
        """
        if self.estimator == "hoeffding":
            return super().resolved(problem)
        check_weights(type(self).__name__, problem)
        return self

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Whether the hyperparameters fit a problem.

        Raises:
            UsageError: several bandits, or more batches than there is room for.
        """
        super().check(arms_per_bandit, bandits)
        wanted = float(np.max(np.asarray(self.factor) * (np.log(arms_per_bandit) - np.log(np.asarray(self.delta)))))
        if self.estimator == "mom" and wanted > MOST_BATCHES:
            raise UsageError(
                f"UnionBound: mom needs {wanted:.0f} batches, at most {MOST_BATCHES} fit: a smaller factor"
            )

    def start(self, problem: Problem, key: jax.Array) -> RangedState:
        """The state before the first pull."""
        return RangedState.of(problem, key, self.b)

    def size(self, state: RangedState) -> jax.Array:
        """All pulls of an arm, or those in a batch."""
        if self.estimator == "mom":
            return whole(self.c3 / (self.epsilon * jnp.asarray(self.epsilon, jnp.float32)))
        epsilon = self.epsilon * (1 / state.b)
        return whole(2 / (epsilon * epsilon) * (_LOG2 + self._level(state)))

    def number(self, state: RangedState) -> jax.Array:
        """Batches."""
        return super().number(state) if self.estimator == "hoeffding" else whole(self.factor * self._level(state))

    def _level(self, state: RangedState) -> jax.Array:
        """ln(K / delta), float32 `(…)`; before the first pull all arms are active."""
        return log(state.count) - log_of(self.delta)

    def absorb(
        self, state: RangedState, batches: Batches, sums: jax.Array, live: jax.Array | bool = True
    ) -> RangedState:
        """The state after all pulls."""
        live = jnp.broadcast_to(live, state.ended.shape)
        estimates = middle_sums(sums, jnp.where(live, batches.number, 1))  # times twice the pulls
        new = dataclasses.replace(state, values=jnp.where(live, estimates, state.values))
        return dataclasses.replace(new, active=jnp.where(live, new.best(), state.active), ended=state.ended | live)
