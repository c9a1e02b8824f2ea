"""Hardness of arms whose means are spread evenly, up to a factor c.

Chen, Chen, Zhang, Zhou 2017, "Adaptive multiple-arm identification": Definition 1 and Lemma 1.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, POSITIVE
from jaxbandits.theory._bound_shapes import power
from jaxbandits.theory._checks import as_float, check, check_arms

__all__ = ["c_spread_h_0_rate", "c_spread_h_t_rate", "spread_constant"]


def spread_constant(means: ArrayLike) -> jax.Array:
    """Return the smallest c for which arms are c-spread (Definition 1).

    Arms are c-spread if |i-j|/(cn) <= |theta_i - theta_j| <= c|i-j|/n.

    Args:
        means: arm means, shape `(n, …)`.

    Returns:
        Shape `(…)`, at least 1; infinite where two means are equal.

    Raises:
        UsageError: means that are not finite, or fewer than two.

    Example:
        >>> round(float(jb.theory.spread_constant([0.9, 0.6, 0.3, 0.0])), 3)
        1.2
    """
    check_arms(means)
    check("means", means, FINITE)
    theta = jnp.sort(as_float(means), axis=0)
    step = theta.shape[0] * jnp.diff(theta, axis=0)  # Neighbours are enough: distances and places add up.
    return jnp.maximum(1.0, jnp.maximum(jnp.max(step, axis=0), power(jnp.min(step, axis=0), -1.0)))


def c_spread_h_t_rate(n: ArrayLike, epsilon: ArrayLike) -> jax.Array:
    """Return the rate of H^(t,epsilon) for c-spread arms, n / sqrt(epsilon): an upper one, no constant (Lemma 1).

    H^(t,epsilon) = O(n / sqrt(epsilon)) for K = gamma n <= n/2, c = O(1), gamma = Omega(1).

    Args:
        n: number of arms.
        epsilon: aggregate regret that is allowed, positive.

    Raises:
        UsageError: a value that is not positive.

    Example:
        >>> round(float(jb.theory.c_spread_h_t_rate(1000, 0.01)), 0)
        10000.0
    """
    check("n", n, POSITIVE)
    check("epsilon", epsilon, POSITIVE)
    return as_float(n) / jnp.sqrt(as_float(epsilon))


def c_spread_h_0_rate(n: ArrayLike, epsilon: ArrayLike) -> jax.Array:
    """Return the rate of H^(0,epsilon) for c-spread arms, n / epsilon: a lower one, without its constant (Lemma 1).

    H^(0,epsilon) = Omega(n / epsilon) for c = O(1) and every K.

    Args:
        n: number of arms.
        epsilon: aggregate regret that is allowed, positive.

    Raises:
        UsageError: a value that is not positive.

    Example:
        >>> round(float(jb.theory.c_spread_h_0_rate(1000, 0.01)), 0)
        100000.0
    """
    check("n", n, POSITIVE)
    check("epsilon", epsilon, POSITIVE)
    return as_float(n) / as_float(epsilon)
