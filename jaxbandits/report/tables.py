"""Summaries as tables: Markdown, and tidy frames."""

import itertools
from typing import Any

import xarray as xr

from jaxbandits.report import formatting
from jaxbandits.report.summaries import GROWING, QUANTILES, is_summary, summary
from jaxbandits.report.text_tables import text_table

__all__ = ["frame", "table"]


def table(ds: xr.Dataset) -> str:
    """Return a Dataset of runs, or its summary, as a Markdown table with a row per cell.

    Means carry a `≥` where runs were truncated, and a last line says how many.

    Raises:
        UsageError: not a Dataset of runs.
    """
    known = ds if is_summary(ds) else summary(ds)
    level = f"{100 * float(known.attrs.get('level', 0.95)):g}%"
    dimensions = [str(name) for name in known["runs"].dims]
    columns = [*dimensions, "runs"]
    metric_names = [
        n
        for n in ("pulls", "evaluations", "cost", "paid", "reward", "regret", "simple_regret", "aggregate_regret")
        if f"{n}_mean" in known
    ]
    if "cost" in metric_names and bool((known["cost_mean"] == known["pulls_mean"]).all()):
        metric_names.remove("cost")  # one unit a pull: no new number
    for name in metric_names:
        columns.append(f"{name.replace('_', ' ')}, mean [{level}]")
        if name == "pulls":
            columns.append("10% / 50% / 90%")
    if "failure" in known:
        columns.append(f"failure rate [{level}]")
    rows = []
    for cell in _cells(known, dimensions):
        row = [formatting.text(cell[name].item()) for name in dimensions]
        row.append(formatting.count(cell["runs"].item()))
        for name in metric_names:
            at_least = "≥ " if name in GROWING and cell["at_least"].item() else ""
            low, high = cell[f"{name}_low"].item(), cell[f"{name}_high"].item()
            row.append(f"{at_least}{formatting.value(cell[f'{name}_mean'].item())} {formatting.interval(low, high)}")
            if name == "pulls":
                row.append(" / ".join(formatting.value(cell[f"pulls_{q}"].item()) for q in QUANTILES))
        if "failure" in known:
            low, high = cell["failure_low"].item(), cell["failure_high"].item()
            row.append(f"{formatting.probability(cell['failure'].item())} {formatting.interval(low, high, True)}")
        rows.append(row)
    text = text_table([columns, *rows], markdown=True)
    return f"{text}\n\n{known.attrs['censored']}." if "censored" in known.attrs else text


def frame(ds: xr.Dataset, columns: list[str] | None = None) -> Any:
    """Return a summary as a tidy pandas DataFrame: a row per cell, intervals in separate columns.

    Args:
        ds: runs, or their summary.
        columns: variables to keep, in order; None for all. The cell's coordinates always come first.
    """
    known = ds if is_summary(ds) else summary(ds)
    chosen = known if columns is None else known[columns]
    if not chosen.sizes:
        return chosen.expand_dims("cell").to_dataframe().reset_index(drop=True)
    tidy = chosen.to_dataframe().reset_index()
    first = [str(name) for name in known.coords if name in tidy.columns]
    return tidy[[*first, *(c for c in (columns or tidy.columns) if c not in first)]]


def _cells(known: xr.Dataset, dimensions: list[str]) -> list[xr.Dataset]:
    places = itertools.product(*(range(known.sizes[name]) for name in dimensions))
    return [known.isel(dict(zip(dimensions, place, strict=True))) for place in places]
