"""What the engine asks of an algorithm on the way: whether to stop, and how far it may go."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.protocol import BuiltIn
from jaxbandits.algorithms.bases.traits import traits_of
from jaxbandits.arrays.numerics import NO_LIMIT

__all__ = ["exhausted", "idle_after", "pull_limit", "reached"]


def pull_limit(algorithm: Any) -> int:
    """Pulls after which a run is stopped if nobody says otherwise: 10^9, but none where sums are drawn."""
    # A user's own algorithm may have long steps too, but nobody watches that its counts stay in their range.
    return NO_LIMIT if isinstance(algorithm, BuiltIn) and algorithm.traits.in_batches else 10**9


def exhausted(algorithm: Any, state: Any) -> jax.Array:
    """Whether the algorithm cannot go on, bool `(…)`: the optional method `exhausted`, False without it."""
    # An array in any case: Python's ~False is -1, and with it a mask of lanes would be whole numbers.
    return jnp.asarray(algorithm.exhausted(state) if callable(getattr(algorithm, "exhausted", None)) else False)


def idle_after(idle: jax.Array, old: Any, new: Any) -> jax.Array:
    """Steps without a pull so far, after one more of a run that is not done; int32 `(…)`, states' pulls `(K, …)`."""
    return jnp.where(jnp.any(new.pulls != old.pulls, axis=0), 0, idle + 1)


def reached(algorithm: Any, state: Any, point: jax.Array) -> jax.Array:
    """Whether runs are at a point of a curve, bool `(…)`: as many pulls, or more paid where a budget is spent."""
    return state.time >= point if traits_of(algorithm).spends is None else state.ledger.beyond(point)
