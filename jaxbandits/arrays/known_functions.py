"""Functions of each element that keep the rule of numerics and take long: rules are mapped with them as they stand."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

__all__ = ["KnownFunction", "function_called", "known_function"]

_PREFIX = "known_function_"


class KnownFunction(NamedTuple):
    """Such a function."""

    function: Callable[..., jax.Array]
    range: tuple[float, float]  # of its results, where no operand is NaN


_KNOWN: dict[str, KnownFunction] = {}


def known_function(least: float, most: float) -> Callable[[Callable[..., jax.Array]], Callable[..., jax.Array]]:
    """Make a function known as one of each element, with results between two numbers.

    The transformation of rules (`jaxbandits/transform`) applies it as it stands, and computes it once.

    Args:
        least: the smallest result, of operands that are numbers.
        most: the largest.
    """

    def known(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
        @functools.wraps(function)
        def named(*operands: Any) -> jax.Array:
            return function(*operands)

        named.__name__ = name = f"{_PREFIX}{function.__module__.replace('.', '_')}_{function.__name__}"
        _KNOWN[name] = KnownFunction(function, (least, most))
        return functools.wraps(function)(jax.jit(named))

    return known


def function_called(equation: Any) -> KnownFunction | None:
    """Return the function of each element that an equation calls; None for any other equation."""
    return _KNOWN.get(str(equation.params.get("name"))) if equation.primitive.name in ("jit", "pjit") else None
