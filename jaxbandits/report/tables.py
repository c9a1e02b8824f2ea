"""Summaries as tidy frames."""

from typing import Any

import xarray as xr

from jaxbandits.report.summaries import is_summary, summary

__all__ = ["frame"]


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
