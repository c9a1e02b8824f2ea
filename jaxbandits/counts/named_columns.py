"""Tables of texts from what holds counts in Python or in a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxbandits import checks
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.csv_files import Table

__all__ = ["selected", "table_of"]


def table_of(counts: Any) -> Table:
    """Return counts as a table of texts: those of a file, a data frame, a dict of columns, or an array `(K, 2)`."""
    if isinstance(counts, str | Path):
        return Table.read(counts)
    if hasattr(counts, "columns"):
        columns = _of_frame(counts)
    elif isinstance(counts, Mapping):
        columns = {str(name): _listed(name, values) for name, values in counts.items()}
    else:
        array = checks.numbers("counts", counts)
        if array.ndim != 2 or array.shape[1] != 2:
            raise UsageError(
                "counts must be a file, a table with named columns, or an array (K, 2) of pulls and successes, got "
                f"{'shape ' + str(array.shape) if array.ndim else checks.shown(counts)}"
            )
        columns = {"pulls": array[:, 0].tolist(), "successes": array[:, 1].tolist()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"counts: columns differ in length: {', '.join(f'{k!r} {n}' for k, n in lengths.items())}")
    rows = [[_text(value) for value in row] for row in zip(*columns.values(), strict=True)]
    return Table("counts", list(columns), [(i + 1, row) for i, row in enumerate(rows)], "row")


def _of_frame(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a data frame, and the levels of its index with names (after `groupby`), or with texts."""
    named = [(str(name), list(frame[name])) for name in frame.columns]
    for level, name in enumerate(getattr(getattr(frame, "index", None), "names", ())):  # of pandas; others have none
        values = list(frame.index.get_level_values(level))
        column = "index" if name is None else str(name)
        if (name is not None or all(isinstance(value, str) for value in values)) and (column, values) not in named:
            named.append((column, values))
    columns = dict(named)
    if len(columns) < len(named):
        raise UsageError("counts: two columns have one name, or a column and the index")
    return columns


def _listed(name: object, values: Any) -> list[Any]:
    if isinstance(values, str) or np.ndim(values) != 1:
        raise UsageError(
            f"counts: column {str(name)!r} must be a list of a value for each arm, got {checks.shown(values)}"
        )
    return list(values)


def _text(value: Any) -> str:
    if value is None:
        return ""
    plain = value.item() if isinstance(value, np.generic) else value
    return repr(plain) if isinstance(plain, float) else str(plain).strip()


def selected(table: Table, where: str) -> Table:
    """Return the rows with a value in a column, `column=value`; all rows without a text."""
    if not where:
        return table
    name, equals, value = (part.strip() for part in where.partition("="))
    if not equals or not name:
        raise UsageError(f"where takes column=value, got {where!r}")
    if name not in table.header:
        raise unknown_name(f"{table.source}: column", name, table.header)
    place = table.header.index(name)
    rows = [one for one in table.rows if one[1][place] == value]
    if not rows:
        raise UsageError(f"{table.source}: no row has {name}={value}")
    return table._replace(rows=rows)
