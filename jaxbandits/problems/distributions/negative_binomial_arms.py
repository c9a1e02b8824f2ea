"""Negative binomial rewards: counts that vary more than Poisson counts, such as orders of different customers."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import exp, fast_max, no_fma
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.problems.argument_checks import family_name, per_arm, per_arm_like
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.unbounded import Unbounded
from jaxbandits.random.gamma_draws import gamma
from jaxbandits.random.poisson_draws import poisson
from jaxbandits.random.streams import batch_key
from jaxbandits.random.threefry import block, threefry2x32

__all__ = ["NegativeBinomial", "negative_binomial"]

_MEAN = Rule("must be from 0 to 10,000,000", lambda x: (x >= 0) & (x <= 1e7))
_SIZE = Rule("must be from 0.001 to 1,000,000", lambda x: (x > 0.000999) & (x < 1.000001e6))
#: The counter of the words of the Poisson draw; those of the Gamma draw are smaller.
_POISSON = 0xFFFFFFFF
#: For a moment: the first counts are added up one by one, then in blocks that grow by this share, up to `_FAR` times
#: the scale of the tail beyond the mean.
_ONE_BY_ONE, _BLOCK, _FAR = 200_000, 1e-4, 60.0


@register_problem
@dataclasses.dataclass(frozen=True)
class NegativeBinomial(Unbounded):
    """Poisson rewards whose own mean is drawn from a Gamma law: `average` and `size` float32 `(K, …)`.

    The variance is average + average^2 / size; for a large size rewards are Poisson.

    Example:
        >>> jb.problems.NegativeBinomial(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])).variance.tolist()
        [2.0, 3.0]
    """

    average: jax.Array
    size: jax.Array
    parameters = ("average", "size")
    written = ("negative-binomial", "means", "size")
    mean_is = "average"
    scored: ClassVar[tuple[str, ...]] = ("average", "size")
    score_range = POSITIVE
    lowest_reward = 0.0

    @property
    def variance(self) -> jax.Array:
        """Return mean + mean^2 / size."""
        return self.average + self.average * self.average / self.size

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw negative binomial sums: their sizes add up."""
        del pulled
        words = block(batch_key(key, batch), arms.index(self.arms, key.shape), 0, rolled=True)
        number = fast_max(count, 1).astype(jnp.float32)
        return jnp.where(count > 0, _drawn(words, self.average, self.size, no_fma(number * self.size)), 0.0)

    @classmethod
    def log_density(cls, reward: jax.Array, average: jax.Array, size: jax.Array) -> jax.Array:
        """Return log(Gamma(x + r) / Gamma(r)) + r log(r / (r + mean)) + x log(mean / (r + mean))."""
        rising = jax.scipy.special.gammaln(reward + size) - jax.scipy.special.gammaln(size)
        log_odds = jnp.log(average / size)  # with log(r + mean) the slopes in the mean would cancel for large ones
        return rising + size * jax.nn.log_sigmoid(-log_odds) + reward * jax.nn.log_sigmoid(log_odds)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], average: jax.Array, size: jax.Array) -> jax.Array:
        """Draw a Gamma mean, and a Poisson reward of it."""
        return _drawn(words, average, size, size)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, _: float, size: float) -> float:
        center = mean if central else 0.0
        counts, width = _blocks(_FAR * (1 + mean + np.sqrt(mean) + mean / size))
        success = size / (size + mean)
        terms = [scipy.special.gammaln(counts + size), -scipy.special.gammaln(counts + 1), -scipy.special.gammaln(size),
                 size * np.log(success), scipy.special.xlog1py(counts, -success)]  # fmt: skip
        chances = np.exp(sum(terms))
        return float(np.sum(width * chances * np.abs(counts - center) ** p))


def _drawn(words: tuple[jax.Array, jax.Array], average: jax.Array, size: jax.Array, shape: jax.Array) -> jax.Array:
    """Draw from the Poisson law with the mean average / size times a draw of Gamma(shape)."""
    drawn, factor = gamma(words, shape)
    rate = no_fma(no_fma(drawn * exp(factor)) * no_fma(average * (1 / size)))
    zero = jnp.zeros(words[0].shape, jnp.uint32)
    return poisson(threefry2x32(*words, zero, zero + jnp.uint32(_POISSON)), rate)


def _blocks(far: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of blocks of counts from 0 to `far`, and how many counts each has."""
    first = np.arange(min(far, _ONE_BY_ONE) + 1)
    steps = int(np.log(max(far / _ONE_BY_ONE, 1)) / _BLOCK) + 1
    edges = np.unique(np.round(_ONE_BY_ONE * (1 + _BLOCK) ** np.arange(steps + 1))) + 0.5
    edges = edges[edges >= first[-1] + 0.5]
    return np.concatenate([first, (edges[1:] + edges[:-1]) / 2]), np.concatenate([np.ones(first.size), np.diff(edges)])


@varying
def negative_binomial(means: ArrayLike, size: ArrayLike, *, name: str = "") -> NegativeBinomial:
    """Return arms with negative binomial counts.

    Args:
        means: expected counts from 0 to 10^7, one per arm; or one row per bandit.
        size: r from 0.001 to 10^6, for all arms or in the shape of `means`: the variance is mean + mean^2 / r. Where
            failures before r successes are counted, it is that r.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean or size outside its range, or means that float32 cannot distinguish.

    Example:
        >>> print(jb.negative_binomial([3.0, 2.0], size=2.0).variance)
        [7.5 4. ]
    """
    average, bandits = per_arm("negative binomial means", means)
    each("negative binomial means", average, _MEAN, "arm")
    sizes = per_arm_like("negative binomial size", size, means)
    each("negative binomial size", sizes, _SIZE, "arm")
    return NegativeBinomial(average, sizes, bandits=bandits, name=name or family_name("negative binomial", means))
