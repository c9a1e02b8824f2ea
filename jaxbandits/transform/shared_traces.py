"""Programs for other numbers of arms, traced once within a call: its plan and its programs ask for the same ones.

What a user's code computes can change between two calls, and then its programs do. So nothing is kept after the last
`with` block that is open has ended.
"""

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any

__all__ = ["once", "traced_once"]

_lock = threading.Lock()
_open = 0
_found: dict[Hashable, Any] = {}


@contextlib.contextmanager
def traced_once() -> Iterator[None]:
    """Keep what `once` has made while this is entered, in all threads."""
    global _open
    with _lock:
        _open += 1
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if not _open:
                _found.clear()


def once(key: Hashable, make: Callable[[], Any]) -> Any:
    """Return what `make` returns, or what it returned for an equal key while `traced_once` was entered."""
    if not _open:
        return make()
    if key not in _found:
        _found[key] = make()
    return _found[key]
