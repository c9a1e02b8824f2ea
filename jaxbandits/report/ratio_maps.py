"""Heat maps of how far each rule of a study is from the best one: `ratios`."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from jaxbandits.errors import unknown_name
from jaxbandits.report import formatting
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import check_some, choose, laid_out, metric, usable, values_of
from jaxbandits.report.rule_ratios import Ratios, of_wins, ratios_to_best, within_noise
from jaxbandits.report.user_settings import in_style, setting

__all__ = ["ratios"]

#: Ratios above this have the last colour.
_MOST = 100.0
#: Inches of a cell at least, of a row, and of what is around the panels, but for the names of columns.
_CELL, _ROW, _AROUND = 0.36, 0.27, 1.2
_FAILS = "#d9d9d9"


@in_style
def ratios(
    ds: xr.Dataset,
    x: str | None = None,
    y: str = "algorithm",
    value: str = "pulls",
    *,
    panel: str | None = None,
    delta: float | None = None,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw each rule's mean as a multiple of the best rule's, over the problems of a study: its regret to the best.

    The best is the rule with the smallest mean that solves the cell, as in `jaxbandits.plot.profile`. A rule that
    fails more often than it is allowed has a cross in place of its ratio. A ratio with `≥` is a lower bound, since runs
    were truncated. A dash is a rule without a number, or without a `delta` to be judged by. Rules that cannot be
    distinguished from the best (95%, `jaxbandits.find_best`) are bold, where runs are given and paired by their seeds.
    Of failure rates, `∞` is a rule with failures where the best has none.

    Args:
        ds: runs, their summary or their moments.
        x: dimension with a column per value; None for the problems, or a numeric one with most values.
        y: dimension of the rules, with a row per value.
        value: a metric of which the smallest mean is the best, such as `pulls`, `cost`, `simple_regret`, or `failure`.
        panel: dimension with a heat map per value; None for the remaining one, if there is one.
        delta: failure probability that every rule is allowed, in (0, 1); None for the `delta` of each. Without use for
            failure rates and regrets.
        title: None for a sentence on what the numbers show, unless there are several `ax`.
        ax: axes to draw into, one for each panel, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: no such dimension or metric, a dimension without a place, no rule that can be judged or that solves
            a cell, or `ax`, `style` or `width` do not fit.

    Example:
        >>> rules = [jb.LUCB(epsilon=0.1, delta=0.1), jb.TTUCB(delta=0.1)]
        >>> problems = {"far": jb.bernoulli([0.9, 0.4]), "close": jb.bernoulli([0.9, 0.6])}
        >>> ds = jb.sweep(rules, problems, seeds=20)
        >>> jb.plot.ratios(ds).savefig("picture.png")
    """
    ds = usable(ds, x, y, panel)
    value = metric(ds, value)
    if x is None and "problem" in ds.dims and "problem" not in (y, panel):
        x = "problem"
    dims = [str(name) for name in (ds["runs"] if "runs" in ds else ds["pulls"]).dims if name != "seed"]
    if y not in dims:
        raise unknown_name("dimension", y, dims)
    if panel is None:
        left = [name for name in dims if ds.sizes[name] > 1 and name not in (x, y)]
        panel = left[-1] if len(left) == 1 + (x is None) else None
    chosen = choose(ds, **({} if panel is None else {"panel": panel}), x=x, y=y)
    x = str(chosen["x"])
    known = laid_out(ds, x, y, panel)
    found = ratios_to_best(known, value, y, delta)
    check_some("the ratio to the best rule", found.ratio.values)
    near = within_noise(ds, value, y, found.solves)
    several = 1 if panel is None else known.sizes[panel]
    picture, panels = looks.new_panels(several, least=_CELL * known.sizes[x], ax=ax, style=style, width=width)
    rows, columns = (formatting.texts(values_of(known, name)) for name in (y, x))
    cell = _cell(picture, panels, rows, columns, narrowed=ax is None)
    inside = found.ratio.values[np.isfinite(found.ratio.values) & found.solves.values]
    norm = LogNorm(1.0, min(max(float(inside.max(initial=1.0)), 1.5), _MOST))
    for i, axes in enumerate(panels):
        at = {} if panel is None else {panel: i}
        part = Ratios(*(one.isel(at).transpose(y, x) for one in found))
        _draw(axes, part, None if near is None else near.isel(at).transpose(y, x).values, norm, cell)
        _name(axes, rows, columns, cell)
        if panel is not None:
            looks.head(axes, known, panel, i, cell * len(columns))
    what = looks.mean_label(ds, value)
    if title is None and (ax is None or several == 1):
        title = _said(known, found, near, y, what)
    looks.finish(panels[0], title, looks.label(ds, x), looks.label(ds, y), others=panels[1:])
    looks.note_below(panels, _note(found, near, value, what))
    return picture


def _cell(picture: Figure, panels: Sequence[Axes], rows: list[str], columns: list[str], *, narrowed: bool) -> float:
    """Return the width of a cell, inches; of a new picture also set its height, if the user has not."""
    axes = panels[0]
    if not narrowed:
        return float(axes.bbox.width / picture.dpi / len(columns))
    letter = looks.font_size(11, "ytick.labelsize") * 0.6 / 72
    _, side_by_side = looks.rows_and_columns(axes)
    cell = (picture.get_figwidth() - letter * max(map(len, rows)) - 0.45) / side_by_side / len(columns) - 0.02
    if setting("figure.figsize", None) is None:
        stacked = -(-len(panels) // side_by_side)
        high = _ROW * looks.font_size(12) / 12 * len(rows) + (0.4 if len(panels) > 1 else 0)
        texts, from_below = _broken(columns, cell)
        size = max(
            len(line) if from_below else 2 * len(name.split("\n")) for name in texts for line in name.split("\n")
        )
        picture.set_figheight(stacked * high + letter * size + _AROUND)
    return float(max(cell, 0.1))


def _draw(axes: Axes, part: Ratios, near: np.ndarray | None, norm: LogNorm, inches: float) -> None:
    """Draw the cells and their numbers."""
    ratio, fails = part.ratio.values, part.fails.values
    shown = np.where(fails | part.unjudged.values | np.isnan(ratio), np.nan, ratio)
    axes.pcolormesh(
        np.ma.masked_invalid(np.where(np.isinf(shown), _MOST, shown)), norm=norm,
        cmap=setting("image.cmap", "viridis"), edgecolors="white", linewidth=1.0,
    )  # fmt: skip
    texts = {place: _text(part, shown, place) for place in np.ndindex(*ratio.shape)}
    room = inches * 72 / (0.66 * max(map(len, texts.values())))
    size = max(min(looks.font_size(10), room), 4.0)
    for (row, column), text in texts.items():
        value = float(shown[row, column])
        if fails[row, column]:
            axes.fill_between([column, column + 1], row, row + 1, color=_FAILS, edgecolor="white", linewidth=1.0)
        light = not np.isfinite(value) and not np.isinf(value)
        ink = "black" if light or float(norm(float(min(value, _MOST)))) > 0.6 else "white"
        bold = near is not None and near[row, column]
        axes.text(
            column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=size,
            fontweight="bold" if bold else "normal",
        )  # fmt: skip
    axes.grid(False)


def _text(part: Ratios, shown: np.ndarray, place: tuple[int, ...]) -> str:
    if part.fails.values[place]:
        return "×"
    if np.isnan(shown[place]):
        return "–"
    value = float(shown[place])
    if np.isinf(value):
        return "∞"
    number = f"{value:.2f}" if value < 1.995 else f"{value:.2g}" if value < 10 else formatting.short(round(value))
    return ("≥" if part.at_least.values[place] else "") + ("1" if value == 1 else number)


def _broken(names: list[str], inches: float) -> tuple[list[str], bool]:
    """Return the names of columns, broken into lines, and whether they are written from below."""
    size = looks.font_size(9)
    room = int(inches * 72 / (0.62 * size))
    across = [formatting.wrap(name, max(4, room), long_words=False) for name in names]
    if max(len(line) for name in across for line in name.split("\n")) <= room:
        return across, False
    if inches * 72 < 2.3 * size:
        return names, True
    return [formatting.wrap(name, max(12, int(0.7 * len(name)))) for name in names], True


def _name(axes: Axes, rows: list[str], columns: list[str], inches: float) -> None:
    """Write the names of rows and columns."""
    texts, from_below = _broken(columns, inches)
    look: dict[str, Any] = {"fontsize": looks.font_size(9, "xtick.labelsize")}
    axes.set_xticks(np.arange(len(columns)) + 0.5, texts, rotation=90 if from_below else 0, **look)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.tick_params(length=0)
    axes.set_ylim(len(rows), 0)


def _note(found: Ratios, near: xr.DataArray | None, value: str, what: str) -> str:
    """Say what the numbers are, and what the marks mean that are in the picture."""
    marks = {
        "bold: cannot be distinguished from the best (95%)": near is not None,
        "×: fails more often than allowed": bool(found.fails.any()),
        "≥: runs were truncated": bool(found.at_least.any()),
        "–: no delta to be judged by": bool(found.unjudged.any()),
        "–: no number": bool((np.isnan(found.ratio) & ~found.unjudged & ~found.fails).any()),
        "∞: failures, of which the best has none": value == "failure" and bool(np.isinf(found.ratio).any()),
    }
    return "; ".join([f"{what}, times the best rule's", *(text for text, there in marks.items() if there)])


def _said(known: xr.Dataset, found: Ratios, near: xr.DataArray | None, y: str, what: str) -> str:
    """Say which rule is the best where, and how far from it at most, of those that solve all cells."""
    ratio = found.ratio.where(found.solves, np.inf).transpose(y, ...).values.reshape(known.sizes[y], -1)
    close = None if near is None else near.transpose(y, ...).values.reshape(ratio.shape)
    worst = ratio.max(axis=1)
    names = formatting.texts(values_of(known, y))
    if not np.isfinite(worst).any():
        most = int((ratio == 1).sum(axis=1).argmax())
        return of_wins(names[most], what, most, ratio == 1, close)
    least, cells = int(worst.argmin()), ratio.shape[1]
    if worst[least] == 1:
        return of_wins(names[least], what, least, ratio == 1, close)
    return f"{names[least]}: {what} at most {_up(worst[least])} times the smallest in all {cells} cells"


def _up(ratio: float) -> str:
    """Return a ratio, rounded up."""
    return f"{math.ceil(100 * ratio) / 100:.2f}"
