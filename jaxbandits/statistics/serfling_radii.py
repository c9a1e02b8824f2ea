"""Radii of confidence intervals for the mean of a finite population, from items read without replacement.

Bardenet, Maillard (2015), "Concentration inequalities for sampling without replacement", Bernoulli 21(3): Corollary 2.5
and Theorem 4.3. They hold at any fixed number of items, and are 0 once all have been read. All logarithms are natural.
"""

import math

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import fast_max, no_fma

__all__ = ["bernstein_serfling_radius", "hoeffding_serfling_radius", "serfling_factor"]

_KAPPA = 7 / 3 + 3 / math.sqrt(2)


def serfling_factor(pulls: jax.Array, cells: jax.Array) -> jax.Array:
    """Return rho, the share of a squared radius that reading without replacement leaves; 0 once all is read.

    rho = 1 - (n - 1) / N for n <= N/2, and (1 - n / N) (1 + 1 / n) above.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.

    Returns:
        float32 `(…)`, in [0, 1].
    """
    n, left = fast_max(pulls, 1), fast_max(cells - pulls, 0)
    few = (cells - n + 1).astype(jnp.float32) / cells.astype(jnp.float32)
    n_plus, size = (n + 1).astype(jnp.float32), cells.astype(jnp.float32)
    many = (left.astype(jnp.float32) / size) * (n_plus / n.astype(jnp.float32))
    return jnp.where(left == 0, 0, jnp.where(n <= cells - n, few, many))


def hoeffding_serfling_radius(pulls: jax.Array, cells: jax.Array, b: jax.Array, level: jax.Array) -> jax.Array:
    """Return b sqrt(rho level / (2 n)); the mean is above or below its interval with probability 2 exp(-level) at most.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.
        b: range of the scores, float32 `(…)`.
        level: float32 `(…)`, not negative.

    Returns:
        float32 `(…)`.
    """
    n = fast_max(pulls, 1).astype(jnp.float32)
    return b * jnp.sqrt(serfling_factor(pulls, cells) * level / (2 * n))


def bernstein_serfling_radius(
    pulls: jax.Array, cells: jax.Array, variance: jax.Array, b: jax.Array, level: jax.Array
) -> jax.Array:
    """Return sigma sqrt(2 rho level / n) + kappa b level / n, kappa = 7/3 + 3/sqrt(2); 0 once all is read.

    The mean is above its interval with probability 5 exp(-level) at most, and below it likewise.

    Args:
        pulls: n, int32 `(…)`; 0 counts as 1.
        cells: N, int32 `(…)`, at least 1.
        variance: sigma^2 of the scores that were read, float32 `(…)`, their squared deviations over n.
        b: range of the scores, float32 `(…)`.
        level: float32 `(…)`, not negative.

    Returns:
        float32 `(…)`.
    """
    n = fast_max(pulls, 1).astype(jnp.float32)
    radius = no_fma(jnp.sqrt(2 * variance * serfling_factor(pulls, cells) * level / n))
    return jnp.where(pulls >= cells, 0, radius + no_fma(jnp.float32(_KAPPA) * b * level / n))
