"""All code that a user's objects run, by label: functions as `Rule.step` or `helper`, values as `Rule.step: THRESHOLD`.

From a class: its methods, properties, attributes, fields and bases. From a function: its defaults, what it closes over,
and the globals that it names; in the user's own modules also through a module's name. Functions and classes found there
are read in turn. What Python, this package and installed libraries define is known by its name only.

What code reaches by other ways is not seen: names made at run time (`getattr`, `exec`), files, environment variables,
options of `jax.jit`, changes in installed libraries. A value that hides its content is `Unreadable`.
"""

import collections
import contextlib
import operator
import sys
import types
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax

from jaxbandits.axes import Axis
from jaxbandits.users_code.bytecode import BYTECODE, names_in, short_hash
from jaxbandits.users_code.class_attributes import attributes_of, fields_of, functions_in, innermost
from jaxbandits.users_code.ownership import Ownership, top_of
from jaxbandits.users_code.values import CannotTellError, Values

__all__ = ["Installed", "Part", "Unreadable", "parts_of", "spoken"]


class Unreadable(NamedTuple):
    """A value whose content nobody can read."""

    kind: str


class Installed(NamedTuple):
    """A function that an installed library made around others, say by `jax.vmap`: it is known by what it holds."""

    name: str
    version: str  # of the library; other versions may hold it differently
    holds: str  # a hash


#: A function's code, or the content of a value.
Part = types.CodeType | str | Installed | Unreadable

#: The attributes of installed classes when nothing in them was the user's.
_without_patches: weakref.WeakKeyDictionary[type, tuple[object, ...]] = weakref.WeakKeyDictionary()


def parts_of(trees: Iterable[object] = (), functions: Mapping[str, object] | None = None) -> dict[str, Part]:
    """Return what these objects run that is not installed, by label.

    Args:
        trees: pytrees. The classes of their nodes count, and fields that are part of the program; leaves do not, except
            for the values of an axis.
        functions: and other callables, by the name to give them.
    """
    walk = _Walk()
    for name, function in (functions or {}).items():
        walk.root(name, function)
    for tree in trees:
        walk.tree(tree)
    return walk.finished()


def spoken(label: str) -> str:
    """Return a label in words: `THRESHOLD of Rule.step`."""
    owner, colon, name = label.partition(": ")
    return f"{name} of {owner}" if colon else label


class _Walk:
    """A walk: what has been found, and what is still to be read."""

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}
        self._label_of: dict[int, str] = {}  # functions and classes, by identity
        self._labels: set[str] = set()
        self._given: set[type] = set()  # classes of nodes, and their bases: the values of all fields are given
        self._queue: collections.deque[tuple[str, Any]] = collections.deque()
        self._owners = Ownership()
        self._values = Values(self._refer, self._owners)

    def root(self, name: str, function: object) -> None:
        """Read a callable that the user gave."""
        self._owners.claim(str(getattr(function, "__module__", "")))
        self._value(name, name, function)

    def tree(self, tree: object) -> None:
        """Read the classes of a pytree, and the fields that JAX counts as its structure."""
        self._owners.claim(type(tree).__module__)
        leaves, structure = jax.tree.flatten(tree)
        self._nodes(structure)
        for leaf in leaves:
            if isinstance(leaf, Axis):
                for value in leaf.values:
                    self.tree(value)

    def _nodes(self, structure: Any) -> None:
        data = structure.node_data()
        if data is None:
            return
        kind, fixed = data
        self._given.update(kind.__mro__)
        self._patches(kind)
        if not self._owners.is_installed(kind.__module__):
            label = self._refer(kind)
            if fixed:
                self._value(f"{label}: static fields", label, fixed)
        for child in structure.children():
            self._nodes(child)

    def _patches(self, cls: type) -> None:
        """Read the user's own functions that were put into installed classes from which a class derives."""
        for base in cls.__mro__:
            if not self._owners.is_installed(base.__module__):
                continue
            values = tuple(vars(base).values())
            clean = _without_patches.get(base, ())
            if len(values) == len(clean) and all(map(operator.is_, values, clean)):
                continue
            found = [
                (f"{base.__name__}.{name}{suffix}", function)
                for name, attribute in vars(base).items()
                for suffix, function in functions_in(attribute) or [("", attribute)]
                if (inner := innermost(function)) is not None
                and not self._owners.is_installed(str(inner.__globals__.get("__name__")))
            ]
            for label, function in found:
                self._value(label, label, function)
            if not found:
                _without_patches[base] = values

    def finished(self) -> dict[str, Part]:
        """Read what is left, and return all parts."""
        while self._queue:
            label, found = self._queue.popleft()
            (self._class if isinstance(found, type) else self._function)(label, found)
        return self._parts

    def _refer(self, found: Any, name: str | None = None) -> str:
        """Return the label of a function or class: the name under which it was found first, or its own."""
        if id(found) not in self._label_of:
            wanted = label = name or str(found.__qualname__).rpartition("<locals>.")[2]
            count = 1
            while label in self._labels:
                count += 1
                label = f"{wanted} ({count})"
            self._labels.add(label)
            self._label_of[id(found)] = label
            self._queue.append((label, found))
        return self._label_of[id(found)]

    def _value(self, label: str, name: str, value: object, natural: str | None = None) -> None:
        """Read a value, at its label; functions and classes separately, by their name or a more natural one."""
        if isinstance(value, types.FunctionType | type) and self._owners.installed_name(value) is None:
            if (known := self._refer(value, natural or name)) != name:
                self._parts[label] = f"is {known}"
            return
        try:
            self._parts[label] = self._values.content(value)
        except CannotTellError as error:
            self._parts[label] = Unreadable(str(error))

    def _function(self, label: str, function: types.FunctionType) -> None:
        code, spelled = function.__code__, function.__globals__
        if self._owners.is_installed(where := str(spelled.get("__name__"))):
            self._parts[label] = self._installed(label, function, top_of(where))
            return
        names = names_in(code)
        self._parts[label] = code
        for name, value in sorted(vars(function).items()):
            self._value(f"{label}.{name}", f"{label}.{name}", value)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._named(label, name, cell.cell_contents, names.attributes, closure=True)
            except ValueError:  # not filled yet
                self._parts[f"{label}: {name}"] = "empty"
        defaults = [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
        if defaults:
            self._value(f"{label}: defaults", label, defaults)
        for name in names.globals:
            located = name.startswith("__") and name.endswith("__")  # such as `__file__`, which does not count
            if name in spelled and not located:
                self._named(label, name, spelled[name], names.attributes)
        for one in names.imports:
            if one.level or not self._owners.is_installed(one.module):
                try:  # the function imports it too, but only when it is traced
                    module = __import__(one.module, spelled, None, one.names or (), one.level)
                except Exception:  # of any class: if it matters, the function will say so
                    continue
                name = one.module if one.names else top_of(one.module)
                self._named(label, name or module.__name__, module, names.attributes)

    def _installed(self, label: str, function: types.FunctionType, library: str) -> Installed | Unreadable:
        """Read what a function of an installed library was made around."""
        version = str(getattr(sys.modules.get(library), "__version__", BYTECODE))
        if isinstance(inner := vars(function).get("__wrapped__"), types.FunctionType):
            self._refer(inner, f"{label}.__wrapped__")
        cells = []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not filled yet
                cells.append((name, cell.cell_contents))
        try:
            held = self._values.content([cells, function.__defaults__, function.__kwdefaults__])
        except CannotTellError as error:
            return Unreadable(str(error))
        return Installed(f"{library}.{function.__name__}", version, short_hash(held))

    def _named(
        self, label: str, name: str, value: Any, attributes: frozenset[str], *, closure: bool = False, within: Any = ()
    ) -> None:
        """Read what a function has under a name; of the user's own modules, the attributes that the function may use.

        Args:
            label: of the function.
            name: with those of the modules that lead to it.
            value: the object with this name.
            attributes: names of attributes that the function uses.
            closure: whether it is closed over, so that a function's own name says more.
            within: the modules that lead to it, which may import each other.
        """
        if not isinstance(value, types.ModuleType):
            is_named = isinstance(value, types.FunctionType | type) and value.__name__ != "<lambda>"
            self._value(f"{label}: {name}", name, value, value.__name__ if closure and is_named else None)
        elif value not in within and not self._owners.is_installed(value.__name__):
            for attribute in sorted((attributes | {"__getattr__"}) & vars(value).keys()):
                one = f"{name}.{attribute}"
                self._named(label, one, vars(value)[attribute], attributes, within=(*within, value))

    def _class(self, label: str, cls: type) -> None:
        written = vars(cls).get("__made_of__")  # by a decorator, which made this class from another of its name
        bases = [base for base in cls.__bases__ if base is not written] + ([*written.__bases__] if written else [])
        if bases := [base for base in (*bases, type(cls)) if base not in (object, type)]:
            self._value(f"{label}: bases", label, bases)
        self._patches(cls)
        attributes = (dict(attributes_of(written)) if written else {}) | dict(attributes_of(cls))
        if cls not in self._given:
            attributes |= fields_of(cls, self._owners.is_installed)
        for name, attribute in sorted(attributes.items()):
            where = f"{label}.{name}"
            functions = functions_in(attribute)
            if not functions:
                self._value(where, where, attribute)
            elif not isinstance(attribute, types.FunctionType):
                self._parts[f"{where}: kind"] = type(attribute).__name__
            for suffix, function in functions:
                self._value(where + suffix, where + suffix, function)
