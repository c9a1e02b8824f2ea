"""The rule of numerics, and the operations that it requires.

A compiler may contract `a * b + c` into one fused multiply-add in one fusion and not in another. JAX's `log` differs
in its last bit between some vector lengths, and a reduction adds in any order. An index policy turns a different last
bit into another arm, and so into another run. A run must have the same bits alone, in a batch of any size, under
`vmap` and on any number of devices of one kind. So, in everything that a run computes between its first pull and its
answer:

* maximum and minimum are `fast_max` and `fast_min`: one instruction each, where JAX's spend several on NaN and on the
  sign of zero;
* `log`, `exp` and `log1pmx` are those below, and powers are composed of them: `exp(no_fma(p * log(x)))`;
* a product of floats that is added to something is `no_fma` first, unless it is exact (by a power of two) or whole;
* sums over arms are those of `arrays/arms.py`, selections of `arrays/ranking.py`; sums that grow with the
  pulls are whole, or a `CompensatedSum` (`arrays/compensated_sums.py`): a plain float32 sum of ones stops at 2^24;
* a state holds whole numbers, masks, float32 that are functions of these or of compensated sums, and no running mean;
* randomness is a block of `random/threefry.py` under a stream of `random/streams.py`, never a draw of `jax.random`;
* forms for one compiler's speed are in `compilers/xla_cpu.py`, and in the operations over arms.

Sums, differences, quotients and square roots of floats are rounded as IEEE 754 says, and need no care. There are two
exceptions (JAX 0.10.2). One is a quotient whose divisor has fewer axes. Depending on the rest of the program, XLA may
turn `x / s` into `x * (1 / s)`. So write the latter, `no_fma` where it is added to something. The other is a quotient
that is divided or divided by, or a root that is divided by: XLA writes `(a / b) / c` as `a / (b * c)`. Write that
yourself. Host code before or after the runs is free of the rule. `tests/arrays/test_numerics_rule.py` enforces it, and
lists its exceptions with their reasons.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike, DTypeLike

__all__ = [
    "LEAST_EXPONENT",
    "LN2_HIGH",
    "LN2_LOW",
    "MAX_COUNT",
    "NO_LIMIT",
    "ROUNDING",
    "SMALLEST",
    "exp",
    "expm1",
    "exponent_and_mantissa",
    "fast_max",
    "fast_min",
    "log",
    "log1pmx",
    "no_fma",
]

#: Counts are int32: this many pulls, runs or steps are refused up front.
MAX_COUNT = 2**31 - 1
#: As `max_pulls`: no limit. Times beyond the range of the counts are capped at one below.
NO_LIMIT = MAX_COUNT
#: Means are float32: the difference of two may be wrong by this share of the larger one, four of its spacings.
ROUNDING = 2.0**-21
#: The smallest normal float32: smaller numbers become 0.
SMALLEST = float(np.finfo(np.float32).tiny)
#: `exp` is 0 below.
LEAST_EXPONENT = -87.0
_LOWEST = float(np.finfo(np.float32).min)
#: ln 2 in two parts; the first has 12 trailing zero bits, so its product with an exponent is exact.
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.42860677e-06
_SQRT_HALF_BITS = 0x3F3504F3


def fast_max(a: ArrayLike, b: ArrayLike) -> jax.Array:
    """Return the elementwise maximum by one machine instruction.

    `jnp.maximum` spends several on NaN and on the sign of zero.
    """
    return _choose(jnp.asarray(a > b), a, b)  # type: ignore[operator]


def fast_min(a: ArrayLike, b: ArrayLike) -> jax.Array:
    """Return the elementwise minimum by one machine instruction."""
    return _choose(jnp.asarray(a < b), a, b)  # type: ignore[operator]


def _choose(condition: jax.Array, a: ArrayLike, b: ArrayLike) -> jax.Array:
    # `jnp.where` is a nested call, and a nested call inside a reduction with an unused result crashes the compiler of
    # JAX 0.10.2.
    if isinstance(a, jax.Array) and isinstance(b, jax.Array) and a.dtype == b.dtype:
        if not b.shape:
            b = lax.broadcast(b, a.shape)
        if a.shape == b.shape:
            return lax.select(condition, a, b)
    return jnp.where(condition, a, b)


def no_fma(product: jax.Array) -> jax.Array:
    """Return the float32 product, protected from contraction with a following sum.

    Args:
        product: float32, not NaN.

    Returns:
        The same values; a comparison separates the product from any sum that it is added to.
    """
    return fast_max(product, jnp.asarray(_LOWEST, product.dtype))


def exponent_and_mantissa(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return e, int32, and m, float32 in [sqrt(1/2), sqrt(2)), with x = 2^e m; of positive, normal float32 numbers."""
    bits = lax.bitcast_convert_type(x, jnp.int32) - jnp.int32(_SQRT_HALF_BITS)
    return bits >> 23, lax.bitcast_convert_type((bits & 0x7FFFFF) + jnp.int32(_SQRT_HALF_BITS), jnp.float32)


@functools.partial(jax.jit, inline=True)  # outside `custom_jvp`, which traces its function at each call
def log(x: jax.Array) -> jax.Array:
    """Return the natural logarithm of positive, normal float32 numbers, within 2 units in the last place.

    It is differentiable.

    Args:
        x: float32 (other types are converted), shape `(…)`, positive and not subnormal.

    Returns:
        float32, shape `(…)`.
    """
    return _log(jnp.asarray(x, jnp.float32))


@jax.custom_jvp
def _log(x: jax.Array) -> jax.Array:
    exponent, mantissa = exponent_and_mantissa(x)
    # log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| <= 0.172: six terms of the series leave less than 1e-10.
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = jnp.full_like(z, 2.0 / 11)
    for denominator in (9, 7, 5, 3):
        series = no_fma(z * series) + jnp.float32(2.0 / denominator)
    tail = no_fma(s * no_fma(z * series))
    e = exponent.astype(jnp.float32)
    return no_fma(e * LN2_HIGH) + (2.0 * s + (tail + no_fma(e * LN2_LOW)))


@_log.defjvp
def _log_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (dx,) = primals, tangents
    return _log(x), dx / x


class _Format(NamedTuple):
    """The layout of a type of floats, and the constants with which `log1pmx` is exact to its rounding."""

    bits: DTypeLike
    fraction: int  # bits of the mantissa
    sqrt_half: int  # the bits of sqrt(1/2)
    ln2: tuple[float, float]  # two parts, the first with trailing zero bits: its product with an exponent is exact
    terms: int  # of the series below: s^2 <= 0.0295


_FORMATS = {
    np.dtype(np.float32): _Format(jnp.int32, 23, _SQRT_HALF_BITS, (LN2_HIGH, LN2_LOW), 5),
    np.dtype(np.float64): _Format(
        jnp.int64, 52, 0x3FE6A09E667F3BCD, (6.93147180369123816490e-01, 1.90821492927058770002e-10), 10
    ),
}


@functools.partial(jax.jit, inline=True)
def log1pmx(x: jax.Array, above: jax.Array) -> jax.Array:
    """Return x - log(1 + x), exact to some units in the last place for small x too; differentiable in x.

    Kullback-Leibler divergences are composed of it: their linear parts cancel on paper, not in floats.

    Args:
        x: float32, or float64 (for theory; runs have none), shape `(…)`, at least -1.
        above: 1 + x, given separately: near -1 it has digits that x lacks; positive and not subnormal.

    Returns:
        The type and shape of x, at least 0.
    """
    return _log1pmx(x, above)


@jax.custom_jvp
def _log1pmx(x: jax.Array, above: jax.Array) -> jax.Array:
    form = _FORMATS[np.dtype(x.dtype)]
    start = jnp.asarray(form.sqrt_half, form.bits)
    bits = lax.bitcast_convert_type(above, form.bits) - start
    exponent = bits >> form.fraction
    mantissa = lax.bitcast_convert_type((bits & ((1 << form.fraction) - 1)) + start, x.dtype)
    near = exponent == 0  # 1 + x in [sqrt(1/2), sqrt(2)): the logarithm is that of 1 + d with d = x itself
    d = jnp.where(near, x, mantissa - 1.0)
    # log(1 + d) = 2 artanh(s) = 2 s + 2 s^3 (1/3 + s^2/5 + …), and d - 2 s = d s.
    s = d / (2.0 + d)
    z = s * s
    series = jnp.full_like(z, 2.0 / (2 * form.terms + 3))
    for k in range(form.terms - 1, -1, -1):
        series = no_fma(z * series) + jnp.asarray(2.0 / (2 * k + 3), x.dtype)
    tail = no_fma(z * series)
    e = exponent.astype(x.dtype)
    high, low = form.ln2
    far = (x - no_fma(e * high)) - (2.0 * s + (no_fma(s * tail) + no_fma(e * low)))
    return jnp.where(near, no_fma(s * (d - tail)), far)


@_log1pmx.defjvp
def _excess_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (x, above), (dx, _) = primals, tangents
    return _log1pmx(x, above), x / above * dx


@functools.partial(jax.jit, inline=True)
def exp(x: jax.Array) -> jax.Array:
    """Return the exponential of float32 numbers, within 3 units in the last place; 0 below -87, e^88 above 88.

    Args:
        x: float32, shape `(…)`, not NaN.

    Returns:
        float32, shape `(…)`.
    """
    less, scale = _exp_parts(x)
    return jnp.where(x < LEAST_EXPONENT, 0.0, (less + 1.0) * scale)


@functools.partial(jax.jit, inline=True)
def expm1(x: jax.Array) -> jax.Array:
    """Return `exp(x) - 1`, within some units in the last place for small x too; -1 below -87, e^88 above 88.

    Args:
        x: float32, shape `(…)`, not NaN.

    Returns:
        float32, shape `(…)`.
    """
    less, scale = _exp_parts(x)
    return no_fma(less * scale) + (scale - 1.0)


def _exp_parts(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return `e^r - 1` and the power of two with `e^x = e^r 2^k`, |r| <= ln(2)/2."""
    x = fast_min(fast_max(x, jnp.float32(-87.5)), jnp.float32(88.0))
    k = jnp.round(x * jnp.float32(1.44269504))
    # The product with the first part of ln 2 is exact: 8 bits times 12.
    r = (x - no_fma(k * jnp.float32(LN2_HIGH))) - no_fma(k * jnp.float32(LN2_LOW))
    series = jnp.full_like(r, 1.0 / 5040)
    for factorial in (720, 120, 24, 6, 2, 1):
        series = no_fma(series * r) + jnp.float32(1.0 / factorial)
    scale = lax.bitcast_convert_type((k.astype(jnp.int32) + 127) << 23, jnp.float32)
    return no_fma(series * r), scale
