"""Floating-point operations whose bits do not depend on how the compiler arranges the program around them.

A compiler may contract `a * b + c` into one fused multiply-add in one fusion and not in another, and JAX's `log`
differs in its last bit between some vector lengths. An index policy turns a last bit into another arm, and so into
another run. The few operations here are written so that a run has the same bits alone, in a batch of any size, under
`vmap` and on any number of devices of one kind.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = [
    "MAX_COUNT",
    "NO_LIMIT",
    "apart",
    "exp",
    "in_blocks",
    "larger",
    "log",
    "rounded",
    "smaller",
    "where_any",
    "where_few",
]

#: Counts are int32: this many pulls, runs or steps are refused up front.
MAX_COUNT = 2**31 - 1
#: As `max_pulls`: no limit. Times that have passed the range of the counts stay one below.
NO_LIMIT = MAX_COUNT
_LOWEST = float(np.finfo(np.float32).min)
# ln 2 in two parts; the first has 12 trailing zero bits, so its product with an exponent is exact.
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.42860677e-06
_SQRT_HALF_BITS = 0x3F3504F3


def larger(a: jax.Array, b: jax.Array) -> jax.Array:
    """Elementwise maximum in one machine instruction (`jnp.maximum` spends several on NaN and on the sign of zero)."""
    return _choose(a > b, a, b)


def smaller(a: jax.Array, b: jax.Array) -> jax.Array:
    """Elementwise minimum in one machine instruction."""
    return _choose(a < b, a, b)


def apart(true: jax.Array, function: Callable[..., Any], *operands: Any) -> Any:
    """`function(*operands)`, computed once.

    XLA:CPU copies what looks cheap, a block cipher say, into each of its uses and computes it that often. The operands
    and results of a branch are kept in memory, whatever they cost.

    Args:
        true: bool `()`, always true, but not so that a compiler can know.
        function: from arrays to arrays.
        *operands: pytrees of arrays.
    """

    def branch(*operands: Any) -> Any:
        shapes = jax.eval_shape(function, *operands)
        nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        # As a branch's operands, keys would be copied row by row at every call.
        words = jax.tree.map(_words_first, operands)

        def once(*words: Any) -> Any:
            return function(*jax.tree.map(_with_keys, operands, words))

        return lax.cond(true, once, lambda *_: nothing, *words)

    return lax.platform_dependent(*operands, cpu=branch, default=function)


def _is_key(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def _words_first(leaf: jax.Array) -> jax.Array:
    """The words of keys `(…)`, uint32 `(2, …)`; other arrays as they are."""
    return jnp.moveaxis(jax.random.key_data(leaf), -1, 0) if _is_key(leaf) else leaf


def _with_keys(like: jax.Array, leaf: jax.Array) -> jax.Array:
    """The inverse of `_words_first`."""
    return (
        jax.random.wrap_key_data(jnp.moveaxis(leaf, 0, -1), impl=jax.random.key_impl(like)) if _is_key(like) else leaf
    )


def in_blocks(function: Callable[..., jax.Array], *operands: jax.Array, elements: int = 8192) -> jax.Array:
    """`function(*operands)`, on CPU for a block of rows at a time.

    What the function stores in between then stays in the nearer caches, and its branches and loops over a whole batch
    follow the needs of a block.

    Args:
        function: elementwise, from arrays to one array.
        *operands: arrays whose shapes broadcast; what has one row is shared by all.
        elements: how many elements make a block.
    """
    shape = jnp.broadcast_shapes(*(operand.shape for operand in operands))
    rows = max(1, elements // max(1, math.prod(shape[1:])))
    if not shape or shape[0] <= rows:
        return function(*operands)

    def branch(*operands: jax.Array) -> jax.Array:
        def block(i: jax.Array | int, done: jax.Array) -> jax.Array:
            first = jnp.minimum(i * rows, shape[0] - rows)  # the last block may repeat some rows
            some = (x if x.shape[0] == 1 else lax.dynamic_slice_in_dim(x, first, rows) for x in operands)
            return lax.dynamic_update_slice_in_dim(done, function(*some), first, 0)

        result = jax.eval_shape(function, *operands)
        return lax.fori_loop(0, -(-shape[0] // rows), block, jnp.zeros(result.shape, result.dtype))

    return lax.platform_dependent(*operands, cpu=branch, default=function)


def where_any(condition: jax.Array, function: Callable[[Any], Any], state: Any) -> Any:
    """`function(state)` for the runs where the condition holds, `state` elsewhere.

    On CPU nothing is computed when no run asks for it: for events that are rare but costly.

    Args:
        condition: bool `(…)`.
        function: from a pytree of arrays `(…)` or with axes before, to the same.
        state: such a pytree.
    """

    def changed(state: Any) -> Any:
        return jax.tree.map(lambda new, old: jnp.where(condition, new, old), function(state), state)

    def branch(state: Any) -> Any:
        return lax.cond(jnp.any(condition), changed, lambda state: state, state)

    return lax.platform_dependent(state, cpu=branch, default=changed)


def where_few(condition: jax.Array, function: Callable[..., Any], state: Any, *fixed: Any, width: int = 16) -> Any:
    """`where_any` for what is so costly that it is computed for a few runs at a time, those where the condition holds.

    Args:
        condition: bool `(…)`.
        function: from `state` and `fixed`, both of a few runs, to the new state of these.
        state: pytree of arrays `(…)` or with axes before.
        *fixed: pytrees that the function reads; leaves with as many runs, or shared by all.
        width: how many runs are taken at a time.
    """
    if condition.ndim != 1 or condition.shape[0] <= width:

        def changed(state: Any) -> Any:
            new = function(state, *fixed)
            return jax.tree.map(lambda new, old: jnp.where(condition, new, old), new, state)

        return lax.cond(jnp.any(condition), changed, lambda state: state, state)
    runs = condition.shape[0]

    def take_some(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        waiting, state = carry
        (run,) = jnp.nonzero(waiting, size=width, fill_value=runs)
        # Where fewer wait, the first of them is computed again and dropped.
        source = jnp.where(run < runs, run, run[0])
        some = jax.tree.map(lambda x: x[..., source] if x.ndim and x.shape[-1] == runs else x, (state, fixed))
        new = function(some[0], *some[1])
        state = jax.tree.map(lambda x, value: x.at[..., run].set(value, mode="drop"), state, new)
        return waiting.at[run].set(False, mode="drop"), state

    return lax.while_loop(lambda carry: jnp.any(carry[0]), take_some, (condition, state))[1]


def _choose(condition: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    # `jnp.where` is a call of its own, and a call inside a reduction whose result goes unused crashes the compiler of
    # JAX 0.10.2.
    if jnp.shape(a) == jnp.shape(b):
        return lax.select(condition, a, b)
    return jnp.where(condition, a, b)


def rounded(product: jax.Array) -> jax.Array:
    """The float32 product itself, shielded from contraction with a following sum.

    Args:
        product: float32, not NaN.

    Returns:
        The same values; a comparison stands between the product and whatever is added to it.
    """
    return larger(product, jnp.asarray(_LOWEST, product.dtype))


@jax.custom_jvp
def log(x: jax.Array) -> jax.Array:
    """Natural logarithm of positive, normal float32 numbers, within 2 units in the last place; differentiable.

    Args:
        x: float32 (other types are converted), shape `(…)`, positive and not subnormal.

    Returns:
        float32, shape `(…)`.
    """
    x = jnp.asarray(x, jnp.float32)
    bits = lax.bitcast_convert_type(x, jnp.int32) - jnp.int32(_SQRT_HALF_BITS)
    exponent = bits >> 23
    mantissa = lax.bitcast_convert_type((bits & 0x7FFFFF) + jnp.int32(_SQRT_HALF_BITS), jnp.float32)
    # log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| <= 0.172: six terms of the series leave less than 1e-10.
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = jnp.full_like(z, 2.0 / 11)
    for denominator in (9, 7, 5, 3):
        series = rounded(z * series) + jnp.float32(2.0 / denominator)
    tail = rounded(s * rounded(z * series))
    e = exponent.astype(jnp.float32)
    return rounded(e * _LN2_HIGH) + (2.0 * s + (tail + rounded(e * _LN2_LOW)))


@log.defjvp
def _log_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (dx,) = primals, tangents
    return log(x), dx / x


def exp(x: jax.Array) -> jax.Array:
    """Exponential function of float32 numbers, within 3 units in the last place; 0 below -87, e^88 above 88.

    Args:
        x: float32, shape `(…)`, not NaN.

    Returns:
        float32, shape `(…)`.
    """
    x = smaller(larger(x, jnp.float32(-87.5)), jnp.float32(88.0))
    k = jnp.round(x * jnp.float32(1.44269504))
    # The product with the first part of ln 2 is exact: 8 bits times 12.
    r = (x - rounded(k * jnp.float32(_LN2_HIGH))) - rounded(k * jnp.float32(_LN2_LOW))
    series = jnp.full_like(r, 1.0 / 5040)
    for factorial in (720, 120, 24, 6, 2, 1, 1):
        series = rounded(series * r) + jnp.float32(1.0 / factorial)
    scale = lax.bitcast_convert_type((k.astype(jnp.int32) + 127) << 23, jnp.float32)
    return jnp.where(x < -87, 0.0, series * scale)
