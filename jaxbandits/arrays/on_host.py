"""Operations on arrays of all arms that run on the host: JAX would compile a program for every number of arms."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.jax_process import check_jax

__all__ = ["as_float32", "with_copies"]


def as_float32(values: ArrayLike) -> jax.Array:
    """Round numbers to float32; an array of any shape.

    Raises:
        UsageError: JAX cannot run here.
    """
    check_jax()
    return jax.device_put(np.asarray(values, np.float32))  # `jnp.asarray` would compile a copy


def with_copies(values: ArrayLike, extra: int) -> jax.Array:
    """Append copies of the first entry to an array `(K, …)`, which may be traced: `(K + extra, …)`."""
    if isinstance(values, jax.core.Tracer):
        return jnp.concatenate([values, jnp.repeat(values[:1], extra, axis=0)])
    known = np.asarray(values)
    return jax.device_put(np.concatenate([known, np.repeat(known[:1], extra, axis=0)]))
