"""A table of a study, as a paper has it: means with intervals over the dimensions of the grid."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.checks import INSIDE_UNIT, number
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report import formatting
from jaxbandits.report.best_candidates import find_best
from jaxbandits.report.dimensions import check_one_a_run, metric, parts, values_of
from jaxbandits.report.pairing import joined
from jaxbandits.report.repeated_cells import count_distinct
from jaxbandits.report.rounded_cells import rounded_cell
from jaxbandits.report.run_statistics import is_rate
from jaxbandits.report.summaries import GROWING, check_names, is_summary, summary
from jaxbandits.report.table_formats import FORMATS, TextTable

__all__ = ["table"]

#: The dimension in which the best are bold, if there is one.
_USUAL = "algorithm"
FRAME = "frame"


class _Study(NamedTuple):
    """A summary, the dimensions of rows and of columns, and what is best."""

    known: xr.Dataset
    rows: list[str]
    columns: list[str]
    values: list[str]
    best: dict[str, xr.DataArray]  # bool masks by value; without those that nothing is known of
    best_along: str | None
    level: float
    units: dict[str, str]


def table(
    ds: object,
    rows: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    value: str | Sequence[str] = "pulls",
    *,
    format: str = "markdown",  # noqa: A002 - as xarray and pandas call it
    level: float = 0.95,
    best: str | None = _USUAL,
) -> Any:
    r"""Return a table of means with intervals, the best in bold, for a paper or a page.

    A mean is rounded by its half width, of which two significant digits are shown: `5,960 ± 150`. A failure rate has
    the interval of Clopper and Pearson: `0.030 [0.011, 0.064]`. Where runs are truncated, the mean of pulls, cost,
    steps or reward is a lower bound: `≥ 12,300`. A note says what the cells are.

    Args:
        ds: runs, Datasets of runs by their algorithms' names, moments or a summary.
        rows: dimensions whose values label the rows; None for all that are not in `columns`.
        columns: dimensions whose values label the columns; None for none, with a column for each value.
        value: metrics with a column each, such as `pulls`, `cost`, `simple_regret`, `failure`.
        format: `markdown`; `latex` (a `tabular` of the package booktabs, above 40 rows a `longtable`) or `html`, in
            which a heading spans the columns that share it; `csv` (the same cells, with a star in place of bold); or
            `frame`, a pandas DataFrame with a row for each cell of the grid and numbers that are not rounded.
        level: level of the intervals and of the set of the best, in (0, 1).
        best: the dimension in which the best are bold: all that `jaxbandits.find_best` cannot distinguish from the
            best, which needs runs. None for no bold cells, as without a dimension `algorithm`, or with one value of it.

    Returns:
        The table as a str. With `format="frame"` a DataFrame: a column for each dimension and its further coordinates,
        `<value>_mean`, `<value>_low`, `<value>_high` (or `failure`, `failure_low`, `failure_high`), `<value>_best`
        where the best are known, `runs` and `truncated`, the numbers of runs.

    Raises:
        UsageError: not runs; an unknown dimension, value or format; a dimension that is in two places, or in none
            though it has several values; a summary with another level; runs that are not paired, for the best.

    Example:
        >>> import jaxbandits as jb
        >>> problem, same = jb.bernoulli([0.9, 0.6]), {"epsilon": 0.1, "delta": 0.1}
        >>> runs = {"ugapec": jb.simulate(jb.UGapEc(**same), problem, seeds=100),
        ...         "lucb": jb.simulate(jb.LUCB(**same), problem, seeds=100)}
        >>> print(jb.table(runs, value=["pulls", "failure"], format="latex").splitlines()[2])
        \begin{tabular}{lrr}
    """
    if format not in (*FORMATS, FRAME):
        raise unknown_name("format", format, [*FORMATS, FRAME])
    study = _studied(ds, rows, columns, value, level, best)
    return _frame(study) if format == FRAME else FORMATS[format](_laid_out(study, exact=format == "csv"))


def _studied(ds: Any, rows: Any, columns: Any, value: Any, level: float, best: str | None) -> _Study:
    number("level", level, INSIDE_UNIT)
    if isinstance(ds, Mapping) and not isinstance(ds, xr.Dataset):
        ds = joined(ds, best or _USUAL)
    known = ds if is_summary(ds) else summary(ds, level)
    if known.attrs.get("level", level) != level:
        raise UsageError(f"the summary has intervals of level {known.attrs['level']:g}, not {level:g}: give the runs")
    dims = [str(name) for name in known["runs"].dims if known.sizes[name] > 1 or name in known.coords]
    across = _names(columns)
    down = [name for name in dims if name not in across] if rows is None else _names(rows)
    for name in (*down, *across):
        if name not in known["runs"].dims:
            raise unknown_name("dimension", name, [str(one) for one in known["runs"].dims])
        if (*down, *across).count(name) > 1:
            raise UsageError(f"dimension {name!r} is given twice: it labels the rows or the columns")
    for name in map(str, known["runs"].dims):
        if name not in (*down, *across) and known.sizes[name] > 1:
            one = values_of(known, name)[0]
            raise UsageError(f"dimension {name!r} has no place: add it to rows or columns, or ds.sel({name}={one!r})")
        if not known.sizes[name]:
            raise UsageError(f"there is nothing to show: the selection has no value of {name}")
    for one in _names(value):
        check_one_a_run(ds, one)
    values = [metric(known, one) for one in _names(value)]
    if not values or len(set(values)) < len(values):
        raise UsageError(f"value must name one metric or several different ones, got {value!r}")
    known = known.isel({name: 0 for name in known["runs"].dims if name not in (*down, *across)})
    masks = _masks(ds, values, level, best, [*down, *across])
    units = {one: str(ds[one].attrs.get("units", "")) for one in values if one in ds}
    return _Study(known, down, across, values, masks, best if masks else None, level, units)


def _names(names: str | Sequence[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else [str(name) for name in names]


def _masks(
    ds: xr.Dataset, values: list[str], level: float, best: str | None, dims: list[str]
) -> dict[str, xr.DataArray]:
    """Return which labels are among the best, by value; nothing where that is not known."""
    if best is None or "seed" not in ds.dims:
        return {}
    if best not in dims:
        if best != _USUAL:
            raise unknown_name("dimension of the best", best, dims)
        return {}
    if ds.sizes[best] < 2:
        return {}
    ds = ds.squeeze([name for name, size in ds.sizes.items() if size == 1 and name not in (*dims, "seed")], drop=True)
    try:
        return {one: find_best(ds, one, best, level)["among_best"] for one in values}
    except UsageError as error:
        raise UsageError(f"{error}, or make the table with best=None") from None


def _places(study: _Study, names: list[str]) -> list[dict[str, int]]:
    """Return the positions of all combinations of values of some dimensions."""
    sizes = [range(study.known.sizes[name]) for name in names]
    return [dict(zip(names, place, strict=True)) for place in itertools.product(*sizes)]


def _laid_out(study: _Study, *, exact: bool) -> TextTable:
    """Return the cells as texts; `exact` labels are for programs, which read them back."""
    known = study.known
    texts = {
        name: [str(one) for one in values_of(known, name)] if exact else formatting.texts(values_of(known, name))
        for name in (*study.rows, *study.columns)
    }
    several = len(study.values) > 1 or not study.columns

    def headings(place: dict[str, int], value: str) -> list[str]:
        words = [
            texts[name][at] if isinstance(values_of(known, name)[at], str) else f"{name} = {texts[name][at]}"
            for name, at in place.items()
        ]
        return [*words, _titled(study, value)] if several else words

    names = [*study.rows, *study.columns]
    numbers_of = {
        value: [known[name].transpose(*names).values for name in (*parts(value), "at_least")] for value in study.values
    }
    masks = {value: mask.transpose(*names).values for value, mask in study.best.items()}
    rates = _rates(study)
    columns = [(place, value) for place in _places(study, study.columns) for value in study.values]
    rows = []
    for row in _places(study, study.rows):
        labels = [texts[name][at] for name, at in row.items()]
        cells = []
        for place, value in columns:
            at = (*row.values(), *place.values())
            centre, low, high, truncated = (float(array[at]) for array in numbers_of[value])
            bold = value in masks and bool(masks[value][at])
            at_least = value in GROWING and bool(truncated)
            cells.append(rounded_cell(centre, low, high, of_rate=value in rates, at_least=at_least, bold=bold))
        rows.append((labels, cells))
    return TextTable(study.rows, [headings(*column) for column in columns], rows, _note(study))


def _rates(study: _Study) -> list[str]:
    """Return the values that are rates: of failures, and of truth values."""
    return [value for value in study.values if value == "failure" or is_rate(study.known[parts(value)[0]])]


def _titled(study: _Study, value: str) -> str:
    """Return a value's name, with its unit where that says more."""
    unit = study.units.get(value, "")
    return f"{value.replace('_', ' ')} ({unit})" if unit not in ("", value) else value.replace("_", " ")


def _note(study: _Study) -> str:
    level = f"{100 * study.level:g}%"
    rates = _rates(study)
    means = [_titled(study, value) for value in study.values if value not in rates]
    said = []
    if means:
        said.append(f"{', '.join(means)}: mean ± half width of its {level} interval (Student's t).")
    for value in rates:
        what = "wrong answers" if value == "failure" else "true values"
        said.append(f"{_titled(study, value)}: rate of {what} [{level} interval of Clopper and Pearson].")
    if study.best_along is not None:
        said.append(f"Bold: those of {study.best_along} that cannot be distinguished from the best ({level}).")
    if "censored" in study.known.attrs and GROWING & set(study.values):
        cut, every = (count_distinct(study.known[name], study.known.attrs) for name in ("censored", "runs"))
        said.append(f"≥: {cut:,} of {every:,} runs are truncated, and their means are lower bounds.")
    if not bool(study.known["runs"].all()):
        said.append("–: not run, since the algorithm does not fit the problem.")
    return " ".join(said)


def _frame(study: _Study) -> Any:
    """Return a DataFrame with a row for each cell, made column by column, so that any coordinates do."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    known, names = study.known, [*study.rows, *study.columns]
    shape = tuple(known.sizes[name] for name in names)
    places = dict(zip(names, np.indices(shape).reshape(len(names), math.prod(shape)), strict=True))
    check_names(known["runs"], ["truncated", *(f"{value}_best" for value in study.best)])
    columns: dict[str, object] = {}
    for name in names:
        labels = values_of(known, name)
        columns[name] = [labels[at] for at in places[name]]
    for other, coordinate in known.coords.items():
        if other not in columns and len(coordinate.dims) == 1 and coordinate.dims[0] in places:
            labels = coordinate.values.tolist()
            columns[str(other)] = [labels[at] for at in places[str(coordinate.dims[0])]]
    for value in study.values:
        columns |= {name: known[name].transpose(*names).values.ravel() for name in parts(value)}
        if value in study.best:
            columns[f"{value}_best"] = study.best[value].transpose(*names).values.ravel()
    counts = {"runs": known["runs"], "truncated": known["censored"]}
    return pd.DataFrame(columns | {name: count.transpose(*names).values.ravel() for name, count in counts.items()})
