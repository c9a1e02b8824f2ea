"""Outputs of simulated systems: normal, with unequal variances, and correlated by common random numbers."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.errors import UsageError
from jaxbandits.problems.argument_checks import check_spread, family_name, per_arm, per_arm_like
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.bernoulli_and_normal import Gaussian
from jaxbandits.random.streams import SHARED_ROWS, reward_block
from jaxbandits.random.threefry import block, normal

__all__ = ["CorrelatedGaussian", "correlated_gaussian"]


@register_problem
@dataclasses.dataclass(frozen=True)
class CorrelatedGaussian(Gaussian):
    """Normal rewards with a common part, mu + sd (sqrt(c) Z + sqrt(1 - c) E): the n-th pulls of all arms have one Z.

    Attributes:
        location: float32 `(K, …)`, mu.
        sd: float32 `(K, …)`.
        common: float32 `(K, …)`, c: the share of the variance that comes from the common random numbers.

    Example:
        >>> isinstance(jb.correlated_gaussian([1.0, 0.5]), jb.problems.CorrelatedGaussian)
        True
    """

    common: jax.Array
    parameters = ("location", "sd", "common")
    normal = True
    common_random_numbers = True
    bound_law = None  # the reward of a pull depends on rewards of other arms
    written = ("correlated-gaussian", "means", "sd", "correlation")
    scored: ClassVar[tuple[str, ...]] = ()  # the density of a pull of several arms is not that of its arms
    sums = Problem.sums  # entry by entry, since arms with other counts share some of them

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        words = reward_block(key, arm, pull)
        parameters = [arms.take(jnp.asarray(getattr(self, name)), arm) for name in self.parameters]
        return _reward(normal(block(key, jnp.uint32(SHARED_ROWS), pull)), normal(words), *parameters), words

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        shared = normal(block(key, jnp.uint32(SHARED_ROWS), pull, rolled=True))
        own = normal(reward_block(key, arms.index(self.arms, key.shape), pull, rolled=True))
        return _reward(shared, own, *(jnp.asarray(getattr(self, name)) for name in self.parameters))

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Raise an error: a reward also depends on words that all arms share; see `reward`."""
        raise NotImplementedError


def _reward(shared: jax.Array, own: jax.Array, location: jax.Array, sd: jax.Array, common: jax.Array) -> jax.Array:
    """Return rewards from two standard normal numbers each."""
    noise = no_fma(jnp.sqrt(common) * shared) + no_fma(jnp.sqrt(1 - common) * own)
    return location + no_fma(sd * noise)


@varying
def correlated_gaussian(
    means: ArrayLike, sd: ArrayLike = 1.0, correlation: ArrayLike = 0.5, *, name: str = ""
) -> CorrelatedGaussian:
    """Return normal arms that are simulated with common random numbers.

    The n-th pulls of all arms have the correlation c, so that the difference of two arms with the same standard
    deviation has the variance 2 (1 - c) sd^2. Pulls of other numbers are independent.

    Args:
        means: one per arm.
        sd: standard deviation, positive; one for all arms or one per arm.
        correlation: c in [0, 1), one for all arms. Or one c_i per arm: two arms have the correlation sqrt(c_i c_j).
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, several bandits, values that are not finite, sd <= 0, or a correlation outside
            [0, 1).

    Example:
        >>> problem = jb.correlated_gaussian([1.0, 0.5], correlation=0.9)
        >>> rewards = problem.rewards(jax.random.key(0), 3)
        >>> bool(abs(rewards[0] - rewards[1] - 0.5) < 2)
        True
    """
    location, bandits = per_arm("correlated Gaussian means", means)
    if bandits > 1:
        raise UsageError("correlated Gaussian means are for one bandit")
    spread = per_arm_like("correlated Gaussian sd", sd, means)
    each("correlated Gaussian sd", spread, POSITIVE, "arm")
    check_spread("correlated Gaussian sd", spread, location)
    common = per_arm_like("correlation", correlation, means)
    each("correlation", common, Rule("must lie in [0, 1)", lambda x: (x >= 0) & (x < 1)), "arm")
    return CorrelatedGaussian(location, spread, common, name=name or family_name("correlated gaussian", means))
