"""Rewards that are neither bounded nor sub-Gaussian, but have the moments that the theory requires.

Heavy-tailed families have a mean but perhaps no variance. Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed
bandits with heavy-tailed payoffs", UAI: there the p-th raw moment of an arm is at most B and its p-th central moment at
most C, 1 < p <= 2.
"""

import abc
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.problems.base import Problem
from jaxbandits.users_code.cache_key import code_of

__all__ = ["HeavyTailed", "Piece", "Unbounded", "integral"]

#: A term of an expectation E g(X): a weight, and X as a function of w when a survival probability is exp(-w).
Piece = tuple[float, Callable[[float], float]]


class Unbounded(Problem):
    """Arms with known p-th moments and no range: bounds by Hoeffding's inequality need one given."""

    has_moments = True

    bounded = False

    @property
    def reward_range(self) -> jax.Array:
        """Return NaN: there is no range."""
        return jnp.full(self.mean.shape[1:], jnp.nan, jnp.float32)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`; infinite where there is none.

        Accurate to 1e-6 while p is at most 0.95 times the tail index.
        """
        columns = [np.asarray(getattr(self, name), np.float64) for name in self.parameters]
        means, tails = np.asarray(self.mean, np.float64), self.tail_index
        laws = zip(*(column.tolist() for column in columns), strict=True)
        arms = zip(means.tolist(), tails.tolist(), laws, strict=True)
        kept = functools.partial(_moment, type(self), code_of(self).key, p, central)
        return np.asarray([kept(mean, law) if p < tail else math.inf for mean, tail, law in arms])

    @classmethod
    @abc.abstractmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: Any) -> float:
        """Return a moment of one arm, below its tail index."""


@functools.lru_cache(maxsize=4096)
def _moment(
    law: type[Unbounded], code: str | None, p: float, central: bool, mean: float, parameters: tuple[float, ...]
) -> float:
    # Cached: an integral takes milliseconds, and a sweep requests the same one in every cell.
    del code  # a part of the key: the user may have changed the law
    return law._moment(p, central, mean, *parameters)


class HeavyTailed(Unbounded):
    """Arms whose moments are integrals over a piecewise law.

    Example:
        >>> isinstance(jb.s1(), jb.problems.HeavyTailed)
        True
    """

    @classmethod
    def _moment(cls, p: float, central: bool, mean: float, *parameters: Any) -> float:
        center = mean if central else 0.0
        total = 0.0
        for weight, value in cls._pieces(*parameters):
            total += weight * _expectation(value, center, p)
        return total

    @classmethod
    @abc.abstractmethod
    def _pieces(cls, *parameters: Any) -> Iterator[Piece]:
        """Yield the law as pieces of an expectation."""


def integral(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the integral of a function between two bounds, by quadrature."""
    # Imported here: at the top it would take a third of the package's import time.
    from scipy import integrate  # type: ignore[import-untyped,unused-ignore]

    return float(integrate.quad(function, low, high, epsabs=1e-300, epsrel=1e-9, limit=200)[0])


def _expectation(value: Callable[[float], float], center: float, p: float) -> float:
    """Return the integral of |value(w) - center|^p exp(-w) over w > 0, in pieces that follow its decay."""

    def integrand(w: float) -> float:
        return abs(value(w) - center) ** p * math.exp(-w)

    edges = [0.0, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0]
    return sum(integral(integrand, low, high) for low, high in itertools.pairwise(edges))
