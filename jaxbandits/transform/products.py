"""Find products that a compiler could contract with a sum, and shield them from that.

`a * b + c` may become one fused multiply-add in one program and not in another, and a last bit decides which arm is
pulled. A product that may be added to something is therefore hidden behind a comparison.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxbandits.arrays.numerics import fast_max, fast_min
from jaxbandits.compilers.jaxpr_types import Atom, Jaxpr, JaxprEqn, Var
from jaxbandits.transform.operation import Range, is_float

__all__ = ["exposed_results", "shield", "wide_type"]

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


def exposed_results(jaxpr: Jaxpr) -> set[Var]:
    """Return the variables of a program that may reach a sum with nothing in between, its results among them."""
    exposed = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    made_by = {variable: equation for equation in jaxpr.eqns for variable in equation.outvars}
    for equation in reversed(jaxpr.eqns):
        name = equation.primitive.name
        if name in _END or (name in _MOVE and not exposed.intersection(equation.outvars)):
            continue
        if name == "select_n" and _is_shield(equation, made_by):
            continue
        exposed.update(atom for atom in equation.invars if isinstance(atom, Var))
    return exposed


def _is_shield(selection: JaxprEqn, made_by: dict[Var, JaxprEqn]) -> bool:
    """Return whether a choice is one of a number and of the lowest, the larger of both: `numerics.no_fma`."""
    condition, lowest, number = selection.invars[:3]
    comparison = made_by.get(condition) if isinstance(condition, Var) else None
    if comparison is None or comparison.primitive.name != "gt" or comparison.invars[0] is not number:
        return False
    values = (_constant_of(atom, made_by) for atom in (lowest, comparison.invars[1]))
    return is_float(number.aval.dtype) and all(value == jnp.finfo(number.aval.dtype).min for value in values)


def _constant_of(atom: Atom, made_by: dict[Var, JaxprEqn]) -> jax.Array | None:
    """Return the number that an operand is, or is made of; None where it is no constant."""
    while isinstance(atom, Var):
        maker = made_by.get(atom)
        if maker is None or maker.primitive.name not in ("broadcast_in_dim", "convert_element_type"):
            return None
        (atom,) = maker.invars
    return atom.val if np.ndim(atom.val) == 0 else None


def shield(product: jax.Array, known: Range | None = None) -> jax.Array:
    """Return a product of floats as it is, behind a comparison that no compiler can leave out.

    A compiler knows that a square is not negative, and leaves out what would tell it from the lowest number. So it is
    compared with the largest finite number. What is chosen where it is no such number, infinity or NaN, is the same
    plus infinity, which is the same, as a compiler would have to compute to know.

    For a product that is known to be finite one comparison is enough, with the largest number. A compiler knows that a
    square is not negative, but not that it is at most this number. If no product is positive, the lowest number is
    used.

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
            return fast_max(product, jnp.asarray(info.min, product.dtype))
        return fast_min(product, jnp.asarray(info.max, product.dtype))
    return jnp.where(
        product <= jnp.asarray(info.max, product.dtype), product, product + jnp.asarray(jnp.inf, product.dtype)
    )


def wide_type(dtype: DTypeLike) -> DTypeLike:
    """Return the type that numbers of a type are multiplied and added in: float32 for floats that are shorter.

    A sum of 1000 terms in bfloat16 stops growing after a few hundred.
    """
    return jnp.float32 if is_float(dtype) and jnp.dtype(dtype).itemsize < 4 else dtype
