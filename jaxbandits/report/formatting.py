"""Numbers as people read them: the same in titles, tables and captions."""

import decimal
import math
import textwrap
from collections.abc import Sequence

__all__ = [
    "at_least_fold",
    "by_reason",
    "count",
    "fold",
    "full",
    "interval",
    "percent",
    "power",
    "probability",
    "rate",
    "rounded_down",
    "runs",
    "short",
    "text",
    "texts",
    "value",
    "wrap",
]


#: Whole numbers below this are written in full where the number itself matters, and not its size.
_WHOLE = 1e9


def wrap(text: str, width: int, *, long_words: bool = True) -> str:
    """Break a text into lines of at most `width` characters; `name = value` stays on one line.

    A longer word is broken, after its commas if it has some, elsewhere unless `long_words` is false.
    """
    text = " ".join(
        word.replace(",", ", ").strip() if "=" in word and len(word) > width else word for word in text.split(" ")
    )
    together = textwrap.fill(
        text.replace(" = ", "\u00a0=\u00a0"), width, break_long_words=long_words, break_on_hyphens=False
    )
    return together.replace("\u00a0=\u00a0", " = ")


def value(x: float, whole_below: float = 1e6) -> str:
    """Format three significant digits: `12,300`, `0.15`; whole numbers below a limit in full."""
    if not math.isfinite(x):
        return {math.inf: "∞", -math.inf: "−∞"}.get(x, "–")
    if x == int(x) and abs(x) < whole_below:
        return f"{int(x):,}"
    if 1 <= abs(x) < 1e9:
        digits = 2 - math.floor(math.log10(abs(x)))
        rounded = round(x, digits)
        return f"{rounded:,.{max(digits, 0)}f}"
    return f"{x:.3g}"


def rounded_down(x: float) -> str:
    """Format a lower bound as `value` does, rounded down: `1,230,000` for 1,236,000."""
    if not math.isfinite(x) or (x % 1 == 0 and value(x) == f"{int(x):,}"):
        return value(x)
    return value(float(decimal.Context(3, decimal.ROUND_FLOOR).create_decimal(str(float(x)))))


def full(x: float) -> str:
    """Format a number that is known without an error: whole ones below 10^9 in full, six digits of others."""
    return f"{x:,.6g}" if x % 1 else value(x, _WHOLE)


def short(x: float) -> str:
    """Format as `value`, with k for thousands and M for millions: `50k`, `1.5M`."""
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if unit <= abs(x) < 1e9:
            return f"{value(x / unit)}{letter}"
    return value(x)


def power(x: float) -> str:
    r"""Format with a power of ten, in matplotlib's notation: `$10^{8}$`, `$2\cdot10^{-5}$`; 0 as it is."""
    if x == 0 or not math.isfinite(x):
        return value(x)
    mantissa, _, exponent = f"{x:.2e}".partition("e")
    number = f"{float(mantissa):g}"
    return f"${'' if number == '1' else number + chr(92) + 'cdot'}10^{{{int(exponent)}}}$"


def probability(x: float) -> str:
    """Format three decimals, or the power of ten where these would show 0: `0.157`, `3e-05`."""
    if not math.isfinite(x):
        return "–"
    return f"{x:.3f}" if x == 0 or x >= 0.0005 else f"{x:.0e}"


def count(x: float) -> str:
    """Format a whole number with separators: `100,000`."""
    return f"{round(x):,}"


def runs(number: int) -> str:
    """Format a number of runs: `1 run`, `1,000 runs`."""
    return f"{count(number)} run" + "s" * (number != 1)


def fold(x: float) -> str:
    """Format a ratio above 1: `3.1`, `48`."""
    return f"{x:.2g}" if x < 10 else f"{x:,.0f}"


def percent(share: float, digits: int = 2) -> str:
    """Format a share: `12%`, `0.35%`; from 99% up rounded down, as it is less than all: `99.6%`."""
    x = 100 * share
    return f"{rounded_down(x) if 99 <= x < 100 else full(float(f'{x:.{digits}g}'))}%"


def at_least_fold(x: float) -> str:
    """Format a ratio that is known to be at least x, rounded down: `at least 3.1-fold`; nothing where that is 1."""
    if not math.isfinite(x):
        return ""
    down = math.floor(10 * x) / 10 if x < 10 else math.floor(x)
    return f"at least {down:,.10g}-fold" if down > 1 else ""


def rate(x: float, of: int) -> str:
    """Format a measured failure rate; of none, with the number of runs: `0 (of 1,000 runs)`."""
    return f"0 (of {runs(of)})" if x == 0 else probability(x)


def interval(low: float, high: float, of_probability: bool = False) -> str:
    """Format both ends in brackets; an end that is not known as a dash."""
    show = probability if of_probability else value
    return f"[{show(low)}, {show(high)}]"


def text(item: object) -> str:
    """Format a coordinate's value: a number as `value` does, whole ones below 10^9 in full; others with `str`."""
    return value(item, _WHOLE) if isinstance(item, int | float) and not isinstance(item, bool) else str(item)


def texts(items: Sequence[object]) -> list[str]:
    """Format the values of a coordinate as `text` does, with more digits where these alone distinguish them."""
    found = [text(item) for item in items]
    for digits in range(4, 18):
        if len(set(found)) == len(set(items)):
            break
        found = [f"{x:.{digits}g}" if isinstance(x, float) and x % 1 > 0 else text(x) for x in items]
    return found


def by_reason(left_out: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the names of what was left out, given as `name (why)`, by the reason."""
    found: dict[str, list[str]] = {}
    for each in left_out:
        label, _, why = each.partition(" (")
        found.setdefault(why.removesuffix(")"), []).append(label)
    return [*found.items()]
