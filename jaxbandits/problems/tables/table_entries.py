"""Checks of the requested entry of a reward table, as far as its value is known."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import shown, whole_rule
from jaxbandits.errors import UsageError

__all__ = ["entry"]


def entry(arm: ArrayLike, pull: ArrayLike, arms: int) -> tuple[jax.Array, jax.Array]:
    """Return an arm and its pull as int32.

    A traced value is unknown, so only its type is checked.

    Args:
        arm: whole numbers in [0, K).
        pull: whole numbers in [0, 2^31): how often the arm was pulled before.
        arms: the number of arms K.

    Raises:
        UsageError: numbers outside these ranges, or values that are not whole numbers.
    """
    return _whole("arm", arm, arms - 1), _whole("pull", pull, MAX_COUNT)


def _whole(name: str, value: object, most: int) -> jax.Array:
    rule = whole_rule(0, most)
    if isinstance(value, jax.core.Tracer):
        if not (jnp.issubdtype(value.dtype, jnp.integer) or value.dtype == bool):
            raise UsageError(f"{name} {rule.words}, got {value.dtype}")
        return value
    given = np.asarray(value)
    if given.dtype.kind not in "biu" or not np.all(rule.holds(given)):
        raise UsageError(f"{name} {rule.words}, got {shown(value)}")
    return jnp.asarray(given, jnp.int32)
