"""Rinott's constant: how many pulls a second stage needs, for normal rewards with unknown and unequal variances.

Rinott (1978), "On two-stage selection procedures and related probability-inequalities", Communications in Statistics -
Theory and Methods 7.
"""

import functools

import numpy as np

from jaxbandits.checks import Rule, number, whole

__all__ = ["rinott_constant"]

# The smallest delta, the mass of a chi-square law that the grid leaves out at each end, and its step at 1 degree.
_LEAST, _CUT, _STEP = 1e-12, 1e-16, 0.25
# The largest h that is searched.
_WIDEST = 1e14


def rinott_constant(arms: int, n0: int, delta: float) -> float:
    """Return h, the solution of Rinott's integral for the probability 1 - delta of correct selection.

    With ceil((h S / epsilon)^2) pulls of each arm, S^2 its variance in n0 first pulls, the best of K normal arms is
    selected with probability 1 - delta or more if it leads by epsilon. h solves

        E[ E[ Phi(h / sqrt((n0 - 1) (1 / X + 1 / Y))) | Y ]^(K - 1) ] = 1 - delta

    with independent X and Y, chi-square with n0 - 1 degrees of freedom. Both expectations are sums over a grid of
    ln X, whose error falls exponentially (the trapezoidal rule on a smooth density).

    Args:
        arms: K, at least 2.
        n0: first pulls of each arm, at least 2.
        delta: allowed probability of error, in [1e-12, 1 - 1/K).

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(jb.theory.rinott_constant(arms=10, n0=20, delta=0.05), 3)
        3.875
    """
    arms, n0 = whole("the number of arms", arms, 2), whole("n0", n0, 2)
    words = f"must lie in [{_LEAST:g}, {1 - 1 / arms:g})"
    return _root(arms, n0, number("delta", delta, Rule(words, lambda x: (x >= _LEAST) & (x < 1 - 1 / arms))))


@functools.lru_cache(maxsize=1024)
def _root(arms: int, n0: int, delta: float) -> float:
    # Imported here, so that importing the package does not wait for it.
    from scipy import optimize, special, stats  # type: ignore[import-untyped,unused-ignore]

    degrees = n0 - 1
    # An error of one of many arms may be rarer than the mass left out. With n0 = 2, h is of the order of arms / delta.
    rare = min(1.0, delta / arms / _LEAST)
    cut = _CUT * rare
    low, high = np.log(stats.chi2.ppf(cut, degrees)), np.log(stats.chi2.isf(cut, degrees))
    x = np.exp(np.arange(low, high, _STEP / np.sqrt(degrees)))
    weight = x * stats.chi2.pdf(x, degrees)
    weight /= weight.sum()
    scale = 1 / np.sqrt(degrees * (1 / x + 1 / x[:, None]))

    def excess(log_h: float) -> float:
        loses = special.ndtr(-np.exp(log_h) * scale) @ weight  # against one other arm, given Y
        return float(-np.expm1((arms - 1) * np.log1p(-loses)) @ weight / delta - 1)

    return float(np.exp(optimize.brentq(excess, np.log(1e-6), np.log(_WIDEST / rare), xtol=1e-12)))
