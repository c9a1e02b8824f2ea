"""The picture of a comparison: how often each algorithm is right, against what it takes."""

import numpy as np
from matplotlib.figure import Figure

from jaxbandits.comparison.compared_rows import ComparedRows
from jaxbandits.errors import UsageError
from jaxbandits.report import style as looks
from jaxbandits.report.user_settings import in_style

__all__ = ["draw_comparison"]

_FAINT = "#8a8a8a"
#: Rows in a column of the legend, at most.
_LONG = 16


@in_style
def draw_comparison(
    found: ComparedRows,
    *,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the share of right answers against the mean pulls of each row; of a score matrix, evaluations.

    Whiskers are 95% intervals of the share, and from the 10% to the 90% quantile of the pulls. Markers of rows with a
    fixed budget are hollow. A grey line is equal reading of all candidates of a score matrix. Truncated rows are left
    out.

    Args:
        found: the comparison.
        title: None for the problem's name, in a new picture.
        ax: axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper.
        width: of a new picture, in inches.

    Raises:
        UsageError: no row to draw, or `ax`, `style` or `width` do not fit.

    Example:
        >>> found = jb.compare(jb.bernoulli([0.9, 0.2]), budget=20, seeds=50)
        >>> found.plot().savefig("picture.png")
    """
    rows = [row for row in [*found.fixed_confidence, *found.fixed_budget] if not row.stopped_early]
    if not rows:
        raise UsageError("there is nothing to draw: no row ended all its runs")
    picture, axes = looks.new_picture(ax, style, width)
    colours = looks.colours([row.label for row in rows])
    for i, (row, colour) in enumerate(zip(rows, colours, strict=True)):
        low, high = row.failure_interval
        right, (few, many) = 1 - row.failures / row.runs, np.quantile(row.pulls, [0.1, 0.9])
        axes.errorbar(
            row.mean_pulls, right, xerr=[[max(row.mean_pulls - few, 0)], [max(many - row.mean_pulls, 0)]],
            yerr=[[right - (1 - high)], [(1 - low) - right]], color=colour, linestyle="none", elinewidth=0.8,
            marker=looks.MARKERS[(i + i // len(looks.MARKERS)) % len(looks.MARKERS)], label=row.label,
            markerfacecolor="white" if row in found.fixed_budget else colour,
        )  # fmt: skip
    pulls = np.asarray([row.mean_pulls for row in rows])
    if (equal := found.equal) is not None:
        axes.plot(equal.evaluations, 1 - equal.errors, color=_FAINT, label="equal reading", zorder=0)
        axes.axvline(equal.evaluations[-1], color=_FAINT, linestyle=":", linewidth=1, label="all cells")
        pulls = np.r_[pulls, equal.evaluations[[0, -1]]]
    looks.set_scale(axes.xaxis, pulls, looks.spans_decades(pulls))
    if found.delta is not None:
        axes.axhline(1 - found.delta, color=_FAINT, linestyle="--", linewidth=1, label="1 - δ")
    unit = "pulls" if equal is None else "evaluations"
    if title is None and ax is None:
        title = f"{found.problem.name}: right answers against {unit}"
    looks.finish(axes, title, f"mean {unit}", "share of right answers", columns=1 + len(rows) // _LONG)
    return picture
