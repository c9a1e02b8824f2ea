"""The look of every picture: size, colours, scales, labels. Matplotlib's global state stays untouched."""

import io
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from jaxbandits.report import formatting

__all__ = [
    "MARKERS",
    "Picture",
    "colours",
    "finish",
    "label",
    "new_panels",
    "new_picture",
    "set_scale",
    "spans_decades",
    "spread_by_factors",
    "symbol",
]

#: 900 pixels wide in a README, twice that in the file for dense screens.
_WIDTH, _HEIGHT, _DPI = 9.0, 5.2, 200
_INK, _FAINT = "#222222", "#8a8a8a"
#: Okabe and Ito's palette, distinguishable with any colour vision; without its yellow, too pale on white.
_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
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
    """A figure that belongs to no window or global list, and shows itself in a notebook."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=_DPI / 2)
        return buffer.getvalue()


def new_picture(height: float = _HEIGHT) -> tuple[Picture, Axes]:
    """Return an empty picture with one pair of axes."""
    picture, (axes,) = new_panels(1, height)
    return picture, axes


def new_panels(count: int, height: float = _HEIGHT, *, shared: bool = True) -> tuple[Picture, list[Axes]]:
    """Return an empty picture with pairs of axes side by side, on one vertical scale or on separate ones."""
    picture = Picture(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained", facecolor="white")
    panels = list(picture.subplots(1, count, sharey=shared, squeeze=False)[0])
    for axes in panels:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(_FAINT)
        axes.tick_params(colors=_INK, labelsize=11)
        axes.set_axisbelow(True)
    return picture, panels


def finish(
    axes: Axes,
    title: str,
    x: str,
    y: str,
    legend: str | None = None,
    columns: int = 1,
    others: Sequence[Axes] = (),
) -> None:
    """Add title, axis labels, and a legend where there is more than one thing to distinguish.

    The legend is to the right of the axes, or below them and the `others` beside them.
    """
    # Over the whole picture, not the axes alone: a legend beside them would leave too little room.
    text = textwrap.fill(title, 80)
    axes.figure.suptitle(text, x=0.012, ha="left", fontsize=12.5, fontweight="bold", color=_INK)
    for panel in (axes, *others):
        panel.set_xlabel(x, fontsize=12, color=_INK)
    axes.set_ylabel(y, fontsize=12, color=_INK)
    entries = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not entries:
        return
    entries.sort(key=lambda entry: not isinstance(entry[0], BarContainer))  # bars first, then their references
    handles, texts = zip(*entries, strict=True)
    look: dict[str, Any] = {
        "title": legend, "fontsize": 10.5, "title_fontsize": 10.5, "frameon": False, "alignment": "left",
        "labelspacing": 0.7,
    }  # fmt: skip
    if others:
        axes.figure.legend(handles, texts, loc="outside lower center", ncols=min(3, len(texts)), **look)
    else:
        wrapped = [textwrap.fill(text, 26) for text in texts]
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


def colours(values: Sequence[Any]) -> list[Any]:
    """Return a colour per value: a sequence from dark to light for numbers in order, else the palette, in turn."""
    if len(values) > 3 and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return [colormaps["viridis"](place) for place in np.linspace(0.0, 0.85, len(values))]
    return [_PALETTE[i % len(_PALETTE)] for i in range(len(values))]


def spans_decades(values: NDArray[Any], factor: float = 8.0) -> bool:
    """Return whether positive numbers differ so much that a logarithmic scale reads better."""
    finite = np.asarray(values, float)[np.isfinite(values)]
    return bool(finite.size) and bool(finite.min() > 0) and bool(finite.max() / finite.min() >= factor)


def spread_by_factors(values: NDArray[Any]) -> bool:
    """Return whether places along an axis are spaced by factors rather than by differences."""
    if not spans_decades(values):
        return False
    if np.unique(values).size < 3:  # two are spaced by both
        return True
    low, middle, high = float(np.min(values)), float(np.median(values)), float(np.max(values))
    return abs(math.log(middle / math.sqrt(low * high))) <= abs(math.log(middle / ((low + high) / 2)))


def set_scale(
    axis: Axis, values: NDArray[Any], logarithmic: bool, at_values: bool = False, narrow: bool = False
) -> None:
    """Set scale and ticks with plain numbers, and a light grid.

    Args:
        axis: `axes.xaxis` or `axes.yaxis`.
        values: what is drawn along it.
        logarithmic: the scale.
        at_values: put the ticks at the values themselves, for a grid of few that leaves room for their numbers.
        narrow: few ticks with short texts, for panels.
    """
    axis.axes.grid(True, axis=axis.axis_name, color="#e6e6e6", linewidth=0.8)  # type: ignore[attr-defined]
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
        axis.set_major_formatter(FuncFormatter(lambda number, _: show(float(f"{number:.6g}"))))


def _room(places: NDArray[Any]) -> bool:
    """Return whether numbers written at places, in order along an axis, do not overlap."""
    return places.size < 2 or bool(np.diff(places).min() >= 0.06 * np.ptp(places))
