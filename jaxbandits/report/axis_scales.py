"""Scales and ticks of axes, chosen by the numbers along them."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator, NullLocator

from jaxbandits.report import formatting
from jaxbandits.report.user_settings import font_size, setting

__all__ = ["NARROW", "is_narrow", "name_ticks", "set_scale", "spans_decades", "spread_by_factors"]

#: Limit on the width of axes, in inches, that have room for few labels.
NARROW = 4.0
#: Width of a letter and height of a line, as shares of the size of the font.
_LETTER, _LINE = 0.62, 1.2
#: Height of texts below axes at most, as a share of that of the axes.
_BELOW = 0.6


def spans_decades(values: np.ndarray, factor: float = 8.0) -> bool:
    """Return whether positive numbers differ so much that a logarithmic scale reads better."""
    finite = np.asarray(values, float)[np.isfinite(values)]
    return bool(finite.size) and bool(finite.min() > 0) and bool(finite.max() / finite.min() >= factor)


def spread_by_factors(values: np.ndarray) -> bool:
    """Return whether places along an axis are spaced by factors rather than by differences."""
    if not spans_decades(values):
        return False
    if np.unique(values).size < 3:  # two are spaced by both
        return True
    low, middle, high = float(np.min(values)), float(np.median(values)), float(np.max(values))
    return abs(math.log(middle / math.sqrt(low * high))) <= abs(math.log(middle / ((low + high) / 2)))


def set_scale(axis: Axis, values: np.ndarray, logarithmic: bool, at_values: bool = False, narrow: bool = False) -> None:
    """Set scale and ticks with plain numbers, and a light grid.

    Args:
        axis: `axes.xaxis` or `axes.yaxis`.
        values: what is drawn along it.
        logarithmic: the scale.
        at_values: put the ticks at the values themselves, for a grid of few that leaves room for their numbers.
        narrow: few ticks with short texts, for panels.
    """
    axis.axes.grid(True, axis=axis.axis_name, color=setting("grid.color", "#e6e6e6"), linewidth=0.8)  # type: ignore[attr-defined]
    values = np.unique(np.asarray(values, float)[np.isfinite(values)])
    if logarithmic:
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log")  # type: ignore[attr-defined]
        decades = np.log10(values.max() / values.min()) if values.size else 1.0
        between = (1.0, 2.0, 5.0) if decades < (1.5 if narrow else 2.7) else (1.0,)
        axis.set_major_locator(LogLocator(subs=between, numticks=5 if narrow else None))
        axis.set_minor_locator(NullLocator())
    elif values.size and np.all(values == np.round(values)):
        axis.set_major_locator(MaxNLocator(integer=True))
    if at_values and values.size <= 9 and _room(np.log(values) if logarithmic else values):
        axis.set_ticks(values.tolist())
        axis.set_minor_locator(NullLocator())
    if logarithmic or at_values or (values.size and np.abs(values).max() >= 1e4):
        show = formatting.short if narrow else formatting.value
        axis.set_major_formatter(_OneFormat(show))


class _OneFormat(Formatter):
    """Writes the numbers along an axis in full, or all as powers of ten where one in sight would need one."""

    def __init__(self, show: Callable[[float], str]) -> None:
        self._show = show

    def __call__(self, number: float, place: int | None = None) -> str:
        """Return the text of one tick."""
        del place
        return self.format_ticks([number])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the texts of all ticks."""
        numbers = [float(f"{number:.6g}") for number in values]
        low, high = sorted(self.axis.get_view_interval()) if self.axis is not None else (-math.inf, math.inf)
        seen = [number for number in numbers if low <= number * (1 + 1e-9) and number * (1 - 1e-9) <= high]
        powers = any("e" in self._show(number) for number in seen)
        return [formatting.power(number) if powers else self._show(number) for number in numbers]


def _room(places: np.ndarray) -> bool:
    """Return whether numbers written at places, in order along an axis, do not overlap."""
    return places.size < 2 or bool(np.diff(places).min() >= 0.06 * np.ptp(places))


def is_narrow(axes: Axes) -> bool:
    """Return whether axes have room for few labels only."""
    return bool(axes.bbox.width / axes.figure.dpi < NARROW)


def name_ticks(axes: Axes, values: Sequence[object]) -> None:
    """Put ticks at the places 0, 1, ..., with texts that do not overlap.

    Texts are broken into lines where the axes are narrow. Where they still have no room, names are written from below,
    long ones in the lines for which there is room, and of numbers some are left out.
    """
    texts = names = formatting.texts(values)
    room = axes.bbox.width / axes.figure.dpi * 72 / len(texts)
    if is_narrow(axes):
        letters = max(6, int(room / (0.65 * font_size(11))))
        texts = [formatting.wrap(text, letters, long_words=False) for text in texts]
    size = font_size(11, "xtick.labelsize")
    lengths = [max(map(len, text.split("\n"))) for text in texts]
    needed = max(((a + b) / 2 + 1 for a, b in itertools.pairwise(lengths)), default=0.0) * _LETTER * size
    height = _BELOW * axes.bbox.height / axes.figure.dpi * 72
    tall = max(1 + text.count("\n") for text in texts) * _LINE * size > height
    upright = (needed > room or tall) and any(isinstance(value, str) for value in values)
    if upright:
        letters, lines = max(6, int(height / (_LETTER * size))), max(1, int(room / (_LINE * size)))
        texts = [_in_lines(name, letters, lines) for name in names]
    every = math.ceil((_LINE * size if upright else needed) / room) or 1
    axes.set_xticks(range(0, len(texts), every), texts[::every], rotation=90 if upright else 0)


def _in_lines(text: str, letters: int, most: int) -> str:
    """Return a text as it is if it is short, or broken into at most `most` lines, the last one cut."""
    if max(map(len, text.split("\n"))) <= letters:
        return text
    lines = formatting.wrap(text, letters).split("\n")
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: letters - 1]}…"]
    return "\n".join(lines)
