"""The content of a value, as a short text that is the same in every process: itself where it is short, else a hash."""

import copyreg
import dataclasses
import enum
import functools
import logging
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits.users_code.array_texts import array_text
from jaxbandits.users_code.bytecode import short_hash
from jaxbandits.users_code.ownership import Ownership

__all__ = ["CannotTellError", "Values"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
#: Types that code uses, without content that a result could depend on.
_WITHOUT_CONTENT = (
    type(threading.Lock()), type(threading.RLock()), logging.Logger, weakref.ref, weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary, weakref.WeakSet,
)  # fmt: skip
#: The parts of objects that pickle would save differently from version to version, or not at all.
_PARTS: dict[type | tuple[type, ...], tuple[str, ...]] = {
    types.MethodType: ("__func__", "__self__"),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    enum.Enum: ("__class__", "name", "value"),
    jax.custom_jvp: ("__wrapped__", "jvp"),
    jax.custom_vjp: ("__wrapped__", "fwd", "bwd"),
    (staticmethod, classmethod, type(functools.cache(repr)), type(jax.jit(repr))): ("__wrapped__",),
}
_BRACKETS: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}"), dict: ("{", "}")}
#: Up to this number of characters a text is used as it is.
_SHORT = 40


class CannotTellError(Exception):
    """A value whose content nobody can read, such as an open file; its type is the message."""


class Values:
    """A reader of values.

    Args:
        refer: returns the text of a function or a class, which is read elsewhere.
        owners: knows what is the user's own.
    """

    def __init__(self, refer: Callable[[object], str], owners: Ownership) -> None:
        self._refer, self._owners = refer, owners
        self._inside: list[int] = []  # what is being read, outermost first

    def content(self, value: object) -> str:
        """Return the content of a value, as a short text.

        Raises:
            CannotTellError: the value cannot be read.
        """
        try:
            text = self._text(value)
        except RecursionError:
            raise CannotTellError(type(value).__name__) from None
        if len(text) <= _SHORT or text == self._owners.installed_name(value):
            return text
        return f"{type(value).__name__} {short_hash(text)}"

    def _text(self, value: object) -> str:
        kind = type(value)
        if kind in _PLAIN:
            return repr(value)
        if isinstance(value, _WITHOUT_CONTENT):
            return kind.__name__
        if isinstance(value, types.ModuleType):
            if not self._owners.is_installed(value.__name__):  # which of its names are used is not known here
                raise CannotTellError("module")
            return value.__name__
        if isinstance(value, jax.Device):
            return str(value)
        if isinstance(value, np.ndarray | jax.Array) or (isinstance(value, np.generic) and kind is not np.void):
            return self._array(value)
        if (name := self._owners.installed_name(value)) is not None:
            return name
        if isinstance(value, type | types.FunctionType):
            return self._refer(value)
        if id(value) in self._inside:
            return f"the same as {len(self._inside) - self._inside.index(id(value))} above"
        self._inside.append(id(value))
        try:
            opening, closing = _BRACKETS.get(kind, (f"{kind.__name__}(", ")"))
            return f"{opening}{', '.join(self._parts(value))}{closing}"
        finally:
            self._inside.pop()

    def _array(self, value: Any) -> str:
        if isinstance(value, jax.core.Tracer):
            raise CannotTellError("value that is being traced")
        if not isinstance(value, jax.Array) and value.dtype.hasobject:
            return f"array{value.shape} {self._text(value.tolist())}"
        own = None if type(value).__module__.startswith("numpy") else getattr(value, "__dict__", None)
        if isinstance(value, np.ndarray) and own:  # of a subclass, such as a unit
            return f"{self._text(value.view(np.ndarray))} {self._text(own)}"
        try:
            return array_text(value)
        except RuntimeError:  # an array of JAX's that has been deleted, or lies on other machines
            raise CannotTellError("array that is not here") from None

    def _parts(self, value: Any) -> list[str]:
        """Return the contents of a value's parts."""
        kind = type(value)
        if kind in (list, tuple):
            return [self._text(item) for item in value]
        if kind in (set, frozenset):
            return sorted(self._text(item) for item in value)
        if kind is dict:
            return [f"{self._text(key)}: {self._text(item)}" for key, item in value.items()]
        if kind is types.MappingProxyType:
            return self._parts(dict(value))
        if isinstance(value, np.dtype):
            return [value.str]
        for known, names in _PARTS.items():
            if isinstance(value, known):
                return [self._text(getattr(value, name, None)) for name in names]
        if dataclasses.is_dataclass(value) and self._owners.installed_name(kind) is not None:
            return self._fields(value)
        return self._reduced(value)

    def _fields(self, value: Any) -> list[str]:
        """Return the fields that count in comparisons, not those at their defaults: later versions may have more."""
        given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.compare}
        defaults = {field.name: field.default for field in dataclasses.fields(value)}
        return [
            f"{name}={self._text(one)}"
            for name, one in given.items()
            if one is not defaults[name] and not (type(one) in _PLAIN and one == defaults[name])
        ]

    def _reduced(self, value: object) -> list[str]:
        """Return what an object would be pickled as: its class, what it is made from, and its state."""
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            reduced = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        except Exception:  # of any class: the object does not say what it holds
            raise CannotTellError(type(value).__name__) from None
        if isinstance(reduced, str):  # the name of a global, in a known module or else in an unknown one
            is_name = all(part.isidentifier() for part in reduced.split("."))  # not "f (vectorized)", of NumPy's
            if not (is_name and self._owners.is_installed(str(getattr(value, "__module__", None) or "builtins"))):
                raise CannotTellError(type(value).__name__)
            return [reduced]
        make, arguments, *rest = reduced
        parts = [self._text(type(value)), self._text(make), self._text(arguments)]
        for place, part in enumerate(rest[:3]):  # a state, the items of a list, those of a dictionary
            parts.append(self._text(part if place == 0 or part is None else list(part)))
        return parts
