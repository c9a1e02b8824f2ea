"""The look of every picture: size, scales, labels. Matplotlib's global state stays untouched."""

from collections.abc import Sequence
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.container import BarContainer

from jaxbandits.report import formatting
from jaxbandits.report.axis_labels import label, mean_label, symbol
from jaxbandits.report.axis_scales import NARROW, is_narrow, name_ticks, set_scale, spans_decades, spread_by_factors
from jaxbandits.report.dimensions import values_of
from jaxbandits.report.new_pictures import INK, Picture, Place, new_panels, new_picture, rows_and_columns
from jaxbandits.report.user_settings import MARKERS, colours, font_size, line_look, setting

__all__ = [
    "MARKERS",
    "Picture",
    "Place",
    "colours",
    "draw_arrows",
    "finish",
    "font_size",
    "head",
    "is_narrow",
    "label",
    "line_look",
    "mean_label",
    "name_ticks",
    "new_panels",
    "new_picture",
    "note_below",
    "rows_and_columns",
    "set_scale",
    "spans_decades",
    "spread_by_factors",
    "symbol",
]

#: Dimensions whose values are names.
_SPEAK_FOR_THEMSELVES = ("algorithm", "problem")


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

    The legend is to the right of the axes. It is below them if it is higher, or if there are `others` beside them. In a
    figure of the user's own all of it is inside the axes, with matplotlib's sizes; of several, the first ones have the
    title, if there is one. Labels are broken into lines where they are longer than the axes.
    """
    figure: Any = axes.figure
    own = isinstance(figure, Picture)
    ink = setting("axes.labelcolor", INK)
    look: dict[str, Any] = {"fontsize": font_size(12, "axes.labelsize"), "color": ink} if own else {}
    for panel in (axes, *others):
        if not own or panel.xaxis.get_tick_params()["labelbottom"]:
            panel.set_xlabel(x, **look)
            panel.set_xlabel(_fitted(x, panel.bbox.width, panel.xaxis.label, 0.54))
        place = panel.get_subplotspec()
        beside = own and place is not None and place.is_first_col() and panel.get_shared_y_axes().joined(axes, panel)
        if panel is axes or beside:
            panel.set_ylabel(y, **look)
            panel.set_ylabel(_fitted(y, panel.bbox.height, panel.yaxis.label, 0.64))
    if own:
        # Over the whole picture, not the axes alone: a legend beside them would leave too little room.
        size, colour = font_size(12.5, "figure.titlesize"), setting("text.color", INK)
        heading = figure.suptitle("", x=0.012, ha="left", fontsize=size, fontweight="bold", color=colour)
        heading.set_text(_wrapped(title, figure.get_figwidth(), heading.get_fontsize()))
    elif title:
        lines = _wrapped(title, axes.bbox.width / axes.figure.dpi, axes.title.get_fontsize())
        axes.set_title(f"{lines}\n{axes.get_title()}".strip() if others else lines)
    _add_legend((axes, *others), legend, columns, own)


def _wrapped(title: str | None, inches: float, size: Any) -> str:
    return formatting.wrap(title or "", max(12, int(inches * 72 / (0.648 * size))))


def _fitted(text: str, pixels: float, label: Any, letter: float) -> str:
    """Return the text of an axis, broken into lines that are no longer than the axis; a break in it stays.

    Args:
        text: the text.
        pixels: length of the axis, before the picture is laid out.
        label: what will show the text.
        letter: width of a letter as a share of its height, less where axes will be longer than now.
    """
    room = max(12, int(pixels / label.figure.dpi * 72 / (letter * label.get_fontsize())))
    return "\n".join(formatting.wrap(line, room, long_words=False) for line in text.split("\n"))


def _entries(panels: Sequence[Axes]) -> list[tuple[Any, str]]:
    """Return what a legend shows, of several pairs of axes once: bars first, then their references."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(text, handle)
    return sorted(((handle, text) for text, handle in found.items()), key=lambda e: not isinstance(e[0], BarContainer))


def _add_legend(panels: Sequence[Axes], title: str | None, columns: int, own: bool) -> None:
    entries = _entries(panels)
    if not entries:
        return
    axes, several = panels[0], len(panels) > 1
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
    wrapped = [formatting.wrap(text, 26) for text in texts]
    em = size / 72
    # Lines of 1.2 em, with 0.7 em between two entries.
    height = em * sum(1.2 * (text.count("\n") + 1) + 0.7 for text in (title or "", *wrapped))
    if several or inches < 1.5 * NARROW or height > 0.85 * columns * figure.get_figheight():
        lines = [formatting.wrap(text, 34, long_words=False) for text in texts]
        longest = max(len(line) for text in lines for line in text.split("\n"))
        columns = max(1, min(4, len(texts), int(inches / (em * (5 + 0.56 * longest)))))
        placed = figure.legend(handles, lines, loc="outside lower center", ncols=columns, **look)
        rows, _ = rows_and_columns(axes)
        if (rows > 1 or not several) and setting("figure.figsize", None) is None:  # room below a picture for it
            high = -(-len(texts) // columns) + sum(text.count("\n") for text in lines) + (title is not None)
            figure.set_figheight(figure.get_figheight() + high * 1.8 * placed.get_texts()[0].get_fontsize() / 72)
    else:
        axes.legend(
            handles, wrapped, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, ncols=columns, **look
        )


def draw_arrows(axes: Axes, x: Any, y: Any, size: float, arrow: str = "↑", **look: Any) -> None:
    """Draw an arrow at each number that is a lower bound, since runs were truncated; `size` is that of other marks."""
    axes.plot(x, y, linestyle="", marker=f"${arrow}$", markersize=2.2 * size, markeredgewidth=0, **look)


def note_below(panels: Sequence[Axes], text: str) -> None:
    """Write a note below a picture, or below the last axes of a user's own figure."""
    if not text:
        return
    figure: Any = panels[-1].figure
    if isinstance(figure, Picture):
        size = font_size(10, "legend.fontsize")
        inches = figure.get_figwidth()
        lines = formatting.wrap(text, int(inches * 72 / (0.56 * size)))
        figure.supxlabel(lines, fontsize=size, x=0.012, ha="left", color=setting("text.color", INK))
    else:
        below = panels[-1]
        below.set_xlabel(f"{below.get_xlabel()}\n{_fitted(text, below.bbox.width, below.xaxis.label, 0.54)}")


def head(axes: Axes, ds: xr.Dataset, name: str, place: int, inches: float | None = None) -> None:
    """Write above the axes of a panel which value of its dimension it shows.

    Args:
        axes: the axes.
        ds: a Dataset with the dimension.
        name: the dimension.
        place: the index of the value.
        inches: the width of the axes, if that is known better than from the axes.
    """
    size = font_size(11, "axes.titlesize")
    inches = axes.bbox.width / axes.figure.dpi if inches is None else inches
    room = max(12, int(inches * 72 / (0.6 * size)))
    values = values_of(ds, name)
    texts = formatting.texts(values)
    said = texts[place]
    if name not in _SPEAK_FOR_THEMSELVES:
        long, letter = label(ds, name), symbol(ds, name)
        fits = all(len(f"{long} = {text}") <= room for text in texts)
        if fits or (letter == name and isinstance(values[place], int | float)):
            said = f"{long} = {said}"
        elif letter != name:
            said = f"{letter} = {said}"  # and of words, which say what they are, the value alone
    axes.set_title(formatting.wrap(said, room), fontsize=size)
