"""Pictures of the runs themselves: `distribution`, every run of a cell, and `quantiles`, their spread in every cell."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError
from jaxbandits.report import auto_titles, formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import (
    check_some,
    choose,
    laid_out,
    lower_bounds,
    metric,
    summarised,
    usable,
    values_of,
)
from jaxbandits.report.intervals import clopper_pearson
from jaxbandits.report.summaries import GROWING, is_summary
from jaxbandits.report.user_settings import in_style
from jaxbandits.status import stopped_early

__all__ = ["distribution", "quantiles"]

#: Limit on the steps of a distribution function: more are not visible.
_MOST_STEPS = 400


@in_style
def distribution(
    ds: xr.Dataset,
    y: str | None = None,
    hue: str | None = None,
    *,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the share of runs at or below each value of a metric, with its pointwise 95% interval as a band.

    Where runs were truncated at `max_pulls`, the line of pulls, cost or steps ends at the share of the other runs, with
    an arrow to the right.

    Args:
        ds: runs; a summary has none.
        y: any metric but `failure`; None for `regret` where there is one, else `pulls`.
        hue: dimension with a line per value; None for the only one there is, if any.
        title: None for a sentence on what the numbers show.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension or metric, a dimension without a place, a summary, or nothing to draw,
            or `ax`, `style` or `width` do not fit.

    Example:
        >>> ds = jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> jb.plot.distribution(ds, y="simple_regret", hue="budget").savefig("picture.png")
    """
    if is_summary(ds := usable(ds)):
        raise UsageError("a distribution needs the runs themselves, this is their summary")
    y = metric(ds, y)
    if y == "failure":
        raise UsageError("a failure rate has no distribution: draw it with curve or bars")
    hue = choose(ds, hue=hue)["hue"]
    flat = ds.squeeze([d for d in ds[y].dims if d not in ("seed", hue) and ds.sizes[d] == 1], drop=True)
    picture, axes = looks.new_picture(ax, style, width)
    runs = flat.sizes["seed"]
    truncated = xr.zeros_like(flat[y], bool)
    if y in GROWING and "status" in flat:
        truncated |= stopped_early(flat["status"])
    everything = flat[y].values.astype(float)
    check_some(y, everything)
    looks.set_scale(axes.xaxis, everything, looks.spans_decades(everything))
    looks.set_scale(axes.yaxis, np.asarray([0.0, 0.5, 1.0]), False)
    lines, (thick, size) = values_of(flat, hue), (looks.line_look(0)[part] for part in ("linewidth", "markersize"))
    texts = [None] if hue is None else formatting.texts(lines)
    for i, (text, colour) in enumerate(zip(texts, looks.colours(lines), strict=True)):
        spent, cut = (array.isel({} if hue is None else {hue: i}).values for array in (flat[y], truncated))
        ended = runs - int(cut.sum())
        counts = np.unique(np.linspace(1, ended, min(ended, _MOST_STEPS)).round()).astype(int)
        values = np.sort(spent[~cut])[counts - 1]
        if cut.any():
            counts, values = np.append(counts, ended), np.append(values, np.nanmax(spent))
            looks.draw_arrows(axes, values[-1:], [ended / runs], size, "→", color=colour, zorder=4, clip_on=False)
        (line,) = axes.step(values, counts / runs, where="post", color=colour, linewidth=thick, label=text)
        if runs == ended == 1:  # a line of one point is not seen
            line.set_data([values[0]] * 2, [0, 1])
        low, high = clopper_pearson(counts, runs)
        axes.fill_between(values, low, high, step="post", color=colour, alpha=0.2, linewidth=0)
    axes.set_ylim(0, 1.02)
    said = auto_titles.of_distribution(summarised(flat), y, hue) if title is None else title
    share = "share of runs that ended, at or below" if truncated.any() else "share of runs at or below"
    looks.finish(axes, said, f"{looks.label(ds, y)} of a run", share, hue and looks.label(ds, hue))
    return picture


@in_style
def quantiles(
    ds: xr.Dataset,
    x: str | None = None,
    y: str | None = None,
    hue: str | None = None,
    *,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw quantiles of a metric: bars from 10% to 90%, the median as a line, the mean as a dot.

    Where runs were truncated at `max_pulls`, arrows up mark lower bounds, at the upper end of a bar and in place of the
    mean's dot. So they do for infinite ones, which are drawn at the largest finite one.

    Args:
        ds: runs or their summary.
        x: dimension along the axis; None to choose.
        y: any metric but `failure`; None for `regret` where there is one, else `pulls`.
        hue: dimension with a colour per value; None for the remaining one.
        title: None for a sentence on what the numbers show.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension or metric, a dimension without a place, or nothing to draw,
            or `ax`, `style` or `width` do not fit.

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
    picture, axes = looks.new_picture(ax, style, width)
    everything = np.concatenate([known[f"{y}_{part}"].values.ravel() for part in ("q10", "q90", "mean")])
    check_some(y, everything)
    looks.set_scale(axes.yaxis, everything, looks.spans_decades(everything))
    thick, size = (looks.line_look(0)[part] for part in ("linewidth", "markersize"))
    open_above, cut_mean = (
        lower_bounds(known, f"{y}_{part}") | (known[f"{y}_{part}"] == np.inf) for part in ("q90", "mean")
    )
    finite = everything[np.isfinite(everything)]
    axes.use_sticky_edges = False  # bars need room below on a logarithmic scale
    lines = values_of(known, hue)
    width = 0.7 / len(lines)
    texts = [None] if hue is None else formatting.texts(lines)
    for i, (text, colour) in enumerate(zip(texts, looks.colours(lines), strict=True)):
        at = {} if hue is None else {hue: i}
        parts = {part: known[f"{y}_{part}"].isel(at).values for part in ("q10", "q50", "q90", "mean")}
        cut = cut_mean.isel(at).values
        dots = ~cut & (parts["mean"] > -np.inf)
        parts = {part: values.clip(finite.min(), finite.max()) for part, values in parts.items()}  # infinite ends
        centre = np.arange(known.sizes[x]) + (i - (len(lines) - 1) / 2) * width
        axes.bar(centre, parts["q90"] - parts["q10"], 0.85 * width, parts["q10"], color=colour, alpha=0.45, label=text)
        axes.hlines(
            parts["q50"],
            centre - 0.42 * width,
            centre + 0.42 * width,
            color=colour,
            linewidth=1.25 * thick,
        )
        axes.plot(
            centre,
            parts["mean"],
            linestyle="",
            marker="o",
            markersize=0.8 * size,
            markevery=dots,
            color="white",
            markeredgecolor=colour,
        )
        for part, bound in (("q90", open_above.isel(at).values), ("mean", cut)):
            if bound.any():
                looks.draw_arrows(axes, centre[bound], parts[part][bound], size, color=colour, zorder=4)
    looks.name_ticks(axes, values_of(known, x))
    said = auto_titles.of_quantiles(known, y) if title is None else title
    vertical = f"{looks.label(ds, y)}: 10–90%, median, mean"
    looks.finish(axes, said, looks.label(ds, x), vertical, None if hue is None else looks.label(ds, hue))
    return picture
