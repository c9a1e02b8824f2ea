"""The mark of what varies in a grid: an axis of values."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxbandits.checks import is_masked, shown
from jaxbandits.errors import UsageError

__all__ = ["Axis", "axis"]


@dataclasses.dataclass(frozen=True)
class Axis:
    """Values that a field takes in turn; made by `axis`.

    Example:
        >>> jb.axis([1, 2]).values
        (1, 2)
    """

    values: tuple[Any, ...]
    name: str | None = None


def axis(values: Sequence[Any] | np.ndarray, name: str | None = None) -> Axis:
    """Mark a field of an algorithm or an argument of a problem as an axis of the grid.

    Args:
        values: the values in order, at least one; numbers, or for means whole lists.
        name: the dimension's name in results; None for the field's name. Two axes with the same name and values move
            together.

    Raises:
        UsageError: no values, a value that is missing, the same value twice, or a name that is no text.

    Example:
        >>> jb.sweep(jb.Uniform(budget=jb.axis([10, 20])), jb.bernoulli([0.9, 0.4]), seeds=10).pulls.shape
        (2, 10)
    """
    if name is not None and not (isinstance(name, str) and name):
        raise UsageError(f"the name of an axis must be a text, got {shown(name)}")
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise UsageError(f"an axis needs a list of values, got {shown(values)}")
    if any(is_masked(value) for value in (values, *values)):
        raise UsageError(f"an axis must not have masked values, got {shown(values)}: leave them out")
    items = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    if not items:
        raise UsageError("an axis needs at least one value")
    if len({repr(item) for item in items}) < len(items):
        raise UsageError(f"an axis must not repeat a value, got {shown(list(items))}")
    return Axis(items, name)
