"""Numbers of a table's cell, rounded by their interval: two significant digits of its half width."""

import math
from typing import NamedTuple

from jaxbandits.report import formatting

__all__ = ["Cell", "rounded_cell"]

#: Powers of ten between which a number is written out.
_SMALLEST, _LARGEST = -4, 6


class Cell(NamedTuple):
    """What a cell shows; the numbers have commas between thousands, and `-` as minus.

    `centre`, with `≥` before it where `at_least`; then `± half_width`, or `[low, high]`, or nothing where these are
    empty; all of it times 10 to the power of `exponent`.
    """

    centre: str
    half_width: str = ""
    low: str = ""
    high: str = ""
    exponent: int = 0
    at_least: bool = False
    bold: bool = False


def rounded_cell(
    centre: float, low: float, high: float, *, of_rate: bool = False, at_least: bool = False, bold: bool = False
) -> Cell:
    """Return a mean with its half width, or a rate with both ends of its interval, rounded by the half width.

    Args:
        centre: the mean or the rate; NaN where there is none.
        low: lower end of its interval; NaN where there is none.
        high: upper end; infinite for a bound, whose half width is that of the lower end.
        of_rate: whether both ends are shown, since they may lie at different distances.
        at_least: whether the mean is a lower bound.
        bold: whether the cell is bold.
    """
    if not math.isfinite(centre):
        return Cell(formatting.value(centre), bold=bold)
    half = (high - low) / 2 if of_rate else centre - low
    if half == 0:  # all runs have this number
        return Cell(formatting.full(centre), "" if at_least else "0", at_least=at_least, bold=bold)
    if not math.isfinite(half):
        return Cell(formatting.value(centre), at_least=at_least, bold=bold)
    size = math.floor(math.log10(max(abs(centre), half)))
    exponent = 0 if _SMALLEST < size <= _LARGEST or of_rate else size
    scale = 10.0**exponent
    centre, low, high, half = centre / scale, low / scale, high / scale, half / scale
    digits = _digits(half)
    texts = [_rounded(number, digits) for number in (centre, half, low, high) if math.isfinite(number)]
    if of_rate:
        return Cell(texts[0], low=texts[2], high=texts[3], exponent=exponent, at_least=at_least, bold=bold)
    return Cell(texts[0], "" if at_least else texts[1], exponent=exponent, at_least=at_least, bold=bold)


def _digits(half: float) -> int:
    """Return the decimals that show two significant digits of a half width; below 0 for tens and hundreds."""
    digits = 1 - math.floor(math.log10(half))
    return digits - 1 if round(half, digits) >= 10.0 ** (2 - digits) else digits


def _rounded(number: float, digits: int) -> str:
    return f"{round(number, digits) + 0.0:,.{max(digits, 0)}f}"
