"""Specifications: what was run, as plain data (TOML or JSON), and back.

[algorithm]  name = "ugape-c", its parameters by name, an axis as { axis = [0.1, 0.2] } or { axis = { start, stop, num,
scale } }
[problem]    spec = "bernoulli:0.7,0.5", or name = "two-group" with its arguments by name, axes allowed; also costs =
"reward", a price or a list of prices, and random_costs = true, as in `jaxbandits.with_costs`; label, what the problem
is called in results; padded, a number of arms as in `Problem.padded`; and sha256, of the file that the problem reads,
whose path counts from the folder of the TOML file
[run]        seeds, root_seed, max_pulls, …: the options of `jaxbandits.sweep`

A study has several algorithms or problems: [[algorithm]] and [[problem]], each with a label, which is its name in
results. Their further forms, and the table [axes], are in `listed_tables.py`.

A table that text cannot hold gives the reason in its entry `cannot_be_repeated`, and is not built. The entry
`source code` (`users_code.records`) has the user's own code that runs, for comparison.
"""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import jax

from jaxbandits.algorithms.parameters import check_parameter, is_word, values_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.algorithms.registry import REGISTRY, normal_name
from jaxbandits.axes import Axis
from jaxbandits.checks import is_number, shown
from jaxbandits.errors import UsageError, about, unknown_name
from jaxbandits.io.axis_values import required, value_of, written
from jaxbandits.io.serialize import NotPlainError, array_hash
from jaxbandits.problems.base import Problem
from jaxbandits.problems.specs import build_problem, parse_problem
from jaxbandits.problems.to_spec import MARK, describe_problem
from jaxbandits.sweeps.entries import Entries, Kind, entries_of, names_of, of_list
from jaxbandits.sweeps.listed_tables import ListedTable, add_axes, split_tables
from jaxbandits.users_code.records import recorded

__all__ = [
    "build",
    "build_algorithm",
    "build_entries",
    "build_problem",
    "describe",
    "describe_algorithm",
    "describe_entries",
    "parse_problem",
    "specification",
]

_TABLES = ("algorithm", "problem", "axes", "run")


def describe(algorithm: Any, problem: Any, run: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a sweep as JSON-ready data; `build` reads it back."""
    algorithms, problems = entries_of("algorithm", algorithm), entries_of("problem", problem)
    return {"algorithm": describe_entries(algorithms), "problem": describe_entries(problems), "run": run}


def describe_entries(entries: Entries) -> Any:
    """Return the table of an algorithm or a problem, or the tables of a list of them, with their names as labels."""
    describe_one: Any = describe_algorithm if entries.kind == "algorithm" else describe_problem
    tables = {name: describe_one(thing) for name, thing in entries.things.items()}
    return [{**table, "label": name} for name, table in tables.items()] if entries.listed else tables[""]


def build(spec: str | dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return algorithm, problem and run options of a specification, given as data or as JSON text.

    Several algorithms or problems are `Entries`, by their names in results.

    Raises:
        UsageError: a missing table, an unknown name or value, or a table that cannot be built from text.
    """
    tables = specification(spec)
    kinds: tuple[Kind, ...] = ("algorithm", "problem")
    every = [table for kind in kinds for table in split_tables(kind, tables[kind])]
    every = add_axes(every, tables.get("axes", {}))
    algorithm, problem = (
        build_entries(kind, [table for table in every if table.kind == kind], listed=isinstance(tables[kind], list))
        for kind in kinds
    )
    return algorithm, problem, dict(tables.get("run", {}))


def build_entries(kind: Kind, tables: Sequence[ListedTable], *, listed: bool) -> Any:
    """Return an algorithm or a problem, or the `Entries` of a list of them.

    Raises:
        UsageError: see `build`; or two of one name.
    """
    things = [_built(table, listed) for table in tables]
    if not listed:
        return things[0]
    labels = [table.entries.get("label") for table in tables]
    usual = iter(names_of(kind, [thing for thing, label in zip(things, labels, strict=True) if label is None]))
    names = [str(label if label is not None else next(usual)) for label in labels]
    return of_list(kind, names, things, [table.place for table in tables])


def _built(table: ListedTable, listed: bool) -> Any:
    entries = dict(table.entries)
    label = entries.pop("label", None) if listed else None
    if label is not None and not (isinstance(label, str) and label):
        with about(*table.place, "label"):
            raise UsageError(f"a label is a text, got {shown(label)}")
    try:
        if table.kind == "algorithm":
            return build_algorithm(entries)
        made = build_problem(entries)
    except UsageError as error:
        where = error.place[:1]
        error.place = (
            (*table.elsewhere.get(where[0], (*table.place, *where)), *error.place[1:]) if where else table.place
        )
        raise
    return dataclasses.replace(made, name=label) if label is not None and isinstance(made, Problem) else made


def specification(spec: str | dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a specification, given as data or as JSON text.

    Raises:
        UsageError: text that is no JSON object; a table that is missing or unknown.
    """
    try:
        tables: dict[str, Any] = json.loads(spec) if isinstance(spec, str) else spec
    except ValueError:
        tables = {}
    if not isinstance(tables, dict):
        tables = {}
    for table in ("algorithm", "problem"):
        if not isinstance(tables.get(table), dict | list):
            raise UsageError(f"the specification has no [{table}] table")
    for table in tables:
        with about(table):
            if table not in _TABLES:
                raise unknown_name("table", table, _TABLES)
            if table not in ("algorithm", "problem") and not isinstance(tables[table], dict):
                raise UsageError(f"{table} is a table, [{table}], got {shown(tables[table])}")
    return tables


def build_algorithm(table: dict[str, Any]) -> Any:
    """Return an algorithm from its name and parameters.

    Raises:
        UsageError: an unknown or missing parameter, an unknown name, a value outside its range, or an algorithm that
            is not one of the package's.
    """
    if MARK in table:
        raise UsageError(f"the algorithm {table.get('name')} cannot be made again: {table[MARK]}")
    with about("name"):
        cls = REGISTRY[normal_name(str(required(table, "name", "algorithm")))]
    known = {f.name: f for f in dataclasses.fields(cls)}
    values = {}
    for name, given in table.items():
        if name == "name":
            continue
        with about(name):
            if name not in known:
                raise unknown_name(f"parameter of {table['name']}", name, known)
            values[name] = value_of(given, whole=known[name].metadata["rule"] == "count")
            _check_kind(table["name"], known[name], values[name])
    missing = [key for key, field in known.items() if field.default is dataclasses.MISSING and key not in values]
    if missing:
        raise UsageError(f"{table['name']} needs {', '.join(missing)}")
    return cls(**values)


def describe_algorithm(algorithm: Rule) -> dict[str, Any]:
    """Return the [algorithm] table: exact for the package's algorithms, for comparison only otherwise."""
    name = REGISTRY.name_of(type(algorithm))
    table: dict[str, Any] = {"name": name or type(algorithm).__name__}
    why = "it is not one of the package's algorithms"
    for field, given in values_of(algorithm).items():
        try:
            value = written(given)
        except NotPlainError as error:
            why = f"text cannot hold its {field}, a {error}"
            continue
        if value is not None:
            table[field] = value
    numbers = [leaf for leaf in jax.tree.leaves(algorithm) if not isinstance(leaf, Axis)]
    if numbers and name is None:
        table["sha256"] = array_hash(numbers)
    table |= recorded([algorithm])
    return table if name is not None and not why.startswith("text") else {**table, MARK: why}


def _check_kind(owner: str, field: dataclasses.Field[Any], value: Any) -> None:
    """Check the type of a value: `true` in place of a number would count as 1, and any text as true."""
    switch = isinstance(field.default, bool)
    if isinstance(value, list) and field.metadata["per_arm"]:
        return  # a value for each arm, which the class checks
    for one in value.values if isinstance(value, Axis) else [value]:
        if (one is None and field.default is None) or (switch and isinstance(one, bool)):
            continue
        if switch:
            raise UsageError(f"{owner}: {field.name} is true or false, got {one!r}")
        if field.metadata["rule"] and not is_number(one) and not is_word(field, one):
            hint = f"; an axis is written {{ axis = {one!r} }} in a file" if isinstance(one, list) else ""
            raise UsageError(f"{owner}: {field.name} must be a number, got {shown(one)}{hint}")
        check_parameter(owner, field, one)
