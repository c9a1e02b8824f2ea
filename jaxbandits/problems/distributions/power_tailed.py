"""Laws with power tails, which lack moments above some order: Student's t, Pareto, symmetric Pareto."""

import abc
import dataclasses
import math
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from jax.scipy.special import gammaln

from jaxbandits.arrays.numerics import exp, fast_max, log, no_fma
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.distributions.unbounded import HeavyTailed, Piece, integral
from jaxbandits.random.threefry import fine_uniform, fine_uniform_and_word, turn_cosine

__all__ = ["Pareto", "PowerTailed", "StudentT", "SymmetricPareto"]


class PowerTailed(HeavyTailed):
    """Laws P(|X| > x) ~ x^-index: moments of that order and above are infinite."""

    index_name = "tail"

    @property
    def tail_index(self) -> np.ndarray:
        """Return the tail's index, one of the parameters."""
        return np.asarray(getattr(self, self.index_name), np.float64)

    @property
    def variance(self) -> jax.Array:
        """Return the variance; infinite where the index is at most 2."""
        index = getattr(self, self.index_name)
        return jnp.where(index > 2, self._variance(fast_max(index - 2, 1e-30)), jnp.inf)

    @abc.abstractmethod
    def _variance(self, above: jax.Array) -> jax.Array:
        """Return the variance where the index exceeds 2 by `above`."""


@register_problem
@dataclasses.dataclass(frozen=True)
class StudentT(PowerTailed):
    """Student's t: `location` + `scale` T with `dof` > 1 degrees of freedom, float32 `(K, …)`.

    Example:
        >>> isinstance(jb.student_t([1.0, 0.5], dof=4.0), jb.problems.StudentT)
        True
    """

    location: jax.Array
    dof: jax.Array
    scale: jax.Array
    parameters = ("location", "dof", "scale")
    mean_is = "location"
    scored = ("location", "dof", "scale")
    written = ("student-t", "means", "dof", "scale")
    index_name = "dof"

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.scale * self.scale * self.dof / above

    @classmethod
    def log_density(cls, reward: jax.Array, location: jax.Array, dof: jax.Array, scale: jax.Array) -> jax.Array:
        """Return the log density of Student's t with `dof` degrees of freedom."""
        z = (reward - location) / scale
        size = gammaln((dof + 1) / 2) - gammaln(dof / 2) - jnp.log(dof) / 2 - jnp.log(scale)
        return size - (dof + 1) / 2 * jnp.log1p(z / dof * z)

    @classmethod
    def sample(
        cls, words: tuple[jax.Array, jax.Array], location: jax.Array, dof: jax.Array, scale: jax.Array
    ) -> jax.Array:
        """Draw Student's t from two uniforms without rejection.

        Bailey (1994), "Polar generation of random variates with the t-distribution".
        """
        small, angle = fine_uniform_and_word(words)
        y = no_fma(no_fma(-2 / dof) * log(small))
        # exp(y) - 1, by its series where the difference would lose digits.
        series = jnp.full_like(y, 1 / 720)
        for factor in (1 / 120, 1 / 24, 1 / 6, 1 / 2, 1):
            series = no_fma(y * series) + jnp.float32(factor)
        grown = jnp.where(y < 0.3, no_fma(y * series), exp(y) - 1)
        return location + no_fma(scale * no_fma(jnp.sqrt(no_fma(dof * grown)) * turn_cosine(angle)))

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, location: float, dof: float, scale: float) -> float:
        half = scipy.special.gammaln([(p + 1) / 2, (dof - p) / 2, dof / 2])
        about = scale**p * dof ** (p / 2) * math.exp(half[0] + half[1] - half[2]) / math.sqrt(math.pi)
        if central or location == 0:
            return about
        if p == 2:
            return location**2 + scale**2 * dof / (dof - 2)
        return super()._moment(p, central, mean, location, dof, scale)

    @classmethod
    def _pieces(cls, location: float, dof: float, scale: float) -> Iterator[Piece]:

        def magnitude(w: float) -> float:
            # SciPy's quantile sometimes fails where exp(-w) is tiny; there the tail is a power.
            near = min(w, 300.0)
            return -scale * float(scipy.special.stdtrit(dof, math.exp(-near) / 2)) * math.exp((w - near) / dof)

        yield 0.5, lambda w: location + magnitude(w)
        yield 0.5, lambda w: location - magnitude(w)


@register_problem
@dataclasses.dataclass(frozen=True)
class Pareto(PowerTailed):
    """Pareto rewards of given `average` > 0 and `tail` > 1, float32 `(K, …)`; the least value is mean (1 - 1/tail).

    Example:
        >>> isinstance(jb.pareto([2.0, 1.0], 3.0), jb.problems.Pareto)
        True
    """

    average: jax.Array
    tail: jax.Array
    parameters = ("average", "tail")
    mean_is = "average"
    written = ("pareto", "means", "tail")
    lowest_reward = 0.0

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.average * self.average / (self.tail * above)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], average: jax.Array, tail: jax.Array) -> jax.Array:
        """Draw the least value times U^(-1/tail)."""
        return _pareto(fine_uniform(words), no_fma(average * (1 - 1 / tail)), tail)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, average: float, tail: float) -> float:
        least = average * (1 - 1 / tail)
        if not central:
            return least**p * tail / (tail - p)
        # In units of the least value, as powers of others overflow. Above the mean m in closed form, below it a short
        # integral: int (x - m)^p x^(-a-1) dx = m^(p-a) B(a - p, p + 1).
        middle = mean / least
        above = middle ** (p - tail) * scipy.special.beta(tail - p, p + 1)
        below = integral(lambda x: (middle - x) ** p * x ** (-tail - 1), 1.0, middle)
        return float(tail * least**p * (above + below))

    @classmethod
    def _pieces(cls, average: float, tail: float) -> Iterator[Piece]:
        yield 1.0, lambda w: average * (1 - 1 / tail) * math.exp(w / tail)


@register_problem
@dataclasses.dataclass(frozen=True)
class SymmetricPareto(PowerTailed):
    """`location` plus or minus (1/2 each) a Pareto reward of least value `scale` and `tail` > 1, float32 `(K, …)`.

    Example:
        >>> isinstance(jb.symmetric_pareto([1.0, 0.5], 3.0), jb.problems.SymmetricPareto)
        True
    """

    location: jax.Array
    tail: jax.Array
    scale: jax.Array
    parameters = ("location", "tail", "scale")
    mean_is = "location"
    written = ("symmetric-pareto", "means", "tail", "scale")

    def _variance(self, above: jax.Array) -> jax.Array:
        return self.scale * self.scale * self.tail / above

    @classmethod
    def sample(
        cls, words: tuple[jax.Array, jax.Array], location: jax.Array, tail: jax.Array, scale: jax.Array
    ) -> jax.Array:
        """Draw rewards whose sign is the second word's top bit."""
        small, word = fine_uniform_and_word(words)
        magnitude = _pareto(small, scale, tail)
        return location + jnp.where(word >> jnp.uint32(31) == 1, magnitude, -magnitude)

    @classmethod
    def _pieces(cls, location: float, tail: float, scale: float) -> Iterator[Piece]:
        yield 0.5, lambda w: location + scale * math.exp(w / tail)
        yield 0.5, lambda w: location - scale * math.exp(w / tail)

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, location: float, tail: float, scale: float) -> float:
        if central or location == 0:
            return scale**p * tail / (tail - p)
        return super()._moment(p, central, mean, location, tail, scale)


def _pareto(uniform: jax.Array, least: jax.Array, tail: jax.Array) -> jax.Array:
    return no_fma(least * exp(no_fma(-1 / tail * log(uniform))))
