"""Values in specifications: plain ones as they are, an axis as `{ axis = … }`, and their types checked."""

from typing import Any, get_args

import numpy as np

from jaxbandits import checks
from jaxbandits.axes import Axis, axis
from jaxbandits.errors import UsageError
from jaxbandits.plain_data.contents import plain

__all__ = ["is_text", "number_type", "required", "value_of", "written"]


def written(value: Any) -> Any:
    """A value as plain data, an axis among them.

    Raises:
        NotPlain: a value that text cannot hold.
    """
    if not isinstance(value, Axis):
        return plain(value)
    data: dict[str, Any] = {"axis": [plain(item) for item in value.values]}
    return data if value.name is None else {**data, "name": value.name}


def value_of(value: Any, whole: bool = False) -> Any:
    """A value of a table; `{ axis = … }` becomes an axis, a range of `whole` numbers one of rounded values.

    Raises:
        UsageError: a table that is no axis.
    """
    if not isinstance(value, dict):
        return value
    if "axis" not in value:
        raise UsageError(f"expected a number, a list or {{ axis = … }}, got {value!r}")
    inner = value["axis"]
    if not isinstance(inner, dict):
        return axis(inner, value.get("name"))
    unknown = inner.keys() - {"start", "stop", "num", "scale"}
    if unknown or not {"start", "stop", "num"} <= inner.keys():
        raise UsageError(f"an axis by range needs start, stop and num, and may have scale, got {sorted(inner)}")
    scale = inner.get("scale", "linear")
    if scale not in {"linear", "log"}:
        raise UsageError(f"the scale of an axis is linear or log, got {scale!r}")
    rule, of = (checks.POSITIVE, "an axis with scale log") if scale == "log" else (checks.FINITE, "an axis")
    start, stop = (checks.number(f"{end} of {of}", inner[end], rule) for end in ("start", "stop"))
    num = checks.whole("num of an axis", inner["num"], 1)
    values = [float(x) for x in (np.geomspace if scale == "log" else np.linspace)(start, stop, num)]
    return axis([round(x) for x in values] if whole else values, value.get("name"))


def required(table: dict[str, Any], key: str, what: str) -> Any:
    """An entry that the table [what] must have.

    Raises:
        UsageError: if it has not.
    """
    if key not in table:
        raise UsageError(f"the [{what}] table needs a {key}")
    return table[key]


def is_text(annotation: Any) -> bool:
    """Whether an argument with this annotation may be a text."""
    return annotation is str or str in get_args(annotation)


def number_type(annotation: Any) -> type | None:
    """`int` or `float` for arguments that are one, or one or None; None for all others."""
    kinds = [kind for kind in (int, float) if annotation is kind or set(get_args(annotation)) == {kind, type(None)}]
    return kinds[0] if kinds else None
