"""Beta-distributed rewards, and rewards of two points."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import betaln
from jax.typing import ArrayLike

from jaxbandits.arrays.arms import largest, smallest
from jaxbandits.arrays.numerics import SMALLEST
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.problems.argument_checks import family_name, per_arm, per_arm_like
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.random.gamma_draws import beta as draw_beta

__all__ = ["Beta", "TwoPoint", "beta", "rademacher"]

#: The logarithms of x and of 1 - x below which a Beta draw is rounded to 0 and to 1. They depend on the Gamma draws,
#: and are known within 0.5 and 0.1, as measured with shapes from 0.02 to 30.
_LOG_AT_0, _LOG_AT_1 = -86.5, -24.5 * math.log(2)


@register_problem
@dataclasses.dataclass(frozen=True)
class Beta(Problem):
    """Beta-distributed rewards in [0, 1]; shape parameters `a`, `b`, float32 `(K, …)`, positive.

    Example:
        >>> jb.problems.Beta(jnp.array([2.0, 1.0]), jnp.array([2.0, 1.0])).mean.tolist()
        [0.5, 0.5]
    """

    a: jax.Array
    b: jax.Array
    parameters = ("a", "b")
    scored = ("a", "b")
    written = ("beta", "a", "b")
    lowest_reward = 0.0
    in_interval = True
    sub_gaussian = True

    @property
    def mean(self) -> jax.Array:
        """Return a / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> jax.Array:
        """Return ab / ((a + b)^2 (a + b + 1))."""
        size = self.a + self.b
        return self.a * self.b / (size * size * (size + 1))

    @property
    def reward_range(self) -> jax.Array:
        """Return 1."""
        return jnp.ones(self.a.shape[1:], jnp.float32)

    @classmethod
    def log_density(cls, reward: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
        """Return (a - 1) log x + (b - 1) log(1 - x) - log B(a, b).

        Rewards that float32 rounds to 0 or 1 have the probability of all of them: the integral of x^(a-1), or of
        (1 - x)^(b-1), up to there.
        """
        at_0, at_1 = reward < SMALLEST, reward == 1
        lower = jnp.where(at_0, a * _LOG_AT_0 - jnp.log(a), (a - 1) * jnp.log(jnp.where(at_0, 1, reward)))
        upper = jnp.where(at_1, b * _LOG_AT_1 - jnp.log(b), (b - 1) * jnp.log1p(-jnp.where(at_1, 0, reward)))
        return lower + upper - betaln(a, b)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], a: jax.Array, b: jax.Array) -> jax.Array:
        """Draw X / (X + Y) from two Gamma draws."""
        return draw_beta(words, a, b)


@register_problem
@dataclasses.dataclass(frozen=True)
class TwoPoint(Problem):
    """Rademacher arms (Gabillon et al. 2011): `low` or `high` with probability 1/2 each, float32 `(K, …)`.

    Example:
        >>> isinstance(jb.rademacher([0.0, -1.0], [2.0, 1.0]), jb.problems.TwoPoint)
        True
    """

    low: jax.Array
    high: jax.Array
    parameters = ("low", "high")
    written = ("rademacher", "low", "high")
    in_interval = True
    sub_gaussian = True

    @property
    def mean(self) -> jax.Array:
        """Return (low + high) / 2."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> jax.Array:
        """Return ((high - low) / 2)^2."""
        return ((self.high - self.low) / 2) ** 2

    @property
    def lowest_reward(self) -> float:
        """Return 0 when all rewards lie in [0, 1], whose length `reward_range` is then; else the smallest point."""
        bottom, top = float(np.min(np.asarray(self.low))), float(np.max(np.asarray(self.high)))
        return 0.0 if bottom >= 0 and top <= 1 else bottom

    @property
    def reward_range(self) -> jax.Array:
        """Return 1 when all rewards lie in [0, 1], as in the paper.

        Otherwise return the length of an interval that holds them.
        """
        bottom, top = smallest(jnp.asarray(self.low)), largest(jnp.asarray(self.high))
        return jnp.where((bottom >= 0) & (top <= 1), 1.0, top - bottom).astype(jnp.float32)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], low: jax.Array, high: jax.Array) -> jax.Array:
        """Draw a point by the top bit of the first word."""
        return jnp.where(words[0] >> jnp.uint32(31) == 1, high, low)


@varying
def beta(a: ArrayLike, b: ArrayLike, *, name: str = "") -> Beta:
    """Return Beta-distributed arms.

    Args:
        a: first shape parameters, positive; one per arm, or one row per bandit.
        b: second shape parameters, positive; one for all arms or in the shape of `a`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a parameter that is not positive.

    Example:
        >>> print(jb.beta([2.0, 1.0], [1.0, 1.0]).mean)
        [0.6666667 0.5      ]
    """
    first, bandits = per_arm("Beta parameters a", a)
    second = per_arm_like("Beta parameters b", b, a)
    each("Beta parameters", first, POSITIVE, "arm")
    each("Beta parameters", second, POSITIVE, "arm")
    return Beta(first, second, bandits=bandits, name=name or family_name("beta", a))


@varying
def rademacher(low: ArrayLike, high: ArrayLike, *, name: str = "") -> TwoPoint:
    """Return two-point arms: `low` or `high`, each with probability 1/2.

    Args:
        low: smaller rewards; one per arm, or one row per bandit.
        high: larger rewards, in the same shape.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or low > high.

    Example:
        >>> print(jb.rademacher([0.0, -1.0], [2.0, 1.0]).mean)
        [1. 0.]
    """
    bottom, bandits = per_arm("Rademacher low values", low)
    top = per_arm_like("Rademacher high values", high, low)
    above = Rule("must not lie below the low ones", lambda high: high >= np.asarray(bottom))
    each("Rademacher high values", top, above, "arm")
    return TwoPoint(bottom, top, bandits=bandits, name=name or family_name("rademacher", low))
