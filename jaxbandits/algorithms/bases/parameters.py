"""Hyperparameters: what a field of a built-in algorithm may hold."""

import dataclasses
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError, unknown_name

__all__ = ["RULES", "Numeric", "check_parameter", "is_number", "is_parameter", "parameter"]

#: A hyperparameter: a number, an array of numbers once it is batched, an axis of a grid, or None where that is allowed.
Numeric = Any


def parameter(
    rule: str = "",
    *,
    default: Any = dataclasses.MISSING,
    static: bool = False,
    common: int | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A hyperparameter's field.

    Args:
        rule: the values that are allowed, one of the keys of `RULES`.
        default: the default value.
        static: part of the program (a choice of code path), not of its input.
        common: a whole number so common for this parameter that a grid that shares it gets its own, cheaper program.
        choices: the words that are allowed, for a static parameter that is a word; None too where it is the default.
    """
    metadata = {"rule": rule, "static": static, "common": common, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


def is_parameter(field: dataclasses.Field[Any]) -> bool:
    """Whether a field was made with `parameter`: what another is for, its name does not say."""
    return "rule" in field.metadata


RULES = {
    "probability": (lambda x: 0 < x < 1, "must lie strictly between 0 and 1"),
    "positive": (lambda x: x > 0 and np.isfinite(x), "must be positive and finite"),
    "above one": (lambda x: x > 1 and np.isfinite(x), "must be above 1 and finite"),
    "not negative": (lambda x: x >= 0 and np.isfinite(x), "must not be negative, and finite"),
    "at least one": (lambda x: x >= 1 and np.isfinite(x), "must be at least 1 and finite"),
    "count": (lambda x: np.isfinite(x) and x >= 1 and x == int(x), "must be a whole number, at least 1"),
}


def is_number(value: Any) -> bool:
    """Whether this is one number, and neither an array nor traced."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def check_parameter(owner: str, field: dataclasses.Field[Any], value: Any) -> None:
    """Whether a field made with `parameter` may hold a value; any other field may.

    Raises:
        UsageError: it may not.
    """
    choices = field.metadata.get("choices")
    if choices and value not in choices and not (value is None and field.default is None):
        raise unknown_name(f"{owner}: {field.name}", str(value), choices)
    rule = field.metadata.get("rule")
    if not rule or (value is None and field.default is None):
        return
    if isinstance(value, list | tuple):
        raise UsageError(f"{owner}: {field.name} must be one number, got {value!r}: for a grid, jb.axis({value!r})")
    if isinstance(value, str | bool | np.bool_ | dict) or value is None:
        raise UsageError(f"{owner}: {field.name} must be a number, got {value!r}")
    if not is_number(value):
        return
    valid, text = RULES[rule]
    if not valid(value):
        raise UsageError(f"{owner}: {field.name} {text}, got {value:g}")
