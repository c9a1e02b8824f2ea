"""Heavy-tailed families, which have a mean but perhaps no variance, and the moments that the theory requires.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI. There the p-th
raw moment of an arm is at most B and its p-th central moment at most C, 1 < p <= 2.
"""

import abc
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from jaxbandits.problems.distributions.unbounded import Unbounded

__all__ = ["HeavyTailed", "Piece", "integral"]

#: A term of an expectation E g(X): a weight, and X as a function of w when a survival probability is exp(-w).
Piece = tuple[float, Callable[[float], float]]


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
