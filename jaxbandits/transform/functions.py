"""Functions of float32 with the same bits in every program, for all numbers: infinities, NaN and what has no value.

XLA's own functions differ in their last bits between vector lengths. Those of `arrays/numerics.py` are for the numbers
that the package gives them. The functions here are built from them, and take any number, as users' programs may.
"""

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays import numerics
from jaxbandits.arrays.numerics import SMALLEST
from jaxbandits.transform.products import shield

__all__ = ["erf_inv", "exp", "exp2", "expm1", "log", "log1p", "logistic", "power", "tanh"]

_LOG2_E = 1.44269504


def log(x: jax.Array) -> jax.Array:
    """Return the natural logarithm: -inf of 0 and of subnormal numbers, NaN below 0."""
    x = jnp.asarray(x, jnp.float32)
    inside = (x >= SMALLEST) & (x < jnp.inf)
    found = numerics.log(jnp.where(inside, x, 1.0))
    return jnp.where(inside, found, jnp.where(x == jnp.inf, x, jnp.where(jnp.abs(x) < SMALLEST, -jnp.inf, jnp.nan)))


def log1p(x: jax.Array) -> jax.Array:
    """Return the logarithm of 1 + x, to some units in the last place however small x is."""
    above = shield(1 + x)  # or a compiler would find x again in `less`, without the rounding of the sum
    less = above - 1  # Kahan: the quotient takes back the rounding of the sum
    exact = less == 0
    alone = exact | (above > 1e30)  # no rounding to take back, and the product with x might be too large
    return jnp.where(exact, x, log(above) * jnp.where(alone, 1.0, x) / jnp.where(alone, 1.0, less))


def exp(x: jax.Array) -> jax.Array:
    """Return e to the power of x: 0 where it is below the normal numbers, inf above the finite ones."""
    k, less = _exp_parts(x)
    return jnp.where(x == x, _scale(less + 1, k), x)


def exp2(x: jax.Array) -> jax.Array:
    """Return 2 to the power of x."""
    clipped = jnp.clip(x, -160.0, 160.0)
    k = jnp.round(clipped)
    return jnp.where(x == x, _scale(_less(shield((clipped - k) * jnp.float32(0.6931472))) + 1, k), x)


def expm1(x: jax.Array) -> jax.Array:
    """Return e to the power of x, less 1, to some units in the last place however small x is."""
    found = numerics.expm1(jnp.clip(x, -80.0, 80.0))
    return jnp.where(x > 80, exp(x), jnp.where(x == x, found, x))


def logistic(x: jax.Array) -> jax.Array:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + exp(-x))


def tanh(x: jax.Array) -> jax.Array:
    """Return the hyperbolic tangent."""
    less = expm1(-2 * jnp.abs(x))  # in (-1, 0]
    return jnp.where(x == x, jnp.sign(x) * (-less / (2 + less)), x)


def power(x: jax.Array, y: jax.Array) -> jax.Array:
    """Return x to the power of y, within |y| 2^-24 relatively, with the exceptions of IEEE 754."""
    size = jnp.abs(x)
    inside = (size >= SMALLEST) & (size < jnp.inf) & (jnp.abs(y) < jnp.inf)
    whole = jnp.round(y) == y
    odd = whole & (jnp.abs(y) < 2**24) & (jnp.round(y / 2) * 2 != y)
    found = _power(jnp.where(inside, size, 1.0), jnp.where(inside, y, 1.0))
    # Of 0, of infinities, and by infinite powers.
    grows = (size > 1) == (y > 0)
    limit = jnp.where(size == 1, 1.0, jnp.where(grows, jnp.inf, 0.0))
    found = jnp.where(inside, found, limit)
    found = jnp.where(jnp.signbit(x) & odd, -found, found)
    found = jnp.where((x < 0) & (size < jnp.inf) & ~whole, jnp.nan, found)
    return jnp.where((x == 1) | (y == 0), 1.0, jnp.where((x != x) | (y != y), jnp.nan, found))


def erf_inv(x: jax.Array) -> jax.Array:
    """Return the inverse error function, within 3e-7 relatively (Giles 2010, single precision)."""
    w = -log((1 - x) * (1 + x))  # 1 - x^2 with all its digits near 1
    near = w < 5
    t = jnp.where(near, w - 2.5, jnp.sqrt(w) - 3)
    series = jnp.zeros_like(x)
    for central, tail in _GILES:
        series = shield(series * t) + jnp.where(near, jnp.float32(central), jnp.float32(tail))
    return jnp.where(jnp.abs(x) == 1, x * jnp.inf, series * x)


#: Coefficients of the polynomials for w < 5 and beyond, the highest power first.
_GILES = (
    (2.81022636e-08, -0.000200214257),
    (3.43273939e-07, 0.000100950558),
    (-3.5233877e-06, 0.00134934322),
    (-4.39150654e-06, -0.00367342844),
    (0.00021858087, 0.00573950773),
    (-0.00125372503, -0.0076224613),
    (-0.00417768164, 0.00943887047),
    (0.246640727, 1.00167406),
    (1.50140941, 2.83297682),
)


def _power(x: jax.Array, y: jax.Array) -> jax.Array:
    """Return a positive, finite number to a finite power."""
    whole_exponent, mantissa = numerics.exponent_and_mantissa(x)
    exponent = whole_exponent.astype(jnp.float32)
    fraction = shield(numerics.log(mantissa) * jnp.float32(_LOG2_E))  # log2 x = exponent + fraction
    y = jnp.clip(y, -1e30, 1e30)
    # y in two parts of at most 12 bits, so that their products with the exponent are exact.
    high = lax.bitcast_convert_type(lax.bitcast_convert_type(y, jnp.int32) & jnp.int32(~0xFFF), jnp.float32)
    whole = shield(high * exponent)
    part = shield((y - high) * exponent) + shield(y * fraction)
    k = jnp.round(jnp.clip(whole + part, -160.0, 160.0))
    rest = jnp.clip((whole - k) + part, -1.0, 1.0)
    return _scale(_less(shield(rest * jnp.float32(0.6931472))) + 1, k)


def _exp_parts(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return a whole number k and e^r - 1 with e^x = 2^k e^r, |r| <= ln(2)/2."""
    x = jnp.clip(x, -110.0, 110.0)
    k = jnp.round(x * jnp.float32(_LOG2_E))
    r = (x - shield(k * jnp.float32(numerics.LN2_HIGH))) - shield(k * jnp.float32(numerics.LN2_LOW))
    return k, _less(r)


def _less(r: jax.Array) -> jax.Array:
    """Return e^r - 1 for |r| <= ln(2): Taylor's series."""
    series = jnp.full_like(r, 1.0 / 40320)
    for factorial in (5040, 720, 120, 24, 6, 2, 1):
        series = shield(series * r) + jnp.float32(1.0 / factorial)
    return shield(series * r)


def _scale(x: jax.Array, k: jax.Array) -> jax.Array:
    """Return x 2^k for x in [1/2, 2], in two steps: 2^k itself may be no float32."""
    k = k.astype(jnp.int32)
    half = k >> 1
    first, second = (lax.bitcast_convert_type((part + 127) << 23, jnp.float32) for part in (half, k - half))
    found = (x * first) * second
    return jnp.where(found < SMALLEST, 0.0, found)
