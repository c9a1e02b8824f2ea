"""Exploration sequences E_t: how sure confidence bounds are, by the rounds so far."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import larger, log, rounded

__all__ = ["SEQUENCES", "exploration"]

_LOG_2 = 0.6931471805599453
#: E_t from log t: the natural choice; the smallest one that Theorem 1 of Li and Xia (2017) allows; and that of Wang,
#: Audibert and Munos (2008).
SEQUENCES: dict[str, Callable[[jax.Array], jax.Array]] = {
    "log": lambda log_t: log_t,
    "peeling": lambda log_t: 2 * log(4 * (rounded(log_t * jnp.float32(1 / _LOG_2)) + 1)),
    "log-log": lambda log_t: larger(log(larger(10 * log_t, jnp.float32(1))), jnp.float32(0)),
}


def exploration(sequence: str, time: jax.Array) -> jax.Array:
    """The exploration sequence after so many rounds.

    Args:
        sequence: a key of `SEQUENCES`.
        time: int32 `(…)`, at least 0.

    Returns:
        float32 `(…)`, not negative.
    """
    rounds = larger(time, 1).astype(jnp.float32)
    return SEQUENCES[sequence](log(rounds))
