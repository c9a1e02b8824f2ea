"""Intervals for the mean of a finite population, from items read without replacement.

Bardenet, Maillard (2015), "Concentration inequalities for sampling without replacement", Bernoulli 21(3): Corollary 2.5
and Theorem 4.3. The radii hold at any fixed number of items, and are 0 once all have been read. All logarithms are
natural.

`HoeffdingSerfling` and `BernsteinSerfling` are states of one arm, or of arms of any shape, as those of
`jaxbandits/statistics/betting.py` are. Their intervals hold at one number of items each. To hold at all of them, their
level must be a union bound.
"""

import math
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.arrays.compensated_sums import CompensatedSum

__all__ = [
    "BernsteinSerfling",
    "HoeffdingSerfling",
    "bernstein_serfling_radius",
    "hoeffding_serfling_radius",
    "serfling_factor",
]

_KAPPA = 7 / 3 + 3 / math.sqrt(2)


def serfling_factor(pulls: jax.Array, cells: jax.Array) -> jax.Array:
    """Return rho, the share of a squared radius that reading without replacement leaves; 0 once all is read.

    rho = 1 - (n - 1) / N for n <= N/2, and (1 - n / N) (1 + 1 / n) above.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.

    Returns:
        float32 `(…)`, in [0, 1].
    """
    n, left = jnp.maximum(pulls, 1), jnp.maximum(cells - pulls, 0)
    few, many = (cells - n + 1) / cells, (left / cells) * ((n + 1) / n)
    return jnp.where(left == 0, 0, jnp.where(n <= cells - n, few, many))


def hoeffding_serfling_radius(pulls: jax.Array, cells: jax.Array, b: jax.Array, level: jax.Array) -> jax.Array:
    """Return b sqrt(rho level / (2 n)); the mean is above or below its interval with probability 2 exp(-level) at most.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.
        b: range of the scores, float32 `(…)`.
        level: float32 `(…)`, not negative.

    Returns:
        float32 `(…)`.
    """
    return b * jnp.sqrt(serfling_factor(pulls, cells) * level / (2 * jnp.maximum(pulls, 1)))


def bernstein_serfling_radius(
    pulls: jax.Array, cells: jax.Array, variance: jax.Array, b: jax.Array, level: jax.Array
) -> jax.Array:
    """Return sigma sqrt(2 rho level / n) + kappa b level / n, kappa = 7/3 + 3/sqrt(2); 0 once all is read.

    The mean is above its interval with probability 5 exp(-level) at most, and below it likewise.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.
        variance: sigma^2 of the scores that were read, float32 `(…)`, their squared deviations over n.
        b: range of the scores, float32 `(…)`.
        level: float32 `(…)`, not negative.

    Returns:
        float32 `(…)`.
    """
    n = jnp.maximum(pulls, 1)
    radius = jnp.sqrt(2 * variance * serfling_factor(pulls, cells) * level / n)
    return jnp.where(pulls >= cells, 0, radius + _KAPPA * b * level / n)


class HoeffdingSerfling(NamedTuple):
    """What the Hoeffding-Serfling interval needs of scores in [0, 1]."""

    number: jax.Array  # int32 (…): n
    cells: jax.Array  # int32 (…): N
    mean: jax.Array  # float32 (…)
    squares: CompensatedSum | None = None  # (…): the squared deviations from the mean; None where they are not used

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> Self:
        """Return the state before the first item."""
        return cls(jnp.zeros(shape, jnp.int32), jnp.ones(shape, jnp.int32), jnp.zeros(shape))

    def after(self, reward: jax.Array, number: jax.Array, total: jax.Array, level: jax.Array, cells: jax.Array) -> Self:
        """Return the state after one more item; the arguments are those of `PlugInBernstein.after`."""
        del level
        squares, mean = self.squares, total / number
        if squares is not None:  # Welford (1962)
            squares = squares.plus((reward - self.mean) * (reward - mean))
        return type(self)(number, cells, mean, squares)

    def bounds(self, level: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the ends of the interval, float32 `(…)`; each fails at one n with probability exp(-level) at most."""
        radius = self._radius(level)
        return jnp.maximum(self.mean - radius, 0), jnp.minimum(self.mean + radius, 1)

    def narrowed(self, lower: jax.Array, upper: jax.Array) -> Self:
        """Return the same state."""
        del lower, upper
        return self

    def _radius(self, level: jax.Array) -> jax.Array:
        return hoeffding_serfling_radius(self.number, self.cells, jnp.float32(1), level)


class BernsteinSerfling(HoeffdingSerfling):
    """What the empirical Bernstein-Serfling interval needs of scores in [0, 1]."""

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> Self:
        """Return the state before the first item."""
        return super().start(shape)._replace(squares=CompensatedSum.of(jnp.zeros(shape)))

    def _radius(self, level: jax.Array) -> jax.Array:
        """Return the radius; with the 5 of its bound, an end fails with probability exp(-level) at most."""
        assert self.squares is not None
        variance = jnp.maximum(self.squares.high, 0) / jnp.maximum(self.number, 1)
        return bernstein_serfling_radius(self.number, self.cells, variance, jnp.float32(1), level + math.log(5))
