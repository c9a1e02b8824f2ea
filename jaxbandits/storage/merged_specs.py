"""Merges sweeps of compatible specifications: more values on an axis, more seeds."""

import functools
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jaxbandits.errors import UsageError
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.layout import Layout
from jaxbandits.storage.spec_axes import axes_of, same_files, with_paths_of
from jaxbandits.storage.store_files import Description
from jaxbandits.users_code.records import CODE
from jaxbandits.xla_flags import refuse_other_flags

__all__ = ["merge_specs", "refuse_another", "united_seeds", "united_spec", "united_values"]


def refuse_another(there: dict[str, Any], here: dict[str, Any], what: str) -> None:
    """Refuse a specification that differs in more than the values of its axes and its seeds.

    Raises:
        UsageError: the first difference.
    """
    if found := difference(_bare(there), _bare(here)):
        raise UsageError(f"{what} was written by another specification: {found}")
    warn_of_doubts(there, here, what)


def merge_specs(parts: Sequence[Description], names: Sequence[str]) -> Description:
    """Return one description of several sweeps, complete with the runs of all.

    Args:
        parts: at least one.
        names: their paths, for messages.

    Raises:
        UsageError: different specifications or XLA flags, or runs that no part has.
    """
    first, together = parts[0], " and ".join(names)
    for other in parts[1:]:
        refuse_another(first.spec_with_keep, other.spec_with_keep, names[0])
        refuse_other_flags(first.attrs, other.attrs, names[0])
    parts = [first, *(_with_paths_of(first, other) for other in parts[1:])]
    layouts = [part.layout for part in parts]
    values = {
        name: functools.reduce(united_values, (layout.dimensions[name] for layout in layouts))
        for name in first.layout.dimensions
    }
    start, stop = united_seeds([(layout.first_seed, layout.first_seed + layout.seeds) for layout in layouts], together)
    layout = first.layout._replace(
        dimensions={name: _as_coordinate(known) for name, known in values.items()},
        cells=tuple(_cells(values, layouts, together)),
        first_seed=start,
        seeds=stop - start,
        bandits=max(layout.bandits for layout in layouts),
        arms=max(layout.arms for layout in layouts),
    )
    attrs: dict[str, Any] = functools.reduce(lambda one, other: one | other, (part.attrs for part in parts))
    if improbable := [part.attrs["unseen"] for part in parts if "unseen" in part.attrs]:
        attrs["unseen"] = max(improbable)
    spec = united_spec([part.spec for part in parts], values, (start, stop))
    made_with = tuple(dict.fromkeys(itertools.chain(*(part.made_with for part in parts))))
    return Description(spec, first.keep, layout, attrs, made_with)


def united_seeds(parts: Sequence[seed_ranges.Stretch], names: str) -> seed_ranges.Stretch:
    """Return the one range that several ranges of seeds form.

    Raises:
        UsageError: they leave a gap.
    """
    found = seed_ranges.united(parts)
    if len(found) > 1:
        raise UsageError(f"{names} leave a gap: the seeds from {found[0][1]} to {found[1][0] - 1}")
    return found[0]


def united_values(there: Any, here: Any) -> list[Any]:
    """Return the values of an axis in two grids.

    Their order is that of the grid with all values, sorted if both are sorted alike, or as given.
    """
    first, second = (np.asarray(values).tolist() for values in (there, here))
    for one, other in ((second, first), (first, second)):
        if all(value in one for value in other):
            return one
    together = first + [value for value in second if value not in first]
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
    spec = json.loads(json.dumps(specs[0]))
    for table, other in itertools.product(("algorithm", "problem", "run"), specs):  # older specifications lack `code`
        if CODE in other[table]:
            spec[table].setdefault(CODE, other[table][CODE])
    for name, places in axes_of(spec).items():
        for i, (table, key) in enumerate(places):
            entries: dict[Any, Any] = {}  # as in the specification, by their values in results
            hashes: dict[Any, str] = {}
            for other in specs:
                its, its_key = axes_of(other)[name][i]
                listed = its[its_key]["axis"]
                known: list[Any] = its["sha256"] if isinstance(its.get("sha256"), list) else [""] * len(listed)
                for entry, content in zip(listed, known, strict=True):
                    entries[str(entry)] = entry
                    if isinstance(entry, int | float):
                        entries[float(entry)] = entry
                    if hashes.setdefault(str(entry), content) != content:
                        raise UsageError(f"{key} {entry!r} is not the same in all of them: the data have changed")
            table[key]["axis"] = [entries[value if isinstance(value, str) else float(value)] for value in values[name]]
            if isinstance(table.get("sha256"), list):
                table["sha256"] = [hashes[str(entry)] for entry in table[key]["axis"]]
    start, stop = seeds
    spec["run"] = {**spec["run"], "seeds": stop - start, "first_seed": start}
    if not start:
        del spec["run"]["first_seed"]
    return spec


def _with_paths_of(first: Description, other: Description) -> Description:
    """Return the description `other` with the paths of the first where files along an axis have equal content."""
    dimensions = dict(other.layout.dimensions)
    for name, paths in same_files(first.spec, other.spec).items():
        dimensions[name] = [paths.get(value, value) for value in np.asarray(dimensions[name]).tolist()]
    spec = with_paths_of(first.spec, other.spec)
    return other._replace(spec=spec, layout=other.layout._replace(dimensions=dimensions))


def _as_coordinate(values: list[Any]) -> Any:
    return values if any(isinstance(value, str) for value in values) else np.asarray(values)


def _cells(values: dict[str, list[Any]], layouts: Sequence[Layout], names: str) -> Iterator[str]:
    known: dict[tuple[Any, ...], str] = {}
    for layout in layouts:
        axes = [np.asarray(layout.dimensions[name]).tolist() for name in values]
        known |= dict(zip(itertools.product(*axes), layout.cells, strict=True))
    for cell in itertools.product(*values.values()):
        if cell not in known:
            where = ", ".join(f"{name} = {value}" for name, value in zip(values, cell, strict=True))
            raise UsageError(f"{names} leave a gap at {where}: give all values of the axes")
        yield known[cell]


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification without the values of its axes, and without seeds."""
    data = json.loads(json.dumps(spec))
    for places in axes_of(data).values():
        for table, key in places:
            table[key]["axis"] = "several values"
            if isinstance(table.get("sha256"), list):
                del table["sha256"]
    for name in ("seeds", "first_seed"):
        data.get("run", {}).pop(name, None)
    return dict(data)
