"""A function's bytecode: a hash of what it does, wherever it is defined, and the names it uses."""

import dis
import functools
import hashlib
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

__all__ = ["BYTECODE", "Import", "Names", "bytecode_hash", "names_in", "once_a_code", "short_hash"]

#: The kind of bytecode: each minor version of Python has its own.
BYTECODE = str(sys.implementation.cache_tag)

# From Python 3.13 on, a flag says whether the first constant is a docstring; before, a `def` has a slot for it.
_HAS_DOCSTRING = 0x4000000
_FLAGS = 0x2AC  # *args, **kwargs, generators, coroutines

T = TypeVar("T")


class Names(NamedTuple):
    """The names that a function uses, its inner functions included."""

    globals: tuple[str, ...]  # in alphabetical order
    imports: tuple["Import", ...]
    attributes: frozenset[str]  # of any object


class Import(NamedTuple):
    """An import in a function's body, as Python's `__import__` takes it."""

    module: str  # as it is written; without its dots
    names: tuple[str, ...] | None  # after `from … import`
    level: int  # how many dots there are


def short_hash(text: str | bytes) -> str:
    """Return 64 bits of the sha256, in hexadecimal digits."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()[:16]


def once_a_code(function: Callable[[types.CodeType], T]) -> Callable[[types.CodeType], T]:
    """Cache what a function returns for every live code object: they never change."""
    known: dict[int, tuple[weakref.ref[types.CodeType], T]] = {}

    @functools.wraps(function)
    def remembered(code: types.CodeType) -> T:
        key = id(code)
        if key in known and known[key][0]() is code:
            return known[key][1]
        found = function(code)
        if found is not None:
            known[key] = weakref.ref(code, lambda _: known.pop(key, None)), found
        return found

    return remembered


@once_a_code
def bytecode_hash(code: types.CodeType) -> str:
    """Return a hash of instructions and constants; names of functions, lines, files and docstrings do not count."""
    return short_hash(repr(_content(code)))


@once_a_code
def names_in(code: types.CodeType) -> Names:
    """Return the names that a function uses."""
    found: dict[str, set[str]] = {"globals": set(), "attributes": set()}
    imports = set()
    for one in _with_inner(code):
        found["attributes"].update(one.co_names)
        instructions = [each for each in dis.get_instructions(one) if each.opname != "EXTENDED_ARG"]
        for place, instruction in enumerate(instructions):
            if "GLOBAL" in instruction.opname or instruction.opname == "LOAD_NAME":
                found["globals"].add(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":  # after both of its arguments
                level, names = (each.argval for each in instructions[place - 2 : place])
                imports.add(Import(instruction.argval, names, level))
    in_order = sorted(imports, key=repr)
    return Names(tuple(sorted(found["globals"])), tuple(in_order), frozenset(found["attributes"]))


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_inner(constant)


def _content(code: types.CodeType) -> tuple[object, ...]:
    constants = code.co_consts
    if _has_docstring(code):
        constants = (None, *constants[1:])
    return (
        code.co_code, [_constant(value) for value in constants], code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _FLAGS,
        code.co_exceptiontable,
    )  # fmt: skip


def _has_docstring(code: types.CodeType) -> bool:
    if not code.co_consts or not isinstance(code.co_consts[0], str):
        return False
    if sys.version_info >= (3, 13):
        return bool(code.co_flags & _HAS_DOCSTRING)
    return not code.co_name.startswith("<")


def _constant(value: object) -> object:
    """Return a constant with its type, since 1, 1.0 and True are equal; sets in an order that all processes share."""
    if isinstance(value, types.CodeType):
        return _content(value)
    if isinstance(value, tuple):
        return tuple(_constant(item) for item in value)
    if isinstance(value, frozenset):
        return "frozenset", sorted(repr(_constant(item)) for item in value)
    return type(value).__name__, repr(value)
