"""The first difference of two pieces of plain data, in words."""

import hashlib
import json
from typing import Any

from jaxbandits.errors import warn
from jaxbandits.users_code.records import CODE, change, doubts, lacks_code

__all__ = ["difference", "warn_of_doubts"]

#: The hash that old versions wrote for an algorithm whose numbers are all on axes.
_OF_NOTHING = hashlib.sha256().hexdigest()


def difference(first: Any, second: Any, where: str = "") -> str:
    """Return the first difference of two specifications; empty without one.

    Files are compared by content, not by path; a user's code is compared by what it does (`users_code.records`). Where
    the tables do not decide, there is no difference, and `warn_of_doubts` warns.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted({*first, *second} - {CODE, *_paths(first, second, where)}):
            if found := difference(first.get(key), second.get(key), f"{where}.{key}".lstrip(".")):
                return found
        if lacks_code(first) or lacks_code(second):
            return ""
        return change(first.get(CODE, {}), second.get(CODE, {}))
    first, second = (None if value == _OF_NOTHING else value for value in (first, second))
    if first == second:
        return ""
    hashes = where.startswith("problem.") and where.endswith(".sha256") and first is not None and second is not None
    return f"{where} is {_short(first)} there and {_short(second)} here{', the data have changed' if hashes else ''}"


def warn_of_doubts(first: Any, second: Any, what: str) -> None:
    """Warn of code that two specifications record too little about to compare."""
    for doubt in dict.fromkeys(doubts(first, second)):
        warn(f"{what}: {doubt}; it is taken to be the same")


def _paths(first: dict[str, Any], second: dict[str, Any], where: str) -> set[str]:
    """Return the entry to ignore where both tables have the hash of the file's content."""
    of_problem = where == "problem" or where.startswith("problem.")  # of a list, followed by its label
    return {"path"} if of_problem and "sha256" in first and "sha256" in second else set()


def _short(value: Any) -> str:
    text = "not given" if value is None else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
