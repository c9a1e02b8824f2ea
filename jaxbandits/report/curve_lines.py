"""The lines of curves with their bands, and the marks of truncated runs, of zeros and of runs that are repeated."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from jaxbandits.report import formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import lower_bounds, parts, values_of

__all__ = ["Drawn", "draw_lines", "name_missing", "name_zeros"]

#: The mark of 0 on a logarithmic axis.
_ZERO: dict[str, Any] = {"linestyle": "", "marker": "v", "markerfacecolor": "white"}
#: The marks of all lines at one place are within this many inches of each other.
_WIDEST = 0.24


class Drawn(NamedTuple):
    """What is drawn along the horizontal axis of every panel."""

    y: str
    centre: str
    hue: str | None
    places: np.ndarray  # along the horizontal axis
    logarithmic: bool  # the vertical scale
    floor: float  # the lowest end of a band on such a scale
    fine: bool  # thin lines, of small panels


def draw_lines(axes: Axes, known: xr.Dataset, own: xr.DataArray, drawn: Drawn) -> None:
    """Draw a line with its band per hue; mark truncated runs, and values that a logarithmic axis cannot show.

    Args:
        axes: the axes.
        known: a summary without other dimensions than that along the axes, and the hue.
        own: bool, whether a hue has the axis; along one that it lacks, its line is flat, with one mark.
        drawn: what is drawn.
    """
    y, centre, hue, places, logarithmic, floor, fine = drawn
    names = parts(y, centre)
    middle, low, high = (known[n] for n in names)
    stopped, open_above = (lower_bounds(known, names[i]) for i in (0, 2))
    lines = values_of(known, hue)
    texts = [None] if hue is None else formatting.texts(lines)
    for i, (text, colour) in enumerate(zip(texts, looks.colours(lines), strict=True)):
        at = {} if hue is None else {hue: i}
        values, bottom, top = (v.isel(at).values.astype(float) for v in (middle, low, high))
        if hue is not None and not np.isfinite(values).any():
            continue
        marked = np.ones(places.shape, bool)
        if not own.isel({name: place for name, place in at.items() if name in own.dims}):
            marked = np.arange(places.size) == places.size // 2  # one sample, and one mark
        unseen = (values <= 0) if logarithmic else np.zeros(values.shape, bool)
        cut = stopped.isel(at).values
        above = open_above.isel(at).values & ~cut & marked  # of a median that is known
        values = np.where(unseen, np.nan, values)
        # Nothing is known between lower bounds, unless they are one.
        inner = cut & np.append(cut[1:], True) & np.append(True, cut[:-1]) & marked.all()
        look = looks.line_look(i, fine=fine)
        size = look["markersize"]
        shown = np.where(inner, np.nan, values)
        bottom = np.maximum(bottom, floor) if logarithmic else bottom
        band = np.where(cut, values, np.where(top > bottom, top, bottom))  # none up to a 0 that cannot be shown
        # Side by side: lines truncated at the same number of pulls, or without errors, would hide each other.
        beside = axes.transData + ScaledTranslation(
            (i - (len(lines) - 1) / 2) * min(size / 100, _WIDEST / len(lines)), 0.0, axes.figure.dpi_scale_trans
        )
        where = beside if places.size == 1 else axes.transData  # so would the intervals at a single place
        (line,) = axes.plot(places, shown, markevery=~cut & marked, color=colour, label=text, zorder=3, **look)
        line.set_transform(where)  # afterwards: the limits of the axes come from unshifted values
        axes.fill_between(places, bottom, band, color=colour, alpha=0.2, linewidth=0)
        alone = _alone(values) & np.isfinite(bottom) & np.isfinite(band) & marked  # of one run nothing is known
        if alone.any():
            thin: dict[str, Any] = {"color": colour, "alpha": 0.5, "linewidth": 0.6 * look["linewidth"]}
            axes.vlines(places[alone], bottom[alone], band[alone], transform=where, **thin)
        unseen, cut = unseen & marked, cut & marked
        if unseen.any():
            runs = known["runs"].isel(at).values[unseen]
            at_zero = 1 / runs if y == "failure" else np.full(runs.shape, floor)
            whisker: dict[str, Any] = {"color": colour, "linewidth": 0.6 * look["linewidth"], "transform": beside}
            axes.vlines(places[unseen], at_zero, np.maximum(at_zero, top[unseen]), zorder=3, **whisker)
            axes.plot(places[unseen], at_zero, color=colour, transform=beside, zorder=4, markersize=0.8 * size, **_ZERO)
        if cut.any():
            looks.draw_arrows(axes, places[cut], values[cut], size, transform=beside, color=colour, zorder=4)
        if above.any():
            looks.draw_arrows(axes, places[above], top[above], size, transform=beside, color=colour, zorder=4)


def _alone(values: np.ndarray) -> np.ndarray:
    """Return where a value has no neighbour, so that a band has no width."""
    there = np.concatenate([[False], np.isfinite(values), [False]])
    return there[1:-1] & ~there[:-2] & ~there[2:]


def name_zeros(axes: Axes, known: xr.Dataset, y: str) -> None:
    """Put the mark of 0 into the legend; of a failure rate, `< 1/n`."""
    runs = np.unique(known["runs"].values)
    number = formatting.count(runs[0]) if runs.size == 1 else "(number of runs)"
    size = 0.8 * looks.line_look(0)["markersize"]
    text = f"< 1/{number}: no error" if y == "failure" else "0"
    axes.plot([], [], color="#5A5A5A", label=text, markersize=size, **_ZERO)


def name_missing(axes: Axes, known: xr.Dataset, drawn: Drawn) -> None:
    """Put the lines without a number into the legend."""
    if drawn.hue is None:
        return
    middle = known[parts(drawn.y, drawn.centre)[0]].transpose(drawn.hue, ...).values.astype(float)
    there = np.isfinite(middle).reshape(len(middle), -1).any(axis=1)
    texts = formatting.texts(values_of(known, drawn.hue))
    names = [text for text, is_there in zip(texts, there, strict=True) if not is_there]
    if names:
        axes.plot([], [], linestyle="", label=f"no {looks.label(known, drawn.y)}: {', '.join(names)}")
