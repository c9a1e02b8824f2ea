"""What a value holds, as a short text that is the same in every process: itself where it is short, else a hash."""

import functools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits.users_code.array_texts import array_text
from jaxbandits.users_code.bytecode import short_hash

__all__ = ["CannotTellError", "Values"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
#: What code uses and holds nothing that a result could depend on.
_WITHOUT_CONTENT = (
    type(threading.Lock()), type(threading.RLock()), weakref.ref, weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip
#: What stands for the function inside.
_WRAPPERS = (staticmethod, classmethod, type(functools.cache(repr)), type(jax.jit(repr)))
#: Characters of a text that is kept as it is.
_SHORT = 40


class CannotTellError(Exception):
    """A value whose content nobody can read, such as an open file; its type is the message."""


class Values:
    """Reads values.

    Args:
        refer: says what stands for a function or a class, which is read elsewhere.
        installed_name: says what an installed library calls a value; None for any other.
    """

    def __init__(self, refer: Callable[[Any], str], installed_name: Callable[[Any], str | None]) -> None:
        self._refer, self._installed_name = refer, installed_name
        self._inside: list[int] = []  # what is being read, outermost first

    def content(self, value: Any) -> str:
        """The content of a value, as a short text.

        Raises:
            CannotTellError: what cannot be read.
        """
        try:
            text = self._text(value)
        except RecursionError:
            raise CannotTellError(type(value).__name__) from None
        return text if len(text) <= _SHORT else f"{type(value).__name__} {short_hash(text)}"

    def _text(self, value: Any) -> str:
        kind = type(value)
        if kind in _PLAIN:
            return repr(value)
        if isinstance(value, _WITHOUT_CONTENT):
            return kind.__name__
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, np.ndarray | jax.Array) or (isinstance(value, np.generic) and kind is not np.void):
            return self._array(value)
        if (name := self._installed_name(value)) is not None:
            return name
        if isinstance(value, type | types.FunctionType):
            return self._refer(value)
        if id(value) in self._inside:
            return f"the same as {len(self._inside) - self._inside.index(id(value))} above"
        self._inside.append(id(value))
        try:
            return f"{kind.__name__}({', '.join(self._parts(value))})"
        finally:
            self._inside.pop()

    def _array(self, value: Any) -> str:
        if isinstance(value, jax.core.Tracer):
            raise CannotTellError("value that is being traced")
        if not isinstance(value, jax.Array) and value.dtype.hasobject:
            return f"array{value.shape} {self._text(value.tolist())}"
        try:
            return array_text(value)
        except RuntimeError:  # an array of JAX's that has been deleted, or lies on other machines
            raise CannotTellError("array that is not here") from None

    def _parts(self, value: Any) -> list[str]:
        """The contents of what a value is made of."""
        kind = type(value)
        if kind in (list, tuple):
            return [self._text(item) for item in value]
        if kind in (set, frozenset):
            return sorted(self._text(item) for item in value)
        if kind is dict:
            return [f"{self._text(key)}: {self._text(item)}" for key, item in value.items()]
        if kind is types.MappingProxyType:
            return self._parts(dict(value))
        if kind is types.MethodType:
            return [self._text(value.__func__), self._text(value.__self__)]
        if kind is property:
            return [self._text(part) for part in (value.fget, value.fset, value.fdel)]
        if kind is functools.cached_property:  # has a lock, too
            return [self._text(value.func)]
        if kind in _WRAPPERS:
            return [self._text(value.__wrapped__)]
        return self._reduced(value)

    def _reduced(self, value: Any) -> list[str]:
        """What an object would be pickled as: its class, what it is made from, and its state."""
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # of whatever class: the object does not say what it holds
            raise CannotTellError(type(value).__name__) from None
        if isinstance(reduced, str):  # the name of a global
            return [reduced]
        make, arguments, *rest = reduced
        parts = [self._text(type(value)), self._text(make), self._text(arguments)]
        for place, part in enumerate(rest[:3]):  # a state, the items of a list, those of a dictionary
            parts.append(self._text(part if place == 0 or part is None else list(part)))
        return parts
