"""The mark of what varies in a grid: an axis of values."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxbandits.checks import is_masked, is_number, shown
from jaxbandits.errors import UsageError

__all__ = ["Axis", "axis", "zip_axes"]


@dataclasses.dataclass(frozen=True)
class Axis:
    """Values that a field takes in turn; made by `axis`, or by `zip_axes` for fields that change together.

    Attributes:
        values: the values in order.
        name: the dimension's name in results; None for the field's name.
        labels: what results call the values; None for the values themselves.

    Example:
        >>> jb.axis([1, 2]).values
        (1, 2)
    """

    values: tuple[Any, ...]
    name: str | None = None
    labels: tuple[str, ...] | None = None

    @property
    def shown(self) -> tuple[Any, ...]:
        """Return the values as results show them."""
        return self.values if self.labels is None else self.labels

    def at(self, places: Sequence[int]) -> "Axis":
        """Return the axis with the values at these places."""
        labels = None if self.labels is None else tuple(self.labels[place] for place in places)
        return dataclasses.replace(self, values=tuple(self.values[place] for place in places), labels=labels)


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
    items = _items(values)
    if len({repr(item) for item in items}) < len(items):
        raise UsageError(f"an axis must not repeat a value, got {shown(list(items))}")
    return Axis(items, name)


def zip_axes(dimension: str | None = None, /, **axes: Sequence[Any] | np.ndarray) -> dict[str, Axis]:
    """Make fields of algorithms or arguments of problems change together, along one dimension of the results.

    Args:
        dimension: the name of the dimension; None for the names of the fields, joined by `_`.
        **axes: values by field, two fields or more, of equal length. Single values may repeat, and whole rows must
            not.

    Returns:
        An axis by field, to be passed on as arguments. Their dimension has a text for each row.

    Raises:
        UsageError: fewer than two fields, different lengths, no values, a value that is missing, or the same row
            twice.

    Example:
        >>> together = jb.zip_axes("accuracy", epsilon=[0.2, 0.3], delta=[0.05, 0.1])
        >>> ds = jb.sweep(jb.LUCB(**together), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> ds.accuracy.values.tolist()
        ['epsilon=0.2, delta=0.05', 'epsilon=0.3, delta=0.1']
    """
    if len(axes) < 2:
        raise UsageError(f"zip_axes needs two fields or more that change together, got {len(axes)}")
    if dimension is not None and not (isinstance(dimension, str) and dimension):
        raise UsageError(f"the name of a dimension must be a text, got {shown(dimension)}")
    items = {field: _items(values) for field, values in axes.items()}
    if len({len(values) for values in items.values()}) > 1:
        lengths = ", ".join(f"{len(values)} of {field}" for field, values in items.items())
        raise UsageError(f"axes that go together must have equally many values, got {lengths}")
    rows = zip(*items.values(), strict=True)
    labels = tuple(", ".join(f"{field}={value}" for field, value in zip(items, row, strict=True)) for row in rows)
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"axes that go together must not repeat a row, got {label} twice")
    return {field: Axis(values, dimension or "_".join(items), labels) for field, values in items.items()}


def _items(values: Any) -> tuple[Any, ...]:
    """Return the values of an axis as Python's own.

    Raises:
        UsageError: no values, or a value that is missing.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0:
        raise UsageError(f"an axis needs a list of values, got {shown(values)}")
    if any(is_masked(value) for value in (values, *values)):
        raise UsageError(f"an axis must not have masked values, got {shown(values)}: leave them out")
    items = tuple(map(_plain, values))
    if not items:
        raise UsageError("an axis needs at least one value")
    return items


def _plain(value: Any) -> Any:
    """Return a number of NumPy or JAX as Python's; anything else as it is."""
    if isinstance(value, np.generic) or (is_number(value) and getattr(value, "shape", None) == ()):
        return value.item()
    return value
