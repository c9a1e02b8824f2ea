"""LinGame: the best of arms whose means are linear in features.

Degenne, Ménard, Shang, Valko (2020), "Gamification of pure exploration for linear bandits", ICML.

Jedra, Proutiere (2020), "Optimal best-arm identification in linear bandits", NeurIPS 33: the threshold.

Both follow public programs of these papers, and were not checked against the papers themselves.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio import glr_families as words
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.structured.linear_means import (
    basis_of,
    check_given,
    check_means,
    checked_features,
    features_of,
    information,
    inverse,
)
from jaxbandits.algorithms.structured.question import Question
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.problems.base import Problem

__all__ = ["LinGame"]

# The precision of the prior in the threshold, as in Jedra and Proutiere's experiments.
_PRIOR = 0.1


@algorithm
class LinGame(Question):
    """Finds the best arm where means are linear in known features, mean_a = x_a' theta, by best responses.

    The estimate of theta is that of least squares. V is the sum of N_a x_a x_a'. The closest alternative makes one arm
    as good as the best-looking one: it moves theta by V^-1 y times a number, with y the difference of their features.

    The default threshold is (1 + u / min N) (ln(det(V + u) / det(u)) / 2 + ln(1 / delta)), u = 0.1, in orthonormal
    features, whose first pulls give V = 1. It is Jedra and Proutiere's (2020), and does not grow with the number of
    arms. Proof: let S be the sum of the features times the noise, in standard deviations. A normal mixture of
    exp(s' S - s' V s / 2) is a supermartingale, so S' (V + u)^-1 S / 2 exceeds the second factor with probability at
    most delta. V is at least min N; so the evidence of a wrong answer, at most S' V^-1 S / 2, is less than 1 + u / min
    N times as large.

    The public programs have an AdaHedge for each answer and limit gains to ln t; here is one, and no limit.

    Attributes:
        features: `(K, d)`, a row for each arm, in the problem's order. They may span fewer than d dimensions. None
            gives each arm a parameter of its own.
        delta: as for `Question`, as is b. Rewards are normal or sub-Gaussian.
        threshold: None for the default, `self-normalized`; or `heuristic`, ln((1 + ln t) / delta), without a proof.

    Raises:
        UsageError: a value outside its range, features that are no table of finite numbers with a row for each arm.

    Example:
        >>> x = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.4]])
        >>> ds = jb.simulate(jb.LinGame(features=x, delta=0.1), jb.gaussian(x @ [1.0, 0.0], sd=0.5), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    features: Numeric = parameter(default=None, per_arm=True)
    threshold: str | None = parameter(default=None, static=True, choices=("self-normalized", "heuristic"))
    family: str | None = parameter(default="gaussian", static=True, choices=("gaussian",))
    traits = Traits(
        setting="fixed confidence, one arm; means that are linear in features",
        source="Degenne, Ménard, Shang, Valko 2020; Jedra, Proutiere 2020",
        stops_by=("delta",),
        relative_cost=22,
    )

    def prepared(self) -> Self:
        """Replace the features by orthonormal ones, with which every arm's first pull gives V = 1."""
        if self.features is None:
            return self
        return dataclasses.replace(self, features=basis_of(checked_features(type(self).__name__, self.features)))

    def resolved(self, problem: Problem) -> Self:
        """Check the rewards, replace the features, and warn of means that are not linear in them.

        Raises:
            UsageError: rewards with heavy tails, or no table of finite numbers.
        """
        found = words.for_rewards(self, problem).prepared()
        if found.features is not None:
            check_means(type(self).__name__, found.features, problem)
        return found

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check that there are features.

        Raises:
            UsageError: there are none, or several arms are to be found.
        """
        super().check_suitable(problem, m)
        check_given(self.features)

    def answer(self, means: jax.Array) -> jax.Array:
        """Return the best arm."""
        return jnp.argmax(means)

    def closest_alternative(self, means: jax.Array, shares: jax.Array) -> jax.Array:
        """Move theta until another arm is as good as the best one; arms with its features always are, and stay out."""
        x, best = features_of(self.features, len(means)), self.answer(means)
        moves = x @ inverse(information(x, shares))[0]
        spread = jnp.sum(moves * x, axis=1)
        other = jnp.any(x != x[best], axis=1)
        gaps = means[best] - means
        ways = jnp.where(other, spread[best] + spread - 2 * (moves @ x[best]), 1.0)
        rival = jnp.argmin(jnp.where(other, gaps * gaps / ways, jnp.inf))
        return means - gaps[rival] / ways[rival] * (x @ (moves[best] - moves[rival]))

    def fit(self, arms: Arms) -> tuple[jax.Array, jax.Array]:
        """Return the means by least squares, and their variances as multiples of one reward's."""
        x = features_of(self.features, len(arms))
        moves = x @ inverse(information(x, arms.pulls.astype(jnp.float32)))[0]
        return moves @ (x.T @ arms.total), jnp.sum(moves * x, axis=1)

    def boundary(self, arms: Arms) -> jax.Array:
        """Return the threshold, float32 `()`."""
        if self.threshold == "heuristic":
            return super().boundary(arms)
        x = features_of(self.features, len(arms))
        size = x.shape[1]
        prior = _PRIOR * jnp.eye(size)
        volume = inverse(information(x, arms.pulls.astype(jnp.float32)) + prior)[1] - size * jnp.log(_PRIOR)
        return (1 + _PRIOR / jnp.min(arms.pulls)) * (volume / 2 - log_of(self.delta))
