"""Values in specifications: plain ones unchanged, an axis as `{ axis = … }`, and checks of their types."""

from typing import Any, get_args

import numpy as np

from jaxbandits import checks
from jaxbandits.axes import Axis, axis
from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import plain

__all__ = ["is_text", "number_type", "required", "value_of", "written"]


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
    from jaxbandits.io.schemas import AxisTable, Range, validated

    table = validated(AxisTable, value)
    if table.labels is not None:
        return _labelled(table.axis, table.name, table.labels)
    if not isinstance(table.axis, Range):
        return axis(table.axis, table.name)
    start, stop, num, scale = table.axis.start, table.axis.stop, table.axis.num, table.axis.scale
    if scale == "log":
        for end, given in (("start", start), ("stop", stop)):
            checks.number(f"{end} of an axis with scale log", given, checks.POSITIVE)
    values = [float(x) for x in (np.geomspace if scale == "log" else np.linspace)(start, stop, num)]
    return axis([round(x) for x in values] if whole else values, table.name)


def _labelled(values: Any, name: str | None, labels: list[str]) -> Axis:
    if not isinstance(values, list) or len(values) != len(labels) or not labels:
        raise UsageError(f"an axis with labels needs a list of equally many values, got {len(labels)} labels")
    if len(set(labels)) < len(labels):
        raise UsageError(f"the labels of an axis must differ, got {checks.shown(labels)}")
    return Axis(tuple(values), name, tuple(labels))


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
