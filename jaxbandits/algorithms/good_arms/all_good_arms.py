"""Find all epsilon-good arms: those whose mean is at least best - epsilon, or at least (1 - epsilon) best.

Mason, Jain, Tripathy, Nowak (2020), "Finding all epsilon-good arms in stochastic bandits", NeurIPS 33.
"""

import dataclasses
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.traits import ANY, Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.checks import is_number
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.theory.answer_sets import lower_line

__all__ = ["AllGoodArms", "Bounds"]


class Bounds(NamedTuple):
    """What is known of the arms by their confidence intervals, float32 or bool `(K,)` each."""

    lower: jax.Array
    upper: jax.Array
    good: jax.Array  # the arm is (epsilon + gamma)-good
    bad: jax.Array  # the arm is not epsilon-good


@dataclasses.dataclass(frozen=True)
class AllGoodArms(Rule):
    """Intervals mean +- b sqrt(ln(K log2(2N) / delta) / N), and a line between good and bad arms.

    They hold at all times with probability at least 1 - delta for delta / K <= 0.29 and (b/2)-sub-Gaussian rewards.
    In each slice [3^k, 3^(k+1)) of N a line lies below the boundary, and a martingale crosses it too seldom.
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    gamma: Numeric = parameter("not negative", default=0.0)
    multiplicative: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)

    traits = Traits(
        setting="fixed confidence, all epsilon-good arms",
        source="Mason, Jain, Tripathy, Nowak 2020",
        answers=ANY,
        criterion="all-good",
        tolerance="gamma",
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check that the hyperparameters fit a problem.

        Raises:
            UsageError: as in every algorithm, or a multiplicative epsilon of 1 or more.
        """
        super().check(arms_per_bandit, bandits)
        if self.multiplicative and is_number(self.epsilon) and self.epsilon >= 1:
            raise UsageError(f"{type(self).__name__}: a multiplicative epsilon must be below 1, got {self.epsilon:g}")

    def resolved(self, problem: Problem) -> Self:
        """Fill in the problem's range.

        Raises:
            UsageError: the range is not known; or with `multiplicative` all means are negative, and the line is above
                the best.
        """
        if self.multiplicative and not problem.drawn and (best := float(np.max(problem.mean))) < 0:
            raise UsageError(
                f"{type(self).__name__}: with a multiplicative epsilon the best mean must not be negative, got {best:g}"
            )
        return super().resolved(problem)

    def bounds(self, mean: jax.Array, radius: jax.Array, among: jax.Array | None = None) -> Bounds:
        """Return what the intervals mean +- radius say; the best arm is among some, bool `(K,)`, or all."""
        lower, upper = mean - radius, mean + radius
        highest, lowest = (x if among is None else jnp.where(among, x, -jnp.inf) for x in (upper, lower))
        good = lower > self.line(jnp.max(highest), self.gamma)
        return Bounds(lower, upper, good, upper < self.line(jnp.max(lowest)))

    def line(self, best: jax.Array, gamma: Numeric = 0.0) -> jax.Array:
        """Return the smallest mean of an (epsilon + gamma)-good arm if the best mean is `best`."""
        return lower_line(best, self.epsilon + gamma, self.multiplicative)

    def radius(self, arms: Arms, pulls: jax.Array, events: float = 1.0) -> jax.Array:
        """Return b sqrt(ln(events K log2(2N) / delta) / N) of some arms by their pulls N."""
        level = jnp.log(events * arms.count) - log_of(self.delta) + jnp.log(1 + jnp.log2(pulls))
        return self.range_of(arms) * jnp.sqrt(level / pulls)
