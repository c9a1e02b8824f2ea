"""Merges sweeps of compatible specifications: more values on an axis, more seeds."""

import copy
import functools
import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.io.spec_axes import (
    axes_of,
    by_label,
    labels_of,
    same_files,
    tables_of,
    with_paths_of,
)
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.layout import Layout, Variable, add_text
from jaxbandits.storage.merged_cells import merge_cells
from jaxbandits.storage.store_files import Description, as_coordinate
from jaxbandits.users_code.records import CODE
from jaxbandits.xla_flags import refuse_other_flags

__all__ = ["merge_specs", "refuse_another", "united_attrs", "united_seeds", "united_spec", "united_values"]


def refuse_another(there: dict[str, Any], here: dict[str, Any], what: str) -> None:
    """Refuse a specification that differs in more than the values of its axes, its seeds, and what its lists have.

    Raises:
        UsageError: the first difference.
    """
    for kind in ("algorithm", "problem"):
        if isinstance(there[kind], list) != isinstance(here[kind], list):
            one, several = f"one {kind}", f"a list of {kind}s"
            has, given = (several, one) if isinstance(there[kind], list) else (one, several)
            raise UsageError(f"{what} was written by another specification: it has {has}, and this has {given}")
    both = by_label(_bare(there), here), by_label(_bare(here), there)
    if found := difference(*both):
        raise UsageError(f"{what} was written by another specification: {found}")
    warn_of_doubts(*both, what)


def merge_specs(parts: Sequence[Description], names: Sequence[str]) -> Description:
    """Return one description of several sweeps, complete with the runs of all.

    Raises:
        UsageError: different specifications or XLA flags, or runs that no part has.
    """
    first, together = parts[0], " and ".join(names)
    for other in parts[1:]:
        refuse_another(first.spec_with_keep, other.spec_with_keep, names[0])
        refuse_other_flags(first.attrs, other.attrs, names[0])
    parts = [first, *(_with_paths_of(first, other) for other in parts[1:])]
    layouts, specs = [part.layout for part in parts], [part.spec for part in parts]
    values = {
        name: functools.reduce(united_values, (own.dimensions[name] for own in layouts if name in own.dimensions))
        for name in dict.fromkeys(name for layout in layouts for name in layout.dimensions)
    }
    start, stop = united_seeds([(layout.first_seed, layout.first_seed + layout.seeds) for layout in layouts], together)
    layout = first.layout._replace(
        dimensions={name: as_coordinate(known) for name, known in values.items()},
        cells=tuple(merge_cells(values, layouts, specs, together)),
        first_seed=start,
        seeds=stop - start,
        bandits=max(layout.bandits for layout in layouts),
        arms=max(layout.arms for layout in layouts),
        variables={name: _united_variable(name, layouts) for name in first.layout.variables},
    )
    every = [part.attrs for part in parts]
    attrs = functools.reduce(lambda one, other: one | other, every) | united_attrs(every)
    made_with = tuple(dict.fromkeys(itertools.chain(*(part.made_with for part in parts))))
    return Description(united_spec(specs, values, (start, stop)), first.keep, layout, attrs, made_with)


def united_seeds(parts: Sequence[seed_ranges.Stretch], names: str) -> seed_ranges.Stretch:
    """Return the one range that several ranges of seeds form.

    Raises:
        UsageError: they leave a gap.
    """
    found = seed_ranges.united(parts)
    if len(found) > 1:
        raise UsageError(f"{names} leave a gap: the seeds from {found[0][1]} to {found[1][0] - 1}")
    return found[0]


def united_attrs(every: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return `not_run`, of which pairs there are no runs, and `unseen` for several results together."""
    found: dict[str, str] = {}
    for own in every:
        found |= json.loads(own.get("not_run", "{}"))
    attrs: dict[str, Any] = {"not_run": json.dumps(found)} if found else {}
    if improbable := [own["unseen"] for own in every if "unseen" in own]:
        attrs["unseen"] = max(improbable)
    return attrs


def united_values(there: Any, here: Any) -> list[Any]:
    """Return the values of an axis in two grids.

    Their order is that of the grid with all values, sorted if both are sorted alike, or as given.
    """
    first, second = (np.asarray(values).tolist() for values in (there, here))
    for one, other in ((second, first), (first, second)):
        if set(other) <= set(one):
            return one
    together = list(dict.fromkeys(first + second))
    if all(isinstance(value, int | float) for value in together):
        for down in (False, True):
            if all(values == sorted(values, reverse=down) for values in (first, second)):
                return sorted(together, reverse=down)
    return together


def united_spec(specs: Sequence[dict[str, Any]], values: dict[str, list[Any]], seeds: seed_ranges.Stretch) -> Any:
    """Return the merged specification of several.

    Args:
        specs: compatible specifications.
        values: values of the axes, as results show them, by name.
        seeds: the seeds of all.

    Raises:
        UsageError: files along an axis differ in content between specifications.
    """
    spec = _united_lists(specs)
    every = [dict(tables_of(other)) for other in specs]
    for owner, table in tables_of(spec):
        own = [tables[owner] for tables in every if owner in tables]
        _add_code(table, own)
        for key in [key for key, value in table.items() if isinstance(value, dict) and "axis" in value]:
            _unite_axis(table, key, own, values[table[key].get("name") or key])
    _add_code(spec["run"], [other["run"] for other in specs])
    start, stop = seeds
    spec["run"] = {**spec["run"], "seeds": stop - start, "first_seed": start}
    if not start:
        del spec["run"]["first_seed"]
    return spec


def _united_lists(specs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the first specification, with lists of the tables that any of them has, in the order of their labels."""
    spec: dict[str, Any] = json.loads(json.dumps(specs[0]))
    for kind in ("algorithm", "problem"):
        if not isinstance(spec[kind], list):
            continue
        order = functools.reduce(united_values, (labels_of(other, kind) for other in specs))
        tables = {table["label"]: table for other in reversed(specs) for table in other[kind]}
        spec[kind] = json.loads(json.dumps([tables[label] for label in order]))
    return spec


def _add_code(table: dict[str, Any], others: Sequence[dict[str, Any]]) -> None:
    """Add the record of code that a table of an older specification lacks."""
    for other in others:
        if CODE in other:
            table.setdefault(CODE, other[CODE])


def _unite_axis(table: dict[str, Any], key: str, others: Sequence[dict[str, Any]], values: list[Any]) -> None:
    """Let an axis have the values that several specifications give it, and the hashes of its files."""
    entries: dict[Any, Any] = {}  # as in the specification, by their values in results
    hashes: dict[Any, str] = {}
    for other in others:
        listed = other[key]["axis"]
        shown = other[key].get("labels", listed)
        known: list[Any] = other["sha256"] if isinstance(other.get("sha256"), list) else [""] * len(listed)
        for label, entry, content in zip(shown, listed, known, strict=True):
            if entries.setdefault(str(label), entry) != entry:
                raise UsageError(f"{key} is not the same in all of them at {label!r}")
            if isinstance(label, int | float):
                entries[float(label)] = entry
            if hashes.setdefault(str(label), content) != content:
                raise UsageError(f"{key} {label!r} is not the same in all of them: the data have changed")
    chosen = [value if isinstance(value, str) else float(value) for value in values]
    if strange := [value for value in chosen if value not in entries]:
        name = table[key].get("name") or key
        raise UsageError(
            f"{name}={strange[0]} is not in the specification of a Dataset: merge the ones it was made from"
        )
    table[key]["axis"] = [entries[value] for value in chosen]
    if "labels" in table[key]:
        table[key]["labels"] = list(values)
    if isinstance(table.get("sha256"), list):
        table["sha256"] = [hashes[str(value)] for value in values]


def _united_variable(name: str, layouts: Sequence[Layout]) -> Variable:
    """Return a variable of the first layout, with the attributes that others have by algorithm or problem."""
    attrs = copy.deepcopy(layouts[0].variables[name].attrs)
    for layout in layouts[1:]:
        for key, value in layout.variables[name].attrs.items() if name in layout.variables else ():
            if isinstance(value, dict):
                for label, text in value.items():
                    add_text(attrs, key, label, text)
    return layouts[0].variables[name]._replace(attrs=attrs)


def _with_paths_of(first: Description, other: Description) -> Description:
    """Return the description `other` with the paths of the first where files along an axis have equal content."""
    dimensions = dict(other.layout.dimensions)
    for name, paths in same_files(first.spec, other.spec).items():
        dimensions[name] = [paths.get(value, value) for value in np.asarray(dimensions[name]).tolist()]
    spec = with_paths_of(first.spec, other.spec)
    return other._replace(spec=spec, layout=other.layout._replace(dimensions=dimensions))


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without the values of its axes, and without seeds."""
    data = json.loads(json.dumps(spec))
    for places in axes_of(data).values():
        for table, key in places:
            table[key]["axis"] = "several values"
            table[key].pop("labels", None)
            if isinstance(table.get("sha256"), list):
                del table["sha256"]
    for name in ("seeds", "first_seed"):
        data.get("run", {}).pop(name, None)
    return dict(data)
