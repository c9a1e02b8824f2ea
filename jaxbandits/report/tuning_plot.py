"""A picture of a search: what `jb.tune` did, step by step."""

import json

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jaxbandits.errors import UsageError
from jaxbandits.io.search_arguments import arguments_of_search
from jaxbandits.report import formatting
from jaxbandits.report import style as looks
from jaxbandits.report.user_settings import in_style

__all__ = ["tuning"]

_Z = 1.96
_FAINT = "#8a8a8a"


@in_style
def tuning(
    ds: xr.Dataset,
    *,
    title: str | None = None,
    ax: looks.Place = None,
    style: str | None = None,
    width: float | None = None,
) -> Figure:
    """Draw the parameters along the steps, with objective and error beside them, all relative to the start.

    An error with a limit is drawn as a share of the limit. Bands are 95% intervals from a step's own runs.

    Args:
        ds: the `history` of `jb.tune`, or of the command `tune`.
        title: None for a sentence on what was found, judged on instances that no step has seen, in a new picture.
        ax: two axes to draw into, in a figure of your own: a new picture without them.
        style: `paper` for a column of a paper: 3.25 inches, small text, and fonts that journals take (Type 42).
        width: of a new picture, in inches.

    Raises:
        UsageError: a Dataset that is no such history, or one without a step.

    Example:
        >>> rule, problems = jb.UCBE(budget=20, a=2.0), [jb.bernoulli([0.9, 0.4])] * 4
        >>> found = jb.tune(rule, problems, "error", wrt=["a"], steps=1, instances=1, seeds=20, held_out=2)
        >>> jb.plot.tuning(found.history).savefig("picture.png")
    """
    asked = arguments_of_search(ds)
    if not ds.sizes["step"] or not ds.sizes["parameter"]:
        raise UsageError("there is nothing to draw: the history has no step, or no parameter")
    steps, limit, goal = ds["step"].to_numpy() + 1, asked["error_at_most"], asked["objective"]
    picture, (left, right) = looks.new_panels(2, shared=False, ax=ax, style=style, width=width)
    names = [str(name) for name in ds["parameter"].to_numpy()]
    blue, red = looks.colours(["objective", "error"])
    others = looks.colours(range(len(names)) if len(names) > 3 else ["", "", *names])[-len(names) :]
    for name, colour in zip(names, others, strict=True):
        values = ds["value"].sel(parameter=name).to_numpy()
        left.plot(steps, values / values[0], color=colour, label=f"{name} / at the start")
    _band(right, steps, ds, "objective", abs(float(ds["objective"][0])) or 1.0, blue)
    left.plot([], [], color=blue, label=f"{looks.label(ds, goal)} / at the start")  # the legend is the left one's
    if limit is not None:
        _band(right, steps, ds, "error", limit, red)
        left.plot([], [], color=red, label=f"error / {limit:g}, its limit")
        right.axhline(1, color=_FAINT, linestyle="--", linewidth=1)
    for axes in (left, right):
        values = np.concatenate([np.asarray(line.get_ydata(), float) for line in axes.get_lines()])
        decades = looks.spans_decades(values[values > 0])
        looks.set_scale(axes.yaxis, values[values > 0], decades, narrow=True)
        # A step without errors has no place on a logarithmic axis: the line leaves the picture at the bottom.
        axes.set_ylim(bottom=values[values > 0].min() / 2 if decades else 0)
    if title is None and ax is None:
        title = _sentence(ds, goal)
    looks.finish(left, title, "step", "share", others=(right,))
    return picture


def _band(axes: Axes, steps: np.ndarray, ds: xr.Dataset, name: str, unit: float, colour: object) -> None:
    middle, half = ds[name].to_numpy() / unit, _Z * ds[f"{name}_se"].to_numpy() / unit
    axes.plot(steps, middle, color=colour)
    axes.fill_between(steps, middle - half, middle + half, color=colour, alpha=0.2, linewidth=0)


def _sentence(ds: xr.Dataset, objective: str) -> str:
    """Say what was found, or, of a history that has not ended, where the search is."""
    show = formatting.value
    firsts = {str(name): float(ds["value"].sel(parameter=name)[0]) for name in ds["parameter"].to_numpy()}
    if "found" not in ds.attrs:
        last = ds.isel(step=-1)
        at = [f"{name} = {show(float(last['value'].sel(parameter=name)))}" for name in firsts]
        return f"The search reached {', '.join(at)} in step {ds.sizes['step']}"
    found = json.loads(ds.attrs["found"])
    moved = [f"{name} from {show(first)} to {show(found['values'][name])}" for name, first in firsts.items()]
    start, end = (show(found["objective"][name]) for name in ("start", "tuned"))
    return f"{', '.join(moved)}: {objective} from {start} to {end} on instances that no step has seen"
