"""Counts searches in long lists, whose time grows with the square of a study's size."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["long_searches"]

#: Entries of a long list.
_LONG = 100


def long_searches(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call returns, and how often it searches a long list by `index` or `count`."""
    number = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal number
        del frame
        if event == "c_call" and argument.__name__ in ("index", "count") and isinstance(argument.__self__, list):
            number += len(argument.__self__) > _LONG

    sys.setprofile(count)
    try:
        found = call()
    finally:
        sys.setprofile(None)
    return found, number
