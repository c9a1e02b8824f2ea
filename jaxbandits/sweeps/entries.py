"""The algorithms of a sweep, or its problems: one, or several by their names in results.

A list or a mapping makes a dimension of the results, `algorithm` or `problem`. One alone makes none.
"""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from jaxbandits.algorithms.parameters import axes_of, values_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.axes import Axis
from jaxbandits.checks import shown
from jaxbandits.engine.binding import accept
from jaxbandits.engine.problem_checks import check_problem
from jaxbandits.errors import UsageError, about
from jaxbandits.io.axis_values import written
from jaxbandits.io.serialize import NotPlainError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.to_spec import MARK, describe_problem
from jaxbandits.users_code.records import CODE

__all__ = ["Entries", "Kind", "entries_of", "names_at", "names_of", "of_list"]

Kind = Literal["algorithm", "problem"]
#: Entries of a description that do not belong in a name.
_NOT_IN_NAMES = frozenset({"name", "sha256", MARK, CODE})
#: The longest text of a value in a name.
_LONGEST = 40


@dataclasses.dataclass(frozen=True)
class Entries:
    """The algorithms or the problems of a sweep."""

    kind: Kind
    things: dict[str, Any]  # by name; a single one is called ""
    listed: bool  # whether they are a dimension of the results
    places: dict[str, tuple[str, ...]]  # the keys that lead to each in a specification

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names."""
        return tuple(self.things)

    def axes(self, name: str) -> dict[str, Axis]:
        """Return the axes of one of them, by field or argument."""
        thing = self.things[name]
        found: dict[str, Axis] = axes_of(thing) if self.kind == "algorithm" else thing.axes
        return found

    def replaced(self, things: dict[str, Any]) -> "Entries":
        """Return other algorithms or problems, with the same names or fewer."""
        return dataclasses.replace(self, things=things, places={name: self.places[name] for name in things})


def entries_of(kind: Kind, given: Any) -> Entries:
    """Return what a user gave as the algorithms or problems of a sweep.

    Args:
        kind: `algorithm` or `problem`.
        given: one, a list of them, or a mapping from names to them.

    Raises:
        UsageError: none, something else, or two of one name.
    """
    if isinstance(given, Entries):
        return given
    check: Callable[[Any], Any] = accept if kind == "algorithm" else check_problem
    if not isinstance(given, Mapping | list | tuple):
        check(given)
        return Entries(kind, {"": given}, False, {"": (kind,)})
    if not given:
        raise UsageError(f"a sweep needs at least one {kind}, got {shown(given)}")
    if isinstance(given, Mapping):
        for name in given:
            if not (isinstance(name, str) and name):
                raise UsageError(f"the name of {_a(kind)} must be a text, got {shown(name)}")
    things = list(given.values()) if isinstance(given, Mapping) else list(given)
    if not any(isinstance(thing, Rule | Problem | ProblemFamily) for thing in things):
        check(given)  # a list of something else, such as means
    for thing in things:
        check(thing)
    names = list(given) if isinstance(given, Mapping) else names_of(kind, things)
    return of_list(kind, names, things, [(kind,)] * len(things))


def of_list(kind: Kind, names: Sequence[str], things: Sequence[Any], places: Sequence[tuple[str, ...]]) -> Entries:
    """Return several algorithms or problems; `places` are the keys that lead to each in a specification.

    Raises:
        UsageError: two of one name, or a problem with several names.
    """
    seen: set[str] = set()
    for name, thing, place in zip(names, things, places, strict=True):
        with about(*place):
            if name in seen:
                raise UsageError(
                    f"two {kind}s are called {name!r}: give them names of their own, "
                    f"{{'a name': {kind}}} in Python or label = \"a name\" in a file"
                )
            if kind == "problem" and "name" in thing.axes:
                raise UsageError("a problem in a list has one name, not an axis of them: list the problems one by one")
            seen.add(name)
    return Entries(kind, dict(zip(names, things, strict=True)), True, dict(zip(names, places, strict=True)))


def names_at(algorithms: Entries, problems: Entries, position: Sequence[int]) -> tuple[str, str]:
    """Return the names of the algorithm and the problem at a position of a grid; "" for a single one."""
    place = iter(position)  # the dimensions of lists come first
    one, other = (entries.names[next(place) if entries.listed else 0] for entries in (algorithms, problems))
    return one, other


def _a(kind: Kind) -> str:
    return "an algorithm" if kind == "algorithm" else "a problem"


def names_of(kind: Kind, things: Sequence[Any]) -> list[str]:
    """Return names: the registry's or the class's, with the values that differ where several have one name."""
    tables = [_table(kind, thing) for thing in things]
    plain = [str(table.pop("label", None) or table["name"]) for table in tables]
    found = list(plain)
    for name in dict.fromkeys(plain):
        alike = [place for place, other in enumerate(plain) if other == name]
        if len(alike) < 2:
            continue
        every = dict.fromkeys(key for place in alike for key in tables[place] if key not in _NOT_IN_NAMES)
        keys = [key for key in every if len({json.dumps(tables[place].get(key)) for place in alike}) > 1]
        for place in alike:
            values = ", ".join(f"{key}={_text(tables[place][key])}" for key in keys if key in tables[place])
            found[place] = f"{name} {values}".strip()
    return found


def _table(kind: Kind, thing: Any) -> dict[str, Any]:
    """Return the name of a thing, and the values that may distinguish it, as plain data."""
    if kind == "problem":
        return describe_problem(thing)
    found: dict[str, Any] = {"name": REGISTRY.name_of(type(thing)) or type(thing).__name__}
    for field, value in values_of(thing).items():
        try:
            found[field] = written(value)
        except NotPlainError:
            continue
    return {field: value for field, value in found.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, dict) and "axis" in value:
        value = value["axis"]
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
