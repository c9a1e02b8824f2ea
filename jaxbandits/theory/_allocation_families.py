"""Families of rewards for the host's solver: float64 arrays of NumPy, with means where `statistics` takes shifts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxbandits.theory.divergences import bernoulli_divergence, exponential_divergence, poisson_divergence

__all__ = ["FAMILIES", "Family"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Family:
    """A one-parameter family of rewards: d(mu, x), its first and second derivative in x, and the range of the means."""

    divergence: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    lowest: float
    highest: float


def _of_numpy(divergence: Callable[..., Any]) -> Callable[[Array, Array], Array]:
    def found(mu: Array, x: Array) -> Array:
        value: Array = divergence(mu, x, np)
        return value

    return found


def _inside(x: Array) -> Array:
    """Return means moved off the borders, where the derivatives below are 0/0 for an arm whose own mean is there."""
    return np.clip(x, 1e-150, 1 - 2.0**-53)


def _above(x: Array) -> Array:
    """Return the same for ranges without an upper end."""
    return np.maximum(x, 1e-100)


def _bernoulli_slope(mu: Array, x: Array) -> Array:
    x = _inside(x)
    return (x - mu) / (x * (1 - x))


def _bernoulli_curvature(mu: Array, x: Array) -> Array:
    x = _inside(x)
    return mu / x**2 + (1 - mu) / (1 - x) ** 2


#: By name; normal rewards have variance 1.
FAMILIES = {
    "bernoulli": Family(_of_numpy(bernoulli_divergence), _bernoulli_slope, _bernoulli_curvature, 0.0, 1.0),
    "gaussian": Family(
        divergence=lambda mu, x: (mu - x) ** 2 / 2,
        slope=lambda mu, x: x - mu,
        curvature=lambda mu, x: np.ones_like(mu - x),
        lowest=-np.inf,
        highest=np.inf,
    ),
    "poisson": Family(
        divergence=_of_numpy(poisson_divergence),
        slope=lambda mu, x: (_above(x) - mu) / _above(x),
        curvature=lambda mu, x: mu / _above(x) ** 2,
        lowest=0.0,
        highest=np.inf,
    ),
    "exponential": Family(
        divergence=_of_numpy(exponential_divergence),
        slope=lambda mu, x: (_above(x) - mu) / _above(x) ** 2,
        curvature=lambda mu, x: (2 * mu - _above(x)) / _above(x) ** 3,
        lowest=0.0,
        highest=np.inf,
    ),
}
