"""Poisson rewards: counts of events, such as clicks of a day or jumps of a price."""

import dataclasses
import math
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.problems.argument_checks import family_name, per_arm
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.unbounded import Unbounded
from jaxbandits.random import poisson_draws
from jaxbandits.random.streams import batch_key
from jaxbandits.random.threefry import block

__all__ = ["LARGEST_MEAN", "Poisson", "poisson"]

#: Rewards stay below 2^24, up to which float32 has all whole numbers: larger ones are 2000 standard deviations away.
LARGEST_MEAN = 1e7
_MEAN = Rule(
    "must be from 0 to 10,000,000, beyond which float32 does not hold every count",
    lambda x: (x >= 0) & (x <= LARGEST_MEAN),
)
# For a moment: counts further from the mean than `_REACH` standard deviations and `_MORE` counts add less than 1e-12.
_REACH, _MORE = 40, 100


@register_problem
@dataclasses.dataclass(frozen=True)
class Poisson(Unbounded):
    """Poisson rewards; `average` float32 `(K, …)`, at least 0.

    Rewards are whole numbers as float32: a sum of 10^8 of mean 100 is beyond the range of int32.

    Example:
        >>> jb.problems.Poisson(jnp.array([1.0, 2.0])).variance.tolist()
        [1.0, 2.0]
    """

    average: jax.Array
    parameters = ("average",)
    written = ("poisson", "means")
    mean_is = "average"
    scored: ClassVar[tuple[str, ...]] = ("average",)
    score_range = POSITIVE
    bound_law = ("poisson", 1.0)
    lowest_reward = 0.0

    @property
    def variance(self) -> jax.Array:
        """Return the variance, which equals the mean."""
        return self.average

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw Poisson sums; their mean is the product of count and mean as a float32."""
        del pulled
        words = block(batch_key(key, batch), arms.index(self.arms, key.shape), 0, rolled=True)
        return poisson_draws.poisson(words, no_fma(count.astype(jnp.float32) * self.average))

    @classmethod
    def log_density(cls, reward: jax.Array, average: jax.Array) -> jax.Array:
        """Return x log(mean) - mean."""
        return reward * jnp.log(average) - average

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], average: jax.Array) -> jax.Array:
        """Draw by search or by rejection (`random/poisson_draws.py`)."""
        return poisson_draws.poisson(words, average)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        del parameters  # the mean determines the law
        reach = _REACH * math.sqrt(mean)
        counts = np.arange(max(math.floor(mean - reach), 0), math.ceil(mean + reach) + _MORE, dtype=np.float64)
        chances = np.exp(scipy.special.xlogy(counts, mean) - mean - scipy.special.gammaln(counts + 1))
        return float(np.sum(chances * np.abs(counts - (mean if central else 0.0)) ** p))


@varying
def poisson(means: ArrayLike, *, name: str = "") -> Poisson:
    """Return Poisson arms.

    Args:
        means: expected counts from 0 to 10^7, one per arm; or one row per bandit. Counts of larger means would exceed
            2^24, beyond which float32 lacks some whole numbers: count in thousands, or use normal arms.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside [0, 10^7], or means that float32 cannot distinguish.

    Example:
        >>> print(jb.poisson([3.0, 2.0, 1.0]).mean)
        [3. 2. 1.]
    """
    average, bandits = per_arm("Poisson means", means)
    each("Poisson means", average, _MEAN, "arm")
    return Poisson(average, bandits=bandits, name=name or family_name("poisson", means))
