"""Intervals of one mean and of one probability."""

from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, number
from jaxbandits.errors import UsageError

__all__ = ["clopper_pearson", "least_change", "student_half_width"]


def clopper_pearson(errors: ArrayLike, runs: ArrayLike, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact interval of a probability (Clopper, Pearson 1934): it always covers it with at least `level`.

    Args:
        errors: number of errors, between 0 and `runs`, any shape.
        runs: number of independent runs, at least 1; broadcasts with `errors`.
        level: the level, in (0, 1).

    Returns:
        Lower and upper ends, float64; the lower is 0 without errors, the upper 1 where all runs are errors.

    Raises:
        UsageError: counts or a level outside their ranges.
    """
    k, n = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(runs, np.float64))
    number("level", level, INSIDE_UNIT)
    if np.any(n < 1) or np.any(k < 0) or np.any(k > n):
        raise UsageError("errors must lie between 0 and runs, and runs be at least 1")
    tail = (1 - level) / 2
    # Quantiles of Beta(k, n - k + 1) and Beta(k + 1, n - k); these do not exist at the ends, where the answer is 0 or
    # 1.
    low = np.where(k == 0, 0.0, scipy.special.betaincinv(np.maximum(k, 1), n - k + 1, tail))
    high = np.where(k == n, 1.0, scipy.special.betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return low, high


def student_half_width(sd: Any, number: Any, tail: float) -> Any:
    """Return the half width of Student's t interval of a mean.

    Args:
        sd: standard deviation of the values, any shape; NaN from a single value.
        number: how many values there are; broadcasts with `sd`.
        tail: probability on each side of the interval, in (0, 1/2).

    Returns:
        The half width, float64; NaN where there are fewer than two values.
    """
    quantile = scipy.special.stdtrit(np.maximum(number - 1, 1), 1 - tail)
    return sd / np.where(number > 1, number, np.nan) ** 0.5 * quantile


def least_change(first: tuple[ArrayLike, ArrayLike], last: tuple[ArrayLike, ArrayLike]) -> tuple[str, float]:
    """Return the direction and the least factor of a change that the intervals at both ends allow.

    Args:
        first: lower and upper end of the interval of a number that is not negative, any shape: a number per line.
        last: the same of what the number became; broadcasts with `first`.

    Returns:
        `grows` or `falls`, and the smallest factor above 1 over all lines: the quotient of the ends that are nearest
        to each other. It is infinite where they are 0 and above. `""` and 1 where the intervals of a line overlap or
        are not known, or the lines differ in direction.

    Example:
        >>> from jaxbandits.report.intervals import clopper_pearson, least_change
        >>> direction, factor = least_change(clopper_pearson(297, 1000), clopper_pearson(1, 1000))
        >>> direction, round(factor)
        ('falls', 48)
    """
    first_low, first_high, last_low, last_high = (np.asarray(end, float) for end in (*first, *last))
    for direction, small, large in (("grows", first_high, last_low), ("falls", last_high, first_low)):
        if np.all(large > small):  # never with NaN
            with np.errstate(divide="ignore"):
                return direction, float(np.min(large / small))
    return "", 1.0
