"""Lines beside curves: variables of the Dataset, such as bounds of theory, and lines of the user's own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from jaxbandits.errors import UsageError
from jaxbandits.report import style as looks
from jaxbandits.report.dimensions import unknown_variable, values_of

__all__ = ["Bounds", "bounds_of", "draw_bounds"]

#: What `bounds` may be: names of variables, or lines by the texts that the legend has.
Bounds = str | Sequence[str] | Mapping[str, str | Callable[..., Any] | Any]
_DASHES: list[tuple[int, ...]] = [(6, 3), (2, 2), (6, 2, 2, 2), (1, 1)]
_GREY = "#5A5A5A"
#: Names that a legend lists of the lines that share a bound.
_MOST_NAMES = 2


def bounds_of(known: xr.Dataset, bounds: Bounds, x: str) -> dict[str, xr.DataArray]:
    """Return bounds by their texts in the legend, float64 over dimensions of the Dataset.

    Args:
        known: a summary, with the dimensions of the picture.
        bounds: as in `jaxbandits.plot.curve`.
        x: the dimension along the horizontal axis.

    Raises:
        UsageError: no such variable, or values that do not fit the dimensions.
    """
    if not isinstance(bounds, Mapping):
        names = [bounds] if isinstance(bounds, str) else list(bounds)
        found = {name: _variable(known, name) for name in names}
        return {str(bound.attrs.get("long_name", name)): bound for name, bound in found.items()}
    return {str(text): _bound(known, str(text), bound, x) for text, bound in bounds.items()}


def _variable(known: xr.Dataset, name: str) -> xr.DataArray:
    if name not in known.data_vars:
        raise unknown_variable("bound", name, [str(n) for n, v in known.data_vars.items() if "seed" not in v.dims])
    return known[name].astype(float)


def _bound(known: xr.Dataset, text: str, bound: Any, x: str) -> xr.DataArray:
    if isinstance(bound, str):
        return _variable(known, bound)
    if callable(bound):
        bound = bound(known[x].values)
    if isinstance(bound, xr.DataArray):
        try:
            alike, _ = xr.align(bound, known["runs"], join="right", copy=False)
        except ValueError as error:
            raise UsageError(f"the bound {text!r} does not fit the Dataset: {' '.join(str(error).split())}") from None
        if strange := [str(name) for name in bound.dims if name not in known["runs"].dims]:
            raise UsageError(f"the bound {text!r} has dimensions that the picture lacks: {', '.join(strange)}")
        return alike.astype(float)
    try:
        values = np.asarray(bound, float)
    except (TypeError, ValueError):
        raise UsageError(f"the bound {text!r} must be numbers, a function of {x} or a variable's name") from None
    if values.shape not in ((), (known.sizes[x],)):
        got = f"an array of shape {values.shape}"
        raise UsageError(f"the bound {text!r} must be one number, or {known.sizes[x]} along {x}, got {got}")
    return xr.DataArray(values, dims=[x] if values.ndim else [])


def draw_bounds(
    axes: Axes,
    part: xr.Dataset,
    bounds: Mapping[str, xr.DataArray],
    hue: str | None,
    places: np.ndarray,
    fine: bool,
    dashes: dict[str, tuple[int, ...]],
) -> None:
    """Draw each bound dashed: in grey where several lines share it, else in the colour of its line.

    Args:
        axes: the axes.
        part: a summary without other dimensions than that along the axes, and `hue`.
        bounds: bounds over its dimensions.
        hue: dimension with a line per value.
        places: places along the horizontal axis.
        fine: draw thin lines, of small panels.
        dashes: those of the lines in the panels before, by their texts in the legend; new lines are added.
    """
    width = 0.8 * looks.line_look(0, fine=fine)["linewidth"]
    for text, bound in bounds.items():
        own = hue is not None and hue in bound.dims
        labels = values_of(part, hue) if own else [None]
        rows = bound.transpose(hue, ...).values if own else bound.values[None]
        rows = np.broadcast_to(rows.reshape(len(labels), -1), (len(labels), places.size))
        colours = looks.colours(labels) if own else [_GREY]
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(rows):
            if np.isfinite(row).any():
                groups.setdefault(row.tobytes(), []).append(i)
        alone = all(len(members) == 1 for members in groups.values())
        for number, members in enumerate(groups.values()):
            names = [str(labels[i]) for i in members]
            of = ", ".join(names) if len(names) <= _MOST_NAMES else f"{names[0]} and {len(names) - 1} more"
            told = text if alone or len(groups) == 1 else f"{text}: {of}"
            axes.plot(
                places,
                rows[members[0]],
                color=colours[members[0]] if len(members) == 1 else _GREY,
                linewidth=width,
                dashes=dashes.setdefault(told, _DASHES[len(dashes) % len(_DASHES)]),
                label=told if number == 0 or told != text else None,
                zorder=2,
            )
