"""The precision of a result: that of the arguments.

JAX computes in float32 unless `jax.enable_x64` is set, and would cut its arguments to that: of gaps of 1e-6 between
means near 1 nothing is left. So Python's numbers and NumPy's float64 are computed in float64, on the host, and results
are NumPy's numbers. With JAX arrays, or values traced by `jit`, `grad` or `vmap`, the precision is JAX's.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.checks import shown
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.errors import UsageError

__all__ = ["in_given_precision"]

P = ParamSpec("P")
R = TypeVar("R")


def in_given_precision(formula: Callable[P, R]) -> Callable[P, R]:
    """Decorate a formula, so that float64 arguments give a float64 result.

    Args:
        formula: of numbers and arrays, which computes in JAX's default floating type.

    Returns:
        The same function for JAX arrays and traced ones; else the arrays of its answer are NumPy's.
    """

    @functools.wraps(formula)
    @own_settings("jax_enable_x64", "mesh")
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        args = tuple(_array(value) for value in args)  # type: ignore[assignment]
        kwargs = {name: _array(value) for name, value in kwargs.items()}  # type: ignore[assignment]
        if not _in_float64(jax.tree.leaves((args, kwargs))):
            return formula(*args, **kwargs)
        # Also inside a program that is being traced: these numbers do not depend on its input.
        with jax.ensure_compile_time_eval(), jax.enable_x64(True), jax.default_device(_host()):
            found = formula(*args, **kwargs)
        answer: R = jax.tree.map(lambda leaf: np.asarray(leaf)[()] if isinstance(leaf, jax.Array) else leaf, found)
        return answer

    return answered


def _array(value: object) -> object:
    """Return a list of numbers as an array, and labelled numbers, xarray's or pandas', without their labels.

    With labels, an operation with an array of JAX would be theirs, and they know nothing of arms and runs.

    Raises:
        UsageError: rows of different lengths.
    """
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic | jax.Array):
        return np.asarray(value)
    if type(value) not in (list, tuple):
        return value
    try:
        module = jnp if any(isinstance(x, jax.Array) for x in jax.tree.leaves(value)) else np
        return module.asarray(value)
    except ValueError as error:
        raise UsageError(f"rows must have one length, got {shown(value)}") from error


def _in_float64(given: list[object]) -> bool:
    """Return whether numbers are given in a higher precision than JAX would compute in."""
    if jnp.result_type(float) == np.float64 or any(isinstance(leaf, jax.Array) for leaf in given):
        return False
    types = {leaf.dtype for leaf in given if isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.kind == "f"}
    return not types or np.dtype(np.float64) in types


@functools.cache
def _host() -> jax.Device | None:
    """Return the CPU device: accelerators may have no float64, or a slow one."""
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None
