"""Heavy-tailed reward families, which have a mean but perhaps no variance, and the moments that the theory asks for.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI: arms whose p-th
raw moment is at most B and whose p-th central moment is at most C, 1 < p <= 2.
"""

import abc
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.scipy.special import gammaln

from jaxbandits.arrays.numerics import exp, larger, log, rounded
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.random.bits import fine_uniform, normal, turn_cosine

__all__ = ["HeavyTailed", "LogNormal", "Pareto", "StudentT", "SymmetricPareto", "Weibull"]

# Of an expectation E g(X): a weight, and X as a function of w when a survival probability is exp(-w).
_Piece = tuple[float, Callable[[float], float]]


class HeavyTailed(Problem):
    """Arms that know their p-th moments."""

    has_moments = True

    bounded = False

    @property
    def reward_range(self) -> jax.Array:
        """There is none: NaN."""
        return jnp.full(self.mean.shape[1:], jnp.nan, jnp.float32)

    @property
    def tail_index(self) -> np.ndarray:
        """The p-th absolute moments are finite for p below this, float64 `(K,)`."""
        return np.full(self.arms, np.inf)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

        Accurate to 1e-6 while p is at most 0.95 times the tail index.
        """
        columns = [np.asarray(getattr(self, name), np.float64) for name in self.parameters]
        means, tails = np.asarray(self.mean, np.float64), self.tail_index
        laws = zip(*(column.tolist() for column in columns), strict=True)
        arms = zip(means.tolist(), tails.tolist(), laws, strict=True)
        kept = functools.partial(_moment, type(self), p, central)
        return np.asarray([kept(mean, law) if p < tail else math.inf for mean, tail, law in arms])

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        center = mean if central else 0.0
        total = 0.0
        for weight, value in cls._pieces(*parameters):
            total += weight * _expectation(value, center, p)
        return total

    @classmethod
    @abc.abstractmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        """The law as pieces of an expectation."""


@functools.lru_cache(maxsize=4096)
def _moment(law: type[HeavyTailed], p: float, central: bool, mean: float, parameters: tuple[float, ...]) -> float:
    # Kept: an integral takes milliseconds, and a sweep asks for the same one in every cell.
    return law._moment(p, central, mean, *parameters)


class PowerTailed(HeavyTailed):
    """Laws P(|X| > x) ~ x^-index, whose moments of that order and above are infinite."""

    index_name = "tail"

    @property
    def tail_index(self) -> np.ndarray:
        """The parameter that is the tail's index."""
        return np.asarray(getattr(self, self.index_name), np.float64)

    @property
    def variance(self) -> jax.Array:
        """Infinite where the index is at most 2."""
        index = getattr(self, self.index_name)
        return jnp.where(index > 2, self._variance(larger(index - 2, 1e-30)), jnp.inf)

    @abc.abstractmethod
    def _variance(self, above: jax.Array) -> jax.Array:
        """The variance where the index is `above` 2."""


def _pareto(words: tuple[jax.Array, jax.Array], least: jax.Array, tail: jax.Array) -> jax.Array:
    return rounded(least * exp(rounded(-1 / tail * log(fine_uniform(words)))))


@register_problem
@dataclasses.dataclass(frozen=True)
class StudentT(PowerTailed):
    """Student's t: `location` + `scale` T with `dof` > 1 degrees of freedom, float32 `(K, …)`."""

    location: jax.Array
    dof: jax.Array
    scale: jax.Array
    parameters = ("location", "dof", "scale")
    written = ("student-t", "means", "dof", "scale")
    index_name = "dof"

    @property
    def mean(self) -> jax.Array:
        """The location."""
        return self.location

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.scale * self.scale * self.dof / above

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Bailey (1994), "Polar generation of random variates with the t-distribution": two uniforms, no rejection."""
        location, dof, scale = parameters
        y = rounded(rounded(-2 / dof) * log(fine_uniform(words)))
        # exp(y) - 1, by its series where the difference would lose digits.
        series = jnp.full_like(y, 1 / 720)
        for factor in (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1):
            series = rounded(y * series) + jnp.float32(factor)
        grown = jnp.where(y < 0.3, rounded(y * series), exp(y) - 1)
        return location + rounded(scale * rounded(jnp.sqrt(rounded(dof * grown)) * turn_cosine(words[1])))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        location, dof, scale = parameters
        half = scipy.special.gammaln([(p + 1) / 2, (dof - p) / 2, dof / 2])
        about = scale**p * dof ** (p / 2) * math.exp(half[0] + half[1] - half[2]) / math.sqrt(math.pi)
        if central or location == 0:
            return about
        if p == 2:
            return location**2 + scale**2 * dof / (dof - 2)
        return super()._moment(p, central, mean, *parameters)

    @classmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        location, dof, scale = parameters

        def magnitude(w: float) -> float:
            # SciPy's quantile fails now and then where exp(-w) is tiny; there the tail is a power.
            near = min(w, 300.0)
            return -scale * float(scipy.special.stdtrit(dof, math.exp(-near) / 2)) * math.exp((w - near) / dof)

        yield 0.5, lambda w: location + magnitude(w)
        yield 0.5, lambda w: location - magnitude(w)


@register_problem
@dataclasses.dataclass(frozen=True)
class Pareto(PowerTailed):
    """Pareto rewards of given `average` > 0 and `tail` > 1, float32 `(K, …)`; the least value is mean (1 - 1/tail)."""

    average: jax.Array
    tail: jax.Array
    parameters = ("average", "tail")
    written = ("pareto", "means", "tail")

    @property
    def mean(self) -> jax.Array:
        """The given mean."""
        return self.average

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.average * self.average / (self.tail * above)

    @property
    def lowest_reward(self) -> float:
        """0."""
        return 0.0

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Least value times U^(-1/tail)."""
        average, tail = parameters
        return _pareto(words, rounded(average * (1 - 1 / tail)), tail)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        average, tail = parameters
        least = average * (1 - 1 / tail)
        if not central:
            return least**p * tail / (tail - p)
        # Above the mean in closed form, below it a short integral: int (x - m)^p x^(-a-1) dx = m^(p-a) B(a - p, p + 1).
        above = mean ** (p - tail) * scipy.special.beta(tail - p, p + 1)
        below = _integral(lambda x: (mean - x) ** p * x ** (-tail - 1), least, mean)
        return float(tail * least**tail * (above + below))

    @classmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        average, tail = parameters
        yield 1.0, lambda w: average * (1 - 1 / tail) * math.exp(w / tail)


@register_problem
@dataclasses.dataclass(frozen=True)
class SymmetricPareto(PowerTailed):
    """`location` plus or minus (1/2 each) a Pareto reward of least value `scale` and `tail` > 1, float32 `(K, …)`."""

    location: jax.Array
    tail: jax.Array
    scale: jax.Array
    parameters = ("location", "tail", "scale")
    written = ("symmetric-pareto", "means", "tail", "scale")

    @property
    def mean(self) -> jax.Array:
        """The location."""
        return self.location

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.scale * self.scale * self.tail / above

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """The second word's top bit is the sign."""
        location, tail, scale = parameters
        magnitude = _pareto(words, scale, tail)
        return location + jnp.where(words[1] >> jnp.uint32(31) == 1, magnitude, -magnitude)

    @classmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        location, tail, scale = parameters
        yield 0.5, lambda w: location + scale * math.exp(w / tail)
        yield 0.5, lambda w: location - scale * math.exp(w / tail)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        location, tail, scale = parameters
        if central or location == 0:
            return scale**p * tail / (tail - p)
        return super()._moment(p, central, mean, *parameters)


@register_problem
@dataclasses.dataclass(frozen=True)
class LogNormal(HeavyTailed):
    """exp(`mu` + `sigma` Z) with Z standard normal, float32 `(K, …)`."""

    mu: jax.Array
    sigma: jax.Array
    parameters = ("mu", "sigma")
    written = ("log-normal", "mu", "sigma")

    @property
    def mean(self) -> jax.Array:
        """exp(mu + sigma^2 / 2)."""
        return jnp.exp(self.mu + self.sigma * self.sigma / 2)

    @property
    def variance(self) -> jax.Array:
        """(exp(sigma^2) - 1) mean^2."""
        return jnp.expm1(self.sigma * self.sigma) * self.mean**2

    @property
    def lowest_reward(self) -> float:
        """0."""
        return 0.0

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """The exponential of a normal draw."""
        mu, sigma = parameters
        return exp(mu + rounded(sigma * normal(words)))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        mu, sigma = parameters
        return super()._moment(p, central, mean, mu, sigma) if central else math.exp(p * mu + (p * sigma) ** 2 / 2)

    @classmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        mu, sigma = parameters
        yield 1.0, lambda w: math.exp(mu - sigma * float(scipy.special.ndtri_exp(-w)))


@register_problem
@dataclasses.dataclass(frozen=True)
class Weibull(HeavyTailed):
    """Weibull rewards of `scale` and `shape`, float32 `(K, …)`, positive; heavy-tailed for shape below 1."""

    scale: jax.Array
    shape: jax.Array
    parameters = ("scale", "shape")
    written = ("weibull", "scale", "shape")

    @property
    def mean(self) -> jax.Array:
        """Scale Gamma(1 + 1/shape)."""
        return self.scale * jnp.exp(gammaln(1 + 1 / self.shape))

    @property
    def variance(self) -> jax.Array:
        """scale^2 Gamma(1 + 2/shape) - mean^2."""
        return self.scale**2 * jnp.exp(gammaln(1 + 2 / self.shape)) - self.mean**2

    @property
    def lowest_reward(self) -> float:
        """0."""
        return 0.0

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Scale (-log U)^(1/shape)."""
        scale, shape = parameters
        exponential = larger(-log(fine_uniform(words)), jnp.float32(1e-30))
        return rounded(scale * exp(rounded(log(exponential) * (1 / shape))))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: float) -> float:
        scale, shape = parameters
        if central:
            return super()._moment(p, central, mean, scale, shape)
        return scale**p * math.exp(scipy.special.gammaln(1 + p / shape))

    @classmethod
    def _pieces(cls, *parameters: float) -> Iterator[_Piece]:
        scale, shape = parameters
        yield 1.0, lambda w: scale * w ** (1 / shape)


def _integral(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy import integrate  # Here: it would be a third of what importing the package takes.

    return float(integrate.quad(function, low, high, epsabs=1e-300, epsrel=1e-9, limit=200)[0])


def _expectation(value: Callable[[float], float], center: float, p: float) -> float:
    """The integral of |value(w) - center|^p exp(-w) over w > 0, in pieces that follow its decay."""

    def integrand(w: float) -> float:
        return abs(value(w) - center) ** p * math.exp(-w)

    edges = [0.0, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0]
    return sum(_integral(integrand, low, high) for low, high in itertools.pairwise(edges))
