"""Rewrites a function with the operations that kernel compilers support: the same values, by other primitives.

Triton and Mosaic compile kernels that stay on chip, and support fewer operations than XLA: no slice, no stack, no
reduction of truth values, no rounding (JAX 0.10.2). `lower_for_pallas` traces a function and rewrites each of those in
terms of others. A row becomes a masked sum of words, of which all but one are zero; a stack becomes a choice by row.
All of it is exact, a selection or a move. An operation without a rule is unchanged, and the compiler reports whether
it supports it.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import fast_min
from jaxbandits.arrays.pytrees import is_key
from jaxbandits.compilers.jax_versions import scan_sizes
from jaxbandits.compilers.jaxpr_types import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Parameters, Var
from jaxbandits.engine.on_chip.pallas_rules import RULES

__all__ = ["lower_for_pallas"]


def lower_for_pallas(function: Callable[..., object], *operands: object) -> Any:
    """Return `function(*operands)` in supported operations; operands and results are pytrees of arrays."""
    jaxpr, shapes = jax.make_jaxpr(function, return_shape=True)(*operands)
    results = _evaluated(cast("ClosedJaxpr", jaxpr), jax.tree.leaves(operands))
    return jax.tree.unflatten(jax.tree.structure(shapes), results)


def _evaluated(closed: ClosedJaxpr | Jaxpr, operands: Sequence[jax.Array]) -> list[jax.Array]:
    jaxpr, constants = (closed.jaxpr, closed.consts) if isinstance(closed, ClosedJaxpr) else (closed, [])
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *operands], strict=True))

    def read(atom: Atom) -> jax.Array:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = _applied(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _applied(equation: JaxprEqn, operands: list[jax.Array]) -> Sequence[jax.Array]:
    primitive = equation.primitive
    name, parameters = primitive.name, equation.params
    if name in _CALLS:
        return _evaluated(parameters[_CALLS[name]], operands)
    if name in _LOOPS and (results := _LOOPS[name](operands, parameters)) is not None:
        return results
    if name in RULES and (result := RULES[name](operands, parameters)) is not None:
        return result if isinstance(result, list) else [result]
    bound = functools.partial(primitive.bind, *operands, **parameters)
    if _of_numbers(equation.outvars, operands):  # such as the negation of a constant, which Triton rejects
        with jax.ensure_compile_time_eval():
            found = jax.tree.map(lambda x: np.asarray(x)[()], bound())
    else:
        found = bound()
    return found if primitive.multiple_results else [found]


def _of_numbers(results: Sequence[Var], operands: list[jax.Array]) -> bool:
    """Return whether an operation has constant numbers only, as operands and as results."""
    known = operands and not any(isinstance(x, jax.core.Tracer) for x in operands)
    return bool(known) and not any(variable.aval.shape for variable in results)


def _scan(operands: list[jax.Array], parameters: Parameters) -> list[jax.Array] | None:
    fixed, carried = scan_sizes(parameters)
    constants, carry = operands[:fixed], operands[fixed:]
    if len(carry) != carried or len(parameters["jaxpr"].out_avals) != len(carry):
        return None  # not a pure counting loop

    def body(words: list[jax.Array], _: None) -> tuple[list[jax.Array], None]:
        return _as_words(_evaluated(parameters["jaxpr"], [*constants, *_like(carry, words)])), None

    return _like(carry, lax.scan(body, _as_words(carry), None, length=parameters["length"])[0])


def _while(operands: list[jax.Array], parameters: Parameters) -> list[jax.Array] | None:
    """Evaluate a loop that also carries its constants, and whether it continues.

    Triton, of JAX 0.10.2, confuses the carried values of a loop of unknown length, and crashes, once it finds that
    some of them never change. So all of them are rewritten with their own bits, in a way that no compiler sees
    through.
    """
    first, second = parameters["cond_nconsts"], parameters["cond_nconsts"] + parameters["body_nconsts"]

    def goes_on(values: Sequence[jax.Array]) -> jax.Array:
        wanted = _evaluated(parameters["cond_jaxpr"], [*values[:first], *values[second:]])[0]
        return jnp.asarray(wanted).astype(jnp.int32)

    def body(loop: tuple[jax.Array, list[jax.Array]]) -> tuple[jax.Array, list[jax.Array]]:
        going, words = loop
        nothing = fast_min(going, jnp.int32(0))  # 0, since going == 1 here, but the compiler cannot know it
        fixed = [_with(word, nothing) for word in words[:second]]
        new = _evaluated(parameters["body_jaxpr"], _like(operands, words)[first:])
        return goes_on([*_like(operands[:second], fixed), *new]), [*fixed, *_as_words(new)]

    start = _as_words(operands)
    _, found = lax.while_loop(lambda loop: loop[0] != 0, body, (goes_on(operands), start))
    return _like(operands, found)[second:]


def _with(word: jax.Array, bits: jax.Array) -> jax.Array:
    """Return an array of words of 32 bits, each with the given bits, int32 `()`, flipped."""
    whole = lax.bitcast_convert_type(word, jnp.int32) ^ bits
    return lax.bitcast_convert_type(whole, word.dtype)


def _cond(operands: list[jax.Array], parameters: Parameters) -> list[jax.Array] | None:
    branches = [lambda *x, branch=branch: _as_words(_evaluated(branch, x)) for branch in parameters["branches"]]
    return _like(parameters["branches"][0].out_avals, lax.switch(operands[0], branches, *operands[1:]))


def _as_words(values: Sequence[jax.Array]) -> list[jax.Array]:
    """Return truth values as int32, which no loop carries on TPU, and keys as uint32 `(…, 2)`, which have bits."""
    return [_as_word(x) for x in values]


def _as_word(x: jax.Array) -> jax.Array:
    if is_key(x):
        return jax.random.key_data(x)
    return jnp.asarray(x, jnp.int32 if x.dtype == bool else x.dtype)


def _like(values: Sequence[jax.Array], words: Sequence[jax.Array]) -> list[jax.Array]:
    """Return the inverse of `_as_words`; `values` have the types."""
    return [_of_word(x, word) for x, word in zip(values, words, strict=True)]


def _of_word(x: jax.Array, word: jax.Array) -> jax.Array:
    if is_key(x):
        return jax.random.wrap_key_data(word, impl="threefry2x32")
    return word != 0 if x.dtype == bool else word


_CALLS = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "closed_call": "call_jaxpr"}
_LOOPS = {"scan": _scan, "while": _while, "cond": _cond}
