"""Ratios and exponents as titles may state them: as far as the intervals of the numbers allow, rounded outwards."""

import math
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from jaxbandits.report.summaries import GROWING

__all__ = ["Ends", "at_least", "at_most", "ends_of", "exponent", "quotient", "times"]

#: Width of an interval about 1 below which a tenth is no fair rounding of its upper end.
_NARROW = 0.1


class Ends(NamedTuple):
    """The ends of intervals, any shape."""

    low: Any
    high: Any

    def sel(self, **labels: Any) -> "Ends":
        """Return those at some labels."""
        return Ends(*(end.sel(**labels) for end in self))

    def isel(self, **places: Any) -> "Ends":
        """Return those at some places."""
        return Ends(*(end.isel(**places) for end in self))


def ends_of(stats: xr.Dataset, metric: str) -> Ends:
    """Return the intervals of a metric's mean; without an upper end where runs were truncated."""
    low, high = stats[f"{metric}_low"], stats[f"{metric}_high"]
    return Ends(low, high.where(~stats["at_least"].astype(bool), math.inf) if metric in GROWING else high)


def quotient(one: Ends, other: Any) -> Ends:
    """Return the quotients of positive numbers that their intervals allow; the other may be an exact number."""
    below = other if isinstance(other, Ends) else Ends(other, other)
    return Ends(one.low / below.high, one.high / below.low)


def exponent(x: ArrayLike, ends: Ends) -> Ends:
    """Return the slopes of the logarithm on that of x, by least squares, that the intervals of positive means allow.

    Args:
        x: positive, `(N,)`.
        ends: those of the means, `(N,)`.
    """
    log_x = np.log(np.asarray(x, float))
    weight = log_x - log_x.mean()
    weight = weight / (weight**2).sum()
    low, high = (np.log(np.asarray(end, float)) for end in ends)
    rising = weight > 0
    return Ends(
        float((weight * np.where(rising, low, high)).sum()), float((weight * np.where(rising, high, low)).sum())
    )


def times(ends: Ends, digits: int = 2) -> str:
    """Write the smallest and the largest number that intervals allow: `0.97 to 1.1`.

    Where both lie near 1, they have as many decimals: `0.99 to 1.01`, not `0.99 to 1.1`.
    """
    low, high = float(np.min(ends.low)), float(np.max(ends.high))
    more = 1 if 0 < low < 1 < high and high - low < _NARROW else 0
    texts = [_rounded(low, math.floor, digits), _rounded(high, math.ceil, digits + more)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def at_least(ends: Ends) -> str:
    """Write the smallest number that intervals allow, rounded down; nothing where that is no more than 1."""
    low = float(np.min(ends.low))
    text = _rounded(low, math.floor, 2)
    return text if math.isfinite(low) and low > 1 and text != "1" else ""


def at_most(ends: Ends) -> str:
    """Write the largest number that intervals allow, rounded up."""
    return _rounded(float(np.max(ends.high)), math.ceil, 2)


def _rounded(x: float, to: Any, digits: int) -> str:
    """Return a number rounded by `math.floor` or `math.ceil` to `digits` digits; those before the point are kept."""
    if not math.isfinite(x):
        return {math.inf: "∞", -math.inf: "−∞"}.get(x, "–")
    step = 10.0 ** min(0, math.floor(math.log10(abs(x))) + 1 - digits) if x else 1.0
    return f"{round(to(round(x / step, 6)) * step, 12):,.10g}".replace("-", "−")
