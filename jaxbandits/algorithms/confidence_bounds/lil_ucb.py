"""lil'UCB: upper confidence bounds by the law of the iterated logarithm, until one arm has most of the pulls.

Jamieson, Malloy, Nowak, Bubeck (2014), "lil' UCB: an optimal exploration algorithm for multi-armed bandits", COLT.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits, understates
from jaxbandits.arrays.probabilities import log_of, value_of
from jaxbandits.problems.base import Problem

__all__ = ["LilUCB"]

# epsilon of the theorem's constants, and c_epsilon = ((2 + e) / e) (1 / ln(1 + e))^(1 + e).
_EPSILON = 0.01
_C = (2 + _EPSILON) / _EPSILON * math.log1p(_EPSILON) ** -(1 + _EPSILON)


@algorithm
class LilUCB(Rule):
    """Pulls the arm with the largest index; stops when an arm has 1 + lambda times the other pulls, and returns it.

    The index is mean + (1 + beta) (1 + sqrt(e)) sqrt(2 s^2 (1 + e) ln(ln((1 + e) T) / omega) / T), s = b/2, with

    * e = 0.01, beta = 1, lambda = 9, omega = (sqrt(1 + delta) - 1)^2 / (4 c_e), the constants of the theorem. The best
      arm is returned with probability at least 1 - delta;
    * `heuristic`: e = 0, beta = 1/2, lambda = 1 + 10/K, omega = delta / 5, and ln(T + 2) in place of ln((1 + e) T).
      These are the paper's constants for experiments. Nothing is proved.

    Attributes:
        delta: allowed probability of error, in (0, 1). With two best arms the run only ends at `max_pulls`.
        heuristic: the constants for experiments.
        b: range of the rewards; None takes the problem's. Rewards may be (b/2)-sub-Gaussian, too.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.LilUCB(delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    delta: Numeric = parameter("error probability")
    heuristic: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, one arm",
        variants=({}, {"heuristic": True}),
        source="Jamieson, Malloy, Nowak, Bubeck 2014",
    )

    @property
    def proved(self) -> bool:
        """Whether the constants are the theorem's."""
        return not self.heuristic

    def rate(self, problem: Problem) -> Theorem | None:
        """Return the rate of the pulls (Theorem 2); None where rewards may have a larger range than b."""
        if self.heuristic or problem.bandits > 1 or not problem.bounded:
            return None
        least = float(problem.reward_range)
        b = least if self.b is None else self.b
        if understates(b, least):
            return None
        arguments = (np.asarray(problem.mean) / b, self.delta)
        return Theorem(theory.lil_ucb_pulls_rate, arguments, "Jamieson et al. 2014, Theorem 2, a rate")

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the index of each arm; the state keeps it, since a pull changes one index only."""
        del key
        return self._index(arms, arms.mean, arms.pulls)

    def update(self, index: jax.Array, arms: Arms, arm: jax.Array, reward: jax.Array) -> jax.Array:
        """Return the indices after a reward."""
        del reward
        return index.at[arm].set(self._index(arms, arms.mean[arm], arms.pulls[arm]))

    def select(self, index: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest index."""
        del arms, key
        return jnp.argmax(index)

    def done(self, index: jax.Array, arms: Arms) -> jax.Array:
        """Return whether an arm has at least 1 + lambda times the pulls of all others."""
        del index
        most = jnp.max(arms.pulls)
        return most >= 1 + (1 + 10 / arms.count if self.heuristic else 9.0) * (arms.time - most)

    def recommend(self, index: jax.Array, arms: Arms) -> jax.Array:
        """Return the arm that was pulled most."""
        del index
        return jnp.argmax(arms.pulls)

    def _index(self, arms: Arms, mean: jax.Array, pulls: jax.Array) -> jax.Array:
        """Return mean + (1 + beta) (1 + sqrt(e)) sqrt(2 s^2 (1 + e) (ln ln((1 + e) T) + ln(1/omega)) / T), s = b/2."""
        b = self.range_of(arms)
        if self.heuristic:
            factor, grown = 1.5 * math.sqrt(0.5), jnp.log(pulls + 2)
            level = math.log(5) - log_of(self.delta)
        else:
            factor = 2 * (1 + math.sqrt(_EPSILON)) * math.sqrt((1 + _EPSILON) / 2)
            grown = jnp.log(pulls) + math.log1p(_EPSILON)
            # sqrt(1 + delta) - 1 = delta / (sqrt(1 + delta) + 1), without the difference.
            level = math.log(4 * _C) - 2 * (log_of(self.delta) - jnp.log(jnp.sqrt(1 + value_of(self.delta)) + 1))
        return mean + factor * b * jnp.sqrt((jnp.log(grown) + level) / pulls)
