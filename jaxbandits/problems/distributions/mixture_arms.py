"""Gaussian-mixture rewards: one of several normal laws, each with its weight, such as fast and slow requests."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.arrays.on_host import as_float32
from jaxbandits.checks import POSITIVE, each
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.components import Components, as_chances, in_shape
from jaxbandits.random.categorical_draws import draw_counts, draw_outcome
from jaxbandits.random.streams import batch_key
from jaxbandits.random.threefry import block, normal, threefry2x32

__all__ = ["GaussianMixture", "gaussian_mixture"]


@register_problem
@dataclasses.dataclass(frozen=True)
class GaussianMixture(Components):
    """Rewards of one of L normal laws; `chance`, `location` and `sd` float32 `(K, L, …)`.

    Example:
        >>> arms = jb.gaussian_mixture([[0.9, 0.1], [0.5, 0.5]], [0.0, 5.0], 1.0)
        >>> isinstance(arms, jb.problems.GaussianMixture)
        True
    """

    location: jax.Array
    sd: jax.Array
    parameters = ("chance", "location", "sd")
    bounded = False

    @property
    def mean(self) -> jax.Array:
        """Return the sum of the locations times their weights."""
        return self.weighted(self.location)

    @property
    def variance(self) -> jax.Array:
        """Return the variance within the components and between them."""
        apart = self.location - self.mean[:, None]
        return self.weighted(no_fma(self.sd * self.sd) + no_fma(apart * apart))

    @property
    def reward_range(self) -> jax.Array:
        """Return NaN: there is no range."""
        return jnp.full(self.mean.shape[1:], jnp.nan, jnp.float32)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`."""
        chance, location, sd = (np.asarray(getattr(self, name), np.float64) for name in self.parameters)
        center = (chance * location).sum(axis=1, keepdims=True) if central else 0.0
        # E|N(m, s^2)|^p = s^p 2^(p/2) Gamma((p + 1)/2) / sqrt(pi) 1F1(-p/2; 1/2; -(m/s)^2/2)
        far = scipy.special.hyp1f1(-p / 2, 0.5, -(((location - center) / sd) ** 2) / 2)
        scale = sd**p * 2 ** (p / 2) * scipy.special.gamma((p + 1) / 2) / np.sqrt(np.pi)
        return np.sum(chance * scale * far, axis=1)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw multinomial counts of the components, and a normal sum of all."""
        del pulled
        own = batch_key(key, batch)
        counts = draw_counts(own, count, list(self.each("chance")))
        total = square = jnp.zeros(count.shape, jnp.float32)
        for drawn, location, sd in zip(counts, self.each("location"), self.each("sd"), strict=True):
            number = drawn.astype(jnp.float32)
            total = total + no_fma(number * location)
            square = square + no_fma(number * no_fma(sd * sd))
        noise = normal(block(own, arms.index(self.arms, key.shape), 0, rolled=True))
        return total + no_fma(jnp.sqrt(square) * noise)

    @classmethod
    def sample(
        cls, words: tuple[jax.Array, jax.Array], chance: jax.Array, location: jax.Array, sd: jax.Array
    ) -> jax.Array:
        """Draw a component of `(L, …)`, and a normal reward of it from two words that these encipher."""
        chosen = draw_outcome(words[0], list(chance))
        middle, spread = (jnp.broadcast_to(one[0], chosen.shape) for one in (location, sd))
        for number in range(1, location.shape[0]):
            middle = jnp.where(chosen == number, location[number], middle)
            spread = jnp.where(chosen == number, sd[number], spread)
        nothing = jnp.zeros(words[0].shape, jnp.uint32)
        return middle + no_fma(spread * normal(threefry2x32(*words, nothing, nothing)))


@varying
def gaussian_mixture(weights: ArrayLike, means: ArrayLike, sd: ArrayLike = 1.0, *, name: str = "") -> GaussianMixture:
    """Return arms whose rewards come from one of L normal laws.

    Args:
        weights: `(K, L)`, L at most 64: a row for each arm, which adds up to 1.
        means: the mean of each component, L numbers for all arms or `(K, L)`.
        sd: their standard deviations, positive: one number, L, or `(K, L)`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, shapes that do not fit, weights that are negative or do not add up to 1, or a
            standard deviation that is not positive.

    Example:
        >>> print(jb.gaussian_mixture([[0.9, 0.1], [0.5, 0.5]], [0.0, 5.0], 1.0).mean)
        [0.5 2.5]
    """
    chance = as_chances("Gaussian-mixture weights", weights)
    location = in_shape("Gaussian-mixture means", means, chance)
    spread = in_shape("Gaussian-mixture sd", sd, chance)
    each("Gaussian-mixture sd", spread, POSITIVE)
    name = name or f"gaussian mixture ({chance.shape[0]} arms)"
    return GaussianMixture(chance, as_float32(location), as_float32(spread), name=name)
