"""Empty pictures of the package's look, with one pair of axes or with several, and the axes of a user's own figure."""

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jaxbandits import checks
from jaxbandits.errors import UsageError
from jaxbandits.report.user_settings import COLUMN, font_size, setting

__all__ = ["INK", "Picture", "Place", "new_panels", "new_picture", "rows_and_columns"]

#: 900 pixels wide in a README, twice that in the file for dense screens.
_WIDTH, _HEIGHT, _DPI = 9.0, 5.2, 200
INK, _FAINT = "#222222", "#8a8a8a"
#: Pairs of axes in one row at most, unless that is all there are; the least width of one in inches; and of several
#: rows the height of one, as a share of its width, and of what is around them, in inches.
_ONE_ROW, _LEAST_WIDTH, _SHAPE, _AROUND = 3, 1.5, 0.72, 0.9

#: Room between numbers below neighbouring axes at least, in heights of their letters.
_GAP = 1.2
_INCHES = checks.Rule("must be a positive number of inches", checks.POSITIVE.holds)


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
    least: float = _LEAST_WIDTH,
    ax: Place = None,
    style: str | None = None,
    width: float | None = None,
) -> tuple[Figure, list[Axes]]:
    """Return an empty picture with pairs of axes, or the given axes and their figure.

    Args:
        count: how many pairs of axes there are.
        height: inches, of a picture of the usual width with one row of axes.
        shared: give new axes one vertical and one horizontal scale, and, where they are many, several rows.
        least: the least width of a pair of axes, in inches; they share a row while they have it.
        ax: axes to draw into; None for a new picture.
        style: `paper` for the width of a column.
        width: inches; None for the style's, or the user's `figure.figsize`.

    Raises:
        UsageError: another number of axes than `count`, or a width that is not positive or not the picture's to choose.
    """
    if ax is not None:
        return _given_panels(count, ax, width)
    if width is not None:
        width = checks.number("width", width, _INCHES)
    usual = COLUMN if style == "paper" else (_WIDTH, height)
    size = setting("figure.figsize", usual)
    if width is not None:
        size = (width, min(width * usual[1] / usual[0], max(_HEIGHT, height)))
    columns = _columns(count, size[0], least) if shared else count
    rows = -(-count // columns)
    if rows > 1 and (width is not None or setting("figure.figsize", None) is None):
        size = (size[0], rows * _SHAPE * size[0] / columns + _AROUND)
    face = setting("figure.facecolor", "white")
    picture = Picture(figsize=size, dpi=setting("figure.dpi", _DPI), layout="constrained", facecolor=face)
    if columns > 1:  # the numbers below the ends of neighbours have some room between them
        gap = _GAP * font_size(11, "xtick.labelsize") / 72
        layout: Any = picture.get_layout_engine()
        layout.set(wspace=gap * columns / size[0])
    every = list(picture.subplots(rows, columns, sharex=shared, sharey=shared, squeeze=False).ravel())
    panels = every[:count]
    for left_over in every[count:]:
        left_over.remove()
    for axes in panels[-columns:]:  # those below which there is nothing
        axes.tick_params(labelbottom=True)
    for axes in panels:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(setting("axes.edgecolor", _FAINT))
        for name in ("xtick", "ytick"):
            points = font_size(11, f"{name}.labelsize")
            axes.tick_params(axis=name[0], colors=setting(f"{name}.color", INK), labelsize=points)
        axes.set_axisbelow(True)
    return picture, panels


def rows_and_columns(axes: Axes) -> tuple[int, int]:
    """Return how many pairs of axes are stacked, and side by side, in the picture of one of them."""
    place = axes.get_subplotspec()
    grid = None if place is None else place.get_gridspec()
    return (1, 1) if grid is None else (grid.nrows, grid.ncols)


def _columns(count: int, inches: float, least: float) -> int:
    """Return how many pairs of axes are side by side."""
    wanted = count if count <= _ONE_ROW else math.ceil(math.sqrt(count))
    return max(1, min(wanted, int(inches / least)))


def _given_panels(count: int, ax: object, width: float | None) -> tuple[Figure, list[Axes]]:
    panels = list(np.asarray(ax, dtype=object).ravel())
    if len(panels) != count or not all(isinstance(axes, Axes) for axes in panels):
        kinds = ", ".join(type(axes).__name__ for axes in panels)
        raise UsageError(f"ax must be {count} of matplotlib's Axes, one a panel, got {kinds or 'none'}")
    if other := [axes.name for axes in panels if axes.name in ("polar", "3d")]:
        raise UsageError(f"ax must have two straight axes, got {other[0]} ones")
    if width is not None:
        raise UsageError("width is that of a new picture, and ax has its own: give one of them")
    for axes in panels:
        axes.set_axisbelow(True)
    return panels[0].figure, panels
