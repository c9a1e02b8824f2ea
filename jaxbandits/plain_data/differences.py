"""Where two pieces of plain data differ, in words."""

import json
from typing import Any

__all__ = ["difference"]


def difference(first: Any, second: Any, where: str = "") -> str:
    """The first place where two specifications differ, in words; empty if nowhere."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted({*first, *second}):
            if found := difference(first.get(key), second.get(key), f"{where}.{key}".lstrip(".")):
                return found
        return ""
    if first == second:
        return ""
    hashes = where == "problem.sha256" and first is not None and second is not None
    return f"{where} is {_short(first)} there and {_short(second)} here{', the data have changed' if hashes else ''}"


def _short(value: Any) -> str:
    text = "not given" if value is None else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
