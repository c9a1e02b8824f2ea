"""Roots of counts: compute sqrt(s / n) as sqrt(s) times 1 / sqrt(n), which the engine keeps.

With 50 arms, a division and a root for every arm take longer than the rest of a decision. Counts change for one arm at
a step, so the engine updates their inverse roots. The result differs from that of the two operations by at most two
units in the last place. A whole multiple of counts that int32 would wrap has its true value here.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from jaxbandits.transform.operation import Counts, Operation, Range, Value, spread
from jaxbandits.transform.products import shield
from jaxbandits.transform.ranges import range_of

__all__ = ["counts_of", "is_moderate", "with_root"]

_MOVES = {"copy", "broadcast_in_dim"}


def counts_of(operation: Operation) -> Counts | None:
    """Return what is known of a result as a multiple of counts."""
    name, values = operation.name, operation.values
    first = values[0].counts if values else None
    if name in _MOVES and first is not None and values[0].shape == operation.shape:
        return first
    if name == "convert_element_type" and first is not None:
        return first if _is_kept(operation.aval(0).dtype, operation.out.dtype) else None
    if operation.out.dtype != jnp.float32 and not (operation.out.dtype == jnp.int32 and name == "mul"):
        return None
    if name == "sqrt" and first is not None and first.power == 1:
        return first._replace(scale=_root(first.scale), power=0.5)
    if name == "mul":
        for one, other in ((0, 1), (1, 0)):
            known, factor = values[one].counts, _once(values[other])
            # A constant: what is known of others may be known in one program and not in another. And a moderate one:
            # what is divided by it first is not to overflow.
            constant = factor is not None and factor.constant and factor.range is not None
            if known is not None and factor is not None and constant and is_moderate(factor.range):
                return known._replace(scale=_combined(known.scale, factor, jnp.multiply))
    if name == "div" and (below := values[1].counts) is not None and below.power == 1:
        above = _once(values[0])
        return None if above is None else below._replace(scale=_combined(above, below.scale, jnp.divide), power=-1)
    return None


def with_root(operation: Operation) -> Value | None:
    """Return the result of an operation that is a multiple of the inverse roots of counts; None for any other."""
    name, values = operation.name, operation.values
    known, scale = values[-1].counts if values else None, None
    if known is None or operation.out.dtype != jnp.float32:
        return None
    if name == "sqrt" and known.power == -1:
        scale = _root(known.scale)
    elif name == "rsqrt" and known.power == 1:
        scale = _combined(Value(jnp.float32(1), False), _root(known.scale), jnp.divide)
    elif name == "div" and known.power == 0.5 and (above := _once(values[0])) is not None:
        scale = _combined(above, known.scale, jnp.divide)
    if scale is None:
        return None
    found = spread(scale, operation.shape, operation.suffix) * known.root
    if operation.exposed:
        return Value(shield(found, range_of(operation)), True)
    return Value(found, True, open=frozenset(["factor"]) if scale.constant else frozenset())


def is_moderate(found: Range | None) -> bool:
    """Return whether all numbers of a range are positive, and neither tiny nor huge."""
    return found is not None and found[0] >= 2.0**-24 and found[1] <= 2.0**24


def _is_kept(before: DTypeLike, after: DTypeLike) -> bool:
    """Return whether counts of a type, or floats, are the same numbers in another, up to a rounding of float32."""
    whole = jnp.issubdtype(before, jnp.integer) and jnp.issubdtype(after, jnp.integer)
    return bool(after == jnp.float32 or (whole and jnp.dtype(after).itemsize >= jnp.dtype(before).itemsize))


def _once(value: Value) -> Value | None:
    """Return what a run has once, of which a value is a broadcast; None where entries differ."""
    if value.thin is not None and not any(size != 1 for size in value.thin.shape):
        thin = value.thin
        array = thin.array.reshape(thin.array.shape[len(thin.shape) :])
        return Value(array, thin.mapped, range=value.range, fixed=value.fixed)
    return value if not value.shape else None


def _root(scale: Value) -> Value:
    return Value(shield(jnp.sqrt(scale.array)), scale.mapped, fixed=scale.fixed)  # it is divided by


def _combined(a: Value, b: Value, function: Callable[[jax.Array, jax.Array], jax.Array]) -> Value:
    """Combine two numbers that a run has once."""
    x, y = (jnp.asarray(value.array).astype(jnp.float32) for value in (a, b))
    mapped = a.mapped or b.mapped
    fixed = mapped and a.constant and b.constant
    found = function(x, y)
    return Value(shield(found) if fixed else found, mapped, fixed=fixed)  # the next constant is not joined with it
