"""Performance profiles: on what share of a study's cells each rule is within a factor of the best one."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report import formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import check_lines, metric, parts, summarised, usable, values_of
from jaxbandits.report.repeated_cells import repeats
from jaxbandits.report.rule_ratios import of_wins, ratios_to_best, within_noise
from jaxbandits.report.user_settings import in_style

__all__ = ["profile"]

#: From this ratio on the horizontal axis is logarithmic.
_LOGARITHMIC = 3.0


@in_style
def profile(
    ds: xr.Dataset,
    y: str = "pulls",
    hue: str = "algorithm",
    *,
    delta: float | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw performance profiles: the share of cells in which a rule's mean is at most a factor above the best one's.

    Cells are all problems and values of further axes. A rule that does not solve a cell counts as above every factor,
    so that its line ends below 1. Of pulls, cost and steps, a rule solves a cell if none of its runs is truncated, and
    the 95% interval of its failure rate does not lie above the failure probability that it is allowed. A cell that no
    rule solves counts for none of them. Cells that repeat the runs of another for all rules count once. Rules without a
    failure probability are left out, unless `delta` gives one; the legend names them.

    A profile has no interval, since the cells are no sample. `jaxbandits.plot.ratios` shows the same ratios one by one,
    and which are within the noise.

    Args:
        ds: runs, their summary or their moments.
        y: a metric of which the smallest mean is the best, such as `pulls`, `cost` or `simple_regret`.
        hue: dimension of the rules, with a line per value.
        delta: failure probability that every rule is allowed, in (0, 1); None for the `delta` of each.
        title: None for a sentence on what the numbers show.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension or metric, no rule that can be judged or that solves a cell, a best mean of 0,
            to which there is no ratio, or `ax`, `style` or `width` do not fit.

    Example:
        >>> rules = [jb.LUCB(epsilon=0.1, delta=0.1), jb.TTUCB(delta=0.1)]
        >>> problems = {"far": jb.bernoulli([0.9, 0.4]), "close": jb.bernoulli([0.9, 0.6])}
        >>> ds = jb.sweep(rules, problems, seeds=20)
        >>> jb.plot.profile(ds).savefig("picture.png")

    Source: E. D. Dolan and J. J. Moré (2002), "Benchmarking optimization software with performance profiles",
    Mathematical Programming 91(2), 201-213.
    """
    ds = usable(ds, hue)
    known = summarised(ds)
    y = metric(known, y)
    dims = [str(name) for name in known["runs"].dims]
    if hue not in dims:
        raise unknown_name("dimension", hue, dims)
    cells = [name for name in dims if name != hue]
    found = ratios_to_best(known, y, hue, delta)
    judged = ~found.unjudged.transpose(hue, ...).values.reshape(known.sizes[hue], -1).all(axis=1)
    distinct = ~repeats(known.isel({hue: judged}), cells).values.ravel()
    solved = found.ratio.where(found.solves).transpose(hue, *cells).values.reshape(known.sizes[hue], -1)
    ratios = np.where(np.isnan(solved), np.inf, solved)[:, distinct]
    if not np.isfinite(ratios).any():
        raise UsageError(f"there is nothing to draw: no rule solves one of the {ratios.shape[1]} cells")
    if zero := int((known[parts(y)[0]].where(found.solves).min(hue).values.ravel()[distinct] == 0).sum()):
        raise UsageError(
            f"the best {looks.label(ds, y)} is 0 in {zero} of {ratios.shape[1]} cells: there is no ratio to 0"
        )
    check_lines(hue, int(judged.sum()), numbers=False)
    picture, axes = looks.new_picture(ax, style, width)
    last = float(ratios[np.isfinite(ratios)].max())
    ends = np.asarray([1.0, max(1.05 * last, 1.1)])
    looks.set_scale(axes.xaxis, ends, bool(last >= _LOGARITHMIC), narrow=looks.is_narrow(axes))
    looks.set_scale(axes.yaxis, np.asarray([0.0, 0.5, 1.0]), False)
    names = formatting.texts(values_of(known, hue))
    drawn = np.flatnonzero(judged)
    for i, (row, colour) in enumerate(zip(drawn, looks.colours(names), strict=False)):
        steps = np.sort(ratios[row][np.isfinite(ratios[row])])
        shares = np.arange(steps.size + 1) / ratios.shape[1]
        look = looks.line_look(i)
        axes.step(
            [1.0, *steps, ends[1]], [0.0, *shares[1:], shares[-1]], where="post", color=colour,
            linewidth=look["linewidth"], linestyle=["-", "--", ":"][i // len(looks.MARKERS) % 3],
            label=f"{names[row]}: {steps.size} of {ratios.shape[1]}",
        )  # fmt: skip
    if left_out := [names[row] for row in np.flatnonzero(~judged)]:
        axes.plot([], [], linestyle="", label=f"left out, without a delta: {', '.join(left_out)}")
    axes.set_xlim(ends[0], ends[1])
    axes.set_ylim(0, 1.03)
    what = looks.mean_label(ds, y)
    if title is None:
        most = int((ratios == 1).sum(axis=1).argmax())
        close = within_noise(ds, y, hue, found.solves)
        near = None if close is None else close.transpose(hue, *cells).values.reshape(solved.shape)[:, distinct]
        title = of_wins(names[most], what, most, ratios == 1, near)
    looks.finish(
        axes,
        title,
        f"{what}, times the best rule's",
        "share of cells at or below",
        f"{looks.label(ds, hue)}: cells solved",
    )
    return picture
