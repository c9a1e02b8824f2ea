"""Heavy-tailed laws with finite moments of every order: log-normal and Weibull."""

import dataclasses
import math
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax import lax
from jax.scipy.special import gammaln, log_ndtr

from jaxbandits.arrays.numerics import LEAST_EXPONENT, SMALLEST, exp, fast_max, log, no_fma
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.distributions.unbounded import HeavyTailed, Piece
from jaxbandits.random.threefry import fine_uniform, normal

__all__ = ["LogNormal", "Weibull"]

#: ln Gamma(1 + 2x) - 2 ln Gamma(1 + x) = sum_n zeta(n) (2^n - 2) / n (-x)^n, n = 2, 3, …; for x below 0.1, within 1e-7.
_SMALL = 0.1
_LOG_RATIO = [float(scipy.special.zeta(n)) * (2**n - 2) / n for n in range(2, 13)]


@register_problem
@dataclasses.dataclass(frozen=True)
class LogNormal(HeavyTailed):
    """exp(`mu` + `sigma` Z) with Z standard normal, float32 `(K, …)`.

    Example:
        >>> isinstance(jb.log_normal([0.0, -1.0], 0.5), jb.problems.LogNormal)
        True
    """

    mu: jax.Array
    sigma: jax.Array
    parameters = ("mu", "sigma")
    scored = ("mu", "sigma")
    written = ("log-normal", "mu", "sigma")
    lowest_reward = 0.0

    @property
    def mean(self) -> jax.Array:
        """Return exp(mu + sigma^2 / 2)."""
        return jnp.exp(self.mu + self.sigma * self.sigma / 2)

    @property
    def exact_mean(self) -> np.ndarray:
        """Return the mean in float64, also where float32 does not hold it."""
        mu, sigma = np.asarray(self.mu, np.float64), np.asarray(self.sigma, np.float64)
        return np.exp(mu + sigma * sigma / 2)

    @property
    def variance(self) -> jax.Array:
        """Return (exp(sigma^2) - 1) mean^2."""
        return jnp.expm1(self.sigma * self.sigma) * self.mean**2

    @classmethod
    def log_density(cls, reward: jax.Array, mu: jax.Array, sigma: jax.Array) -> jax.Array:
        """Return the log density of the reward's logarithm, which is normal.

        A reward that float32 rounds to 0 has the probability of all of them.
        """
        at_0 = reward < SMALLEST
        z = (jnp.where(at_0, LEAST_EXPONENT, jnp.log(jnp.where(at_0, 1, reward))) - mu) / sigma
        return jnp.where(at_0, log_ndtr(z), -jnp.log(sigma) - z**2 / 2)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], mu: jax.Array, sigma: jax.Array) -> jax.Array:
        """Draw exponentials of normal draws."""
        return exp(mu + no_fma(sigma * normal(words)))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, mu: float, sigma: float) -> float:
        return super()._moment(p, central, mean, mu, sigma) if central else math.exp(p * mu + (p * sigma) ** 2 / 2)

    @classmethod
    def _pieces(cls, mu: float, sigma: float) -> Iterator[Piece]:
        yield 1.0, lambda w: math.exp(mu - sigma * float(scipy.special.ndtri_exp(-w)))


@register_problem
@dataclasses.dataclass(frozen=True)
class Weibull(HeavyTailed):
    """Weibull rewards of `scale` and `shape`, float32 `(K, …)`, positive; heavy-tailed for shape below 1.

    Example:
        >>> isinstance(jb.weibull([1.0, 2.0], 1.0), jb.problems.Weibull)
        True
    """

    scale: jax.Array
    shape: jax.Array
    parameters = ("scale", "shape")
    scored = ("scale", "shape")
    written = ("weibull", "scale", "shape")
    lowest_reward = 0.0

    @property
    def mean(self) -> jax.Array:
        """Return scale Gamma(1 + 1/shape)."""
        return self.scale * jnp.exp(gammaln(1 + 1 / self.shape))

    @property
    def exact_mean(self) -> np.ndarray:
        """Return the mean in float64, also where float32 does not hold it."""
        scale, shape = np.asarray(self.scale, np.float64), np.asarray(self.shape, np.float64)
        return scale * np.exp(scipy.special.gammaln(1 + 1 / shape))

    @property
    def variance(self) -> jax.Array:
        """Return mean^2 (Gamma(1 + 2/shape) / Gamma(1 + 1/shape)^2 - 1); infinite beyond the range of float32."""
        x = 1 / self.shape
        # The logarithm of the ratio, by its series where the difference would lose digits.
        small, series = jnp.where(x < _SMALL, x, 0), jnp.zeros_like(x)
        for factor in reversed(_LOG_RATIO):
            series = factor - no_fma(small * series)
        ratio = jnp.where(x < _SMALL, small * small * series, gammaln(1 + 2 * x) - 2 * gammaln(1 + x))
        return self.mean**2 * jnp.expm1(ratio)

    @classmethod
    def log_density(cls, reward: jax.Array, scale: jax.Array, shape: jax.Array) -> jax.Array:
        """Return log(shape/scale) + (shape - 1) log x - x^shape, where x is the reward over the scale.

        A reward that float32 rounds to 0 has the probability of all of them, 1 - exp(-x^shape) with x at their end.
        """
        given = lax.stop_gradient(scale)  # the slope of log(x / scale) itself would pass through numbers too small
        end = jnp.maximum(LEAST_EXPONENT, math.log(SMALLEST) - jnp.log(given))
        log_x = jnp.log(reward / given)
        at_0 = log_x <= end
        log_x = jnp.maximum(log_x, end) - jnp.log(scale / given)
        power = jnp.exp(shape * log_x)
        return jnp.where(at_0, jnp.log(-jnp.expm1(-power)), jnp.log(shape / scale) + (shape - 1) * log_x - power)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], scale: jax.Array, shape: jax.Array) -> jax.Array:
        """Draw scale (-log U)^(1/shape)."""
        exponential = fast_max(-log(fine_uniform(words)), jnp.float32(1e-30))
        return no_fma(scale * exp(no_fma(log(exponential) * (1 / shape))))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, scale: float, shape: float) -> float:
        if central:
            return super()._moment(p, central, mean, scale, shape)
        return scale**p * math.exp(scipy.special.gammaln(1 + p / shape))

    @classmethod
    def _pieces(cls, scale: float, shape: float) -> Iterator[Piece]:
        yield 1.0, lambda w: scale * w ** (1 / shape)
