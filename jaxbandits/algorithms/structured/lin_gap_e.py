"""LinGapE: Xu, Honda, Sugiyama (2018), "A fully adaptive algorithm for pure exploration in linear bandits", AISTATS."""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.structured.linear_means import (
    check_given,
    check_length,
    check_means,
    checked_features,
    features_of,
    information,
    inverse,
    on_own_axes,
)
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.problems.base import Problem

__all__ = ["LinGapE"]


class _Pair(NamedTuple):
    """The best-looking arm and its rival."""

    best: jax.Array
    rival: jax.Array
    bound: jax.Array  # float32 (): by how much the rival may be better
    moves: jax.Array  # float32 (K, d): x' A^-1
    spread: jax.Array  # float32 (K,): x' A^-1 x


@algorithm
class LinGapE(Rule):
    """LinGapE: pulls the arm that narrows the interval of the gap between the best-looking arm and its rival most.

    A is ridge + the sum of N x x', theta the ridge estimate. The interval of a gap y' theta has the radius
    sqrt(y' A^-1 y) C, C = R sqrt(2 ln(K^2 det(A / ridge)^(1/2) / delta)) + sqrt(ridge) S, R = b/2. The rival is the arm
    whose gap may be largest. A run ends when that is at most epsilon. The pulled arm minimises y' (A + x x')^-1 y, the
    greedy variant of the paper.

    It follows the paper's public programs, and was not checked against the paper itself. Those are without arms that
    tie with the best-looking one; here the rival is never that arm itself.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        features: `(K, d)`, a row for each arm, in the problem's order. None gives each arm a parameter of its own.
        epsilon: accuracy, not negative.
        ridge: lambda, positive.
        norm: S, an upper bound of the length of theta, positive. The guarantee needs it: a simulation warns of one that
            is too small. Without features, theta is the means.
        b: range of the rewards, or twice their standard deviation; None takes the problem's.

    Raises:
        UsageError: a value outside its range, features that are no table of finite numbers with a row for each arm.

    Example:
        >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.4]])
        >>> ds = jb.simulate(jb.LinGapE(features=x, delta=0.1), jb.gaussian(x @ [1.0, 0.0], sd=0.5), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    delta: Numeric = parameter("error probability")
    features: Numeric = parameter(default=None, per_arm=True)
    epsilon: Numeric = parameter("not negative", default=0.0)
    ridge: Numeric = parameter("positive", default=1.0)
    norm: Numeric = parameter("positive", default=1.0)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, ε, one arm; means that are linear in features",
        source="Xu, Honda, Sugiyama 2018",
        tolerance="epsilon",
        relative_cost=11,
    )

    def prepared(self) -> Self:
        """Check the features, and turn them where float32 needs it."""
        if self.features is None:
            return self
        return dataclasses.replace(self, features=on_own_axes(checked_features(type(self).__name__, self.features)))

    def resolved(self, problem: Problem) -> Self:
        """Check the rewards and the features, and warn of a `norm` that is too small.

        Raises:
            UsageError: rewards with heavy tails, or no table of finite numbers.
        """
        found = super().resolved(problem).prepared()
        check_means(type(self).__name__, found._table(problem.arms), problem, self.norm)
        return found

    def check_norm(self, means: np.ndarray) -> None:
        """Warn where means `(K,)`, such as estimated ones, have a longer theta than `norm` allows."""
        check_length(type(self).__name__, self._table(len(means)), means, self.norm)

    def _table(self, arms: int) -> np.ndarray:
        """Return the features; without any, those that give each arm a parameter of its own."""
        return np.eye(arms) if self.features is None else np.asarray(self.features)

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check that there are features.

        Raises:
            UsageError: there are none, or several arms are to be found.
        """
        super().check_suitable(problem, m)
        check_given(self.features)

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm whose next reward narrows the interval most."""
        del key
        pair, x = self._pair(arms), features_of(self.features, len(arms))
        across = pair.moves @ (x[pair.best] - x[pair.rival])
        return jnp.argmax(across * across / (1 + pair.spread))

    def done(self, arms: Arms) -> jax.Array:
        """Return whether no arm may be better by more than epsilon."""
        return self._pair(arms).bound <= self.epsilon

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the best-looking arm."""
        return self._pair(arms).best

    def _pair(self, arms: Arms) -> _Pair:
        x, b = features_of(self.features, len(arms)), self.range_of(arms)
        size = x.shape[1]
        inverted, volume = inverse(information(x, arms.pulls.astype(jnp.float32)) + self.ridge * jnp.eye(size))
        moves = x @ inverted
        means, spread = moves @ (x.T @ arms.total), jnp.sum(moves * x, axis=1)
        best = jnp.argmax(means)
        ways = jnp.maximum(spread + spread[best] - 2 * (moves @ x[best]), 0.0)
        level = 2 * jnp.log(arms.count) - log_of(self.delta) + (volume - size * jnp.log(self.ridge)) / 2
        width = b / 2 * jnp.sqrt(2 * level) + jnp.sqrt(self.ridge) * self.norm
        index = jnp.where(jnp.arange(len(arms)) == best, -jnp.inf, means - means[best] + jnp.sqrt(ways) * width)
        rival = jnp.argmax(index)
        return _Pair(best, rival, index[rival], moves, spread)
