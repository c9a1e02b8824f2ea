"""Tables of a specification with several algorithms or problems, before they are built.

`[[algorithm]]` and `[[problem]]` are lists of tables. A table with a list of names, or of texts `spec`, stands for one
table each. So does a plain list, `algorithm = ["lucb", "ttucb"]`. Axes in the table `[axes]` are for every table whose
algorithm or problem has a parameter of that name, and that does not set it itself.
"""

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from jaxbandits.algorithms.registry import REGISTRY as ALGORITHMS
from jaxbandits.algorithms.registry import normal_name
from jaxbandits.axes import zip_axes
from jaxbandits.checks import shown
from jaxbandits.errors import UsageError, about, unknown_name
from jaxbandits.io.axis_values import written
from jaxbandits.problems.registry import REGISTRY as PROBLEMS
from jaxbandits.sweeps.entries import Kind

__all__ = ["ListedTable", "add_axes", "split_tables"]


class ListedTable(NamedTuple):
    """One of the tables of a specification."""

    kind: Kind
    entries: dict[str, Any]
    place: tuple[str, ...]  # the keys that lead to it in the specification
    elsewhere: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # the places of entries from [axes]


def split_tables(kind: Kind, given: Any) -> list[ListedTable]:
    """Return the tables of the algorithms or problems of a specification; one for a single table.

    Raises:
        UsageError: neither a table nor a list of tables or names.
    """
    if isinstance(given, dict):
        return [ListedTable(kind, given, (kind,))]
    with about(kind):
        if not isinstance(given, list) or not given:
            raise UsageError(f"{kind} is a table, [{kind}], or a list of tables, [[{kind}]], got {shown(given)}")
    return [table for number, one in enumerate(given) for table in _expanded(kind, one, (kind, str(number)))]


def _expanded(kind: Kind, one: Any, place: tuple[str, ...]) -> Iterator[ListedTable]:
    """Yield the tables that one entry of a list stands for."""
    key = "name" if kind == "algorithm" else "spec"
    with about(*place):
        if isinstance(one, str):
            one = {key: one}
        if not isinstance(one, dict):
            raise UsageError(f"each of [[{kind}]] is a table, or a text, got {shown(one)}")
        key = next((key for key in ("name", "spec") if isinstance(one.get(key), list)), "")
        if not key:
            yield ListedTable(kind, one, place)
            return
        if "label" in one:
            raise UsageError("a table with a list of names has no label: give each a table of its own")
        if not one[key]:
            raise UsageError(f"the list of {key}s is empty")
    for name in one[key]:
        yield ListedTable(kind, {**one, key: name}, place)


def add_axes(tables: list[ListedTable], axes: Any) -> list[ListedTable]:
    """Return the tables with the axes that are for them.

    Args:
        tables: the tables of all algorithms and problems.
        axes: the table [axes]: a list of values, or a range `{ start, stop, num, scale }`, by name; or a table of such
            lists, which go together.

    Raises:
        UsageError: an axis that nothing has, or that both an algorithm and a problem have; axes that go together and
            have different lengths.
    """
    if not isinstance(axes, dict):
        with about("axes"):
            raise UsageError(f"axes is a table, [axes], got {shown(axes)}")
    known = [_parameters(table) for table in tables]
    for key, value in axes.items():
        with about("axes", key):
            for name, (axis, place) in _axes_in(key, value).items():
                with about(*place[2:]):
                    users = [number for number, names in enumerate(known) if name in names]
                    takers = [number for number in users if name not in tables[number].entries]
                    _check_used(name, users, [tables[number].kind for number in takers], known)
                for number in takers:
                    table = tables[number]
                    tables[number] = table._replace(
                        entries={**table.entries, name: axis}, elsewhere={**table.elsewhere, name: place}
                    )
    return tables


def _check_used(name: str, users: list[int], takers: list[Kind], known: list[list[str]]) -> None:
    if not users:
        if any(name == field.name for one in ALGORITHMS for field in dataclasses.fields(ALGORITHMS[one])):
            raise UsageError(f"the axis {name!r} is never used: no algorithm and no problem here has this parameter")
        every = list(dict.fromkeys(one for names in known for one in names))
        raise unknown_name("parameter of the algorithms and problems", name, every)
    if not takers:
        raise UsageError(f"the axis {name!r} is never used: everything that has this parameter sets it itself")
    if len(set(takers)) > 1:
        raise UsageError(
            f"both an algorithm and a problem have the parameter {name!r}: write the axis in the tables it is for"
        )


def _axes_in(key: str, value: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return the axes of an entry of [axes] as a table has them, with their places; several that go together."""
    if isinstance(value, list):
        return {key: ({"axis": value}, ("axes", key))}
    if isinstance(value, dict) and "axis" in value:
        return {key: (value, ("axes", key))}
    if isinstance(value, dict) and "start" in value:
        return {key: ({"axis": value}, ("axes", key))}
    if isinstance(value, dict) and value and all(isinstance(values, list) for values in value.values()):
        together = zip_axes(key, **value)
        return {name: (written(axis), ("axes", key, name)) for name, axis in together.items()}
    raise UsageError(f"an axis is a list of values, a range or a table of lists, got {shown(value)}")


def _parameters(table: ListedTable) -> list[str]:
    """Return the names of the parameters that a table may set."""
    name = table.entries.get("name")
    if not isinstance(name, str):
        return []
    if table.kind == "algorithm":
        with about(*table.place, "name"):
            return [field.name for field in dataclasses.fields(ALGORITHMS[normal_name(name)])]
    make = PROBLEMS.get(name.strip().lower().replace("_", "-"))
    return [one for one in inspect.signature(make).parameters if one != "name"] if make else []
