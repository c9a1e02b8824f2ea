"""APGAI: Jourdan, Delahaye-Duriez, Réda (2023), "An anytime algorithm for good arm identification", arXiv."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import ANY, Traits
from jaxbandits.arrays.probabilities import log_of

__all__ = ["APGAIb", "APGAIc"]

_SOURCE = "Jourdan, Delahaye-Duriez, Réda 2023"


class _APGAI(Rule):
    """Pulls the arm with the largest sqrt(N) (mean - threshold), and returns it if its mean is above the threshold.

    That is the arm with the most evidence of a good arm while some mean is above the threshold, and else the arm with
    the least evidence against one.
    """

    threshold: Numeric

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest sqrt(N) (mean - threshold)."""
        del key
        return jnp.argmax(self._evidence(arms))

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the arm with the largest sqrt(N) (mean - threshold) if that is positive, else no arm."""
        evidence = self._evidence(arms)
        return jnp.zeros(len(arms), bool).at[jnp.argmax(evidence)].set(jnp.max(evidence) > 0)

    def _evidence(self, arms: Arms) -> jax.Array:
        """Return sqrt(N) (mean - threshold) of each arm."""
        return (arms.mean - self.threshold) / arms.inverse_root


@algorithm
class APGAIb(_APGAI):
    """APGAI with a budget: one arm above a threshold, or none.

    The sampling does not depend on the budget: the answers at checkpoints are those of smaller budgets.

    Attributes:
        budget: number of pulls, at least K.
        threshold: an arm is good if its mean is at least this.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.APGAIb(budget=100, threshold=0.6), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    threshold: Numeric = parameter("finite")
    traits = Traits(
        setting="fixed budget, one arm above a threshold or none",
        source=_SOURCE,
        answers=ANY,
        criterion="one-above-threshold",
    )

    def done(self, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        return arms.time >= self.budget


@algorithm
class APGAIc(_APGAI):
    """APGAI with fixed confidence: one arm above a threshold, or none, by a generalised likelihood ratio test.

    A run stops when z = N (mean - threshold)^2 / (b/2)^2 of the pulled arm is large: z - ln z >= 2 ln(K / delta) +
    4 ln(4 + ln t) + 1/2 after t pulls, z > 1. The answer is wrong with probability at most delta for rewards in
    [0, b], or (b/2)-sub-Gaussian ones: a mixture of martingales in each slice [e^i, e^(i+1)) of N proves it.

    Attributes:
        delta: allowed probability of error, in (0, 1).
        threshold: an arm is good if its mean is at least this. If the largest mean equals it, a run cannot end.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.APGAIc(delta=0.1, threshold=0.6), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    delta: Numeric = parameter("error probability")
    threshold: Numeric = parameter("finite")
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, one arm above a threshold or none",
        source=_SOURCE,
        answers=ANY,
        criterion="one-above-threshold",
    )

    def done(self, arms: Arms) -> jax.Array:
        """Return whether z - ln z has reached its threshold."""
        b = self.range_of(arms)
        z = (2 * jnp.max(self._evidence(arms)) / b) ** 2
        level = 2 * (jnp.log(arms.count) - log_of(self.delta)) + 4 * jnp.log(4 + jnp.log(arms.time)) + 0.5
        return (z > 1) & (z - jnp.log(z) >= level)
