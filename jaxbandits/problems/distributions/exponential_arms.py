"""Exponential rewards: waiting times, whose standard deviation is their mean."""

import dataclasses
import math
from typing import ClassVar

import jax
import jax.numpy as jnp
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import fast_max, log1pmx, no_fma
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.problems.argument_checks import family_name, per_arm
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.unbounded import Unbounded
from jaxbandits.random.gamma_draws import gamma
from jaxbandits.random.streams import batch_key
from jaxbandits.random.threefry import block, from_nearer_end

__all__ = ["Exponential", "exponential"]

_MEAN = Rule(
    "must be from 2e-19 to 3e14, so that float32 holds their squares, the variances: use other units",
    lambda x: (x > 1.99e-19) & (x < 3.01e14),  # includes the limits as float32
)


@register_problem
@dataclasses.dataclass(frozen=True)
class Exponential(Unbounded):
    """Exponential rewards; `average` float32 `(K, …)`, positive.

    Example:
        >>> jb.problems.Exponential(jnp.array([1.0, 2.0])).variance.tolist()
        [1.0, 4.0]
    """

    average: jax.Array
    parameters = ("average",)
    written = ("exponential", "means")
    mean_is = "average"
    scored: ClassVar[tuple[str, ...]] = ("average",)
    score_range = POSITIVE
    bound_law = ("exponential", 1.0)
    lowest_reward = 0.0

    @property
    def variance(self) -> jax.Array:
        """Return the square of the mean."""
        return self.average * self.average

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw Gamma-distributed sums."""
        del pulled
        words = block(batch_key(key, batch), arms.index(self.arms, key.shape), 0, rolled=True)
        size, _ = gamma(words, fast_max(count, 1).astype(jnp.float32))
        return jnp.where(count > 0, no_fma(size * self.average), 0.0)

    @classmethod
    def log_density(cls, reward: jax.Array, average: jax.Array) -> jax.Array:
        """Return -log(mean) - x / mean."""
        return -jnp.log(average) - reward / average

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], average: jax.Array) -> jax.Array:
        """Draw -mean log U.

        U is as fine near 1, where rewards are small, as near 0.
        """
        end, word = from_nearer_end(words)
        upper = word >> jnp.uint32(31) == 1
        uniform, less = jnp.where(upper, 1 - end, end), jnp.where(upper, -end, end - 1)
        return no_fma(average * (log1pmx(less, uniform) - less))  # log(1 + x) = x - excess

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        del parameters  # the mean determines the law
        whole: float = scipy.special.gamma(p + 1)
        if central:  # above the mean, an exponential reward again; below it, the integral of y^p e^(y - 1) over [0, 1]
            below: float = scipy.special.hyp1f1(p + 1, p + 2, 1.0) / (p + 1)
            whole = (whole + below) / math.e
        return mean**p * whole


@varying
def exponential(means: ArrayLike, *, name: str = "") -> Exponential:
    """Return exponential arms: P(reward > x) = exp(-x/mean).

    Args:
        means: from 2e-19 to 3e14, so that float32 holds the variances; one per arm, or one row per bandit.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside its range, or means that float32 cannot distinguish.

    Example:
        >>> print(jb.exponential([3.0, 2.0, 1.0]).mean)
        [3. 2. 1.]
    """
    average, bandits = per_arm("Exponential means", means)
    each("Exponential means", average, POSITIVE, "arm")
    each("Exponential means", average, _MEAN, "arm")
    return Exponential(average, bandits=bandits, name=name or family_name("exponential", means))
