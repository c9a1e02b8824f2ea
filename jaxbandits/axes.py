"""Marks for what varies in a grid: an axis of values, and a problem some of whose arguments are axes."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxbandits.contents import File
from jaxbandits.errors import UsageError
from jaxbandits.recipes import remembering

__all__ = ["Axis", "ProblemFamily", "axis", "varying"]


@dataclasses.dataclass(frozen=True)
class Axis:
    """Values that a field takes in turn; made by `axis`."""

    values: tuple[Any, ...]
    name: str | None = None


def axis(values: Sequence[Any] | np.ndarray, name: str | None = None) -> Axis:
    """Mark a field of an algorithm or an argument of a problem as an axis of the grid.

    Args:
        values: the values in order, at least one; numbers, or for means whole lists.
        name: the dimension's name in results; None for the field's name. Two axes with the same name and values move
            together.

    Raises:
        UsageError: no values, or the same value twice.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise UsageError(f"an axis needs a list of values, got {values!r}")
    items = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not items:
        raise UsageError("an axis needs at least one value")
    if len({repr(item) for item in items}) < len(items):
        raise UsageError(f"an axis must not repeat a value, got {list(items)}")
    return Axis(items, name)


@dataclasses.dataclass(frozen=True)
class ProblemFamily:
    """A problem with axes among its arguments; `varying` makes one."""

    make: Callable[..., Any]
    arguments: dict[str, Any]
    costs: tuple[Any, bool] | None = None  # costs of pulls and whether they are random; None for the constructor's own

    @property
    def name(self) -> str:
        """The name that the user gave it, or the constructor's."""
        given = self.arguments.get("name")
        return given if given and isinstance(given, str) else self.make.__name__

    @property
    def sha256(self) -> str | list[str] | None:
        """Of the file that the constructor reads, one for each value of an axis of files; None without."""
        for value in self.arguments.values():
            if isinstance(value, File):
                return value.sha256
            if isinstance(value, Axis) and isinstance(value.values[0], File):
                return [file.sha256 for file in value.values]
        return None


def varying(make: Callable[..., Any] | None = None, **readers: Callable[[Any], File]) -> Callable[..., Any]:
    """Let a constructor of problems take axes, and its problems remember how they were made.

    With an axis among its arguments it returns a `ProblemFamily`, which `sweep` expands.

    Args:
        make: the constructor.
        readers: for arguments that name a file, what reads it: once, before anything is made of it.
    """
    if make is None:
        return functools.partial(varying, **readers)
    signature = inspect.signature(make)

    @functools.wraps(make)
    def build(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageError(f"{make.__name__}: {error}") from None
        arguments = bound.arguments
        for name in readers.keys() & arguments.keys():
            value = arguments[name]
            arguments[name] = (
                dataclasses.replace(value, values=tuple(map(readers[name], value.values)))
                if isinstance(value, Axis)
                else readers[name](value)
            )
        if any(isinstance(value, Axis) for value in arguments.values()):
            return ProblemFamily(build, dict(arguments))
        bound.apply_defaults()
        sha256 = next((value.sha256 for value in arguments.values() if isinstance(value, File)), None)
        return remembering(make(*bound.args, **bound.kwargs), make, dict(bound.arguments), sha256)

    return build
