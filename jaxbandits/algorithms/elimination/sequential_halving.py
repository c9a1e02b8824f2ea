"""Sequential Halving with a fixed budget.

Karnin, Koren, Somekh (2013), "Almost optimal exploration in multi-armed bandits", ICML, Algorithm 3.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.halving_stages import check_first_phase, stages_of
from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.largest_arms import is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Rule, algorithm
from jaxbandits.algorithms.traits import Traits

__all__ = ["SequentialHalving"]


@algorithm
class SequentialHalving(Rule):
    """ceil(log2 K) phases of floor(T / (|S| ceil(log2 K))) pulls of each surviving arm; the better half stays.

    Attributes:
        budget: number of pulls T, at least K ceil(log2 K).
        reuse: whether estimates keep the rewards of earlier phases. The printed algorithm forgets them; the published
            figures are nearer with `reuse`.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.SequentialHalving(budget=100), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    reuse: bool = parameter(default=True, static=True)
    traits = Traits(
        setting="fixed budget, one arm",
        source="Karnin, Koren, Somekh 2013",
        anytime=False,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Check also that the budget gives every arm a pull in the first phase."""
        super().check(arms_per_bandit, bandits)
        check_first_phase(self, arms_per_bandit)

    def rounds(self, arms: SurvivingArms) -> jax.Array:
        """Return floor(T / (|S_r| ceil(log2 K)))."""
        return jnp.asarray(self.budget) // (arms.left * stages_of(arms))

    def keep(self, arms: SurvivingArms, key: jax.Array) -> jax.Array:
        """Return the ceil(|S_r| / 2) arms of S_r with the largest means; without `reuse`, ties are broken at random."""
        m = (arms.left + 1) // 2
        if self.reuse:
            return is_largest(arms.mean, m)
        turn = jax.random.uniform(key, arms.mean.shape)
        own, other = arms.mean[:, None], arms.mean[None]
        before = (other > own) | ((other == own) & (turn[None] < turn[:, None]))
        return jnp.sum(before, axis=1) < m
