"""Checks of the columns of a table of rewards: each must be an arm, and float32 must hold it."""

import numpy as np

from jaxbandits.checks import SUMMABLE, as_single
from jaxbandits.errors import UsageError
from jaxbandits.io.index_columns import index_like
from jaxbandits.problems.value_range import HELD

__all__ = ["check_columns", "refuse_indices"]

#: Largest share of a column's standard deviation by which rounding to float32 may move a value.
_ROUNDING = 0.1


def refuse_indices(source: str, names: list[str], table: np.ndarray, remedy: str) -> None:
    """Refuse columns that number or date the rows of a table `(N, K)`."""
    for name, values in zip(names, table.T, strict=True):
        if what := index_like(name, values):
            few = ", ".join(f"{value:.10g}" for value in values[:2])
            raise UsageError(f"{source}: column {name!r} looks like {what} ({few}, …), not like an arm: {remedy}")


def check_columns(where: str, columns: list[str], table: np.ndarray) -> None:
    """Check that float32 holds a table of rewards.

    Args:
        where: the beginning of a message, such as the name of the file.
        columns: what messages call the columns.
        table: float64 `(N, K)`.

    Raises:
        UsageError: too few or too many rows, a number that is not finite, or a column that float32 does not hold.
    """
    if not 2 <= table.shape[0] < 2**16:
        raise UsageError(f"{where}between 2 and 65535 rows are needed, got {table.shape[0]}")
    if not np.all(np.isfinite(table)):
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise UsageError(f"{where}row {row + 1}, {columns[column]} is not finite")
    for column, values in zip(columns, table.T, strict=True):
        _refuse_lost(f"{where}{column}", values)


def _refuse_lost(column: str, values: np.ndarray) -> None:
    """Refuse a column `(N,)` of one value, or one whose values or variation float32 does not hold."""
    if np.ptp(values) == 0:
        raise UsageError(f"{column} is constant, {values[0]:g}: nothing is random there")
    lost = (values != 0) & (np.abs(values) < np.finfo(np.float32).tiny) | ~SUMMABLE.holds(values)
    if lost.any():
        row = int(np.argmax(lost))
        as_single(f"{column}, row {row + 1},", float(values[row]))
        raise UsageError(f"{column}, row {row + 1}, {SUMMABLE.words}, got {values[row]:g}")
    variance = float(np.var(values))
    if not HELD.holds(variance):
        raise UsageError(f"{column} has a variance of {variance:g}, which must be {HELD.words}: use other units")
    moved = float(np.max(np.abs(values.astype(np.float32) - values)))
    if moved > _ROUNDING * np.sqrt(variance):
        raise UsageError(
            f"{column} varies by {np.sqrt(variance):.2g} about {np.mean(values):g}, and float32 moves its values by up "
            f"to {moved:.2g}: move the values towards 0"
        )
