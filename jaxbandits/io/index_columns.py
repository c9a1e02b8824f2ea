"""Detection of columns that number or date the rows: they would be taken for an arm, often for the best one."""

import re
from collections.abc import Sequence

import numpy as np

__all__ = ["index_like"]

#: Names of such columns.
_UNNAMED = re.compile(r"unnamed: ?\d[\d.]*|level_\d+", re.IGNORECASE)
_NAMES = re.compile(
    r"(.*[_ .-])?(index|idx|ids?|uuid|row|row_?(number|num|no|names?|id)|obs|observation|sample|trial|seed|i|n|no|nr|t|"
    r"step|round|iteration|epoch|year|yr|quarter|month|week|day|date|datetime|time|timestamp|period|yyyymm(dd)?|caldt)",
    re.IGNORECASE,
)
#: Numbers of rows from which consecutive or growing numbers are not taken for rewards.
_CONSECUTIVE, _GROWING = 5, 10


def index_like(name: str, values: Sequence[float] | np.ndarray) -> str:
    """Return what a column of numbers looks like, if not like an arm's rewards; empty for one that does not.

    Dates are detected by their values, whatever the column's name. The name decides where the values are whole numbers
    or monotone, unless all are 0 or 1.

    Args:
        name: name of the column.
        values: finite numbers, `(N,)`.
    """
    numbers = np.asarray(values, np.float64)
    steps = np.diff(numbers)
    whole = bool(np.all(numbers == np.round(numbers)))
    ordered = bool(np.all(steps >= 0) or np.all(steps <= 0))
    if _UNNAMED.fullmatch(name.strip()):
        return "an index of the rows"
    if whole and _are_days(numbers):
        return "dates"
    if whole and ordered and len(numbers) > 2 and (_are_months(numbers) or _are_years(numbers)):
        return "dates"
    if whole and len(numbers) >= _CONSECUTIVE and (np.all(steps == 1) or np.all(steps == -1)):
        return "an index of the rows"
    if whole and len(numbers) >= _GROWING and (np.all(steps > 0) or np.all(steps < 0)):
        return "an index of the rows"
    if _NAMES.fullmatch(name.strip()) and (whole or ordered) and not np.all((numbers == 0) | (numbers == 1)):
        return "an index or a date, by its name"
    return ""


def _are_days(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are dates as YYYYMMDD."""
    day, month = numbers % 100, numbers // 100 % 100
    return _are_months(numbers // 100) and bool(np.all((day >= 1) & (day <= 31) & (month >= 1)))


def _are_months(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are months as YYYYMM."""
    month = numbers % 100
    return bool(np.all((numbers >= 160001) & (numbers <= 220012) & (month >= 1) & (month <= 12)))


def _are_years(numbers: np.ndarray) -> bool:
    """Return whether whole numbers are years, and not all the same."""
    return bool(np.all((numbers >= 1800) & (numbers <= 2200)) and np.ptp(numbers) > 0)
