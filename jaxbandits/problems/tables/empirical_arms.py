"""The constructors of arms that resample values: from a table, from a list for each arm, or from a CSV file."""

from collections.abc import Mapping, Sized
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits import data
from jaxbandits.arrays.on_host import as_float32
from jaxbandits.checks import numbers, shown
from jaxbandits.errors import UsageError
from jaxbandits.io.csv_files import Table
from jaxbandits.io.serialize import File
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.tables.column_checks import check_columns, check_names, refuse_indices, table_numbers
from jaxbandits.problems.tables.empirical_laws import Empirical, UnequalEmpirical

__all__ = ["empirical", "empirical_from_csv", "empirical_from_data"]


@varying
def empirical(samples: ArrayLike | Mapping[str, ArrayLike], *, joint: bool = False, name: str = "") -> Empirical:
    """Return arms that resample the columns of a table, or the values of a list for each arm.

    Args:
        samples: numbers, `(N, K)`: a row per observation, a column per arm; 2 <= N < 2^16. Or for each arm, by its
            name, the numbers that were observed of it, `(N_k,)`; there may be more of one arm than of another.
        joint: whether the n-th pulls of all arms come from the same row; else rows are independent.
        name: what the problem is called in results.

    Raises:
        UsageError: not a table of finite numbers with two columns or more, or not a list for each of two arms or more.
            Each column must vary, or one of the lists, and float32 must hold them. In a pandas table no column may be
            an index or dates by its name. If `joint`, lists must have the same length.

    Example:
        >>> print(jb.empirical(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])).mean)
        [0.33333334 0.8333334 ]
        >>> print(jb.empirical({"A": [0.0, 1.0, 0.5, 0.5], "B": [1.0, 0.5]}).mean)
        [0.5  0.75]
    """
    if isinstance(samples, Mapping):
        return _from_lists(samples, joint, name)
    _refuse_uneven(samples)
    table = table_numbers("samples", samples)
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(f"samples must have a column per arm, and two or more, got shape {table.shape}")
    if hasattr(samples, "columns"):
        names = [str(column) for column in samples.columns]
        made = _checked(table, [f"column {column!r}" for column in names], joint, name)
        refuse_indices("samples", names, table.T, "leave it out, or give samples.to_numpy() if it is one")
        return made
    return _checked(table, [f"column {j + 1}" for j in range(table.shape[1])], joint, name)


@varying(path=File.read)
def empirical_from_csv(path: str | Path, *, joint: bool = False) -> Empirical:
    """Return arms that resample the columns of a CSV file; a first column of dates or labels is left out.

    Args:
        path: the file, in UTF-8, separated by commas or tabs, with column names that are not numbers; it may be
            compressed by gzip. True is 1, and False 0.
        joint: as in `empirical`.

    Raises:
        UsageError: no such file, no header, or a cell that is not a number (its line and column are given). There must
            be two columns or more, with distinct names. Each must vary, and none may hold an index or dates.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0.5]}).to_csv("scores.csv", index=False)
        >>> print(jb.empirical_from_csv("scores.csv").mean)
        [0.33333334 0.8333334 ]
    """
    return _from_file(path, joint)


@varying(table=data.table)
def empirical_from_data(table: str, *, joint: bool = False) -> Empirical:
    """Return arms that resample a bundled table, `market-returns` (see `jaxbandits/data/ATTRIBUTION.md`).

    Args:
        table: the part after `data:` on the command line.
        joint: as in `empirical`.

    Raises:
        UsageError: an unknown name.

    Example:
        >>> jb.empirical_from_data("market-returns").arms
        3
    """
    return _from_file(File.of(f"data:{table}", data.table(table).content), joint)


def _from_file(file: str | Path, joint: bool) -> Empirical:
    table = Table.read(file, least=2)
    source, places = table.source, range(1 if table.has_labels else 0, len(table.header))
    names = [table.header[place] for place in places]
    remedy = "leave it out if it is an index, and name it if not"
    check_names(source, names, places, "arm", remedy, "a column is an arm")
    values = np.asarray([[table.score(line, row, place) for place in places] for line, row in table.rows])
    made = _checked(values, [f"column {name!r}" for name in names], joint, source)
    remedy = "leave it out of the file, or give the numbers to jb.empirical if it is one"
    refuse_indices(source, names, values.T, remedy)
    return made


def _refuse_uneven(samples: object) -> None:
    """Refuse lists of different lengths, whose arms have no names: lists of one length would be rows, not arms."""
    if isinstance(samples, list | tuple) and len({len(row) for row in samples if isinstance(row, Sized)}) > 1:
        raise UsageError("samples have rows of different lengths: give a list for each arm as {name: numbers, …}")


def _from_lists(samples: Mapping[str, ArrayLike], joint: bool, name: str) -> Empirical:
    lists = [numbers(f"samples of arm {arm!r}", values) for arm, values in samples.items()]
    if len(lists) < 2 or any(values.ndim != 1 for values in lists):
        raise UsageError(f"samples must have a list of numbers for each of two arms or more, got {shown(samples)}")
    columns, counts = [f"arm {arm!r}" for arm in samples], [len(values) for values in lists]
    if joint and len(set(counts)) > 1:
        raise UsageError(f"samples: joint is for arms with the same number of values, got {counts}")
    check_columns(f"{name}: " if name else "samples: ", columns, lists)
    if all(np.ptp(values) == 0 for values in lists):
        raise UsageError("samples: the values of each arm are constant: nothing is random there")
    refuse_indices("samples", map(str, samples), lists, "leave it out, or give it another name if it is one")
    # Entries that an arm lacks repeat its first one, so that the largest and the smallest value are its own.
    table = np.stack([np.append(values, np.repeat(values[:1], max(counts) - len(values))) for values in lists])
    name = name or f"empirical ({len(lists)} arms)"
    if len(set(counts)) == 1:
        return Empirical(as_float32(table), joint, name=name)
    return UnequalEmpirical(as_float32(table), counts=jnp.asarray(counts, jnp.int32), name=name)


def _checked(table: np.ndarray, columns: list[str], joint: bool, name: str) -> Empirical:
    where = f"{name}: " if name else "samples: "
    check_columns(where, columns, list(table.T))
    for column, values in zip(columns, table.T, strict=True):
        if np.ptp(values) == 0:
            raise UsageError(f"{where}{column} is constant, {values[0]:g}: nothing is random there")
    return Empirical(as_float32(table.T), joint, name=name or f"empirical ({table.shape[1]} arms)")
