"""Checks of the columns of a table of rewards: each must be an arm, and float32 must hold it."""

import collections
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxbandits.checks import SUMMABLE, as_single, numbers, shown
from jaxbandits.errors import UsageError
from jaxbandits.io.csv_files import looks_like_number
from jaxbandits.io.index_columns import index_like
from jaxbandits.problems.value_range import HELD

__all__ = ["check_columns", "check_names", "check_scores", "refuse_indices", "table_numbers"]

#: Largest share of a column's standard deviation by which rounding to float32 may move a value.
_ROUNDING = 0.1
#: Smallest lead of the best mean, as a share of its size: sums and means in float32 are wrong by less.
_RESOLVED = 2.0**-20
#: Largest lead that is a rounding error of float64, as a share of the mean: such columns tie.
_TIED = 2.0**-40


def check_names(source: str, names: list[str], places: Sequence[int], one: str, nameless: str, twice: str) -> None:
    """Check the names of the columns of a file, each of which is `one`: an arm or a candidate.

    Args:
        source: the name of the file.
        names: of the columns that are arms.
        places: where these columns are.
        one: what a column is called.
        nameless: what to do with a column without a name.
        twice: why no two columns have one name.

    Raises:
        UsageError: fewer than two columns, one without a name, numbers in place of names, or a name twice.
    """
    if len(names) < 2:
        raise UsageError(f"{source}: a column per {one} is needed, and two or more, got {len(names)}")
    if "" in names:
        raise UsageError(f"{source}: column {places[names.index('')] + 1} has no name: {nameless}")
    if all(looks_like_number(name) for name in names):
        few = ", ".join(names[:3])
        raise UsageError(f"{source}: numbers where the names of the {one}s should be, {few}: the file needs a header")
    number = collections.Counter(names)
    if repeated := [name for name in names if number[name] > 1]:
        raise UsageError(f"{source}: there are {number[repeated[0]]} columns {repeated[0]!r}: {twice}")


def table_numbers(what: str, table: Any) -> np.ndarray:
    """Return `numbers` of a table; where a column of a data frame holds a text, the message names the column."""
    if hasattr(table, "columns") and (values := np.asarray(table)).dtype == object:
        for name, column in zip(table.columns, values.T, strict=True):
            if text := next((value for value in column if isinstance(value, str)), None):
                raise UsageError(f"{what} must be numbers, got {shown(text)} in column {str(name)!r}")
    return numbers(what, table)


def refuse_indices(source: str, names: Iterable[str], columns: Iterable[np.ndarray], remedy: str) -> None:
    """Refuse columns, each `(N,)` with NaN where a value is missing, that number or date the rows."""
    for name, column in zip(names, columns, strict=True):
        values = column[~np.isnan(column)]
        if values.size and (what := index_like(name, values)):
            few = ", ".join(f"{value:.10g}" for value in values[:2])
            raise UsageError(f"{source}: column {name!r} looks like {what} ({few}, …), not like an arm: {remedy}")


def check_columns(where: str, columns: list[str], table: Sequence[np.ndarray]) -> None:
    """Check that float32 holds the rewards of each arm.

    Args:
        where: the beginning of a message, such as the name of the file.
        columns: what messages call the arms.
        table: for each arm its rewards, float64 `(N,)`.

    Raises:
        UsageError: too few or too many rewards, a number that is not finite, or a column or a lead of the best one that
            float32 does not hold.
    """
    for column, values in zip(columns, table, strict=True):
        if not 2 <= len(values) < 2**16:
            raise UsageError(f"{where}{column}: between 2 and 65535 values are needed, got {len(values)}")
        if not np.all(np.isfinite(values)):
            raise UsageError(f"{where}row {np.argmin(np.isfinite(values)) + 1}, {column} is not finite")
        _refuse_lost(f"{where}{column}", values, np.arange(len(values)))
    _refuse_lost_lead(where, columns, np.asarray([values.mean() for values in table]), "values")


def check_scores(where: str, columns: list[str], table: np.ndarray) -> None:
    """Check that float32 holds a matrix of scores, and tells the best column from the next.

    Args:
        where: the beginning of a message, such as the name of the file.
        columns: what messages call the columns.
        table: float64 `(N, K)`, NaN where a score is missing.

    Raises:
        UsageError: too many cells, an infinite score, a column without scores or one that float32 does not hold, equal
            scores everywhere, or a lead of the best column that float32 does not hold.
    """
    if table.size >= 2**30:
        raise UsageError(f"{where}a matrix has fewer than 2^30 cells, got {table.shape[0]} x {table.shape[1]}")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise UsageError(f"{where}row {row + 1}, {columns[column]} is infinite")
    means = []
    for column, values in zip(columns, table.T, strict=True):
        rows = np.flatnonzero(~np.isnan(values))
        if not rows.size:
            raise UsageError(f"{where}{column} has no score")
        _refuse_lost(f"{where}{column}", values[rows], rows)
        means.append(values[rows].mean())
    if np.nanmax(table) == np.nanmin(table):
        raise UsageError(f"{where}all scores are {np.nanmax(table):g}: no column is better than another")
    _refuse_lost_lead(where, columns, np.asarray(means), "scores")


def _refuse_lost_lead(where: str, columns: list[str], means: np.ndarray, values: str) -> None:
    """Refuse a lead of the best column that float32 does not hold: means `(K,)`, of what a message calls `values`."""
    next_, best = np.argsort(means, kind="stable")[-2:]
    lead, size = means[best] - means[next_], max(abs(means[best]), abs(means[next_]))
    if _TIED * size < lead < _RESOLVED * size:
        raise UsageError(
            f"{where}{columns[best]} leads {columns[next_]} by {lead:.2g}, and both are about {means[best]:.6g}: "
            f"float32 does not tell them apart: move the {values} towards 0, or round them"
        )


def _refuse_lost(column: str, values: np.ndarray, rows: np.ndarray) -> None:
    """Refuse a column whose values or variation float32 does not hold: values `(N,)`, and the row of each."""
    lost = (values != 0) & (np.abs(values) < np.finfo(np.float32).tiny) | ~SUMMABLE.holds(values)
    if lost.any():
        first = int(np.argmax(lost))
        where = f"{column}, row {rows[first] + 1},"
        as_single(where, float(values[first]))
        raise UsageError(f"{where} {SUMMABLE.words}, got {values[first]:g}")
    variance = float(np.var(values))
    if not HELD.holds(variance):
        raise UsageError(f"{column} has a variance of {variance:g}, which must be {HELD.words}: use other units")
    moved = float(np.max(np.abs(values.astype(np.float32) - values)))
    if np.ptp(values) and moved > _ROUNDING * np.sqrt(variance):
        raise UsageError(
            f"{column} varies by {np.sqrt(variance):.2g} about {np.mean(values):g}, and float32 moves its values by up "
            f"to {moved:.2g}: move the values towards 0"
        )
