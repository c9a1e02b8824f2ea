"""Pictures with a mark per cell of the grid: `phase`, `bars`."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report import auto_titles, formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import (
    check_some,
    choose,
    laid_out,
    lower_bounds,
    metric,
    parts,
    unknown_variable,
    usable,
    values_of,
)
from jaxbandits.report.summaries import ENDINGS
from jaxbandits.report.user_settings import in_style, setting

__all__ = ["bars", "phase"]

#: Limits on the cells and columns of a phase diagram that still have room for their numbers, and on the tick labels of
#: a dimension of a dense one.
_ROOM, _ROOM_NARROW = (120, 12, 10), (40, 5, 5)
#: A bar that many times lower than the highest cannot be seen.
_UNSEEN = 30.0
_INK = "#222222"


@in_style
def phase(
    ds: xr.Dataset,
    x: str | None = None,
    y: str | None = None,
    value: str | None = None,
    *,
    contours: str | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw a metric's mean, or the failure rate, over two dimensions as colour, logarithmic where it spans decades.

    Where cells are few, they carry their numbers, with a `≥` where runs were truncated at `max_pulls`. Where they are
    many, colours run into each other, and cells with truncated runs are hatched. Metrics that do not grow with the
    pulls, such as regrets, have neither.

    Args:
        ds: runs, their summary or their moments.
        x: dimension along the horizontal axis; None for a numeric one with most values.
        y: dimension along the vertical axis; None for the remaining one.
        value: `pulls`, `cost`, `simple_regret`, … or `failure`; None for `regret` where there is one, else `pulls`.
        contours: a variable over the two dimensions drawn as lines of equal value, such as those that
            `jaxbandits.with_theory` adds, or another metric. Where cells carry numbers, the lines have none.
        title: None for a sentence on what the numbers show.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension, metric or variable, not two dimensions to draw over, or nothing to draw,
            or `ax`, `style` or `width` do not fit.

    Example:
        >>> problem = jb.one_sparse(n=jb.axis([2, 4]))
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), problem, seeds=10)
        >>> jb.plot.phase(ds, x="budget", y="n", value="failure").savefig("picture.png")
    """
    ds = usable(ds)
    value = metric(ds, value)
    chosen = choose(ds, x=x, y=y)
    x, y = str(chosen["x"]), str(chosen["y"])
    known = laid_out(ds, x, y)
    mean = known[parts(value)[0]].transpose(y, x).values.astype(float)
    check_some(value, mean)
    logarithmic = looks.spans_decades(mean, 5)
    finite = mean[np.isfinite(mean)]
    norm = (LogNorm if logarithmic else Normalize)(float(finite.min()), float(finite.max()))
    picture, axes = looks.new_picture(ax, style, width)
    narrow = looks.is_narrow(axes)
    most_numbers, most_columns, most_ticks = _ROOM_NARROW if narrow else _ROOM
    dense = mean.size > most_numbers or mean.shape[1] > most_columns
    # Cells of one size: the ticks carry the values, so that a grid of any spacing stays readable.
    extent = (0.0, float(mean.shape[1]), 0.0, float(mean.shape[0]))
    colours = setting("image.cmap", "viridis")
    mesh: Any = (
        axes.imshow(
            mean, norm=norm, cmap=colours, origin="lower", extent=extent, aspect="auto", interpolation="bilinear"
        )
        if dense
        else axes.pcolormesh(mean, norm=norm, cmap=colours, edgecolors="white", linewidth=1.0)
    )
    for name, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        shown = values_of(known, name)
        rounded = [float(f"{v:.3g}") if isinstance(v, float) else v for v in shown]
        texts = list(map(formatting.text, rounded)) if dense else formatting.texts(shown)
        every = -(-len(texts) // most_ticks) if dense else 1
        axis.set_ticks(np.arange(len(texts))[::every] + 0.5, texts[::every])
        axis.set_tick_params(length=0)
    stopped = lower_bounds(known, parts(value)[0]).transpose(y, x).values
    if not dense:
        _numbers(axes, mean, stopped, value, norm)
    elif stopped.any():
        at = [np.arange(size) + 0.5 for size in stopped.shape]
        axes.contourf(at[1], at[0], stopped, [0.5, 1], colors="none", hatches=["//"])
    lines = "" if contours is None else f"\ndashed: {_contours(axes, known, contours, (x, y), labelled=dense)}"
    what = looks.mean_label(ds, value)
    # In a figure of the user's own beside the axes, which keep their size.
    new: dict[str, object] = {"ax": axes, "pad": 0.015, "aspect": 25}
    bar = picture.colorbar(mesh, **(new if ax is None else {"cax": axes.inset_axes((1.02, 0, 0.03, 1))}))
    bar.set_label(what + (", logarithmic" if logarithmic else ""))
    if ax is None:
        bar.ax.yaxis.label.set_fontsize(looks.font_size(12, "axes.labelsize"))
        bar.ax.tick_params(labelsize=looks.font_size(10, "ytick.labelsize"))
    bar.outline.set_visible(False)
    looks.set_scale(bar.ax.yaxis, finite, logarithmic, narrow=narrow)
    if np.ptp(finite) == 0:
        bar.set_ticks(finite[:1], labels=[formatting.value(finite[0])])
    bar.ax.grid(False)
    axes.grid(False)
    said = auto_titles.of_phase(known, x, y, value) if title is None else title
    looks.finish(axes, said, looks.label(ds, x) + lines, looks.label(ds, y))
    return picture


def _numbers(axes: Axes, mean: np.ndarray, stopped: np.ndarray, value: str, norm: Any) -> None:
    """Write the number of each cell, in an ink that is legible on its colour."""
    show = formatting.probability if value == "failure" else formatting.value
    for row, column in np.ndindex(*mean.shape):
        number = float(mean[row, column])
        text = ("≥" if stopped[row, column] else "") + show(number)
        ink = setting("text.color", _INK)  # of a cell without a colour
        if np.isfinite(number):
            ink = "black" if float(norm(number)) > 0.6 else "white"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=looks.font_size(10))


def _contours(axes: Axes, known: xr.Dataset, name: str, places: tuple[str, str], *, labelled: bool) -> str:
    """Draw lines of equal value of a variable over two dimensions; return the variable's label."""
    x, y = places
    over = [str(other) for other, variable in known.data_vars.items() if set(variable.dims) == {x, y}]
    variable = name if name in over else f"{name}_mean"
    if variable not in over:
        raise unknown_variable(f"variable over {x} and {y}", name, [one for one in over if not one.endswith(ENDINGS)])
    height = known[variable].transpose(y, x).values.astype(float)
    if min(height.shape) < 2:
        got = f"{known.sizes[x]} and {known.sizes[y]}"
        raise UsageError(f"contours need at least two values of {x} and of {y}, got {got}")
    check_some(name, height)
    finite = height[np.isfinite(height)]
    decades = looks.spans_decades(finite, 5)
    ends = (float(finite.min()), float(finite.max()))
    levels = np.geomspace(*ends, 9)[1:-1] if decades else np.linspace(*ends, 9)[1:-1]
    levels = np.unique([float(f"{level:.2g}") for level in levels])
    at = [np.arange(size) + 0.5 for size in height.shape]
    lines = axes.contour(at[1], at[0], np.where(np.isfinite(height), height, np.nan), levels, colors="white")
    lines.set(linewidth=1.1, linestyle="--")
    if labelled:
        axes.clabel(lines, fmt=lambda level: formatting.value(float(level)), fontsize=looks.font_size(9.5))
    return str(known[variable].attrs.get("long_name", name.replace("_", " ")))


@in_style
def bars(
    ds: xr.Dataset,
    x: str | None = None,
    y: str = "failure",
    *,
    group: str | None = None,
    reference: str | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the failure rate, or a metric's mean, as a bar per value of one dimension, with 95% intervals as whiskers.

    Where the lowest bar would be too low to be seen, there are dots on a logarithmic axis in place of bars. Where runs
    were truncated at `max_pulls` the mean is a lower bound: an arrow up is in place of the whisker's upper part.

    Args:
        ds: runs or their summary.
        x: the dimension; None for the only one there is.
        y: `failure`, `pulls`, …
        group: a coordinate along `x`: bars with the same value share a colour.
        reference: a variable along `x` drawn as a diamond beside each bar, such as published numbers.
        title: None for a sentence on what the numbers show.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension, metric, coordinate or variable, a dimension without a place, or nothing to draw,
            or `ax`, `style` or `width` do not fit.

    Example:
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> jb.plot.bars(ds, x="budget").savefig("picture.png")
    """
    ds = usable(ds)
    y = metric(ds, y)
    x = str(choose(ds, x=x)["x"])
    known = laid_out(ds, x)
    for what, name in (("coordinate", group), ("variable", reference)):
        if name is not None and name not in known.variables:
            raise unknown_name(what, name, [str(n) for n in known.variables])
    picture, axes = looks.new_picture(ax, style, width)
    centre, low, high = (known[n].values for n in parts(y))
    check_some(y, centre)
    places = np.arange(known.sizes[x])
    groups = [None] * len(places) if group is None else [str(g) for g in known[group].values]
    dots = looks.spans_decades(centre, _UNSEEN)
    for colour, one in zip(looks.colours([*dict.fromkeys(groups)]), dict.fromkeys(groups), strict=True):
        mine = np.asarray([g == one for g in groups])
        if dots:
            size = 1.5 * looks.line_look(0)["markersize"]
            axes.plot(places[mine], centre[mine], "o", color=colour, markersize=size, label=one)
        else:
            axes.bar(places[mine], centre[mine], 0.72, color=colour, label=one)
    ink = setting("text.color", _INK)  # whiskers are on the user's background, too
    axes.vlines(places, low, np.where(np.isfinite(high), high, centre), color=ink, linewidth=1.6)
    if (cut := lower_bounds(known, parts(y)[0]).values).any():
        looks.draw_arrows(axes, places[cut], centre[cut], looks.line_look(0)["markersize"], color=ink, zorder=4)
    if reference is not None:
        text = str(known[reference].attrs.get("long_name", reference))
        # Beside the whisker, which it would hide.
        axes.plot(places + 0.22, known[reference].values, "D", color="white", markeredgecolor="black", label=text)
    looks.name_ticks(axes, values_of(known, x))
    axes.tick_params(axis="x", length=0)
    looks.set_scale(axes.yaxis, centre, dots)
    if dots:
        axes.set_xlim(-0.6, len(places) - 0.4)
    said = auto_titles.of_bars(known, x, y) if title is None else title
    looks.finish(axes, said, looks.label(ds, x), looks.label(ds, y))
    return picture
