"""Values in specifications: plain ones unchanged, an axis as `{ axis = … }`, and checks of their types."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from jaxbandits import checks
from jaxbandits.axes import Axis, axis
from jaxbandits.errors import UsageError, about, unknown_name
from jaxbandits.io.serialize import plain

__all__ = ["check_entries", "is_text", "number_type", "required", "value_of", "written"]

#: The largest number of values of a range.
_MOST_VALUES = 10**6


def written(value: Any) -> Any:
    """Return a value, or an axis, as plain data.

    Raises:
        NotPlainError: a value that text cannot hold.
    """
    if not isinstance(value, Axis):
        return plain(value)
    data: dict[str, Any] = {"axis": [plain(item) for item in value.values]}
    if value.labels is not None:
        data["labels"] = list(value.labels)
    return data if value.name is None else {**data, "name": value.name}


def value_of(value: Any, whole: bool = False) -> Any:
    """Return a value of a table; `{ axis = … }` becomes an axis, a range of `whole` numbers is rounded.

    Raises:
        UsageError: a table that is not an axis.
    """
    if not isinstance(value, dict):
        return value
    if "axis" not in value:
        raise UsageError(f"expected a number, a list or {{ axis = … }}, got {value!r}")
    check_entries(value, ("axis", "name", "labels"))
    values, name, labels = value["axis"], value.get("name"), value.get("labels")
    with about("axis"):
        if isinstance(values, dict):
            values = _range(values, whole)
        if not isinstance(values, list):
            raise UsageError(f"an axis is a list of values or a range, got {checks.shown(values)}")
    if labels is None:
        return axis(values, name)
    if not isinstance(labels, list) or len(values) != len(labels) or not labels:
        raise UsageError(f"an axis with labels needs a list of equally many values, got {checks.shown(labels)}")
    if not all(isinstance(one, str) for one in labels) or len(set(labels)) < len(labels):
        raise UsageError(f"the labels of an axis must be texts that differ, got {checks.shown(labels)}")
    return Axis(tuple(values), axis([0], name).name, tuple(labels))


def _range(table: dict[str, Any], whole: bool) -> list[float]:
    """Return the values of a range, evenly spaced."""
    check_entries(table, ("start", "stop", "num", "scale"), ("start", "stop", "num"))
    scale = table.get("scale", "linear")
    with about("scale"):
        if scale not in ("linear", "log"):
            raise UsageError(f"the scale of an axis is linear or log, got {checks.shown(scale)}")
    ends = []
    for end in ("start", "stop"):
        with about(end):
            if scale == "log":
                ends.append(checks.number(f"{end} of an axis with scale log", table[end], checks.POSITIVE))
            else:
                ends.append(checks.number(end, table[end]))
    with about("num"):
        num = checks.whole("num", table["num"], 1, _MOST_VALUES)
    spaced: Any = np.geomspace if scale == "log" else np.linspace
    values = [float(x) for x in spaced(ends[0], ends[1], num)]
    return [round(x) for x in values] if whole else values


def check_entries(table: dict[str, Any], known: Sequence[str], needed: Sequence[str] = ()) -> None:
    """Check the names of the entries of a table.

    Raises:
        UsageError: an unknown entry, or a missing one.
    """
    for key in table:
        with about(key):
            if key not in known:
                raise unknown_name("entry", key, known)
    for key in needed:
        if key not in table:
            raise UsageError(f"{key} is missing: {', '.join(needed)} must be given")


def required(table: dict[str, Any], key: str, what: str) -> Any:
    """Return an entry that the table [what] must have.

    Raises:
        UsageError: if it lacks the entry.
    """
    if key not in table:
        raise UsageError(f"the [{what}] table needs a {key}")
    return table[key]


def is_text(annotation: Any) -> bool:
    """Return whether an argument with this annotation may be a text."""
    return annotation is str or str in get_args(annotation)


def number_type(annotation: Any) -> type | None:
    """Return `int` or `float` for arguments of that type, or of that type or None; None for all others."""
    kinds = [kind for kind in (int, float) if annotation is kind or set(get_args(annotation)) == {kind, type(None)}]
    return kinds[0] if kinds else None
