"""Pictures with a mark per cell of the grid: `phase`, `quantiles`, `bars`."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report import auto_titles, formatting, style
from jaxbandits.report.dimensions import (
    check_some,
    choose,
    laid_out,
    metric,
    parts,
    unknown_variable,
    usable,
    values_of,
)
from jaxbandits.report.summaries import is_summary
from jaxbandits.report.summary_names import ENDINGS

__all__ = ["bars", "phase", "quantiles"]

#: Limits on the cells and columns of a phase diagram that still have room for their numbers.
_MOST_NUMBERS, _MOST_COLUMNS = 120, 12
#: Limit on the tick labels of a dimension of a dense picture.
_MOST_TICKS = 10


def phase(
    ds: xr.Dataset,
    x: str | None = None,
    y: str | None = None,
    value: str | None = None,
    *,
    contours: str | None = None,
    title: str | None = None,
) -> Figure:
    """Draw a metric's mean, or the failure rate, over two dimensions as colour, logarithmic where it spans decades.

    Where cells are few, they carry their numbers, with a `≥` where runs were truncated at `max_pulls`. Where they are
    many, colours run into each other, and cells with truncated runs are hatched.

    Args:
        ds: runs, their summary or their moments.
        x: dimension along the horizontal axis; None for a numeric one with most values.
        y: dimension along the vertical axis; None for the remaining one.
        value: `pulls`, `cost`, `simple_regret`, … or `failure`; None for `regret` where there is one, else `pulls`.
        contours: a variable over the two dimensions drawn as lines of equal value, such as those that
            `jaxbandits.with_theory` adds, or another metric.
        title: None for a sentence on what the numbers show.

    Raises:
        UsageError: no such dimension, metric or variable, not two dimensions to draw over, or nothing to draw.

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
    logarithmic = style.spans_decades(mean, 5)
    finite = mean[np.isfinite(mean)]
    norm = (LogNorm if logarithmic else Normalize)(float(finite.min()), float(finite.max()))
    picture, axes = style.new_picture()
    dense = mean.size > _MOST_NUMBERS or mean.shape[1] > _MOST_COLUMNS
    # Cells of one size: the ticks carry the values, so that a grid of any spacing stays readable.
    extent = (0.0, float(mean.shape[1]), 0.0, float(mean.shape[0]))
    mesh: Any = (
        axes.imshow(
            mean, norm=norm, cmap="viridis", origin="lower", extent=extent, aspect="auto", interpolation="bilinear"
        )
        if dense
        else axes.pcolormesh(mean, norm=norm, cmap="viridis", edgecolors="white", linewidth=1.0)
    )
    for name, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        shown = values_of(known, name)
        texts = [formatting.text(float(f"{v:.3g}") if dense and isinstance(v, float) else v) for v in shown]
        every = -(-len(texts) // _MOST_TICKS) if dense else 1
        axis.set_ticks(np.arange(len(texts))[::every] + 0.5, texts[::every])
        axis.set_tick_params(length=0)
    stopped = known["at_least"].transpose(y, x).values & (value != "failure")
    if not dense:
        _numbers(axes, mean, stopped, value, norm)
    elif stopped.any():
        at = [np.arange(size) + 0.5 for size in stopped.shape]
        axes.contourf(at[1], at[0], stopped, [0.5, 1], colors="none", hatches=["//"])
    lines = "" if contours is None else f"\ndashed: {_contours(axes, known, contours, (x, y))}"
    what = style.label(ds, value) if value == "failure" else f"mean {style.label(ds, value)}"
    bar = picture.colorbar(mesh, ax=axes, pad=0.015, aspect=25)
    bar.set_label(what + (", logarithmic" if logarithmic else ""), fontsize=12)
    bar.outline.set_visible(False)
    style.set_scale(bar.ax.yaxis, finite, logarithmic)
    bar.ax.grid(False)
    axes.grid(False)
    said = auto_titles.of_phase(known, x, y, value) if title is None else title
    style.finish(axes, said, style.label(ds, x) + lines, style.label(ds, y))
    return picture


def _numbers(axes: Axes, mean: np.ndarray, stopped: np.ndarray, value: str, norm: Any) -> None:
    """Write the number of each cell, in an ink that is legible on its colour."""
    show = formatting.probability if value == "failure" else formatting.value
    shades = [float(norm(v)) for v in mean.ravel()]
    for (row, column), shade in zip(np.ndindex(*mean.shape), shades, strict=True):
        text = ("≥" if stopped[row, column] else "") + show(float(mean[row, column]))
        ink = "black" if shade > 0.6 else "white"
        axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=10)


def _contours(axes: Axes, known: xr.Dataset, name: str, places: tuple[str, str]) -> str:
    """Draw lines of equal value of a variable over two dimensions, with their values; return the variable's label."""
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
    decades = style.spans_decades(finite, 5)
    ends = (float(finite.min()), float(finite.max()))
    levels = np.geomspace(*ends, 9)[1:-1] if decades else np.linspace(*ends, 9)[1:-1]
    levels = np.unique([float(f"{level:.2g}") for level in levels])
    at = [np.arange(size) + 0.5 for size in height.shape]
    lines = axes.contour(at[1], at[0], np.where(np.isfinite(height), height, np.nan), levels, colors="white")
    lines.set(linewidth=1.1, linestyle="--")
    axes.clabel(lines, fmt=lambda level: formatting.value(float(level)), fontsize=9.5)
    return str(known[variable].attrs.get("long_name", name.replace("_", " ")))


def quantiles(
    ds: xr.Dataset, x: str | None = None, y: str | None = None, hue: str | None = None, *, title: str | None = None
) -> Figure:
    """Draw quantiles of a metric: bars from 10% to 90%, the median as a line, the mean as a dot.

    Args:
        ds: runs or their summary.
        x: dimension along the axis; None to choose.
        y: any metric but `failure`; None for `regret` where there is one, else `pulls`.
        hue: dimension with a colour per value; None for the remaining one.
        title: None for a sentence on what the numbers show.

    Raises:
        UsageError: no such dimension or metric, a dimension without a place, or nothing to draw.

    Example:
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> jb.plot.quantiles(ds, x="budget", y="simple_regret").savefig("picture.png")
    """
    ds = usable(ds)
    y = metric(ds, y)
    if y == "failure":
        raise UsageError("a failure rate has no quantiles: draw it with curve or bars")
    if is_summary(ds) and f"{y}_q10" not in ds:
        raise UsageError('moments have no quantiles: keep="summary" has them')
    chosen = choose(ds, x=x, hue=hue)
    x, hue = str(chosen["x"]), chosen["hue"]
    known = laid_out(ds, x, hue)
    picture, axes = style.new_picture()
    everything = np.concatenate([known[f"{y}_{part}"].values.ravel() for part in ("q10", "q90", "mean")])
    check_some(y, everything)
    style.set_scale(axes.yaxis, everything, style.spans_decades(everything))
    axes.use_sticky_edges = False  # bars need room below on a logarithmic scale
    lines = values_of(known, hue)
    width = 0.7 / len(lines)
    for i, (line, colour) in enumerate(zip(lines, style.colours(lines), strict=True)):
        at = {} if hue is None else {hue: i}
        parts = {part: known[f"{y}_{part}"].isel(at).values for part in ("q10", "q50", "q90", "mean")}
        centre = np.arange(known.sizes[x]) + (i - (len(lines) - 1) / 2) * width
        text = None if line is None else formatting.text(line)
        axes.bar(centre, parts["q90"] - parts["q10"], 0.85 * width, parts["q10"], color=colour, alpha=0.45, label=text)
        axes.hlines(parts["q50"], centre - 0.42 * width, centre + 0.42 * width, color=colour, linewidth=2.5)
        axes.plot(centre, parts["mean"], linestyle="", marker="o", markersize=5, color="white", markeredgecolor=colour)
    axes.set_xticks(np.arange(known.sizes[x]), [formatting.text(v) for v in values_of(known, x)])
    said = auto_titles.of_quantiles(known, y) if title is None else title
    vertical = f"{style.label(ds, y)}: 10–90%, median, mean"
    style.finish(axes, said, style.label(ds, x), vertical, None if hue is None else style.label(ds, hue))
    return picture


def bars(
    ds: xr.Dataset,
    x: str | None = None,
    y: str = "failure",
    *,
    group: str | None = None,
    reference: str | None = None,
    title: str | None = None,
) -> Figure:
    """Draw the failure rate, or a metric's mean, as a bar per value of one dimension, with 95% intervals as whiskers.

    Args:
        ds: runs or their summary.
        x: the dimension; None for the only one there is.
        y: `failure`, `pulls`, …
        group: a coordinate along `x`: bars with the same value share a colour.
        reference: a variable along `x` drawn as a diamond beside each bar, such as published numbers.
        title: None for a sentence on what the numbers show.

    Raises:
        UsageError: no such dimension, metric, coordinate or variable, a dimension without a place, or nothing to draw.

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
    picture, axes = style.new_picture()
    centre, low, high = (known[n].values for n in parts(y))
    check_some(y, centre)
    places = np.arange(known.sizes[x])
    groups = [None] * len(places) if group is None else [str(g) for g in known[group].values]
    for colour, one in zip(style.colours([*dict.fromkeys(groups)]), dict.fromkeys(groups), strict=True):
        mine = np.asarray([g == one for g in groups])
        axes.bar(places[mine], centre[mine], 0.72, color=colour, label=one)
    axes.vlines(places, low, np.where(np.isfinite(high), high, centre), color="#222222", linewidth=1.6)
    if reference is not None:
        text = str(known[reference].attrs.get("long_name", reference))
        # Beside the whisker, which it would hide.
        axes.plot(places + 0.22, known[reference].values, "D", color="white", markeredgecolor="black", label=text)
    axes.set_xticks(places, [formatting.text(v) for v in values_of(known, x)])
    axes.tick_params(axis="x", length=0)
    style.set_scale(axes.yaxis, centre, False)
    said = auto_titles.of_bars(known, x, y) if title is None else title
    style.finish(axes, said, style.label(ds, x), style.label(ds, y))
    return picture
