"""Check the arguments of a dataclass: name the missing or unknown ones in one line, not in Python's `TypeError`."""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from jaxbandits.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["refusing_arguments"]


def refusing_arguments(cls: type) -> Callable[..., None]:
    """Return an `__init__` for a dataclass that refuses wrong arguments with a `UsageError`.

    Args:
        cls: the class; its own `__init__` is called first, and the arguments are checked only if that fails.
    """
    make: Callable[..., None] = cls.__init__  # type: ignore[misc]

    @functools.wraps(make)
    def init(self: "DataclassInstance", *args: object, **kwargs: object) -> None:
        try:
            make(self, *args, **kwargs)
            return
        except TypeError as error:
            of_python = error
        _check(type(self), args, kwargs)  # outside, so that Python does not print its own error first
        raise of_python

    return init


def _check(cls: type["DataclassInstance"], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    """Refuse arguments that are missing, unknown, too many or given twice."""
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    for name in kwargs.keys() - fields.keys():
        raise unknown_name(f"parameter of {cls.__name__}", name, fields)
    if len(args) > len(fields):
        raise UsageError(f"{cls.__name__} has {len(fields)} parameters, {', '.join(fields)}, got {len(args)} values")
    by_place = list(fields)[: len(args)]
    if twice := [name for name in by_place if name in kwargs]:
        raise UsageError(f"{cls.__name__}: {twice[0]} is given twice, by position and by name")
    required = [name for name, field in fields.items() if _is_required(field)]
    if missing := [name for name in required if name not in kwargs and name not in by_place]:
        call = ", ".join(f"{name}=…" for name in required)
        raise UsageError(f"{cls.__name__} needs {' and '.join(missing)}: {cls.__name__}({call})")


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
