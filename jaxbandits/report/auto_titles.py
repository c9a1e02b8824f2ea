"""Titles that say what the numbers show: measured values, never a judgement that an interval could overturn."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from jaxbandits.report import formatting, style
from jaxbandits.report.dimensions import lower_bounds, parts, values_of
from jaxbandits.report.intervals import least_change
from jaxbandits.report.summaries import GROWING

__all__ = ["of_bars", "of_curve", "of_distribution", "of_phase", "of_quantiles"]


def of_curve(known: xr.Dataset, x: str, y: str, centre: str = "mean") -> str:
    """Say how the metric changes from the first to the last value of x, as far as intervals tell for every line."""
    middle, *bounds = (known[name] for name in parts(y, centre))
    first, last = middle.isel({x: 0}).values.ravel(), middle.isel({x: -1}).values.ravel()
    ends = [formatting.text(v) for v in (values_of(known, x)[0], values_of(known, x)[-1])]
    span = f"as {style.symbol(known, x)} goes from {ends[0]} to {ends[1]}"
    what = _what(known, y, centre)
    show = _show(known, y)
    is_bound = lower_bounds(known, str(middle.name))
    if known.sizes[x] == 1:
        return f"{what} is {_range(middle, is_bound, show)} at {style.symbol(known, x)} = {ends[0]}"
    # The band of a median is the spread of the runs, no interval of the median.
    direction, factor = "", 1.0
    if centre == "mean":
        lows, highs = (bound.transpose(x, ...).values.reshape(known.sizes[x], -1) for bound in bounds)
        direction, factor = least_change((lows[0], highs[0]), (lows[-1], highs[-1]))
    if first.size == 1:
        start, end = (_shown(ends[0], is_bound.isel({x: i}), show) for i, ends in ((0, first), (-1, last)))
        if centre == "mean" and (place := _beyond_both_ends(lows[:, 0], highs[:, 0])):
            most = _shown(value := middle.values.ravel()[place], is_bound.values.ravel()[place], show)
            where = f"{style.symbol(known, x)} = {formatting.text(values_of(known, x)[place])}"
            size = "smallest" if value < first[0] else "largest"
            return f"{what} goes from {start} to {end} {span}, with the {size}, {most}, at {where}"
        if first[0] == last[0] and start == end:
            return f"{what} is {start} at both ends, {span}"
        doubt = "" if direction or centre != "mean" else "; the difference may be chance"
        return f"{what} {direction or 'goes'} from {start} to {end} {span}{doubt}"
    if direction and (fold := formatting.at_least_fold(factor)):
        return f"{what} {direction} {fold} {span}"
    return f"{what} is {_range(middle, is_bound, show)} {span}"


def _beyond_both_ends(lows: np.ndarray, highs: np.ndarray) -> int | None:
    """Return where an interval lies below those of both ends, or above both, and the farthest so; None if nowhere."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        below, above = min(lows[0], lows[-1]) - highs, lows - max(highs[0], highs[-1])
    found = np.nan_to_num(np.maximum(below, above), nan=-1.0)
    return int(found.argmax()) if found.max() > 0 else None


def of_phase(known: xr.Dataset, x: str, y: str, value: str) -> str:
    """Name the smallest and the largest cell, and where they are."""
    mean = known[parts(value)[0]]
    show = _show(known, value)

    def cell(flat: int) -> str:
        place = dict(zip(mean.dims, np.unravel_index(flat, mean.shape), strict=True))
        return ", ".join(
            f"{style.symbol(known, n)} = {formatting.text(values_of(known, n)[int(place[n])])}" for n in (x, y)
        )

    (low, least), (high, most) = _extremes(mean, lower_bounds(known, str(mean.name)), show)
    if least == most:
        return f"{_what(known, value)} is {least} in all cells"
    return f"{_what(known, value)}: from {least} at {cell(low)} to {most} at {cell(high)}"


def of_quantiles(known: xr.Dataset, y: str) -> str:
    """Say how wide the middle 80% of runs are, in what runs spend; a cell of unknown lower end is left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(known[f"{y}_q90"] / known[f"{y}_q10"], float)
    ratio = ratio[np.isfinite(ratio) & ~lower_bounds(known, f"{y}_q10").values]
    if not ratio.size or y not in GROWING:
        return f"{style.label(known, y)} of the middle 80% of runs".capitalize()
    if ratio.max() == 1:
        return _begun(known, f"the middle 80% of runs have the same {style.label(known, y)}")
    low, high = (formatting.fold(r) for r in (ratio.min(), ratio.max()))
    times = low if low == high else f"{low} to {high}"
    return _begun(
        known, f"the slowest tenth of runs needs at least {times} times the {style.label(known, y)} of the fastest"
    )


def of_distribution(known: xr.Dataset, y: str, hue: str | None) -> str:
    """Name the medians."""
    medians, what = known[f"{y}_q50"], style.label(known, y)
    bound, tail_bound = (lower_bounds(known, f"{y}_{part}") for part in ("q50", "q90"))
    if hue is not None:
        within = _range(medians, bound, formatting.value)
        return _begun(known, f"median {what} are {within} over {style.symbol(known, hue)}")
    middle, tail = (float(known[f"{y}_{part}"]) for part in ("q50", "q90"))
    if y not in GROWING:
        half, most = (formatting.value(end) for end in (middle, tail))
        return _begun(known, f"half of the runs have {what} of at most {half}, nine in ten {most}")
    if bound.any():
        return _begun(known, f"half of the runs take more than {formatting.rounded_down(middle)} {what}")
    more = f"the slowest tenth more than {formatting.rounded_down(tail)}"
    rest = more if tail_bound.any() else f"nine in ten {formatting.value(tail)}"
    return _begun(known, f"half of the runs take at most {formatting.value(middle)} {what}, {rest}")


def of_bars(known: xr.Dataset, x: str, y: str) -> str:
    """Name the lowest and the highest bar."""
    centre = known[parts(y)[0]]
    show = _show(known, y)
    names = [formatting.text(v).replace("\n", " ") for v in values_of(known, x)]
    (low, least), (high, most) = _extremes(centre, lower_bounds(known, str(centre.name)), show)
    if least == most:
        return f"{_what(known, y)} is {least} for all"
    return f"{_what(known, y)}: lowest {least} ({names[low]}), highest {most} ({names[high]})"


def _show(known: xr.Dataset, y: str) -> Callable[[float], str]:
    """Return how numbers of the metric are written."""
    if y != "failure":
        return formatting.value
    runs = int(known["runs"].min())
    return lambda value: formatting.rate(value, runs)


def _shown(x: float, bound: ArrayLike, show: Callable[[float], str]) -> str:
    """Return how a number is written, which may be a lower bound, as runs were truncated."""
    return f"at least {formatting.rounded_down(x)}" if np.any(bound) else show(x)


def _extremes(values: xr.DataArray, bound: xr.DataArray, show: Callable[[float], str]) -> list[tuple[int, str]]:
    """Return the places of the least and the largest number, and how these are written.

    Any number that is a lower bound may be the largest.
    """
    flat, bounds = values.values.ravel(), bound.values.ravel()
    low, high = int(np.nanargmin(flat)), int(np.nanargmax(flat))
    return [(low, _shown(flat[low], bounds[low], show)), (high, _shown(flat[high], bounds, show))]


def _range(values: xr.DataArray, bound: xr.DataArray, show: Callable[[float], str]) -> str:
    """Return between which numbers all are, above which, or that which all are."""
    (_, low), (_, high) = _extremes(values, bound, show)
    return low if low == high or low.startswith("at least") else f"between {low} and {high}"


def _begun(known: xr.Dataset, text: str) -> str:
    """Return a title that begins with the algorithm if there is only one, else with a capital letter."""
    return f"{known.attrs['algorithm']}: {text}" if "algorithm" in known.attrs else text[0].upper() + text[1:]


def _what(known: xr.Dataset, y: str, centre: str = "mean") -> str:
    noun = style.label(known, y)
    text = noun if y == "failure" else f"{centre} {'number of ' if y in {'pulls', 'steps'} else ''}{noun}"
    owner = f" of {known.attrs['algorithm']}" if "algorithm" in known.attrs else ""
    return text[0].upper() + text[1:] + owner
