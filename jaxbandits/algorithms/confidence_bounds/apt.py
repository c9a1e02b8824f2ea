"""APT, "An optimal algorithm for the thresholding bandit problem": Locatelli, Gutzeit, Carpentier (2016), ICML."""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import ANY, Traits

__all__ = ["APT"]


@algorithm
class APT(Rule):
    """Pulls the arm of which it is least sure on which side of the threshold it lies; returns those above.

    An answer may have any number of arms. It is correct if it has all arms with a mean of at least threshold + epsilon,
    and none with a mean below threshold - epsilon (section 2). The sampling does not depend on the budget.

    Attributes:
        budget: number of pulls, at least K.
        threshold: tau, any number.
        epsilon: accuracy, not negative.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.APT(budget=100, threshold=0.6), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    threshold: Numeric = parameter("finite")
    epsilon: Numeric = parameter("not negative", default=0.0)

    traits = Traits(
        setting="fixed budget, the arms above a threshold",
        source="Locatelli, Gutzeit, Carpentier 2016",
        answers=ANY,
        criterion="above-threshold",
        tolerance="epsilon",
    )

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the smallest B_i = sqrt(T_i) (|mean_i - tau| + epsilon) (Algorithm 1)."""
        del key
        return jnp.argmin(jnp.sqrt(arms.pulls) * (jnp.abs(arms.mean - self.threshold) + self.epsilon))

    def done(self, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        return arms.time >= self.budget

    def recommend(self, arms: Arms) -> jax.Array:
        """Return the arms whose mean is at least tau."""
        return arms.mean >= self.threshold
