"""Intervals from pairs of runs: two labels on the same seeds, whose rewards are common random numbers.

All functions take two float64 arrays `(…, S)`, whose last axis is the seeds, and the probability `tail` on each side of
the interval. A pair in which either value is NaN is left out. They return arrays `(…)`, NaN where pairs are too few.
"""

from typing import NamedTuple

import numpy as np
import scipy  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.report.intervals import student_half_width

__all__ = [
    "Interval",
    "Moments",
    "discordant",
    "mean_difference",
    "mean_ratio",
    "moments",
    "proportion_difference",
    "proportion_ratio",
    "score_interval",
    "wide_proportion_difference",
]

#: After this number of halvings an interval of length 2 is as short as float64 allows.
_HALVINGS = 60

Array = np.ndarray


class Interval(NamedTuple):
    """An estimate with its interval, float64 `(…)` each."""

    estimate: Array
    low: Array
    high: Array


class Moments(NamedTuple):
    """Means, variances and the covariance of the pairs that are complete, float64 `(…)` each."""

    number: Array  # of complete pairs
    first: Array
    second: Array
    first_variance: Array  # NaN from a single pair, as the next two
    second_variance: Array
    covariance: Array


def moments(first: Array, second: Array) -> Moments:
    """Return the moments of the complete pairs."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity; of infinite values there is no variance
        there = ~np.isnan(first + second)
        number = there.sum(-1)
        some, freedom = np.where(number > 0, number, np.nan), np.where(number > 1, number - 1, np.nan)
        first_mean, second_mean = (np.where(there, values, 0).sum(-1) / some for values in (first, second))
        a, b = (np.where(there, v - m[..., None], 0) for v, m in ((first, first_mean), (second, second_mean)))
        variances = [(x * y).sum(-1) / freedom for x, y in ((a, a), (b, b), (a, b))]
    return Moments(number, first_mean, second_mean, *variances)


def mean_difference(first: Array, second: Array, tail: float) -> Interval:
    """Return the mean of first - second, with Student's t interval of paired differences."""
    with np.errstate(invalid="ignore"):
        difference = first - second
    missing = np.isnan(difference)
    unknown = (missing & ~np.isnan(first) & ~np.isnan(second)).any(-1)  # infinity minus infinity
    number = (~missing).sum(-1)
    difference[missing] = 0
    with np.errstate(invalid="ignore"):  # infinity minus infinity; of infinite values there is no variance
        mean = difference.sum(-1) / np.where(number > 0, number, np.nan)
        difference -= mean[..., None]
        difference[missing] = 0
        variance = (difference * difference).sum(-1) / np.where(number > 1, number - 1, np.nan)
    half = student_half_width(variance**0.5, number, tail)
    middle = np.where(unknown, np.nan, mean)
    return Interval(middle, middle - half, middle + half)


def mean_ratio(first: Array, second: Array, tail: float) -> Interval:
    """Return mean(first) / mean(second), with the interval of Fieller (1954) for paired values.

    The interval holds every ratio r for which Student's t test does not reject that first - r * second has mean 0. It
    is the whole line where the mean of `second` does not differ significantly from 0. Without negative values it has no
    ratios below 0.
    """
    found = moments(first, second)
    t = student_half_width(1.0, found.number, tail)  # the quantile, divided by the root of the number of pairs
    a = found.second**2 - t**2 * found.second_variance
    b = found.first * found.second - t**2 * found.covariance
    c = found.first**2 - t**2 * found.first_variance
    bounded = a > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = found.first / found.second
        root = np.sqrt(np.maximum(b * b - a * c, 0))
        low, high = (np.where(bounded, (b + sign * root) / a, sign * np.inf) for sign in (-1, 1))
    low, high = (np.where(np.isnan(a), np.nan, end) for end in (low, high))
    return Interval(estimate, np.where(_not_negative(first, second), np.maximum(low, 0), low), high)


def discordant(first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Return the numbers of complete pairs, of those with only `first` true, and of those with only `second` true."""
    there = ~np.isnan(first + second)
    return there.sum(-1), ((first > second) & there).sum(-1), ((first < second) & there).sum(-1)


def score_interval(only_first: Array, only_second: Array, number: Array, tail: float) -> tuple[Array, Array]:
    """Return the score interval of Tango (1998) for a difference of paired proportions.

    It holds every difference that the score test does not reject; of no difference that is McNemar's test.

    Args:
        only_first: pairs with only the first true; expected numbers need not be whole.
        only_second: pairs with only the second true.
        number: pairs, at least 1; NaN where there is no interval.
        tail: probability on each side.
    """
    b, c, n = np.broadcast_arrays(only_first, only_second, number)
    z = scipy.special.ndtri(tail)

    def rejected(d: Array) -> Array:
        """Return whether a difference is rejected, by the likeliest probabilities that have it."""
        linear = (2 * n - b + c) * d - b - c
        second = (np.sqrt(np.maximum(linear**2 + 8 * n * c * d * (1 - d), 0)) - linear) / (4 * n)
        return (b - c - n * d) ** 2 > z**2 * n * (2 * second + d * (1 - d))

    ends = []
    for end in (-1.0, 1.0):
        inside, outside = (b - c) / n, np.full(n.shape, end)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            out = rejected(middle)
            inside, outside = np.where(out, inside, middle), np.where(out, middle, outside)
        ends.append(np.where(np.isnan(n), np.nan, outside))
    return ends[0], ends[1]


def proportion_difference(first: Array, second: Array, tail: float) -> Interval:
    """Return the difference of paired proportions, of 0 and 1, with the score interval of Tango (1998)."""
    number, only_first, only_second = discordant(first, second)
    some = np.where(number > 0, number, np.nan)
    return Interval((only_first - only_second) / some, *score_interval(only_first, only_second, some, tail))


def wide_proportion_difference(first: Array, second: Array, tail: float) -> Interval:
    """Return the difference of paired proportions, of 0 and 1, with adjusted Wald intervals (Bonett, Price 2012).

    It is Wald's interval after one pair is added to each of the two counts of discordant pairs. It is wider than the
    score interval where these are few, so that a bound on one side alone seldom errs too often.
    """
    number, only_first, only_second = discordant(first, second)
    some = np.where(number > 0, number, np.nan)
    p, q = (only_first + 1) / (some + 2), (only_second + 1) / (some + 2)
    half = -scipy.special.ndtri(tail) * np.sqrt((p + q - (p - q) ** 2) / (some + 2))
    return Interval((only_first - only_second) / some, np.maximum(p - q - half, -1), np.minimum(p - q + half, 1))


def proportion_ratio(first: Array, second: Array, tail: float) -> Interval:
    """Return the ratio of paired proportions, of 0 and 1, with hybrid Wilson intervals (Bonett, Price 2006)."""
    number, only_first, only_second = discordant(first, second)
    both = (first + second == 2).sum(-1)
    x, y, any_true = both + only_first, both + only_second, both + only_first + only_second
    joint = np.sqrt((only_first + only_second + 2) / ((x + 1) * (y + 1)))
    x_alone, y_alone = (np.sqrt((1 - (n + 1) / (any_true + 2)) / (n + 1)) for n in (x, y))
    z = -scipy.special.ndtri(tail) * joint / (x_alone + y_alone)
    (x_low, x_high), (y_low, y_high) = (_wilson(n, any_true, z) for n in (x, y))
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = x / y
        low, high = x_low / y_high, x_high / y_low
    nothing = any_true == 0
    low, high = np.where(nothing, 0.0, low), np.where(nothing, np.inf, high)
    return Interval(estimate, *(np.where(number > 0, end, np.nan) for end in (low, high)))


def _wilson(count: Array, number: Array, z: Array) -> tuple[Array, Array]:
    """Return Wilson's score interval of a proportion, NaN from no trial."""
    number = np.where(number > 0, number, np.nan)
    root = z * np.sqrt(z**2 + 4 * count * (1 - count / number))
    # No trial was a success, or every one was: the ends are 0 and 1, without a rounding error.
    low = np.where(count == 0, 0.0, (2 * count + z**2 - root) / (2 * (number + z**2)))
    high = np.where(count == number, 1.0, (2 * count + z**2 + root) / (2 * (number + z**2)))
    return low, high


def _not_negative(*values: Array) -> Array:
    """Return whether no value is below 0, bool `(…)`."""
    return np.all([np.all(~(some < 0), -1) for some in values], axis=0)
