"""Arms that every run draws from a posterior: their laws, given the counts from which the run starts."""

import dataclasses
from typing import Any, ClassVar, NoReturn

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import exp, fast_max, fast_min, no_fma
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.distributions.bernoulli_and_normal import Bernoulli, Gaussian
from jaxbandits.problems.distributions.beta_and_two_point import Beta
from jaxbandits.random.gamma_draws import beta, gamma
from jaxbandits.random.streams import ARMS
from jaxbandits.random.threefry import block, normal

__all__ = ["LOWEST", "NARROWEST", "BetaPosterior", "BoundedPosterior", "NormalPosterior"]

#: Means of rewards in [0, 1] are drawn inside these limits, where the Beta law has float32 parameters (measured).
LOWEST, _HIGHEST = 1e-7, 1 - 1e-5
#: And variances; the largest as a share of mean (1 - mean).
NARROWEST, _WIDEST = 1e-10, 0.98


@dataclasses.dataclass(frozen=True)
class _Posterior(Problem):
    """Arms that each run draws; runs start from the `history` that the posterior is of."""

    drawn = True

    def _words(self, key: jax.Array, part: int) -> tuple[jax.Array, jax.Array]:
        place = arms.index(self.arms, key.shape).astype(jnp.uint32)
        return block(key, jnp.uint32(ARMS), place + jnp.uint32(part * self.arms), rolled=True)

    def _shared(self, mean: jax.Array) -> dict[str, Any]:
        """Return the fields of a run's problem besides its law: regrets are to the best arm of the run."""
        return {"history": self.history, "supremum": arms.largest(mean)}

    @property
    def mean(self) -> NoReturn:
        """Raise a UsageError: the means differ from run to run."""
        raise UsageError(f"{self.name}: every run draws its arms from the posterior, so their means are unknown")

    @property
    def variance(self) -> NoReturn:
        """Raise a UsageError: the variances differ from run to run."""
        raise UsageError(f"{self.name}: every run draws its arms from the posterior, so their variances are unknown")

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> NoReturn:
        """Raise a UsageError: only arms that were drawn have rewards."""
        del words, parameters
        raise UsageError("a posterior has no rewards: draw arms with realised(key)")


@register_problem
@dataclasses.dataclass(frozen=True)
class BetaPosterior(_Posterior):
    """Rewards of 0 and 1 whose probability is drawn from Beta(a, b); `a` and `b` float32 `(K,)`, positive."""

    in_interval = True
    sub_gaussian = True
    integer_rewards = True
    integer_sums = True
    bound_law = ("bernoulli", 1.0)
    lowest_reward = 0.0

    a: jax.Array
    b: jax.Array
    parameters: ClassVar[tuple[str, ...]] = ("a", "b")

    @property
    def reward_range(self) -> jax.Array:
        """Return 1."""
        return jnp.ones((), jnp.float32)

    def realised(self, key: jax.Array) -> Bernoulli:
        """Return the arms of the runs with these keys, as a problem with leaves `(K, …)`."""
        shape = (self.arms, *key.shape)
        drawn = beta(self._words(key, 0), *(jnp.broadcast_to(each, shape) for each in (self.a, self.b)))
        return Bernoulli(drawn, **self._shared(drawn))


@register_problem
@dataclasses.dataclass(frozen=True)
class NormalPosterior(_Posterior):
    """Normal rewards whose mean and variance are drawn from a normal-inverse-gamma law, float32 `(K,)` each.

    The variance is `freedom` `spread` over a chi-square draw of `freedom` degrees. The mean is normal about `center`,
    with that variance over `weight`.
    """

    normal = True

    center: jax.Array
    weight: jax.Array
    freedom: jax.Array
    spread: jax.Array
    parameters: ClassVar[tuple[str, ...]] = ("center", "weight", "freedom", "spread")

    @property
    def reward_range(self) -> jax.Array:
        """Return twice the largest standard deviation that is expected."""
        return 2 * jnp.sqrt(arms.largest(jnp.asarray(self.spread)))

    def realised(self, key: jax.Array) -> Problem:
        """Return the arms of the runs with these keys, as a problem with leaves `(K, …)`."""
        mean, variance = self._drawn_moments(key)
        return Gaussian(mean, jnp.sqrt(variance), **self._shared(mean))

    def _drawn_moments(self, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return means and variances, float32 `(K, …)`."""
        shape = (self.arms, *key.shape)
        center, weight, freedom, spread = (
            jnp.broadcast_to(each, shape) for each in (self.center, self.weight, self.freedom, self.spread)
        )
        half = freedom / 2
        size, power = gamma(self._words(key, 0), half)
        variance = no_fma(spread * half) / no_fma(size * exp(power))
        return center + no_fma(jnp.sqrt(variance / weight) * normal(self._words(key, 1))), variance


@register_problem
@dataclasses.dataclass(frozen=True)
class BoundedPosterior(NormalPosterior):
    """Rewards of a Beta law in [0, 1] with mean and variance of a `NormalPosterior`, as far as there is one."""

    normal = False
    in_interval = True
    sub_gaussian = True
    lowest_reward = 0.0

    @property
    def reward_range(self) -> jax.Array:
        """Return 1."""
        return jnp.ones((), jnp.float32)

    def realised(self, key: jax.Array) -> Problem:
        """Return the arms of the runs with these keys, as a problem with leaves `(K, …)`."""
        mean, variance = self._drawn_moments(key)
        mean = fast_min(fast_max(mean, jnp.float32(LOWEST)), jnp.float32(_HIGHEST))
        most = no_fma(mean * (1 - mean))
        variance = fast_min(fast_max(variance, jnp.float32(NARROWEST)), jnp.float32(_WIDEST) * most)
        size = most / variance - 1
        a, b = no_fma(mean * size), no_fma((1 - mean) * size)
        return Beta(a, b, **self._shared(a / (a + b)))
