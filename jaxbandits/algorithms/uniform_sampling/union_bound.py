"""Pull every arm equally often, in one batch, so often that all estimates are right at the same time.

The number of pulls is from Hoeffding (1963), "Probability inequalities for sums of bounded random variables", and a
union bound. Or estimates are medians of means, as in the final round of Algorithm 1 of Sabato (2019),
"Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS.
"""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import Numeric, parameter, reaches
from jaxbandits.algorithms.protocol import Arms, Batches, Rule, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.algorithms.uniform_sampling.batch_medians import twice_median
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.algorithms.uniform_sampling.weight_bounds import check_weights
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.robust_means import MOST_BATCHES

__all__ = ["UnionBound"]


class _State(NamedTuple):
    pulled: jax.Array  # bool (): whether all pulls are made
    best: jax.Array  # int32 (): the arm with the largest estimate


@algorithm
class UnionBound(Rule):
    """Pulls every arm equally often and returns the one with the largest estimate.

    All estimates are within epsilon / 2 of the means with probability at least 1 - delta. The arm is then within
    epsilon of the best.

    `hoeffding` pulls ceil(2 b^2 ln(2 K / delta) / epsilon^2) times, for rewards in [0, b], and takes the mean.

    `mom` takes the median of the means of ceil(factor ln(K / delta)) batches of ceil(c3 / epsilon^2) pulls. Rewards
    must not be negative, with variance <= mean <= 1; they need no upper bound. With c3 = 96 a batch errs with
    probability at most 1/24, by Chebyshev's inequality. Half of q batches err with probability at most exp(-0.9 q). So
    with a factor of 9/2 any arm errs with probability at most delta. Smaller constants have no proof.

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

    Example:
        >>> ds = jb.simulate(jb.UnionBound(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
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
    )

    initial_pulls = 0
    fresh_only = True

    @property
    def proved(self) -> bool:
        """Whether batches are large and many enough."""
        return self.estimator == "hoeffding" or (reaches(self.c3, 96) and reaches(self.factor, 4.5))

    @property
    def slots(self) -> int:  # type: ignore[override]
        """The most batches of a request: one, or room for all that `mom` may need."""
        return 1 if self.estimator == "hoeffding" else MOST_BATCHES

    def resolved(self, problem: Problem) -> Self:
        """Check the rewards, and return the algorithm itself.

        Raises:
            UsageError: the estimator is not for these rewards.
        """
        if self.estimator == "hoeffding":
            return super().resolved(problem)
        check_weights(type(self).__name__, problem)
        return self

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check that the hyperparameters fit a problem.

        Raises:
            UsageError: several bandits, or more batches than there is room for.
        """
        super().check(arms_per_bandit, bandits)
        wanted = float(np.max(np.asarray(self.factor) * (np.log(arms_per_bandit) - np.log(np.asarray(self.delta)))))
        if self.estimator == "mom" and wanted > MOST_BATCHES:
            raise UsageError(
                f"UnionBound: mom needs {wanted:.0f} batches, at most {MOST_BATCHES} fit: give a smaller factor"
            )

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state before the first pull."""
        del arms, key
        return _State(jnp.bool_(False), jnp.int32(0))

    def request(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array | Batches:
        """Return all pulls of each arm, or those in each of the batches."""
        del state, key
        level, everyone = jnp.log(arms.count) - log_of(self.delta), jnp.ones(len(arms), int)  # ln(K / delta)
        if self.estimator == "mom":
            return Batches(everyone * as_count(self.c3 / self.epsilon**2), as_count(self.factor * level))
        b = self.range_of(arms)
        return everyone * as_count(2 / (self.epsilon / b) ** 2 * (jnp.log(2.0) + level))

    def absorb(self, state: _State, arms: Arms, counts: jax.Array | Batches, sums: jax.Array) -> _State:
        """Return the state after all pulls."""
        del state, arms
        estimates = twice_median(sums, counts.number) if isinstance(counts, Batches) else sums
        return _State(jnp.bool_(True), jnp.argmax(estimates))

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether all pulls are made."""
        del arms
        return state.pulled

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the arm with the largest estimate."""
        del arms
        return state.best
