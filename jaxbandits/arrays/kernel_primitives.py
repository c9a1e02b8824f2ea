"""A function written with the operations that compilers of kernels know: same values, other primitives.

Triton and Mosaic compile what stays on chip, and know fewer operations than XLA: no slice, no stack, no truth values
that are reduced, no rounding (JAX 0.10.2). `known_to_kernels` traces a function as it stands and writes each of those
in terms of others: a row is a masked sum of which all words but one are zero, a stack a choice by row. All of it is
exact, a selection or a move. What no rule is for stays as it is, and the compiler says whether it knows it.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from jaxbandits.arrays.jax_versions import scan_sizes
from jaxbandits.arrays.kernel_rules import RULES
from jaxbandits.arrays.numerics import smaller

__all__ = ["known_to_kernels"]


def known_to_kernels(function: Callable[..., Any], *operands: Any) -> Any:
    """`function(*operands)` in such operations; operands and results are pytrees of arrays."""
    jaxpr, shapes = jax.make_jaxpr(function, return_shape=True)(*operands)
    results = _evaluated(jaxpr, jax.tree.leaves(operands))
    return jax.tree.unflatten(jax.tree.structure(shapes), results)


def _evaluated(closed: ClosedJaxpr | Jaxpr, operands: Sequence[Any]) -> list[Any]:
    jaxpr, constants = (closed.jaxpr, closed.consts) if isinstance(closed, ClosedJaxpr) else (closed, [])
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *operands], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = _applied(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _applied(equation: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
    primitive: Any = equation.primitive
    name, parameters = primitive.name, equation.params
    if name in _CALLS:
        return _evaluated(parameters[_CALLS[name]], operands)
    if name in _LOOPS and (results := _LOOPS[name](operands, parameters)) is not None:
        return results
    if name in RULES and (result := RULES[name](operands, parameters)) is not None:
        return result if isinstance(result, list) else [result]
    bound = functools.partial(primitive.bind, *operands, **parameters)
    if _of_numbers(equation.outvars, operands):  # such as the negation of a constant, which Triton refuses
        with jax.ensure_compile_time_eval():
            found = jax.tree.map(lambda x: np.asarray(x)[()], bound())
    else:
        found = bound()
    return found if primitive.multiple_results else [found]


def _of_numbers(results: Sequence[Any], operands: list[Any]) -> bool:
    """Whether numbers are computed from nothing but numbers."""
    known = operands and not any(isinstance(x, jax.core.Tracer) for x in operands)
    return bool(known) and not any(variable.aval.shape for variable in results)


def _scan(operands: list[Any], parameters: dict[str, Any]) -> Any:
    fixed, carried = scan_sizes(parameters)
    constants, carry = operands[:fixed], operands[fixed:]
    if len(carry) != carried or len(parameters["jaxpr"].out_avals) != len(carry):
        return None  # no loop that only counts

    def body(words: list[Any], _: None) -> tuple[list[Any], None]:
        return _as_words(_evaluated(parameters["jaxpr"], [*constants, *_like(carry, words)])), None

    return _like(carry, lax.scan(body, _as_words(carry), None, length=parameters["length"])[0])


def _while(operands: list[Any], parameters: dict[str, Any]) -> Any:
    """A loop that carries what it only reads, too, and whether it goes on.

    Triton, of JAX 0.10.2, mixes up what a loop of unknown length carries, and crashes, once it finds that some of that
    never changes; so all of it is written anew, with the bits that it had, in a way which no compiler sees through.
    """
    first, second = parameters["cond_nconsts"], parameters["cond_nconsts"] + parameters["body_nconsts"]

    def goes_on(values: Sequence[Any]) -> jax.Array:
        wanted = _evaluated(parameters["cond_jaxpr"], [*values[:first], *values[second:]])[0]
        return jnp.asarray(wanted).astype(jnp.int32)

    def body(loop: tuple[jax.Array, list[Any]]) -> tuple[jax.Array, list[Any]]:
        going, words = loop
        nothing = smaller(going, jnp.int32(0))  # 1 is what going is
        fixed = [_with(word, nothing) for word in words[:second]]
        new = _evaluated(parameters["body_jaxpr"], _like(operands, words)[first:])
        return goes_on([*_like(operands[:second], fixed), *new]), [*fixed, *_as_words(new)]

    start = _as_words(operands)
    _, found = lax.while_loop(lambda loop: loop[0] != 0, body, (goes_on(operands), start))
    return _like(operands, found)[second:]


def _with(word: jax.Array, bits: jax.Array) -> jax.Array:
    """An array of words of 32 bits, each with other bits of int32 `()` flipped."""
    whole = lax.bitcast_convert_type(word, jnp.int32) ^ bits
    return lax.bitcast_convert_type(whole, word.dtype)


def _cond(operands: list[Any], parameters: dict[str, Any]) -> Any:
    branches = [lambda *x, branch=branch: _as_words(_evaluated(branch, x)) for branch in parameters["branches"]]
    return _like(parameters["branches"][0].out_avals, lax.switch(operands[0], branches, *operands[1:]))


def _as_words(values: Sequence[Any]) -> list[Any]:
    """Truth values as int32: no loop carries them on TPU."""
    return [jnp.asarray(x, jnp.int32 if x.dtype == bool else x.dtype) for x in values]


def _like(values: Sequence[Any], words: Sequence[Any]) -> list[Any]:
    """The inverse of `_as_words`."""
    return [word != 0 if x.dtype == bool else word for x, word in zip(values, words, strict=True)]


_CALLS = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "closed_call": "call_jaxpr"}
_LOOPS = {"scan": _scan, "while": _while, "cond": _cond}
