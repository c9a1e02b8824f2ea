"""Pictures along a dimension: `curve`, a metric with its interval, and `distribution`, the runs themselves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from jaxbandits.report import auto_titles, formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import (
    check_some,
    choose,
    laid_out,
    metric,
    numeric,
    parts,
    unknown_variable,
    usable,
    values_of,
)
from jaxbandits.report.user_settings import in_style

__all__ = ["curve"]

#: Limit on the steps of a distribution function: more are not visible.
_MOST_STEPS = 400
#: The number of errors, where there are most, from which on failure rates have a logarithmic axis.
_ENOUGH_ERRORS = 400
#: A bound this many times above all measured values is not drawn: it would leave no room for the rest.
_OUT_OF_SIGHT = 1e6
_SHADE = "#f3ead2"
#: The mark of a failure rate of 0 on a logarithmic axis.
_ZERO: dict[str, Any] = {"linestyle": "", "marker": "v", "markerfacecolor": "white"}


@in_style
def curve(
    ds: xr.Dataset,
    x: str | None = None,
    y: str | None = None,
    hue: str | None = None,
    *,
    panel: str | None = None,
    centre: str = "mean",
    bounds: Sequence[str] = (),
    shaded: tuple[float, float, str] | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw a metric's mean, or the failure rate, along a dimension, with its 95% interval as a band; or its median.

    The vertical axis is logarithmic where values span decades and, for failure rates, runs are many. On such an axis a
    failure rate of 0 in n runs is a hollow triangle at 1/n, with a line up to the upper end of its interval. Where runs
    were truncated at `max_pulls` the mean is a lower bound: the marker is an arrow up, and there is no band. A median
    is a lower bound only where half of the runs were truncated.

    Args:
        ds: runs, their summary or their moments.
        x: dimension along the axis; None for a budget or a checkpoint, else the numeric one with most values.
        y: `pulls`, `cost`, `simple_regret`, … or `failure`; None for `regret` where there is one, else `pulls`.
        hue: dimension with a line per value; None for the remaining one.
        panel: dimension with a pair of axes per value, side by side.
        centre: `mean`, or `median` with a band from the 10% to the 90% quantile.
        bounds: variables of the Dataset without seeds, drawn dashed; parts 10^6 times and more above all measured
            values are not shown.
        shaded: two ends on the horizontal axis, and the legend's text for the part between them.
        title: None for a sentence on what the numbers show, unless there are several `ax`.
        ax: axes to draw into, one for each panel, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension, metric, centre or bound, a dimension without a place, or nothing to draw,
            or `ax`, `style` or `width` do not fit.

    Example:
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> jb.plot.curve(ds, x="budget", y="failure").savefig("picture.png")
    """
    ds = usable(ds)
    y = metric(ds, y)
    middle_name = parts(y, centre)[0]
    chosen = choose(ds, **({} if panel is None else {"panel": panel}), x=x, hue=hue)
    x, hue = str(chosen["x"]), chosen["hue"]
    known = laid_out(ds, x, hue, panel)
    for name in bounds:
        if name not in known.data_vars:
            raise unknown_variable("bound", name, [str(n) for n, v in ds.data_vars.items() if "seed" not in v.dims])
    measured = known[middle_name].values.ravel()
    check_some(y, measured)
    drawn = np.concatenate([measured, *(known[name].values.ravel() for name in bounds)])
    positive = drawn[np.isfinite(drawn) & (drawn > 0)]
    vertical_log = looks.spans_decades(positive, 20 if y == "failure" else 8)
    if y == "failure":  # with few runs, most of a logarithmic axis would show rates that they cannot distinguish
        vertical_log &= int(known["runs"].min()) * float(drawn[np.isfinite(drawn)].max()) >= _ENOUGH_ERRORS
    numbers_along = numeric(ds, x)
    places = np.asarray(values_of(known, x) if numbers_along else range(known.sizes[x]), float)
    floor = positive.min() / 10 if vertical_log else 0.0
    if zeros := vertical_log and y == "failure" and bool((measured == 0).any()):
        floor = min(floor, 0.5 / int(known["runs"].max()))
    shown = [known] if panel is None else [known.isel({panel: i}) for i in range(known.sizes[panel])]
    picture, panels = looks.new_panels(len(shown), ax=ax, style=style, width=width)
    for axes, part in zip(panels, shown, strict=True):
        narrow = panel is not None or looks.is_narrow(axes)
        along_log = numbers_along and looks.spread_by_factors(places)
        looks.set_scale(axes.xaxis, places, along_log, at_values=not narrow, narrow=narrow)
        looks.set_scale(axes.yaxis, positive, vertical_log, narrow=looks.is_narrow(axes) and panel is None)
        if not numbers_along:
            axes.set_xticks(places, [str(v) for v in values_of(known, x)])
        if panel is not None:
            heading = f"{looks.label(known, panel)} = {formatting.text(part[panel].item())}"
            axes.set_title(heading, fontsize=looks.font_size(11, "axes.titlesize"))
        _draw_lines(axes, part, y, centre, hue, places, vertical_log, floor)
        _draw_bounds(axes, part, bounds, hue, places)
        if shaded is not None:
            axes.axvspan(*shaded[:2], color=_SHADE, linewidth=0, zorder=0, label=shaded[2])
    if zeros:
        _name_zeros(panels[0], known)
    if vertical_log and bounds:  # of all panels, which share their scale
        for axes in panels:
            axes.set_ylim(top=min(axes.get_ylim()[1], _OUT_OF_SIGHT * np.nanmax(measured)))
    if title is None and (ax is None or len(panels) == 1):
        title = auto_titles.of_curve(known, x, y, centre)
    # A failure rate, or an estimate from all runs together, is no metric of a run: it has no mean and spread.
    vertical = f"{centre} {looks.label(ds, y)}" if f"{y}_sd" in known else looks.label(ds, y)
    legend = None if hue is None else looks.label(ds, hue)
    looks.finish(panels[0], title, looks.label(ds, x), vertical, legend, others=panels[1:])
    return picture


def _draw_lines(
    axes: Axes,
    known: xr.Dataset,
    y: str,
    centre: str,
    hue: str | None,
    places: np.ndarray,
    logarithmic: bool,
    floor: float,
) -> None:
    """Draw a line with its band per hue; mark truncated runs, and values that a logarithmic axis cannot show."""
    middle, low, high = (known[n] for n in parts(y, centre))
    # Half of the runs: the median itself is then a truncated run, or lies between such a run and another.
    stopped = known["at_least"] if centre == "mean" else 2 * known["censored"] >= known["runs"]
    lines = values_of(known, hue)
    for i, (line, colour) in enumerate(zip(lines, looks.colours(lines), strict=True)):
        at = {} if hue is None else {hue: i}
        values, bottom, top = (v.isel(at).values.astype(float) for v in (middle, low, high))
        unseen = (values <= 0) if logarithmic else np.zeros(values.shape, bool)
        cut = stopped.isel(at).values & (y != "failure")
        values = np.where(unseen, np.nan, values)
        inner = cut & np.append(cut[1:], True) & np.append(True, cut[:-1])  # nothing is known between lower bounds
        text = None if line is None else formatting.text(line)
        look = looks.line_look(i)
        size = look["markersize"]
        axes.plot(places, np.where(inner, np.nan, values), markevery=~cut, color=colour, label=text, zorder=3, **look)
        bottom = np.maximum(bottom, floor) if logarithmic else bottom
        axes.fill_between(places, bottom, np.where(cut, values, top), color=colour, alpha=0.2, linewidth=0)
        # Side by side: lines truncated at the same number of pulls, or without errors, would hide each other.
        beside = axes.transData + ScaledTranslation(
            (i - (len(lines) - 1) / 2) * size / 100, 0.0, axes.figure.dpi_scale_trans
        )
        if unseen.any():
            at_zero = 1 / known["runs"].isel(at).values[unseen] if y == "failure" else top[unseen]
            whisker: dict[str, Any] = {"color": colour, "linewidth": 0.6 * look["linewidth"], "transform": beside}
            axes.vlines(places[unseen], at_zero, top[unseen], zorder=3, **whisker)
            axes.plot(places[unseen], at_zero, color=colour, transform=beside, zorder=4, markersize=0.8 * size, **_ZERO)
        if cut.any():
            arrow: dict[str, Any] = {"marker": "$↑$", "markersize": 2.2 * size, "markeredgewidth": 0, "linestyle": ""}
            axes.plot(places[cut], values[cut], transform=beside, color=colour, zorder=4, **arrow)


def _name_zeros(axes: Axes, known: xr.Dataset) -> None:
    """Put the mark of a failure rate of 0 into the legend: `< 1/n`."""
    runs = np.unique(known["runs"].values)
    number = formatting.count(runs[0]) if runs.size == 1 else "(number of runs)"
    size = 0.8 * looks.line_look(0)["markersize"]
    axes.plot([], [], color="#5A5A5A", label=f"< 1/{number}: no error", markersize=size, **_ZERO)


def _draw_bounds(axes: Axes, known: xr.Dataset, bounds: Sequence[str], hue: str | None, places: np.ndarray) -> None:
    """Draw dashed lines: one per bound, in grey, or one per hue and in its colour where the bound depends on it."""
    dashes = [(6, 3), (2, 2), (6, 2, 2, 2)]
    width = looks.line_look(0)["linewidth"]
    for i, name in enumerate(bounds):
        bound = known[name]
        text = str(bound.attrs.get("long_name", name))
        own = hue is not None and hue in bound.dims
        lines = values_of(known, hue) if own else [None]
        for j, colour in enumerate(looks.colours(lines) if own else ["#5A5A5A"]):
            values = bound.isel({str(hue): j}).values if own else bound.values
            axes.plot(
                places,
                np.broadcast_to(values, places.shape),
                color=colour,
                linewidth=0.8 * width,
                dashes=dashes[i % len(dashes)],
                label=text if j == 0 else None,
                zorder=2,
            )
