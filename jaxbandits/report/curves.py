"""A picture along a dimension: `curve`, a metric with its interval."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from jaxbandits.report import auto_titles
from jaxbandits.report import style as looks
from jaxbandits.report.curve_bounds import Bounds, bounds_of, draw_bounds
from jaxbandits.report.curve_lines import Drawn, draw_lines, name_missing, name_zeros
from jaxbandits.report.dimensions import (
    check_some,
    choose,
    laid_out,
    metric,
    numeric,
    parts,
    usable,
    values_of,
)
from jaxbandits.report.repeated_cells import has_axis
from jaxbandits.report.user_settings import in_style

__all__ = ["curve"]

#: The number of errors, where there are most, from which on failure rates have a logarithmic axis.
_ENOUGH_ERRORS = 400
#: A bound this many times above all measured values is not drawn: it would leave no room for the rest.
_OUT_OF_SIGHT = 1e6
_SHADE = "#f3ead2"


@in_style
def curve(
    ds: xr.Dataset,
    x: str | None = None,
    y: str | None = None,
    hue: str | None = None,
    *,
    panel: str | None = None,
    centre: str = "mean",
    bounds: Bounds = (),
    shaded: tuple[float, float, str] | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw a metric's mean, or the failure rate, along a dimension, with its 95% interval as a band; or its median.

    The vertical axis is logarithmic where values span decades and, for failure rates, runs are many. On such an axis a
    failure rate of 0 in n runs is a hollow triangle at 1/n, with a line up to the upper end of its interval. A value of
    0 of another metric is one at the lower end. The axis is not logarithmic where values are negative. Where runs were
    truncated at `max_pulls` the mean is a lower bound: the marker is an arrow up, and there is no band. A median
    of pulls is a lower bound only where half of the runs were truncated. Where a tenth were, its band ends in the
    arrow. Metrics that do not grow with the pulls, such as regrets, have none.

    An algorithm that lacks the parameter along the axis repeats its runs: its line is flat, and has one mark. Those
    without a number, such as the regret of an algorithm without a budget of cost, are named in the legend.

    Args:
        ds: runs, their summary or their moments.
        x: dimension along the axis; None for a budget or a checkpoint, else the numeric one with most values.
        y: `pulls`, `cost`, `simple_regret`, … or `failure`; None for `regret` where there is one, else `pulls`.
        hue: dimension with a line per value; None for the algorithms, or the remaining one.
        panel: dimension with a pair of axes per value, in rows; None for the problems of a study, if they are left.
        centre: `mean`, or `median` with a band from the 10% to the 90% quantile.
        bounds: variables of the Dataset without seeds, drawn dashed, such as the `lower_bound` of
            `jaxbandits.with_theory`. Or lines of your own by their texts: a function of the values of `x`, a number,
            a number for each, or a DataArray over the Dataset's dimensions. A line that several hues share is grey.
            Parts 10^6 times and more above all measured values are not shown.
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
        >>> jb.plot.curve(ds, x="budget", y="failure", bounds={"a rate": lambda n: 1 / n}).savefig("picture.png")
    """
    ds = usable(ds, x, hue, panel)
    y = metric(ds, y)
    middle_name = parts(y, centre)[0]
    chosen = choose(ds, x=x, hue=hue, panel=panel)
    x, hue, panel = str(chosen["x"]), chosen["hue"], chosen["panel"]
    own = has_axis(ds, x)
    known = laid_out(ds, x, hue, panel)
    own = own.isel({name: 0 for name in own.dims if name not in (hue, panel)}, drop=True)
    lines = bounds_of(known, bounds, x)
    measured = known[middle_name].values.ravel()
    check_some(y, measured)
    drawn = np.concatenate([measured, *(line.values.ravel() for line in lines.values())])
    positive = drawn[np.isfinite(drawn) & (drawn > 0)]
    vertical_log = looks.spans_decades(positive, 20 if y == "failure" else 8) and not (measured < 0).any()
    if y == "failure":  # with few runs, most of a logarithmic axis would show rates that they cannot distinguish
        vertical_log &= int(known["runs"].min()) * float(drawn[np.isfinite(drawn)].max()) >= _ENOUGH_ERRORS
    numbers_along = numeric(ds, x)
    places = np.asarray(values_of(known, x) if numbers_along else range(known.sizes[x]), float)
    floor = positive.min() / 10 if vertical_log else 0.0
    zeros = vertical_log and bool((measured == 0).any())
    if zeros and y == "failure":
        floor = min(floor, 0.5 / int(known["runs"].max()))
    count = 1 if panel is None else known.sizes[panel]
    picture, panels = looks.new_panels(count, ax=ax, style=style, width=width)
    what = Drawn(y, centre, hue, places, vertical_log, floor, fine=len(panels) > 3)
    dashes: dict[str, tuple[int, ...]] = {}
    for i, axes in enumerate(panels):
        narrow = panel is not None or looks.is_narrow(axes)
        along_log = numbers_along and looks.spread_by_factors(places)
        looks.set_scale(axes.xaxis, places, along_log, at_values=not narrow, narrow=narrow)
        looks.set_scale(axes.yaxis, positive, vertical_log, narrow=looks.is_narrow(axes) and panel is None)
        if not numbers_along:
            looks.name_ticks(axes, values_of(known, x))
        at = {} if panel is None else {panel: i}
        part = known.isel(at)
        if panel is not None:
            looks.head(axes, known, panel, i)
        draw_lines(axes, part, own.isel({name: i for name in at if name in own.dims}), what)
        inside = {text: line.isel({name: i for name in at if name in line.dims}) for text, line in lines.items()}
        draw_bounds(axes, part, inside, hue, places, what.fine, dashes)
        if shaded is not None:
            axes.axvspan(*shaded[:2], color=_SHADE, linewidth=0, zorder=0, label=shaded[2])
    if zeros:
        name_zeros(panels[-1], known, y)
    name_missing(panels[-1], known, what)
    if vertical_log and lines:  # of all panels, which share their scale
        for axes in panels:
            axes.set_ylim(top=min(axes.get_ylim()[1], _OUT_OF_SIGHT * np.nanmax(measured)))
    if title is None and (ax is None or len(panels) == 1):
        title = auto_titles.of_curve(known, x, y, centre)
    # A failure rate, or an estimate from all runs together, is no metric of a run: it has no mean and spread.
    vertical = f"{centre} {looks.label(ds, y)}" if f"{y}_sd" in known else looks.label(ds, y)
    legend = None if hue is None else looks.label(ds, hue)
    looks.finish(panels[0], title, looks.label(ds, x), vertical, legend, others=panels[1:])
    return picture
