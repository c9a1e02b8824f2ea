"""Probabilities by their logarithms: float32 has no number between 0 and 1.2e-38, and devices flush smaller ones to 0.

A confidence may be 1e-300. Formulas need only its logarithm, which is computed on the host in double precision.
"""

import dataclasses
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import SMALLEST, exp, log
from jaxbandits.arrays.pytrees import is_traced, pytree

__all__ = ["LogProbability", "computed_with", "log_of", "value_of"]


@pytree
@dataclasses.dataclass(frozen=True)
class LogProbability:
    """A probability, strictly between 0 and 1."""

    log: jax.Array  # float32 (…), negative

    @classmethod
    def of(cls, values: ArrayLike) -> Self:
        """Return the probabilities with these values, `(…)`; their logarithms are NumPy's."""
        logarithm: Any = np.log(computed_with(values)).astype(np.float32)
        return cls(logarithm)


def computed_with(values: ArrayLike) -> np.ndarray:
    """Return the probabilities that runs compute with, float64 `(…)`: as float32 where that is between 0 and 1."""
    double = np.asarray(values, np.float64)
    single = double.astype(np.float32).astype(np.float64)
    return np.where((single >= SMALLEST) & (single < 1), single, double)


def log_of(probability: LogProbability | ArrayLike) -> jax.Array:
    """Return the logarithm of a probability, float32 `(…)`.

    Args:
        probability: a `LogProbability`; a number, whose logarithm is computed in double precision; or an array that is
            being traced, float32 `(…)`.
    """
    if isinstance(probability, LogProbability):
        return jnp.asarray(probability.log)
    if is_traced(probability):
        return log(probability)
    return jnp.asarray(LogProbability.of(probability).log)


def value_of(probability: LogProbability | ArrayLike) -> jax.Array:
    """Return a probability as float32 `(…)`, 0 where float32 has no such number."""
    return exp(probability.log) if isinstance(probability, LogProbability) else jnp.asarray(probability, jnp.float32)
