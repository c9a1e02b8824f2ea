"""The definitions in a class's body, without what Python adds to them."""

import collections
import dataclasses
import functools
import sys
import types
from collections.abc import Callable

__all__ = ["attributes_of", "fields_of", "functions_in", "innermost"]

#: What `typing.NamedTuple` adds, if the user does not define it: it does not affect a result, or is part of what does.
_OF_NAMED_TUPLES = vars(collections.namedtuple("_Empty", ())).keys() - {"_fields", "_field_defaults"}
#: The function in which `dataclasses` writes its own.
_WRITTEN = "__create_fn__."


def attributes_of(cls: type) -> list[tuple[str, object]]:
    """Return name and value of the methods and constants that a class's body defines; no fields of a dataclass."""
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    names = sorted(vars(cls).keys() - fields)
    return [(name, vars(cls)[name]) for name in names if not _is_added(name, vars(cls)[name])]


def fields_of(cls: type, is_installed: Callable[[str], bool]) -> dict[str, object]:
    """Return what a dataclass's fields say of new instances: defaults by name, and all else under `dataclasses`' name.

    Fields that installed classes define do not count.
    """
    if not dataclasses.is_dataclass(cls):
        return {}
    bases = [base for base in cls.__mro__ if dataclasses.is_dataclass(base) and is_installed(base.__module__)]
    others = {field.name for base in bases for field in dataclasses.fields(base)}
    fields = [field for field in dataclasses.fields(cls) if field.name not in others]
    found: dict[str, object] = {}
    for field in fields:
        for value in (field.default, field.default_factory):
            if value is not dataclasses.MISSING:
                found[field.name] = value
    settings = vars(cls).get("__dataclass_params__")
    kinds = [(field.name, field.init, field.compare, field.kw_only) for field in fields]
    found["__dataclass_fields__"] = kinds, [getattr(settings, name, None) for name in ("eq", "order")]
    return found


def functions_in(attribute: object) -> list[tuple[str, object]]:
    """Return the functions of a method or property, with suffixes for its name; none of any other attribute."""
    if isinstance(attribute, types.FunctionType):
        return [("", attribute)]
    if isinstance(attribute, staticmethod | classmethod):
        return [("", attribute.__func__)]
    if isinstance(attribute, functools.cached_property):
        return [("", attribute.func)]
    if isinstance(attribute, property):
        all_three = (("", attribute.fget), (" (set)", attribute.fset), (" (del)", attribute.fdel))
        return [(suffix, function) for suffix, function in all_three if function is not None]
    return []


def innermost(function: object) -> types.FunctionType | None:
    """Return the function inside its decorators; None where there is none of Python's."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else None


def _is_added(name: str, value: object) -> bool:
    """Return whether an attribute follows from the rest: places of fields, and what Python and `dataclasses` write."""
    if isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType):
        return True
    if type(value).__name__ in ("_tuplegetter", "_abc_data"):
        return True
    functions = [innermost(function) for _, function in functions_in(value)]
    if functions and name in _OF_NAMED_TUPLES and all(map(_is_of_python, functions)):
        return True
    if not (name.startswith("__") and name.endswith("__")):
        return False
    if not functions:  # a method by a decorator, such as `jax.jit`; no constant, such as `__doc__`
        is_method = callable(value) or hasattr(value, "__get__")
        return not is_method or isinstance(value, type | types.MethodDescriptorType)
    return all(function is not None and function.__code__.co_qualname.startswith(_WRITTEN) for function in functions)


def _is_of_python(function: types.FunctionType | None) -> bool:
    """Return whether Python defines a function, or made it for a named tuple."""
    module = "" if function is None else str(function.__globals__.get("__name__"))
    return module in sys.stdlib_module_names or module.startswith("namedtuple_")
