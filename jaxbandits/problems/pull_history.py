"""Pulls that were made before a run: their counts, from which it starts."""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.pytrees import pytree

__all__ = ["History"]


@pytree
@dataclasses.dataclass(frozen=True)
class History:
    """What is known of each arm before the first pull of a run; 0 of an arm without pulls.

    Attributes:
        pulls: int32 `(K, …)`.
        total: int32 or float32 `(K, …)`, sums of the rewards; whole numbers if rewards are.
        squares: float32 `(K, …)`, sums of the squared deviations of the rewards from their mean.

    Example:
        >>> from jaxbandits.problems.pull_history import History
        >>> History.of_counts([10, 5], [4, 0]).squares.tolist()
        [2.4000000953674316, 0.0]
    """

    pulls: jax.Array
    total: jax.Array
    squares: jax.Array

    @classmethod
    def of_counts(cls, pulls: ArrayLike, total: ArrayLike, squares: ArrayLike | None = None) -> Self:
        """Return the history of these pulls, `(K,)`.

        Args:
            pulls: how often each arm was pulled.
            total: sums of the rewards.
            squares: sums of the squared deviations from the mean; None for rewards of 0 and 1.
        """
        number, whole = jnp.asarray(pulls, jnp.int32), squares is None
        if squares is None:
            successes = np.asarray(total, np.float64)
            squares = successes * (1 - successes / np.maximum(np.asarray(pulls, np.float64), 1))
        return cls(number, jnp.asarray(total, jnp.int32 if whole else jnp.float32), jnp.asarray(squares, jnp.float32))
