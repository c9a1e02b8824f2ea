"""Tables of a specification: their entries and types, checked by pydantic; a fault becomes one line.

Importing pydantic takes a while, so this module is imported where a table is read.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Tag, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails

from jaxbandits import checks
from jaxbandits.errors import UsageError, unknown_name

__all__ = ["MOST_VALUES", "AxisTable", "Range", "Table", "as_checked", "validated"]

#: The largest number of values of an axis.
MOST_VALUES = 10**6


def as_checked(check: Callable[..., Any], *bounds: Any) -> BeforeValidator:
    """Return a validator that calls one of `jaxbandits.checks`; its message names the entry."""

    def validate(value: Any, info: ValidationInfo) -> Any:
        return check(info.field_name, value, *bounds)

    return BeforeValidator(validate)


class Table(BaseModel):
    """A table: unknown entries are refused."""

    model_config = ConfigDict(extra="forbid")


class Range(Table):
    """The values of an axis, evenly spaced."""

    start: Annotated[float, as_checked(checks.number)]
    stop: Annotated[float, as_checked(checks.number)]
    num: Annotated[int, as_checked(checks.whole, 1, MOST_VALUES)]
    scale: Literal["linear", "log"] = "linear"


def _kind(axis: Any) -> str:
    return "range" if isinstance(axis, dict | Range) else "values"


class AxisTable(Table):
    """An axis of a grid: `{ axis = [0.1, 0.2] }` or `{ axis = { start = 0.1, stop = 1, num = 5, scale = "log" } }`."""

    axis: Annotated[Annotated[list[Any], Tag("values")] | Annotated[Range, Tag("range")], Discriminator(_kind)]
    name: str | None = None
    labels: list[str] | None = None


T = TypeVar("T", bound=Table)


def validated(model: type[T], data: Any) -> T:
    """Return a table checked by its model.

    Raises:
        UsageError: the first invalid entry, with its keys in `place`.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _refused(model, data, error.errors()[0]) from None


def _refused(model: type[Table], data: Any, error: ErrorDetails) -> UsageError:
    keys: tuple[str, ...] = ()
    for key in error["loc"]:  # it contains names of types, too
        if isinstance(data, dict) and key in data:
            keys, data = (*keys, str(key)), data[key]
    known = Range.model_fields if "range" in error["loc"] else model.model_fields
    if error["type"] == "extra_forbidden":
        refused = unknown_name("entry", str(error["loc"][-1]), known)
    elif error["type"] == "missing":
        needed = [name for name, field in known.items() if field.is_required()]
        refused = UsageError(f"{error['loc'][-1]} is missing: {', '.join(needed)} must be given")
    elif error["type"] == "value_error":
        refused = UsageError(str(error["ctx"]["error"]))
    else:
        message = error["msg"][:1].lower() + error["msg"][1:]
        refused = UsageError(f"{message}, got {checks.shown(error['input'])}")
    refused.place = keys
    return refused
