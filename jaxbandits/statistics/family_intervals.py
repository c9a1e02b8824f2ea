"""Intervals for the means of Poisson and exponential rewards, by their divergences, in float64."""

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
    inner, outer = np.zeros_like(x), -1.0 - x
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        beyond = np.expm1(middle) - middle > x
        inner, outer = np.where(beyond, inner, middle), np.where(beyond, middle, outer)
    low, high = np.zeros_like(x), 2 * x + np.sqrt(2 * x)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = middle - np.log1p(middle) > x
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.exp(inner), 1 + low
