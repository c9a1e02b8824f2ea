"""Floating-point operations whose bits do not depend on how the compiler arranges the program around them.

A compiler may contract `a * b + c` into one fused multiply-add in one fusion and not in another, and JAX's `log`
differs in its last
bit between some vector lengths. An index policy turns a last bit into another arm, and so into another run. The few
operations here
are written so that a run has the same bits alone, in a batch of any size, under `vmap` and on any number of devices of
one kind.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["MAX_COUNT", "larger", "log", "rounded", "smaller"]

#: Counts are int32: this many pulls, runs or steps are refused up front.
MAX_COUNT = 2**31 - 1
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
