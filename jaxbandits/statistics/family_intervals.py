"""Intervals for the means of Poisson and exponential rewards, by their divergences, in float64."""

from collections.abc import Callable

import numpy as np

__all__ = ["interval_by_divergence"]

#: Halvings of the interval that holds a root: to rounding.
_HALVINGS = 100


def interval_by_divergence(family: str, mean: np.ndarray, divergence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of {q: d(m, q) <= D}, float64 `(…)`.

    With r - 1 - log r <= x, that is x = D/m and q = r m for Poisson laws, x = D and q = m/r for exponential ones.

    Args:
        family: `poisson` or `exponential`.
        mean: m, at least 0, `(…)`.
        divergence: D, positive, `(…)`.
    """
    some = mean > 0
    if family == "exponential":
        least, most = _roots(divergence)
        ends = some & (least > 0)  # exponential rewards are never all 0
        return mean / most, np.where(ends, mean / np.where(ends, least, 1.0), np.inf)
    least, most = _roots(divergence / np.where(some, mean, 1.0))
    return np.where(some, mean * least, 0.0), np.where(some, mean * most, divergence)  # d(0, q) = q


def _roots(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the r below 1 and the r above 1 with r - 1 - log r = x, by bisection of log r and of r - 1."""
    below = _bisected(lambda log_r: np.expm1(log_r) - log_r, -1 - x, x)
    above = _bisected(lambda more: more - np.log1p(more), 2 * x + np.sqrt(2 * x), x)
    return np.exp(below), 1 + above


def _bisected(function: Callable[[np.ndarray], np.ndarray], far: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return where a function that grows from 0 at 0 to more than x at `far` has the value x."""
    near = np.zeros_like(x)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        beyond = function(middle) > x
        near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
    return near
