"""The user's code as a specification records it: a text for each function and value, and changes in words.

A function's text has a hash of its source, where that is known, and one of its bytecode. Two functions are the same if
either agrees. The source compares across versions of Python; the bytecode compares records without source.
"""

import types
from collections.abc import Iterable, Mapping

from jaxbandits.users_code.bytecode import BYTECODE, bytecode_hash
from jaxbandits.users_code.source import source_hash
from jaxbandits.users_code.walk import Installed, Part, Unreadable, parts_of, spoken

__all__ = ["CODE", "change", "doubts", "lacks_code", "recorded"]

#: The entry of a table that holds the record; no field of an algorithm can have this name.
CODE = "source code"
#: The beginnings of texts that are no values, and the mark of a source that is not known.
_FUNCTION, _INSTALLED, _UNREADABLE, _UNKNOWN = "code:", "library:", "unreadable:", "-"


def recorded(trees: Iterable[object] = (), functions: Mapping[str, object] | None = None) -> dict[str, dict[str, str]]:
    """Return a table's entry with the code of a user's objects, arguments as `parts_of`; empty without such code."""
    parts = parts_of(trees, functions)
    return {CODE: {label: _text(parts[label]) for label in sorted(parts)}} if parts else {}


def change(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return the first known difference of two records, in words; empty if there is none."""
    found = [
        (rank, label, words)
        for label in {*there, *here}
        for rank, words in [_difference(label, there.get(label), here.get(label))]
        if words
    ]
    return min(found)[2] if found else ""


def doubts(there: object, here: object) -> list[str]:
    """Return, in words, what cannot be compared in the code of two specifications that show no difference."""
    if not (isinstance(there, dict) and isinstance(here, dict)):
        return []
    found = []
    if lacks_code(there) or lacks_code(here):
        found.append("its code was not recorded by the version that wrote it")
    for label in sorted(there.get(CODE, {}).keys() | here.get(CODE, {}).keys()):
        one, other = (table.get(CODE, {}).get(label, "") for table in (there, here))
        for text in dict.fromkeys((one, other)):
            if text.startswith(_UNREADABLE):
                kind = text.removeprefix(_UNREADABLE).strip()
                found.append(f"the content of {spoken(label)}, a {kind}, cannot be read")
        if one and other and _of_other_versions(one, other):
            made, version = one.split()[1:3]
            found.append(f"what {made} made of {label} cannot be compared, it was version {version}")
    for key in sorted(there.keys() & here.keys() - {CODE}):
        found += doubts(there[key], here[key])
    return found


def lacks_code(table: Mapping[str, object]) -> bool:
    """Return whether a table is of code that an earlier version of the package did not record."""
    if CODE in table:
        return False
    why = str(table.get("cannot_be_repeated", ""))
    users_own = "not one of the package's" in why or ("text cannot hold" in why and "sha256" in table)
    return users_own or "metrics" in table


def _text(part: Part) -> str:
    if isinstance(part, types.CodeType):
        return f"{_FUNCTION} {source_hash(part) or _UNKNOWN} {BYTECODE} {bytecode_hash(part)}"
    if isinstance(part, Installed):
        return f"{_INSTALLED} {part.name} {part.version} {part.holds}"
    return f"{_UNREADABLE} {part.kind}" if isinstance(part, Unreadable) else part


def _of_other_versions(there: str, here: str) -> bool:
    """Return whether texts are of a library's function in two versions, which may build it differently or not."""
    texts = [text.split() for text in (there, here) if text.startswith(_INSTALLED)]
    if len(texts) == 2:
        return texts[0][2] != texts[1][2]
    return len(texts) == 1 and not (there and here)


def _difference(label: str, there: str | None, here: str | None) -> tuple[int, str]:
    """Return how telling a difference is, 0 for most, and the difference in words."""
    if there == here:
        return 0, ""
    if _of_other_versions(there or "", here or ""):
        return 0, ""
    if there is None or here is None:
        return 2, f"{spoken(label)} is part of the code {'here' if there is None else 'there'} only"
    if there.startswith(_UNREADABLE) or here.startswith(_UNREADABLE):
        return 0, ""
    if there.startswith(_INSTALLED) and here.startswith(_INSTALLED):
        return 1, f"what {there.split()[1]} was made with has changed"
    if not (there.startswith(_FUNCTION) and here.startswith(_FUNCTION)):
        return 1, f"{spoken(label)}: {there} there and {here} here"
    (_, source, kind, code), (_, other_source, other_kind, other_code) = there.split(), here.split()
    if (kind, code) == (other_kind, other_code) or (source == other_source != _UNKNOWN):
        return 0, ""
    if kind != other_kind and _UNKNOWN in (source, other_source):
        return 0, (
            f"the code of {label} cannot be compared: it was recorded without its source by {kind}, and this is "
            f"{other_kind}"
        )
    return 0, f"the code of {label} has changed"
