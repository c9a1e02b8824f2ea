"""LLVM's instructions for the operations of a step's graph, with the meaning that XLA gives them."""

import math
import struct

from jaxbandits.engine.llvm.graph_values import Node, NotSupportedError

__all__ = ["beyond", "constant", "fold", "instructions", "type_of"]

_SCALARS = {"float32": "float", "int32": "i32", "uint32": "i32", "bool": "i1"}
_INTEGERS = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_FLOATS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_SHIFTS = {"shift_left": "shl", "shift_right_logical": "lshr", "shift_right_arithmetic": "ashr"}
_ORDERED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def type_of(dtype: str, width: int) -> str:
    """Return LLVM's type of a number, or of one for each of `width` runs; width 0 for one number."""
    return f"<{width} x {_SCALARS[dtype]}>" if width else _SCALARS[dtype]


def constant(number: float | bool, dtype: str) -> str:
    """Return a constant; floats by their bits."""
    if dtype == "float32":
        return f"0x{struct.unpack('<Q', struct.pack('<d', struct.unpack('<f', struct.pack('<f', number))[0]))[0]:016X}"
    if dtype == "bool":
        return "true" if number else "false"
    return str(int(number) - (2**32 if int(number) >= 2**31 else 0))


def fold(name: str, dtype: str, typed: str, found: str, new: str, result: str) -> list[str]:
    """Return the instructions with which a reduction takes one more number."""
    if not name.endswith("_or_nan"):
        return _two(name, dtype, typed, found, new, result)
    order = "ogt" if name.startswith("max") else "olt"
    mask = _mask(typed)
    return [
        f"{result}.a = fcmp {order} {typed} {found}, {new}", f"{result}.b = fcmp uno {typed} {found}, {found}",
        f"{result}.c = or {mask} {result}.a, {result}.b",
        f"{result} = select {mask} {result}.c, {typed} {found}, {typed} {new}",
    ]  # fmt: skip


def beyond(fold: str, dtype: str) -> str:
    """Return the comparison that tells whether the first of two numbers is more of a `max`, or of a `min`."""
    return _compared("gt" if fold == "max" else "lt", dtype)


def _compared(name: str, dtype: str) -> str:
    if dtype == "float32":
        return f"fcmp {_ORDERED[name]}"
    if name in ("eq", "ne"):
        return f"icmp {name}"
    return f"icmp {'s' if dtype == 'int32' else 'u'}{name}"


def _two(name: str, dtype: str, typed: str, a: str, b: str, result: str) -> list[str]:
    if name in ("maximum", "minimum"):  # NaN if one is NaN, and -0.0 is below 0.0
        suffix = "v" + typed[1:].split()[0] + "f32" if typed.startswith("<") else "f32"
        return [f"{result} = call {typed} @llvm.{name}.{suffix}({typed} {a}, {typed} {b})"]
    if name in ("max", "min"):
        mask = _mask(typed)
        return [
            f"{result}.m = {beyond(name, dtype)} {typed} {a}, {b}",
            f"{result} = select {mask} {result}.m, {typed} {a}, {typed} {b}",
        ]
    table = _FLOATS if dtype == "float32" else _INTEGERS
    if name not in table:
        raise NotSupportedError(f"{name} of {dtype}")
    return [f"{result} = {table[name]} {typed} {a}, {b}"]


def _mask(typed: str) -> str:
    return typed.replace("float", "i1").replace("i32", "i1")


def instructions(node: Node, width: int, operands: list[str], result: str) -> list[str]:
    """Return the instructions of an operation.

    Args:
        node: of the kind `operation`.
        width: runs of a vector, 0 where its result is one number for all.
        operands: names or constants, vectors if the result is one.
        result: the name of the result.

    Raises:
        NotSupportedError: an operation without an instruction here.
    """
    name, dtype = node.name, node.dtype
    typed, source = type_of(dtype, width), node.operands[0].dtype
    a = operands[0]
    if name in _ORDERED:
        given = type_of(source, width)
        if source == "bool":
            return [f"{result} = icmp {name if name in ('eq', 'ne') else 'u' + name} {given} {a}, {operands[1]}"]
        return [f"{result} = {_compared(name, source)} {given} {a}, {operands[1]}"]
    if name == "select_n":
        mask = type_of(source, width)
        if source != "bool":
            raise NotSupportedError("a choice among several")
        return [f"{result} = select {mask} {a}, {typed} {operands[2]}, {typed} {operands[1]}"]
    if name in _SHIFTS:
        return _shifted(name, typed, width, operands, result)
    if name == "not":
        return [f"{result} = xor {typed} {a}, {_all(-1, width) if dtype != 'bool' else _all(True, width)}"]
    if name == "neg":
        zero = "zeroinitializer" if width else "0"
        return [f"{result} = fneg {typed} {a}" if dtype == "float32" else f"{result} = sub {typed} {zero}, {a}"]
    if name == "sign" and dtype == "float32":  # of a number that is flushed to zero it is zero
        mask, zero = _mask(typed), "zeroinitializer" if width else "0.0"
        one = f"splat (float {constant(1.0, dtype)})" if width else constant(1.0, dtype)
        copied = f"call {typed} @llvm.copysign.{_suffix(dtype, width)}"
        return [
            f"{result}.o = {copied}({typed} {one}, {typed} {a})", f"{result}.z = {copied}({typed} {zero}, {typed} {a})",
            f"{result}.n = fcmp one {typed} {a}, {zero}", f"{result}.u = fcmp uno {typed} {a}, {zero}",
            f"{result}.s = select {mask} {result}.u, {typed} {a}, {typed} {result}.z",
            f"{result} = select {mask} {result}.n, {typed} {result}.o, {typed} {result}.s",
        ]  # fmt: skip
    if name == "sign" and dtype == "int32":
        suffix = _suffix(dtype, width)
        return [
            f"{result}.m = call {typed} @llvm.smin.{suffix}({typed} {a}, {typed} {_all(1, width)})",
            f"{result} = call {typed} @llvm.smax.{suffix}({typed} {result}.m, {typed} {_all(-1, width)})",
        ]
    if name in ("div", "rem") and dtype != "float32":
        return _divided(name, dtype, typed, width, operands, result)
    if name == "square":
        return _two("mul", dtype, typed, a, a, result)
    called = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "roundeven", "abs": "fabs"}.get(name)
    if called is not None and dtype == "float32":
        return [f"{result} = call {typed} @llvm.{called}.{_suffix(dtype, width)}({typed} {a})"]
    if name == "is_finite":
        kind = type_of("float32", width)
        size = f"{result}.a = call {kind} @llvm.fabs.{_suffix('float32', width)}({kind} {a})"
        return [size, f"{result} = fcmp olt {kind} {result}.a, {_float(math.inf, width)}"]
    if name == "clz":
        return [f"{result} = call {typed} @llvm.ctlz.{_suffix(dtype, width)}({typed} {a}, i1 false)"]
    if name == "abs":
        return [f"{result} = call {typed} @llvm.abs.{_suffix(dtype, width)}({typed} {a}, i1 false)"]
    if name.startswith("bitcast"):
        given = type_of(source, width)
        return [f"{result} = bitcast {given} {a} to {typed}"]
    if name.startswith("convert"):
        return _converted(source, dtype, width, a, result)
    if len(operands) == 2:
        return fold(name, dtype, typed, a, operands[1], result)
    raise NotSupportedError(name)


def _divided(name: str, dtype: str, typed: str, width: int, operands: list[str], result: str) -> list[str]:
    """Return a division of whole numbers: by 0 its result has all bits, and its rest is the number itself."""
    (a, b), mask, one = operands, _mask(typed), _all(1, width)
    operation = {"int32": "s", "uint32": "u"}[dtype] + name
    by_zero = f"{result}.0 = icmp eq {typed} {b}, {_all(0, width)}"
    there = a if name == "rem" else _all(-1, width)
    if dtype == "uint32":
        return [
            by_zero, f"{result}.3 = select {mask} {result}.0, {typed} {one}, {typed} {b}",
            f"{result}.4 = {operation} {typed} {a}, {result}.3",
            f"{result} = select {mask} {result}.0, {typed} {there}, {typed} {result}.4",
        ]  # fmt: skip
    negated = f"{result}.n = sub {typed} {_all(0, width)}, {a}"
    by_minus_one = f"{result}.n" if name == "div" else _all(0, width)
    return [
        by_zero, f"{result}.1 = icmp eq {typed} {b}, {_all(-1, width)}",  # of -2^31: no number, and a trap
        f"{result}.2 = or {mask} {result}.0, {result}.1",
        f"{result}.3 = select {mask} {result}.2, {typed} {one}, {typed} {b}",
        f"{result}.4 = {operation} {typed} {a}, {result}.3", negated,
        f"{result}.5 = select {mask} {result}.1, {typed} {by_minus_one}, {typed} {result}.4",
        f"{result} = select {mask} {result}.0, {typed} {there}, {typed} {result}.5",
    ]  # fmt: skip


def _shifted(name: str, typed: str, width: int, operands: list[str], result: str) -> list[str]:
    """Return a shift: by 32 or more, all bits are gone, and to the right with a sign all are the sign's."""
    a, count = operands
    least = f"call {typed} @llvm.umin.{_suffix('int32', width)}"
    last = f"{result}.s = {least}({typed} {count}, {typed} {_all(31, width)})"
    if name == "shift_right_arithmetic":
        return [last, f"{result} = {_SHIFTS[name]} {typed} {a}, {result}.s"]
    return [
        last, f"{result}.r = {_SHIFTS[name]} {typed} {a}, {result}.s",
        f"{result}.k = icmp ult {typed} {count}, {_all(32, width)}",
        f"{result} = select {_mask(typed)} {result}.k, {typed} {result}.r, {typed} {_all(0, width)}",
    ]  # fmt: skip


def _converted(source: str, dtype: str, width: int, a: str, result: str) -> list[str]:
    given, typed = type_of(source, width), type_of(dtype, width)
    if dtype == "bool":
        zero = "zeroinitializer" if width else ("0.0" if source == "float32" else "0")
        return [f"{result} = {'fcmp une' if source == 'float32' else 'icmp ne'} {given} {a}, {zero}"]
    if source == "float32":
        return _to_whole(dtype, width, a, result)
    if dtype == "float32":
        return [f"{result} = {'sitofp' if source == 'int32' else 'uitofp'} {given} {a} to {typed}"]
    if source == "bool":
        return [f"{result} = zext {given} {a} to {typed}"]
    return [f"{result} = bitcast {given} {a} to {typed}"]


def _suffix(dtype: str, width: int) -> str:
    short = "f32" if dtype == "float32" else "i32"
    return f"v{width}{short}" if width else short


def _to_whole(dtype: str, width: int, a: str, result: str) -> list[str]:
    """Return a conversion to whole numbers: the nearest that there is, and 0 for NaN.

    LLVM's own of that kind takes one run after the other.
    """
    given, typed, mask = type_of("float32", width), type_of(dtype, width), type_of("bool", width)
    least, most, kind = (-(2.0**31), 2.0**31, "fptosi") if dtype == "int32" else (-1.0, 2.0**32, "fptoui")
    low, high = (0x80000000, 0x7FFFFFFF) if dtype == "int32" else (0, 0xFFFFFFFF)
    return [
        f"{result}.l = fcmp ole {given} {a}, {_float(least, width)}",
        f"{result}.h = fcmp oge {given} {a}, {_float(most, width)}",
        f"{result}.o = or {mask} {result}.l, {result}.h", f"{result}.u = fcmp uno {given} {a}, {a}",
        f"{result}.n = or {mask} {result}.o, {result}.u",
        f"{result}.z = select {mask} {result}.n, {given} {_float(0.0, width)}, {given} {a}",
        f"{result}.w = {kind} {given} {result}.z to {typed}",
        f"{result}.x = select {mask} {result}.h, {typed} {_all(high - (high >> 31 << 32), width)}, {typed} {result}.w",
        f"{result} = select {mask} {result}.l, {typed} {_all(low - (low >> 31 << 32), width)}, {typed} {result}.x",
    ]  # fmt: skip


def _float(number: float, width: int) -> str:
    one = constant(number, "float32")
    return f"splat (float {one})" if width else one


def _all(number: int | bool, width: int) -> str:
    one = ("true" if number else "false") if isinstance(number, bool) else str(number)
    kind = "i1" if isinstance(number, bool) else "i32"
    return f"splat ({kind} {one})" if width else one
