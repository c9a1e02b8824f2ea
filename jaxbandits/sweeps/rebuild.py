"""Builds the algorithms and problems of a Dataset again from its specification, or checks those that a user gives."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxbandits.engine.binding import accept
from jaxbandits.engine.metric import functions_of, users_metrics
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.to_spec import MARK, describe_problem
from jaxbandits.sweeps.entries import Entries, Kind, entries_of, of_list
from jaxbandits.sweeps.spec import build_algorithm, build_problem, describe_algorithm
from jaxbandits.users_code.records import CODE, change, recorded

__all__ = ["check_same_metrics", "rebuilt"]


def rebuilt(kind: Kind, given: Any, tables: dict[str, Any]) -> Entries:
    """Return the algorithms or problems of a Dataset.

    Args:
        kind: which of them.
        given: what the user gives, where the specification does not hold it: one, or for a list all of them in order,
            or some of them by name.
        tables: the specification.

    Raises:
        UsageError: one that differs from the Dataset's, or that the specification does not hold.
    """
    if not isinstance(tables[kind], list):
        return entries_of(kind, _given_or_built(kind, given, tables[kind]))
    listed = {str(table["label"]): table for table in tables[kind]}
    if isinstance(given, list | tuple) and len(given) == len(listed):
        given = dict(zip(listed, given, strict=True))
    if not isinstance(given, Mapping | None):
        raise UsageError(f"the Dataset has {len(listed)} {kind}s: give them by name, {kind}={{'a name': …}}")
    for name in given or {}:
        if name not in listed:
            raise unknown_name(f"{kind} of the Dataset", str(name), listed)
    things = []
    for name, table in listed.items():
        thing = _given_or_built(kind, (given or {}).get(name), _without_label(table))
        things.append(dataclasses.replace(thing, name=name) if isinstance(thing, Problem) else thing)
    return of_list(kind, list(listed), things, [(kind,)] * len(listed))


def _given_or_built(part: Kind, given: Any, table: dict[str, Any]) -> Any:
    """Return one of the Dataset's algorithms or problems, from its table.

    Raises:
        UsageError: the given one differs, or none is given and the specification does not hold it.
    """
    if given is None:
        bare = {name: value for name, value in table.items() if name != CODE}
        try:
            made: Any = (build_algorithm if part == "algorithm" else build_problem)(bare)
        except UsageError as error:
            if MARK in table or "sha256" in table:
                raise UsageError(f"{error}: give it again, {part}=…") from None
            raise
        if part == "problem" and "sha256" not in table and "sha256" in describe_problem(made):
            raise UsageError(
                f"the specification names the data of {made.name} and not what they held: jb.repeat(ds, problem=…) "
                "takes them as they are now"
            )
        if different := change(table.get(CODE, {}), recorded([made]).get(CODE, {})):
            raise UsageError(f"this is not the {part} of the Dataset: {different}")
        return made
    if part == "problem" and not isinstance(given, Problem | ProblemFamily):
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {type(given).__name__}")
    found = describe_problem(given) if part == "problem" else describe_algorithm(accept(given))
    found = found if "label" in table else _without_label(found)
    if different := difference(table, found, part):
        raise UsageError(f"this is not the {part} of the Dataset: {different}")
    warn_of_doubts(table, found, "the Dataset")
    return given


def _without_label(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table without its label, which is a name in results."""
    return {name: value for name, value in table.items() if name != "label"}


def check_same_metrics(run: dict[str, Any], given: Any) -> None:
    """Check that the metrics of a Dataset are among the given ones.

    Raises:
        UsageError: they are not, or their functions have changed.
    """
    if not (names := run.get("metrics")):
        return
    if not set(names) <= set(given or {}):
        raise UsageError(f"the Dataset has metrics of your own: give them again, repeat(ds, metrics=…) with {names}")
    functions = functions_of(users_metrics({name: given[name] for name in names}, {}))
    there = {name: value for name, value in run.items() if name in ("metrics", CODE)}
    here = {"metrics": names, **recorded(functions=functions)}
    if different := difference(there, here, "run"):
        raise UsageError(f"these are not the metrics of the Dataset: {different}")
    warn_of_doubts(there, here, "the Dataset")
