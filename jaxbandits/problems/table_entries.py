"""Checks of the requested entry of a reward table, as far as its value is known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import shown, whole_rule
from jaxbandits.errors import UsageError

try:
    from jax.extend.core import get_opaque_trace_state
except ImportError:  # before JAX 0.10
    from jax.core import get_opaque_trace_state

__all__ = ["Watch", "entry"]


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


def _whole(name: str, value: Any, most: int) -> jax.Array:
    rule = whole_rule(0, most)
    if isinstance(value, jax.core.Tracer):
        if not (jnp.issubdtype(value.dtype, jnp.integer) or value.dtype == bool):
            raise UsageError(f"{name} {rule.words}, got {value.dtype}")
        return value
    given = np.asarray(value)
    if given.dtype.kind not in "biu" or not np.all(rule.holds(given)):
        raise UsageError(f"{name} {rule.words}, got {shown(value)}")
    return jnp.asarray(given, jnp.int32)


class Watch:
    """Notes whether arms outside [0, K) are pulled while a step of one run is traced."""

    def __init__(self) -> None:
        """Start without a pull."""
        self._trace = get_opaque_trace_state()
        self._outside: list[jax.Array] = []

    def note(self, arm: jax.Array, arms: int) -> None:
        """Record a pull of an arm, unless it is inside a loop or a branch of the step."""
        if isinstance(arm, jax.core.Tracer) and get_opaque_trace_state() == self._trace:
            self._outside.append(jnp.any((arm < 0) | (arm >= arms)))

    def outside(self) -> jax.Array:
        """Return whether one of the arms noted does not exist, bool `()`."""
        return jnp.any(jnp.asarray([False, *self._outside]))
