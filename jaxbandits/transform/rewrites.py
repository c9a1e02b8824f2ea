"""Keep apart what XLA would compute in another way together with what follows.

XLA writes `(x * 0.1) * 0.7` as `x * 0.07`, and `(x + 0.1) + 0.7` as `x + 0.8`; in JAX 0.10, not in 0.12. It writes
`(a / b) / c` as `a / (b * c)`, `a / (b / c)` as `(a * c) / b`, and `a / sqrt(b)` as `a * rsqrt(b)`. Where arrays are
padded, what hangs on the number of arms is no constant: `x / len(arms) * 0.7` is then computed as it is written. So it
always is. What could be rewritten is noted with a value, and shielded where the second operation takes it.
"""

import dataclasses

from jaxbandits.transform.operation import Operation, Value, is_float
from jaxbandits.transform.products import shield

__all__ = ["kept_apart", "open_to", "shared_divisor"]

_KIND = {"mul": "factor", "div": "factor", "add": "term", "add_any": "term", "sub": "term"}
#: Operations that keep what XLA sees behind them: they change places or signs, or nothing along an axis of one entry.
_PLACE = {
    "broadcast_in_dim", "reshape", "squeeze", "transpose", "slice", "rev", "copy", "expand_dims", "stop_gradient",
    "neg", "reduce_sum", "reduce_max", "reduce_min",
}  # fmt: skip
_NOTHING: frozenset[str] = frozenset()


def open_to(operation: Operation) -> frozenset[str]:
    """Return what a result is that XLA may rewrite: the result of a constant "factor" or "term", or a "quotient"."""
    values, name, kind = operation.values, operation.name, _KIND.get(operation.name)
    if not values or not is_float(operation.out.dtype):
        return _NOTHING
    if name in _PLACE:
        return values[0].open
    divides = _is_negative_power(operation) or (name == "div" and shared_divisor(operation) is None)
    if divides or name in ("sqrt", "rsqrt", "logistic"):
        return frozenset(["quotient"])
    if kind is None or not any(value.constant for value in (values[1:] if name == "div" else values)):
        return _NOTHING
    if kind == "factor" and operation.exposed:  # it is shielded
        return _NOTHING
    # The constant may be 1 or 0, and left out.
    return frozenset([kind]).union(*(value.open & {"quotient"} for value in values))


def kept_apart(operation: Operation) -> Operation:
    """Return an operation whose operands are shielded where XLA could rewrite them together with it.

    A constant factor is joined with another, and with a factor that several elements share.
    """
    kind, values, name = _KIND.get(operation.name), operation.values, operation.name
    if kind is None or not is_float(operation.out.dtype):
        return operation
    apart = {"quotient"} if name == "div" else set()
    shared = [value.constant or (kind == "factor" and _is_shared(value, operation)) for value in values]
    joined = all(one or kind in value.open for one, value in zip(shared, values, strict=True))
    if name == "div":
        joined = joined and shared[1]  # it is multiplied by the reciprocal
    if kind == "term":
        joined = joined and any(shared)  # `(x + 0.1) + (y + 0.7)` stays, and `(x * 0.1) * (y * 0.7)` does not
    if joined:
        apart.add(kind)
    if not any(value.open & apart for value in values):
        return operation
    return dataclasses.replace(operation, values=[_shielded(v) if v.open & apart else v for v in values])


def shared_divisor(operation: Operation) -> Value | None:
    """Return the divisor if several elements share it, or all runs: its reciprocal is multiplied by. None otherwise."""
    divisor = operation.values[1]
    if divisor.thin is not None:
        return divisor.thin
    shared = _is_shared(divisor, operation) or (operation.varies and divisor.constant)
    return divisor if shared else None


def _is_negative_power(operation: Operation) -> bool:
    """Return whether an operation is a power that is computed with a division."""
    if operation.name == "integer_pow":
        return bool(operation.params["y"] < 0)
    exponent = operation.values[1].range if operation.name == "pow" else None
    return exponent is not None and exponent[0] < 0


def _is_shared(value: Value, operation: Operation) -> bool:
    """Return whether several elements of the result share an element of a value."""
    return value.thin is not None or value.shape != operation.shape


def _shielded(value: Value) -> Value:
    """Return a value as it is, behind a comparison."""
    thin = None if value.thin is None else _shielded(value.thin)
    return value._replace(array=shield(value.array, value.range), thin=thin, open=_NOTHING)
