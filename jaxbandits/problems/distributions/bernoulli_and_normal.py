"""The two families of most papers, Bernoulli and normal: a law, its moments, and its draw from two random words."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.arms import largest
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.checks import INSIDE_UNIT, POSITIVE, each
from jaxbandits.problems.argument_checks import check_spread, family_name, per_arm, per_arm_like, probabilities
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.random.binomial_draws import binomial
from jaxbandits.random.streams import batch_key
from jaxbandits.random.threefry import block, normal

__all__ = ["Bernoulli", "Gaussian", "bernoulli", "gaussian"]


@register_problem
@dataclasses.dataclass(frozen=True)
class Bernoulli(Problem):
    """Rewards 0 or 1; `probability` float32 `(K, …)` in [0, 1].

    Example:
        >>> print(jb.problems.Bernoulli(jnp.array([0.7, 0.5])).mean)
        [0.7 0.5]
    """

    probability: jax.Array
    parameters: ClassVar[tuple[str, ...]] = ("probability",)
    written = ("bernoulli", "means")
    mean_is = "probability"
    scored: ClassVar[tuple[str, ...]] = ("probability",)
    score_range = INSIDE_UNIT
    in_interval = True
    sub_gaussian = True
    integer_rewards = True
    integer_sums = True
    bound_law = ("bernoulli", 1.0)
    second_word_free = True  # but in one draw of 2^31
    lowest_reward = 0.0

    @property
    def variance(self) -> jax.Array:
        """Return the variance p (1 - p)."""
        return self.probability * (1 - self.probability)

    @property
    def reward_range(self) -> jax.Array:
        """Return 1."""
        return jnp.ones(self.probability.shape[1:], jnp.float32)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw binomial sums."""
        del pulled
        return binomial(batch_key(key, batch), count, jnp.asarray(self.probability))

    @classmethod
    def log_density(cls, reward: jax.Array, probability: jax.Array) -> jax.Array:
        """Return log p or log(1 - p)."""
        return reward * jnp.log(probability) + (1 - reward) * jnp.log1p(-probability)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], probability: jax.Array) -> jax.Array:
        """Draw 1 with the float32 probability, exact to 2^-62.

        A 31-bit comparison decides; where it is a tie, 31 more bits do.
        """
        scaled = probability * jnp.float32(2.0**31)
        high = scaled.astype(jnp.int32)
        low = ((scaled - high.astype(jnp.float32)) * jnp.float32(2.0**31)).astype(jnp.int32)
        first = (words[0] >> jnp.uint32(1)).astype(jnp.int32)
        second = (words[1] >> jnp.uint32(1)).astype(jnp.int32)
        hit = (first < high) | ((first == high) & (second < low)) | (probability >= 1)
        return hit.astype(jnp.int32)


@register_problem
@dataclasses.dataclass(frozen=True)
class Gaussian(Problem):
    """Normal rewards; `location` and known standard deviation `sd`, float32 `(K, …)`.

    Example:
        >>> jb.problems.Gaussian(jnp.array([1.0, 0.5]), jnp.array([2.0, 2.0])).variance.tolist()
        [4.0, 4.0]
    """

    location: jax.Array
    sd: jax.Array
    parameters: ClassVar[tuple[str, ...]] = ("location", "sd")
    written: ClassVar[tuple[str, ...]] = ("gaussian", "means", "sd")
    mean_is = "location"
    scored: ClassVar[tuple[str, ...]] = ("location", "sd")
    sub_gaussian = True
    normal = True

    @property
    def bound_law(self) -> tuple[str, float | np.ndarray] | None:
        """Return the normal law."""
        sd = np.asarray(self.sd)
        return "gaussian", float(sd[0]) if np.ptp(sd) == 0 else sd

    @property
    def variance(self) -> jax.Array:
        """Return sd^2."""
        return self.sd * self.sd

    @property
    def reward_range(self) -> jax.Array:
        """Return twice the largest standard deviation.

        By Hoeffding's lemma rewards in [0, b] are (b/2)-sub-Gaussian.
        """
        return 2 * largest(jnp.asarray(self.sd))

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw normal sums."""
        del pulled
        noise = normal(block(batch_key(key, batch), arms.index(self.arms, key.shape), 0, rolled=True))
        number = count.astype(jnp.float32)
        return no_fma(number * self.location) + no_fma(jnp.sqrt(number) * no_fma(self.sd * noise))

    @classmethod
    def log_density(cls, reward: jax.Array, location: jax.Array, sd: jax.Array) -> jax.Array:
        """Return -log sd - z^2 / 2."""
        return -jnp.log(sd) - ((reward - location) / sd) ** 2 / 2

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], location: jax.Array, sd: jax.Array) -> jax.Array:
        """Draw standard normal rewards, scaled and shifted."""
        return location + no_fma(sd * normal(words))


@varying
def bernoulli(means: ArrayLike, *, name: str = "") -> Bernoulli:
    """Return Bernoulli arms.

    Args:
        means: probabilities of reward 1 in [0, 1], one per arm; or one row per bandit.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside [0, 1], or means that float32 cannot distinguish, or
            distinguish from 0 or 1.

    Example:
        >>> print(jb.bernoulli([0.7, 0.5]).mean)
        [0.7 0.5]
    """
    probability, bandits = probabilities("Bernoulli means", means)
    return Bernoulli(probability, bandits=bandits, name=name or family_name("bernoulli", means))


@varying
def gaussian(means: ArrayLike, sd: ArrayLike = 1.0, *, name: str = "") -> Gaussian:
    """Return normal arms with known standard deviation.

    Args:
        means: one per arm; or one row per bandit.
        sd: standard deviation, positive; one for all arms or in the shape of `means`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, values that are not finite, sd <= 0, or means so far from 0 that float32
            rewards do not have this sd.

    Example:
        >>> jb.gaussian([1.0, 0.5], sd=2.0).variance.tolist()
        [4.0, 4.0]
    """
    location, bandits = per_arm("Gaussian means", means)
    spread = per_arm_like("Gaussian sd", sd, means)
    each("Gaussian sd", spread, POSITIVE, "arm")
    check_spread("Gaussian sd", spread, location)
    return Gaussian(location, spread, bandits=bandits, name=name or family_name("gaussian", means))
