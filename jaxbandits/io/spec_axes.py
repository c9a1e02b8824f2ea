"""Finds the tables and the axes of a specification, and the equal files of two specifications."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["KINDS", "axes_of", "axes_that_apply", "by_label", "labels_of", "same_files", "tables_of", "with_paths_of"]

#: The tables that may be lists.
KINDS = ("algorithm", "problem")


def tables_of(spec: dict[str, Any]) -> Iterator[tuple[tuple[str, str | None], dict[str, Any]]]:
    """Yield the tables of algorithms and problems, with kind and label; the label is None where there is no list."""
    for kind in KINDS:
        if isinstance(spec[kind], list):
            yield from (((kind, table["label"]), table) for table in spec[kind])
        else:
            yield (kind, None), spec[kind]


def labels_of(spec: dict[str, Any], kind: str) -> list[str]:
    """Return the labels of a list of tables."""
    return [table["label"] for table in spec[kind]]


def by_label(spec: dict[str, Any], only: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a specification with its lists of tables as tables by label, or of those labels that `only` has."""
    found = dict(spec)
    for kind in KINDS:
        if isinstance(spec[kind], list):
            kept = set(labels_of(spec if only is None else only, kind))
            found[kind] = {table["label"]: table for table in spec[kind] if table["label"] in kept}
    return found


def axes_of(spec: dict[str, Any]) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Return the entries of a specification that are axes, by the names of their dimensions."""
    found: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for _, table in tables_of(spec):
        for key, value in table.items():
            if isinstance(value, dict) and "axis" in value:
                found.setdefault(value.get("name") or key, []).append((table, key))
    return found


def axes_that_apply(specs: Sequence[dict[str, Any]]) -> Callable[[dict[str, Any]], list[str]]:
    """Return a function from a cell to the names of its dimensions that are its own.

    An axis that a cell's algorithm and problem lack is left out: the cell repeats its runs along it.

    Args:
        specs: compatible specifications. A cell, a value by dimension, is of any of them.
    """
    owners: dict[str, set[tuple[str, str | None]]] = {}
    for spec in specs:
        for owner, table in tables_of(spec):
            for key, value in table.items():
                if isinstance(value, dict) and "axis" in value:
                    owners.setdefault(value.get("name") or key, set()).add(owner)
    listed = [kind for kind in KINDS if isinstance(specs[0][kind], list)]

    def own(cell: dict[str, Any]) -> list[str]:
        here = {(kind, cell[kind] if kind in listed else None) for kind in KINDS}
        return [name for name in cell if name in listed or name not in owners or here & owners[name]]

    return own


def same_files(there: dict[str, Any], here: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Map the paths of one specification's axes of files to those of equal files in another.

    Returns:
        By dimension: from the path here to the path there, only for files whose path differs.
    """
    theirs, found = _files(there), {}
    for name, files in _files(here).items():
        left = [file for file in theirs.get(name, []) if file not in files]
        renamed: dict[str, str] = {}
        for path, content in files:
            match = next((file for file in left if file[1] == content), None)
            if match is not None and (path, content) not in theirs[name]:
                renamed[path] = match[0]
                left.remove(match)
        if renamed:
            found[name] = renamed
    return found


def with_paths_of(there: dict[str, Any], here: dict[str, Any]) -> dict[str, Any]:
    """Return the specification `here` with the paths of `there` where files have equal content."""
    renamed, spec = same_files(there, here), json.loads(json.dumps(here))
    for name, paths in renamed.items():
        for table, key in axes_of(spec)[name]:
            table[key]["axis"] = [paths.get(value, value) for value in table[key]["axis"]]
    return dict(spec)


def _files(spec: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Return paths and hashes of the files along axes, by dimension."""
    return {
        name: list(zip(table[key]["axis"], table["sha256"], strict=True))
        for name, places in axes_of(spec).items()
        for table, key in places
        if key == "path" and isinstance(table.get("sha256"), list)
    }
