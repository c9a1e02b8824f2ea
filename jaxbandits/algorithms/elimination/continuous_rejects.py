"""Continuous Rejects of Wang, Tzeng, Proutiere (2023), NeurIPS.

It follows public programs, and was not checked against the paper.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["ContinuousRejects"]


@algorithm
class ContinuousRejects(Rule):
    """CR-A: pulls the candidate with the fewest pulls, and drops the worst one when the others lead by enough.

    Before every pull, the worst of j > 2 candidates C, l, is dropped if two conditions hold. The average mean of the
    others (CR-C: their least mean) exceeds its own by more than beta^(-1/2) - 1 ranges of the rewards. And N_l exceeds
    the pulls of each dropped arm. Here beta = (sum_C N) logbar(j) / (T - sum_{not C} N), with logbar(j) = 1/2 +
    sum_{i=2}^j 1/i.

    Attributes:
        budget: number of pulls T, at least K.
        conservative: whether it is CR-C.
        b: range of the rewards; None for the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> bool(jb.simulate(jb.ContinuousRejects(budget=100), jb.bernoulli([0.9, 0.2]), seeds=5).correct.all())
        True
    """

    budget: Numeric = parameter("count")
    conservative: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(setting="fixed budget, one arm", source="Wang et al. 2023", anytime=False)

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the candidates, bool `(K,)`."""
        return self.update(jnp.ones(len(arms), bool), arms, key, key)

    def update(self, alive: jax.Array, arms: Arms, arm: jax.Array, reward: jax.Array) -> jax.Array:
        """Return the candidates without the dropped one."""
        del arm, reward
        number, left, spent = jnp.arange(len(arms)), jnp.sum(alive), jnp.sum(arms.pulls, where=alive)
        worst = jnp.argmin(jnp.where(alive, arms.mean, jnp.inf))
        b = self.range_of(arms)
        others, ahead = alive & (number != worst), (arms.mean - arms.mean[worst]) / b
        gap = jnp.min(ahead, where=others, initial=jnp.inf) if self.conservative else jnp.mean(ahead, where=others)
        scale = spent * (jnp.sum(1 / (number + 1), where=number < left) - 0.5)
        far = gap + 1 > jnp.sqrt((self.budget - arms.time + spent) / scale)
        goes = far & (left > 2) & (arms.pulls[worst] > jnp.max(arms.pulls, where=~alive, initial=0))
        return alive & ~(goes & (number == worst))

    def select(self, alive: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the candidate with the fewest pulls."""
        del key
        return jnp.argmin(jnp.where(alive, arms.pulls, self.budget))

    def done(self, alive: jax.Array, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del alive
        return arms.time >= self.budget

    def recommend(self, alive: jax.Array, arms: Arms) -> jax.Array:
        """Return the candidate with the largest mean."""
        return jnp.argmax(jnp.where(alive, arms.mean, -jnp.inf))
