"""Exploration sequences E_t: the level of the confidence bounds after t rounds."""

import jax
import jax.numpy as jnp

__all__ = ["exploration"]


def exploration(sequence: str, time: jax.Array) -> jax.Array:
    """Return E_t after t >= 1 rounds, float32 `()`, not negative.

    Args:
        sequence: `log`, log t, the natural choice; `peeling`, the smallest one that Theorem 1 of Li and Xia (2017)
            allows; `log-log`, that of Wang, Audibert and Munos (2008).
        time: int32 `()`, t.
    """
    log_t = jnp.log(time)
    if sequence == "log":
        return log_t
    if sequence == "peeling":
        return 2 * jnp.log(4 * (log_t / jnp.log(2.0) + 1))
    return jnp.maximum(jnp.log(jnp.maximum(10 * log_t, 1)), 0)
