"""Which products a compiler could contract with a sum, and the shield that keeps it from doing so.

`a * b + c` may become one fused multiply-add in one program and not in another, and a last bit decides which arm is
pulled. A product that may be added to something is therefore hidden behind a comparison.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend import core

from jaxbandits.arrays.numerics import larger, smaller
from jaxbandits.transform.operation import Range, is_float

__all__ = ["exposed_results", "shield"]

#: Operations after which no product is left that could be contracted.
_END = {
    "abs", "max", "min", "mul", "div", "rem", "sqrt", "rsqrt", "sign", "floor", "ceil", "round", "eq", "ne", "lt", "le",
    "gt", "ge", "is_finite", "argmax", "argmin", "log", "log1p", "exp", "exp2", "expm1", "pow", "integer_pow", "square",
    "logistic", "tanh", "erf_inv", "bitcast_convert_type", "reduce_max", "reduce_min", "sort", "reduce_prod", "cumprod",
    "cummax", "cummin", "clamp",
}  # fmt: skip
#: Operations that move numbers: what they are given is exposed where their results are. Any other exposes all.
_MOVE = {
    "neg", "select_n", "copy", "copy_p", "convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "transpose",
    "slice", "concatenate", "pad", "rev", "gather", "dynamic_slice", "dynamic_update_slice", "scatter", "split",
    "reduce_precision", "stop_gradient", "expand_dims", "optimization_barrier", "top_k",
}  # fmt: skip


def exposed_results(jaxpr: Any) -> set[Any]:
    """Return the variables of a program that may reach a sum with nothing in between, its results among them."""
    exposed = {atom for atom in jaxpr.outvars if isinstance(atom, core.Var)}
    for equation in reversed(jaxpr.eqns):
        name = equation.primitive.name
        if name in _END or (name in _MOVE and not exposed.intersection(equation.outvars)):
            continue
        exposed.update(atom for atom in equation.invars if isinstance(atom, core.Var))
    return exposed


def shield(product: jax.Array, known: Range | None = None) -> jax.Array:
    """Return a product of floats as it is, behind a comparison that no compiler can leave out.

    A compiler knows that a square is not negative, and leaves out what would tell it from the lowest number. So the
    size is compared with that of the largest finite number. What is chosen where it is as large is the same number,
    which a compiler has to compute to know.

    Of a product that is known to be finite one comparison does, with the largest number: of a square a compiler knows
    that it is not negative, and not that it is no larger. (With the lowest number, where none is positive.)

    Args:
        product: float, any shape.
        known: the range of the product, where it is known.

    Returns:
        The same numbers, NaN and infinities too.
    """
    if not is_float(product.dtype):
        return product
    info = jnp.finfo(product.dtype)
    if known is not None and -math.inf < known[0] and known[1] < math.inf:
        if known[1] <= 0:
            return larger(product, jnp.asarray(info.min, product.dtype))
        return smaller(product, jnp.asarray(info.max, product.dtype))
    large = jnp.abs(product) >= jnp.asarray(info.max, product.dtype)
    return jnp.where(large, product + product * jnp.asarray(info.eps / 8, product.dtype), product)
