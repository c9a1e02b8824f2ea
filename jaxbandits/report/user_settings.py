"""The user's settings of matplotlib, which win over the package's look, and the style of a paper's column.

A setting counts as the user's where it differs from matplotlib's own default: set in `matplotlib.rcParams`, by a style
sheet, or in a `matplotlibrc`.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from matplotlib import colormaps, rc_context, rcParams, rcParamsDefault
from matplotlib.font_manager import FontProperties

from jaxbandits.errors import check_text, unknown_name

__all__ = [
    "COLUMN",
    "MARKERS",
    "colours",
    "font_size",
    "in_style",
    "line_look",
    "setting",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Width and height of a picture in a column of a paper, in inches.
COLUMN = (3.25, 2.4)
#: The settings of every style, but for those of the user.
_STYLES: dict[str, dict[str, object]] = {
    "paper": {
        "font.size": 8.0, "lines.linewidth": 1.2, "lines.markersize": 3.5, "pdf.fonttype": 42, "ps.fonttype": 42,
    },
}  # fmt: skip
#: Okabe and Ito's palette, distinguishable with any colour vision; without its yellow, too pale on white.
_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
#: The hollow marks of lines whose colours come a second time.
_HOLLOW = ["s", "o", "D", "^", "p", "h", "*"]


def setting(name: str, ours: object) -> Any:
    """Return the user's setting of matplotlib, or ours where the user has none."""
    given: Any
    usual: Any
    given, usual = rcParams, rcParamsDefault
    return ours if given[name] == usual[name] else given[name]


def font_size(points: float, name: str = "font.size") -> float:
    """Return the user's size of these texts in points, or ours, in proportion to the user's `font.size`."""
    if name != "font.size" and (given := setting(name, None)) is not None:
        return float(FontProperties(size=given).get_size_in_points())  # it may be a word, such as "small"
    return points * float(setting("font.size", 12.0)) / 12.0


def colours(values: Sequence[object]) -> list[object]:
    """Return a colour per value: the user's, else a sequence from dark to light for numbers in order, else a palette.

    The user's are those of `axes.prop_cycle`, if there are enough for the numbers, and the map `image.cmap`.
    """
    given = _cycle("color")
    ordered = len(values) > 3 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if ordered and len(given) < len(values):
        scale, last = colormaps[setting("image.cmap", "viridis")], len(values) - 1
        return [scale(0.85 * i / last) for i in range(len(values))]
    palette = given or _PALETTE
    return [palette[i % len(palette)] for i in range(len(values))]


def line_look(i: int, *, fine: bool = False) -> dict[str, Any]:
    """Return marker, size and width of the i-th line of a picture: the user's, or ours, less where axes are small."""
    given = setting("lines.marker", None)
    theirs = _cycle("marker") or ([given] if given else [])
    markers = theirs or [*MARKERS, *_HOLLOW]
    share = 0.75 if fine else 1.0
    size, width = setting("lines.markersize", share * 6.0), setting("lines.linewidth", share * 2.0)
    look = {"marker": markers[i % len(markers)], "markersize": size, "linewidth": width}
    return look | ({} if theirs or i % len(markers) < len(MARKERS) else {"markerfacecolor": "white"})


def in_style(draw: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function that draws with the settings of its argument `style`; global ones are as before afterwards.

    The function raises UsageError for an unknown style, and for another argument that is no text where one is needed.
    """
    parameters = inspect.signature(draw).parameters
    texts = [name for name, about in parameters.items() if about.annotation in (str, str | None)]

    @functools.wraps(draw)
    def drawn(*args: _P.args, **options: _P.kwargs) -> _R:
        given = dict(zip(parameters, args, strict=False)) | options
        for name in texts:
            if given.get(name) is not None:
                check_text(name, given[name])
        style = options.get("style")
        if style is None:
            return draw(*args, **options)
        if style not in _STYLES:
            raise unknown_name("style", str(style), _STYLES)
        settings: dict[Any, object] = {name: setting(name, ours) for name, ours in _STYLES[str(style)].items()}
        with rc_context(settings):
            return draw(*args, **options)

    return drawn


def _cycle(key: str) -> list[object]:
    """Return the user's cycle of colours or markers; empty where there is none."""
    given = setting("axes.prop_cycle", None)
    return [] if given is None else list(given.by_key().get(key, []))
