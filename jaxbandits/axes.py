"""Marks for what varies in a grid: an axis of values, and a problem some of whose arguments are axes."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError

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
        """The constructor's name."""
        return self.make.__name__


def varying(make: Callable[..., Any]) -> Callable[..., Any]:
    """Let a constructor of problems take axes: it then returns a `ProblemFamily`, which `sweep` expands."""
    signature = inspect.signature(make)

    @functools.wraps(make)
    def build(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            raise UsageError(f"{make.__name__}: {error}") from None
        if any(isinstance(value, Axis) for value in arguments.values()):
            return ProblemFamily(make, arguments)
        return make(*args, **kwargs)

    return build
