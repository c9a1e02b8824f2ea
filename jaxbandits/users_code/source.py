"""A function's source as Python's own parser reads it: the same in all versions of Python, however it is formatted."""

import ast
import functools
import linecache
import threading
import types
from collections.abc import Iterator

from jaxbandits.users_code.bytecode import bytecode_hash, once_a_code, short_hash

__all__ = ["source_hash"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# These fields do not change what the body does: how a name is used, and type annotations.
_SKIPPED = {"ctx", "annotation", "returns", "type_comment", "type_params", "kind"}
# Python 3.11 counts the depth of a tree for all threads together: two that parse at once may get a SystemError
# (https://github.com/python/cpython/issues/106905).
_parsing = threading.Lock()


@once_a_code
def source_hash(code: types.CodeType) -> str | None:
    """Return a hash of the source; None if there is none, or if this code was not compiled from it.

    A file may have changed since it was imported: only text that compiles to the same bytecode is the source. Names of
    functions, comments, docstrings and annotations do not count.
    """
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    return _functions_of(text).get((code.co_name, bytecode_hash(code))) if text else None


@functools.lru_cache(maxsize=32)
def _functions_of(text: str) -> dict[tuple[str, str], str]:
    """Return the hashes of all functions of a module, or a notebook's cell, by name and bytecode."""
    try:
        with _parsing:
            tree = ast.parse(text)
        module = compile(text, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    nodes: dict[tuple[str, int], list[_Function]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            nodes.setdefault(_place(node), []).append(node)
    found = {}
    for code in _codes(module):
        for node in nodes.get((code.co_name, code.co_firstlineno), []):
            if _is_of(node, code):
                found[code.co_name, bytecode_hash(code)] = short_hash(repr(_normal_function(node)))
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _place(node: _Function) -> tuple[str, int]:
    """Return the name and the first line that the compiler records."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _is_of(node: _Function, code: types.CodeType) -> bool:
    """Return whether a node is this function; of several lambdas in a line, the one whose body is at this position."""
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    return (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in code.co_positions()


def _normal_function(node: _Function) -> object:
    body = [node.body] if isinstance(node, ast.Lambda) else _without_docstring(node.body)
    return type(node).__name__, _normal(node.args), [_normal(one) for one in body]


def _normal(value: object) -> object:
    if isinstance(value, ast.Constant):
        return type(value.value).__name__, repr(value.value)
    if isinstance(value, ast.AnnAssign) and value.value is not None:
        value = ast.Assign([value.target], value.value)
    if isinstance(value, ast.AST):
        fields: list[object] = []
        for name, field in ast.iter_fields(value):
            if name == "body" and isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                field = _without_docstring(field)
            if name not in _SKIPPED and field is not None and field != []:
                fields.append((name, _normal(field)))
        return type(value).__name__, fields
    return [_normal(item) for item in value] if isinstance(value, list) else repr(value)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:] or [ast.Pass()]
    return body
