"""LSA: Tao, Blanco, Peng, Zhou (2019), "Thresholding bandit with optimal aggregate regret", NeurIPS 32."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import ANY, Traits

__all__ = ["LSA"]


@algorithm
class LSA(Rule):
    """Pulls the arm with the least evidence, and prefers arms with few pulls; returns those above the threshold.

    The index alpha T_i ((|mean_i - threshold| + epsilon) / b)^2 + ln(T_i) / 2 aims at few wrong arms on average, where
    APT aims at no wrong arm. The sampling does not depend on the budget. It follows public programs, with their alpha,
    and was not checked against the paper; there, b = 1.

    Attributes:
        budget: number of pulls, at least K.
        threshold: any number.
        epsilon: accuracy, not negative.
        alpha: weight of the evidence, positive.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.LSA(budget=100, threshold=0.6), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    threshold: Numeric = parameter("finite")
    epsilon: Numeric = parameter("not negative", default=0.0)
    alpha: Numeric = parameter("positive", default=1.0)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, the arms above a threshold, few wrong ones on average",
        source="Tao, Blanco, Peng, Zhou 2019",
        answers=ANY,
        criterion="above-threshold",
        tolerance="epsilon",
    )

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the index of each arm; the state keeps it, since a pull changes one index only."""
        del key
        return self._index(arms, arms.mean, arms.pulls)

    def update(self, index: jax.Array, arms: Arms, arm: jax.Array, reward: jax.Array) -> jax.Array:
        """Return the indices after a reward."""
        del reward
        return index.at[arm].set(self._index(arms, arms.mean[arm], arms.pulls[arm]))

    def select(self, index: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the smallest index."""
        del arms, key
        return jnp.argmin(index)

    def done(self, index: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del index
        return arms.time >= self.budget

    def recommend(self, index: jax.Array, arms: Arms) -> jax.Array:
        """Return the arms whose mean is at least the threshold."""
        del index
        return arms.mean >= self.threshold

    def _index(self, arms: Arms, mean: jax.Array, pulls: jax.Array) -> jax.Array:
        """Return alpha T ((|mean - threshold| + epsilon) / b)^2 + ln(T) / 2."""
        b = self.range_of(arms)
        gap = (jnp.abs(mean - self.threshold) + self.epsilon) / b
        return self.alpha * pulls * gap**2 + jnp.log(pulls) / 2
