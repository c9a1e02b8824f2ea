"""The look of every picture: size, scales, labels. Matplotlib's global state stays untouched."""

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError
from jaxbandits.report import formatting
from jaxbandits.report.axis_scales import NARROW, is_narrow, set_scale, spans_decades, spread_by_factors, tick_texts
from jaxbandits.report.user_settings import COLUMN, MARKERS, colours, font_size, line_look, setting

__all__ = [
    "MARKERS",
    "Picture",
    "colours",
    "finish",
    "font_size",
    "is_narrow",
    "label",
    "line_look",
    "new_panels",
    "new_picture",
    "set_scale",
    "spans_decades",
    "spread_by_factors",
    "symbol",
    "tick_texts",
]

#: 900 pixels wide in a README, twice that in the file for dense screens.
_WIDTH, _HEIGHT, _DPI = 9.0, 5.2, 200
_INK, _FAINT = "#222222", "#8a8a8a"
_LABELS = {
    "epsilon": "accuracy ε",
    "dof": "degrees of freedom ν",
    "p": "order of the moment p",
    "delta": "allowed failure probability δ",
    "m": "arms to return m",
    "n": "number of arms K",
    "k": "number of good arms k",
    "budget": "budget (pulls)",
    "checkpoint": "pulls",
    "beta": "regularity β",
    "correlation": "correlation V",
    "eta": "exploration η",
    "a": "exploration a",
    "pulls": "pulls",
    "cost": "cost",
    "steps": "decisions",
    "failure": "failure rate",
    "simple_regret": "simple regret",
    "aggregate_regret": "aggregate regret",
    "algorithm": "algorithm",
}
#: The symbols of dimensions in running text.
_SYMBOLS = {
    "epsilon": "ε", "delta": "δ", "n": "K", "eta": "η", "beta": "β", "dof": "ν", "correlation": "V",
    "checkpoint": "pulls",
}  # fmt: skip


class Picture(Figure):
    """A figure that belongs to no window or global list, and shows itself in a notebook.

    It is saved with the font type that was set where it was made: Type 42 of the style `paper`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        kinds = {name: setting(name, None) for name in ("pdf.fonttype", "ps.fonttype")}
        self._font_types: dict[Any, object] = {name: kind for name, kind in kinds.items() if kind is not None}

    def savefig(self, *args: Any, **options: Any) -> None:
        """Save the figure, as matplotlib's `Figure.savefig` does."""
        with rc_context(self._font_types):
            super().savefig(*args, **options)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI / 2 if self.dpi == _DPI else self.dpi)
        return buffer.getvalue()


#: Where to draw: a pair of axes, or several for a picture of several.
Place = Axes | Sequence[Axes] | None


def new_picture(ax: Place = None, style: str | None = None, width: float | None = None) -> tuple[Figure, Axes]:
    """Return a picture with one pair of axes, as `new_panels` does."""
    picture, (axes,) = new_panels(1, ax=ax, style=style, width=width)
    return picture, axes


def new_panels(
    count: int,
    height: float = _HEIGHT,
    *,
    shared: bool = True,
    ax: Place = None,
    style: str | None = None,
    width: float | None = None,
) -> tuple[Figure, list[Axes]]:
    """Return an empty picture with pairs of axes side by side, or the given axes and their figure.

    Args:
        count: how many pairs of axes there are.
        height: inches, of a picture of the usual width.
        shared: give new axes one vertical scale.
        ax: axes to draw into; None for a new picture.
        style: `paper` for the width of a column.
        width: inches; None for the style's, or the user's `figure.figsize`.

    Raises:
        UsageError: another number of axes than `count`, or a width that is not positive or not the picture's to choose.
    """
    if ax is not None:
        return _given_panels(count, ax, width)
    if width is not None and not 0 < width < math.inf:
        raise UsageError(f"width must be a positive number of inches, got {width}")
    usual = COLUMN if style == "paper" else (_WIDTH, height)
    size = setting("figure.figsize", usual)
    if width is not None:
        size = (width, min(width * usual[1] / usual[0], max(_HEIGHT, height)))
    face = setting("figure.facecolor", "white")
    picture = Picture(figsize=size, dpi=setting("figure.dpi", _DPI), layout="constrained", facecolor=face)
    panels = list(picture.subplots(1, count, sharey=shared, squeeze=False)[0])
    for axes in panels:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(setting("axes.edgecolor", _FAINT))
        for name in ("xtick", "ytick"):
            points = font_size(11, f"{name}.labelsize")
            axes.tick_params(axis=name[0], colors=setting(f"{name}.color", _INK), labelsize=points)
        axes.set_axisbelow(True)
    return picture, panels


def _given_panels(count: int, ax: object, width: float | None) -> tuple[Figure, list[Axes]]:
    panels = list(np.asarray(ax, dtype=object).ravel())
    if len(panels) != count or not all(isinstance(axes, Axes) for axes in panels):
        kinds = ", ".join(type(axes).__name__ for axes in panels)
        raise UsageError(f"ax must be {count} of matplotlib's Axes, one a panel, got {kinds or 'none'}")
    if width is not None:
        raise UsageError("width is that of a new picture, and ax has its own: give one of them")
    for axes in panels:
        axes.set_axisbelow(True)
    return panels[0].figure, panels


def finish(
    axes: Axes,
    title: str | None,
    x: str,
    y: str,
    legend: str | None = None,
    columns: int = 1,
    others: Sequence[Axes] = (),
) -> None:
    """Add title, axis labels, and a legend where there is more than one thing to distinguish.

    The legend is to the right of the axes, or below them and the `others` beside them. In a figure of the user's own
    all of it is inside the axes, with matplotlib's sizes; of several, the first ones have the title, if there is one.
    """
    figure: Any = axes.figure
    own = isinstance(figure, Picture)
    ink = setting("axes.labelcolor", _INK)
    look: dict[str, Any] = {"fontsize": font_size(12, "axes.labelsize"), "color": ink} if own else {}
    for panel in (axes, *others):
        panel.set_xlabel(x, **look)
    axes.set_ylabel(y, **look)
    if own:
        # Over the whole picture, not the axes alone: a legend beside them would leave too little room.
        size, colour = font_size(12.5, "figure.titlesize"), setting("text.color", _INK)
        heading = figure.suptitle("", x=0.012, ha="left", fontsize=size, fontweight="bold", color=colour)
        heading.set_text(_wrapped(title, figure.get_figwidth(), heading.get_fontsize()))
    elif title:
        lines = _wrapped(title, axes.bbox.width / axes.figure.dpi, axes.title.get_fontsize())
        axes.set_title(f"{lines}\n{axes.get_title()}".strip() if others else lines)
    _add_legend(axes, legend, columns, bool(others), own)


def _wrapped(title: str | None, inches: float, size: Any) -> str:
    return formatting.wrap(title or "", max(12, int(inches * 72 / (0.648 * size))))


def _add_legend(axes: Axes, title: str | None, columns: int, several: bool, own: bool) -> None:
    entries = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not entries:
        return
    entries.sort(key=lambda entry: not isinstance(entry[0], BarContainer))  # bars first, then their references
    handles, texts = zip(*entries, strict=True)
    if not own:
        axes.legend(handles, texts, title=title)
        return
    size = font_size(10.5, "legend.fontsize")
    look: dict[str, object] = {
        "title": title, "fontsize": size, "title_fontsize": font_size(10.5, "legend.title_fontsize"),
        "frameon": False, "alignment": "left", "labelspacing": 0.7,
    }  # fmt: skip
    figure: Any = axes.figure
    inches = figure.get_figwidth()
    if several or inches < 1.5 * NARROW:
        room = 3 if inches >= 1.5 * NARROW else max(1, int(inches / (0.4 + 0.075 * max(map(len, texts)))))
        columns = min(room, len(texts), 3)
        placed = figure.legend(handles, texts, loc="outside lower center", ncols=columns, **look)
        if not several and setting("figure.figsize", None) is None:  # room for the legend below a narrow picture
            rows = -(-len(texts) // columns) + (title is not None)
            figure.set_figheight(figure.get_figheight() + rows * 1.8 * placed.get_texts()[0].get_fontsize() / 72)
    else:
        wrapped = [formatting.wrap(text, 26) for text in texts]
        axes.legend(
            handles, wrapped, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, ncols=columns, **look
        )


def label(ds: xr.Dataset, name: str) -> str:
    """Return the label of a dimension or a metric on an axis: its own attribute, a common name, or its name."""
    if name in ds.coords and "long_name" in ds[name].attrs:
        return str(ds[name].attrs["long_name"])
    if f"{name}_mean" in ds and "label" in ds[f"{name}_mean"].attrs:  # a summary's, in other units
        return str(ds[f"{name}_mean"].attrs["label"])
    return _LABELS.get(name, name.replace("_", " "))


def symbol(name: str) -> str:
    """Return the name of a dimension in running text: its letter where it has one."""
    return _SYMBOLS.get(name, name)
