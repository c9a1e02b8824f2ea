"""Reward families: the law of an arm's rewards, its moments, and its draw from two random words."""

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.arms import largest, smallest
from jaxbandits.arrays.numerics import rounded
from jaxbandits.checks import POSITIVE, Rule, each
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.checks import family_name, per_arm, per_arm_like, probabilities
from jaxbandits.problems.constructors import varying
from jaxbandits.random.binomial import binomial
from jaxbandits.random.bits import block, normal
from jaxbandits.random.gamma import beta as draw_beta
from jaxbandits.random.streams import batch_key

__all__ = ["Bernoulli", "Beta", "Gaussian", "TwoPoint", "bernoulli", "beta", "gaussian", "rademacher"]


@register_problem
@dataclasses.dataclass(frozen=True)
class Bernoulli(Problem):
    """Rewards 0 or 1; `probability` float32 `(K, …)` in [0, 1]."""

    probability: jax.Array
    parameters = ("probability",)
    written = ("bernoulli", "means")
    in_interval = True
    sub_gaussian = True
    integer_rewards = True

    @property
    def mean(self) -> jax.Array:
        """P(reward = 1)."""
        return self.probability

    @property
    def bound_law(self) -> tuple[Literal["bernoulli", "gaussian"], float]:
        """Bernoulli."""
        return "bernoulli", 1.0

    @property
    def variance(self) -> jax.Array:
        """P (1 - p)."""
        return self.probability * (1 - self.probability)

    @property
    def lowest_reward(self) -> float:
        """0."""
        return 0.0

    @property
    def second_word_free(self) -> bool:
        """But for one draw in 2^31."""
        return True

    @property
    def reward_range(self) -> jax.Array:
        """1."""
        return jnp.ones(self.probability.shape[1:], jnp.float32)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Binomial draws."""
        del pulled
        return binomial(batch_key(key, batch), count, jnp.asarray(self.probability))

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """1 with the float32 probability to 2^-62: a 31-bit comparison, and 31 more bits where it is a draw."""
        (probability,) = parameters
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
    """Normal rewards; `location` and known standard deviation `sd`, float32 `(K, …)`."""

    location: jax.Array
    sd: jax.Array
    parameters = ("location", "sd")
    written = ("gaussian", "means", "sd")
    sub_gaussian = True

    @property
    def bound_law(self) -> tuple[Literal["bernoulli", "gaussian"], float] | None:
        """Normal, where all arms have the same standard deviation."""
        sd = np.asarray(self.sd)
        return ("gaussian", float(sd[0])) if np.ptp(sd) == 0 else None

    @property
    def mean(self) -> jax.Array:
        """The location."""
        return self.location

    @property
    def variance(self) -> jax.Array:
        """sd^2."""
        return self.sd * self.sd

    @property
    def reward_range(self) -> jax.Array:
        """Twice the largest standard deviation: rewards in [0, b] are (b/2)-sub-Gaussian by Hoeffding's lemma."""
        return 2 * largest(jnp.asarray(self.sd))

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Normal draws."""
        del pulled
        noise = normal(block(batch_key(key, batch), arms.index(self.arms, key.shape), 0, rolled=True))
        number = count.astype(jnp.float32)
        return rounded(number * self.location) + rounded(jnp.sqrt(number) * rounded(self.sd * noise))

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """A standard normal draw, scaled and moved."""
        location, sd = parameters
        return location + rounded(sd * normal(words))


@register_problem
@dataclasses.dataclass(frozen=True)
class Beta(Problem):
    """Beta-distributed rewards in [0, 1]; shape parameters `a`, `b`, float32 `(K, …)`, positive."""

    a: jax.Array
    b: jax.Array
    parameters = ("a", "b")
    written = ("beta", "a", "b")
    in_interval = True
    sub_gaussian = True

    @property
    def mean(self) -> jax.Array:
        """A / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> jax.Array:
        """Ab / ((a + b)^2 (a + b + 1))."""
        size = self.a + self.b
        return self.a * self.b / (size * size * (size + 1))

    @property
    def lowest_reward(self) -> float:
        """0."""
        return 0.0

    @property
    def reward_range(self) -> jax.Array:
        """1."""
        return jnp.ones(self.a.shape[1:], jnp.float32)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """X / (X + Y) of two Gamma draws."""
        return draw_beta(words, *parameters)


@register_problem
@dataclasses.dataclass(frozen=True)
class TwoPoint(Problem):
    """Rademacher arms (Gabillon et al. 2011): `low` or `high` with probability 1/2 each, float32 `(K, …)`."""

    low: jax.Array
    high: jax.Array
    parameters = ("low", "high")
    written = ("rademacher", "low", "high")
    in_interval = True
    sub_gaussian = True

    @property
    def mean(self) -> jax.Array:
        """(low + high) / 2."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> jax.Array:
        """((high - low) / 2)^2."""
        return ((self.high - self.low) / 2) ** 2

    @property
    def lowest_reward(self) -> float:
        """The smallest of the lower points."""
        return float(np.min(np.asarray(self.low)))

    @property
    def reward_range(self) -> jax.Array:
        """1 when all rewards lie in [0, 1], as in the paper; otherwise the length of an interval that holds them."""
        bottom, top = smallest(jnp.asarray(self.low)), largest(jnp.asarray(self.high))
        return jnp.where((bottom >= 0) & (top <= 1), 1.0, top - bottom).astype(jnp.float32)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """The top bit of a word decides."""
        low, high = parameters
        return jnp.where(words[0] >> jnp.uint32(31) == 1, high, low)


@varying
def bernoulli(means: ArrayLike, *, name: str = "") -> Bernoulli:
    """Bernoulli arms.

    Args:
        means: probabilities of reward 1 in [0, 1], one per arm; or one row per bandit.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, a mean outside [0, 1], or means that float32 cannot tell apart, or from 0 or 1.
    """
    probability, bandits = probabilities("Bernoulli means", means)
    return Bernoulli(probability, bandits=bandits, name=name or family_name("bernoulli", means))


@varying
def gaussian(means: ArrayLike, sd: ArrayLike = 1.0, *, name: str = "") -> Gaussian:
    """Normal arms with known standard deviation.

    Args:
        means: one per arm; or one row per bandit.
        sd: standard deviation, positive; one for all arms or in the shape of `means`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, values that are not finite, or sd <= 0.
    """
    location, bandits = per_arm("Gaussian means", means)
    spread = per_arm_like("Gaussian sd", sd, means)
    each("Gaussian sd", spread, POSITIVE, "arm")
    return Gaussian(location, spread, bandits=bandits, name=name or family_name("gaussian", means))


@varying
def beta(a: ArrayLike, b: ArrayLike, *, name: str = "") -> Beta:
    """Beta-distributed arms.

    Args:
        a: first shape parameters, positive; one per arm, or one row per bandit.
        b: second shape parameters, positive; one for all arms or in the shape of `a`.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or a parameter that is not positive.
    """
    first, bandits = per_arm("Beta parameters a", a)
    second = per_arm_like("Beta parameters b", b, a)
    each("Beta parameters", first, POSITIVE, "arm")
    each("Beta parameters", second, POSITIVE, "arm")
    return Beta(first, second, bandits=bandits, name=name or family_name("beta", a))


@varying
def rademacher(low: ArrayLike, high: ArrayLike, *, name: str = "") -> TwoPoint:
    """Two-point arms: `low` or `high`, each with probability 1/2.

    Args:
        low: smaller rewards; one per arm, or one row per bandit.
        high: larger rewards, in the same shape.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, or low > high.
    """
    bottom, bandits = per_arm("Rademacher low values", low)
    top = per_arm_like("Rademacher high values", high, low)
    above = Rule("must not lie below the low ones", lambda high: high >= np.asarray(bottom))
    each("Rademacher high values", top, above, "arm")
    return TwoPoint(bottom, top, bandits=bandits, name=name or family_name("rademacher", low))
