"""Operations that work on each element: nothing changes but the shapes, and the arithmetic of floats where it must."""

import dataclasses
import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays import numerics
from jaxbandits.compilers.known_functions import KnownFunction
from jaxbandits.compilers.xla_cpu import materialize
from jaxbandits.transform import functions
from jaxbandits.transform.operation import Operation, Value, is_float, spread, with_arms
from jaxbandits.transform.products import shield, wide_type
from jaxbandits.transform.ranges import range_of
from jaxbandits.transform.rewrites import shared_divisor

__all__ = ["RULES", "apply", "apply_whole"]

_PLAIN = {
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "cbrt", "ceil", "clamp", "clz", "complex", "conj", "convert_element_type", "copy", "copy_p",
    "cos", "cosh", "digamma", "eq", "erf", "erfc", "floor", "ge", "gt", "imag", "is_finite", "le", "lgamma", "lt",
    "ne", "neg", "nextafter", "not", "or", "population_count", "real", "reduce_precision", "rem",
    "round", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "stop_gradient",
    "sqrt", "sub", "tan", "xor",
}  # fmt: skip

#: Whole powers up to this one are products.
_SMALL_POWER = 8


def plain(operation: Operation) -> list[jax.Array]:
    """Apply an operation to operands of the same shape."""
    return operation.bind(*(operation.like_result(i) for i in range(len(operation.values))))


def extreme(operation: Operation) -> list[jax.Array]:
    """Take the larger or the smaller of two numbers; with a constant beside a float, in two instructions or one.

    NaN stays NaN, as the number that a comparison does not prefer to the constant; +0 is larger than -0.
    """
    largest, values = operation.name == "max", operation.values
    for i, value in enumerate(values):
        constant = value.array
        single = isinstance(constant, np.ndarray | np.generic | float) and np.ndim(constant) == 0
        if value.mapped or not single or not is_float(operation.out.dtype) or np.isnan(constant):
            continue
        c, x = operation.like_result(i), operation.like_result(1 - i)
        negative = bool(np.signbit(constant))
        if largest:
            wins = c >= x if constant == 0 and not negative else c > x
        else:
            wins = c <= x if constant == 0 and negative else c < x
        return [jnp.where(wins, c, x)]
    return plain(operation)


def multiply(operation: Operation) -> list[jax.Array]:
    """Multiply."""
    return _product(operation, operation.like_result(0), operation.like_result(1))


def square(operation: Operation) -> list[jax.Array]:
    """Multiply by itself."""
    x = operation.like_result(0)
    return _product(operation, x, x)


def integer_power(operation: Operation) -> list[jax.Array]:
    """Multiply by itself as often as a whole number says: by squaring again and again, each product shielded."""
    if operation.params["y"] == 2:
        return square(operation)
    return [_whole_power(operation, operation.params["y"])]


def raise_to_power(operation: Operation) -> list[jax.Array]:
    """Raise to a power; to a small whole one, which all runs share, by products."""
    exponent, known = operation.values[1], operation.values[1].range
    if exponent.mapped or known is None or known[0] != known[1] or known[0] % 1 or abs(known[0]) > _SMALL_POWER:
        return _function(functions.power)(operation)
    return [_whole_power(operation, int(known[0]))]


def _whole_power(operation: Operation, exponent: int) -> jax.Array:
    """Multiply a number by itself."""
    base, power, rest = operation.like_result(0), None, abs(exponent)
    while rest:
        if rest & 1:
            power = base if power is None else shield(power * base)
        rest >>= 1
        base = shield(base * base) if rest else base
    power = jnp.ones_like(base) if power is None else power
    return 1 / power if exponent < 0 else power


def divide(operation: Operation) -> list[jax.Array]:
    """Divide. By a number that several elements share, or all runs: multiply by its reciprocal.

    XLA does the latter itself or not, as the rest of a program has it. Of floats shorter than float32 both are taken as
    float32: their own reciprocal has too few digits.
    """
    x = operation.like_result(0)
    if not is_float(x.dtype):
        return [lax.div(x, operation.like_result(1))]
    shared = shared_divisor(operation)
    if shared is None:
        return [lax.div(x, operation.like_result(1))]
    wide = wide_type(x.dtype)
    reciprocal = Value(1 / jnp.asarray(shared.array).astype(wide), shared.mapped)
    (quotient,) = _product(operation, x.astype(wide), spread(reciprocal, operation.shape, operation.suffix))
    return [quotient.astype(x.dtype)]


def inverse_root(operation: Operation) -> list[jax.Array]:
    """Divide 1 by the square root; of other types than float32 as JAX does."""
    if operation.out.dtype != jnp.float32:
        return plain(operation)
    return [1 / shield(jnp.sqrt(operation.like_result(0)))]


def _product(operation: Operation, x: jax.Array, y: jax.Array) -> list[jax.Array]:
    """Multiply, and shield a product of floats that may be added to something."""
    return [shield(x * y, range_of(operation)) if operation.exposed else x * y]


def keep_bits(operation: Operation) -> list[jax.Array]:
    """Read the bits as numbers of another type, of as many bits or not."""
    if jnp.dtype(operation.params["new_dtype"]).itemsize == operation.aval(0).dtype.itemsize:
        return plain(operation)
    x = operation.full(0)  # the last axis of a run is made of parts, or is one of them
    if not operation.suffix:
        return operation.bind(x)
    return [jnp.moveaxis(operation.bind(jnp.moveaxis(x, -1, 0))[0], 0, -1)]


def logarithm(operation: Operation) -> list[jax.Array]:
    """Take the natural logarithm; of what is known to be positive, normal and finite without a look at the rest."""
    known = operation.values[0].range
    inside = known is not None and known[0] >= numerics.SMALLEST and known[1] < math.inf
    return _function(numerics.log if inside else functions.log)(operation)


def _function(function: Callable[..., jax.Array]) -> Callable[[Operation], list[jax.Array]]:
    """Make the rule of a function of float32; other types have JAX's own."""

    def rule(operation: Operation) -> list[jax.Array]:
        if operation.out.dtype != jnp.float32 or any(v.aval.dtype != jnp.float32 for v in operation.equation.invars):
            return plain(operation)
        return [function(*(operation.like_result(i) for i in range(len(operation.values))))]

    return rule


RULES: dict[str, Callable[[Operation], list[jax.Array]]] = {
    **dict.fromkeys(_PLAIN, plain),
    "select_n": plain,
    "max": extreme,
    "min": extreme,
    "mul": multiply,
    "square": square,
    "integer_pow": integer_power,
    "div": divide,
    "bitcast_convert_type": keep_bits,
    "rsqrt": inverse_root,
    "log": logarithm,
    "log1p": _function(functions.log1p),
    "exp": _function(functions.exp),
    "exp2": _function(functions.exp2),
    "expm1": _function(functions.expm1),
    "pow": raise_to_power,
    "logistic": _function(functions.logistic),
    "tanh": _function(functions.tanh),
    "erf_inv": _function(functions.erf_inv),
}


def apply(operation: Operation) -> Value:
    """Apply an operation on each element.

    Of numbers that are broadcast it is made before they are: of fewer, and XLA does the same or not, as it likes.
    """
    thin = [value.thin for value in operation.values if value.thin is not None]
    others = [value for value in operation.values if value.thin is None]
    if len(thin) != 1 or any(not value.constant or value.shape for value in others):
        return Value(RULES[operation.name](operation)[0], bool(operation.suffix))
    (shared,) = thin
    values = [shared if value.thin is not None else value for value in operation.values]
    suffix = operation.suffix if any(value.mapped for value in values) else ()
    before = dataclasses.replace(operation, values=values, suffix=suffix, shape=shared.shape)
    array = RULES[operation.name](before)[0]
    found = Value(array if any(size != 1 for size in shared.shape) else with_arms(array), bool(suffix))
    return Value(spread(found, operation.shape, suffix), found.mapped, found)


def apply_whole(known: KnownFunction, operation: Operation) -> Value:
    """Apply a function that is known as a whole, once, whatever uses its result has."""
    operands = [operation.like_result(i) for i in range(len(operation.values))]
    found = materialize(known.function, *operands)
    numbers = all(value.range is not None for value in operation.values)
    exposed = shield(found, known.range) if operation.exposed else found
    return Value(exposed, bool(operation.suffix), range=known.range if numbers else None)
