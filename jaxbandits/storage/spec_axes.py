"""Finds the axes of a specification, and the equal files of two specifications."""

import json
from typing import Any

__all__ = ["axes_of", "same_files", "with_paths_of"]


def axes_of(spec: dict[str, Any]) -> dict[str, list[tuple[dict[str, Any], str]]]:
    """Return the entries of a specification that are axes, by the names of their dimensions."""
    found: dict[str, list[tuple[dict[str, Any], str]]] = {}
    for table in (spec["algorithm"], spec["problem"]):
        for key, value in table.items():
            if isinstance(value, dict) and "axis" in value:
                found.setdefault(value.get("name") or key, []).append((table, key))
    return found


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
