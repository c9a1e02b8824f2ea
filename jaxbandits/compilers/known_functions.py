"""Slow elementwise functions that keep the rule of numerics: the transformation of rules applies them unchanged."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax

from jaxbandits.compilers.jaxpr_types import JaxprEqn

__all__ = ["KnownFunction", "function_called", "known_function"]

_PREFIX = "known_function_"


class KnownFunction(NamedTuple):
    """A registered elementwise function."""

    function: Callable[..., jax.Array]
    range: tuple[float, float]  # of the results, where no operand is NaN


_KNOWN: dict[str, KnownFunction] = {}


def known_function(least: float, most: float) -> Callable[[Callable[..., jax.Array]], Callable[..., jax.Array]]:
    """Register a function as elementwise, with results between two numbers.

    The transformation of rules (`jaxbandits/transform`) applies it unchanged, and computes it once.

    Args:
        least: the smallest result where no operand is NaN.
        most: the largest.
    """

    def known(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
        @functools.wraps(function)
        def named(*operands: jax.Array) -> jax.Array:
            return function(*operands)

        named.__name__ = name = f"{_PREFIX}{function.__module__.replace('.', '_')}_{function.__name__}"
        _KNOWN[name] = KnownFunction(function, (least, most))
        return functools.wraps(function)(jax.jit(named))

    return known


def function_called(equation: JaxprEqn) -> KnownFunction | None:
    """Return the elementwise function that an equation calls; None for any other equation."""
    return _KNOWN.get(str(equation.params.get("name"))) if equation.primitive.name in ("jit", "pjit") else None
