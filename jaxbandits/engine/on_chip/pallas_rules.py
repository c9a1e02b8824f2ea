"""Replacements for operations that kernel compilers lack: the same values, by a selection or a move.

A rule maps the operands of a primitive and its parameters to its result, or results. It returns None where it does
not apply: the primitive is then unchanged.
"""

import functools
from collections.abc import Callable, Sequence
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.arrays.pytrees import is_key
from jaxbandits.compilers.jaxpr_types import Parameters

__all__ = ["RULES", "Rule"]

#: The result of a primitive, or its results; None where a rule does not apply.
Found = jax.Array | list[jax.Array] | None
#: A function of operands and parameters.
Rule = Callable[[list[jax.Array], Parameters], Found]
_SIGN = np.uint32(1 << 31)


def _row(x: jax.Array, number: int | jax.Array) -> jax.Array:
    """Return one entry of the first axis, `(n, …)` to `(1, …)`."""
    if x.shape[0] == 1:
        return x
    if is_key(x):
        return jax.random.wrap_key_data(_row(jax.random.key_data(x), number), impl="threefry2x32")
    words = x.astype(jnp.int32) if x.dtype == bool else lax.bitcast_convert_type(x, jnp.int32)
    hit = lax.broadcasted_iota(jnp.int32, x.shape, 0) == number
    found = jnp.sum(jnp.where(hit, words, 0), axis=0, dtype=jnp.int32, keepdims=True)
    return found != 0 if x.dtype == bool else lax.bitcast_convert_type(found, x.dtype)


def _one_row(shape: Sequence[int], sizes: Sequence[int]) -> bool:
    return len(shape) > 1 and sizes[0] == 1 and tuple(shape[1:]) == tuple(sizes[1:])


def _slice(operands: list[jax.Array], parameters: Parameters) -> Found:
    (x,), start = operands, parameters["start_indices"]
    sizes = [b - a for a, b in zip(start, parameters["limit_indices"], strict=True)]
    return _row(x, start[0]) if _one_row(x.shape, sizes) else None


def _dynamic_slice(operands: list[jax.Array], parameters: Parameters) -> Found:
    x, first = operands[:2]
    if not _one_row(x.shape, parameters["slice_sizes"]):
        return None
    return _row(x, fast_min(fast_max(jnp.asarray(first), 0), x.shape[0] - 1))


def _stack(operands: list[jax.Array], parameters: Parameters) -> Found:
    if parameters["axis"] != 0 or operands[0].ndim == 0:
        return None
    if operands[0].dtype == bool:
        return cast("jax.Array", _stack([x.astype(jnp.int32) for x in operands], parameters)) != 0
    shape = (len(operands), *operands[0].shape)
    place = lax.broadcasted_iota(jnp.int32, shape, 0)
    stacked = jnp.broadcast_to(operands[-1][None], shape)
    for number, x in enumerate(operands[:-1]):
        stacked = jnp.where(place == number, jnp.broadcast_to(x[None], shape), stacked)
    return stacked


def _concatenate(operands: list[jax.Array], parameters: Parameters) -> Found:
    if parameters["dimension"] != 0 or any(x.ndim < 2 or x.shape[0] != 1 for x in operands):
        return None
    return _stack([x.reshape(x.shape[1:]) for x in operands], {"axis": 0})


def _unstack(operands: list[jax.Array], parameters: Parameters) -> Found:
    (x,) = operands
    if parameters["axis"] != 0 or x.ndim < 2:
        return None
    return [_row(x, number).reshape(x.shape[1:]) for number in range(x.shape[0])]


def _cumsum(operands: list[jax.Array], parameters: Parameters) -> Found:
    (x,) = operands
    if parameters["axis"] != 0 or parameters["reverse"] or not jnp.issubdtype(x.dtype, jnp.integer):
        return None  # the order of additions of floats must not change
    place = lax.broadcasted_iota(jnp.int32, x.shape, 0)
    return lax.fori_loop(0, x.shape[0], lambda i, sums: sums + jnp.where(place >= i, _row(x, i), 0), jnp.zeros_like(x))


def _reduce_or(operands: list[jax.Array], parameters: Parameters) -> Found:
    return jnp.max(operands[0].astype(jnp.int32), axis=parameters["axes"]) != 0


def _reduce_and(operands: list[jax.Array], parameters: Parameters) -> Found:
    return jnp.min(operands[0].astype(jnp.int32), axis=parameters["axes"]) != 0


def _select(operands: list[jax.Array], parameters: Parameters) -> Found:
    del parameters
    which, *cases = operands
    if which.dtype != bool or cases[0].dtype != bool:
        return None
    return (which & cases[1]) | (~which & cases[0])


def _reduce_sum(operands: list[jax.Array], parameters: Parameters) -> Found:
    (x,) = operands
    if x.dtype != jnp.uint32:
        return None
    found = jnp.sum(lax.bitcast_convert_type(x, jnp.int32), axis=parameters["axes"], dtype=jnp.int32)
    return lax.bitcast_convert_type(found, jnp.uint32)


def _extremum(operands: list[jax.Array], parameters: Parameters, reduce: Callable[..., jax.Array]) -> Found:
    (x,) = operands
    if x.dtype != jnp.uint32:
        return None
    found = reduce(lax.bitcast_convert_type(x ^ _SIGN, jnp.int32), axis=parameters["axes"])
    return lax.bitcast_convert_type(found, jnp.uint32) ^ _SIGN


def _round(operands: list[jax.Array], parameters: Parameters) -> Found:
    (x,) = operands
    if parameters["rounding_method"] != lax.RoundingMethod.TO_NEAREST_EVEN:
        return None
    below = jnp.floor(x)
    rest, odd = x - below, below - 2 * jnp.floor(below / 2) != 0  # both exact
    whole = jnp.where((rest > 0.5) | ((rest == 0.5) & odd), below + 1, below)
    return jnp.where(whole == 0, x * 0, whole)  # with the sign of x


def _leading_zeros(operands: list[jax.Array], parameters: Parameters) -> Found:
    """Return the number of leading zeros, by halves: Triton has no such operation (JAX 0.11.2)."""
    del parameters
    (x,) = operands
    if x.dtype not in (jnp.int32, jnp.uint32):
        return None
    word, zeros = lax.bitcast_convert_type(x, jnp.uint32), jnp.full(x.shape, 32, jnp.int32)
    for half in (16, 8, 4, 2, 1):
        upper = word >> jnp.uint32(half)
        zeros = jnp.where(upper != 0, zeros - half, zeros)
        word = jnp.where(upper != 0, upper, word)
    return (zeros - word.astype(jnp.int32)).astype(x.dtype)  # what is left is 0 or 1


#: Rules by the name of the primitive.
RULES: dict[str, Rule] = {
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "stack": _stack,
    "concatenate": _concatenate,
    "unstack": _unstack,
    "cumsum": _cumsum,
    "reduce_or": _reduce_or,
    "reduce_and": _reduce_and,
    "reduce_sum": _reduce_sum,
    "reduce_max": functools.partial(_extremum, reduce=jnp.max),
    "reduce_min": functools.partial(_extremum, reduce=jnp.min),
    "round": _round,
    "clz": _leading_zeros,
    "select_n": _select,
}
