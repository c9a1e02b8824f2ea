"""Confidence bounds of Bernoulli means by their Kullback-Leibler divergence.

Chernoff: of n rewards in [0, 1] with mean mu the empirical mean p has n d(p, mu) > x and p > mu with probability at
most exp(-x), and likewise below. So the bounds are the ends of {q: n d(p, q) <= x}.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import excess, exp, expm1, larger, rounded, smaller

__all__ = ["kl_lower_bound", "kl_upper_bound"]

# In place of 0 numbers so small that they are none: a mean or odds, and the smallest that is not subnormal.
_TINY, _NORMAL = 1e-28, float(np.finfo(np.float32).tiny)
# Halley's steps: the start is at most a tenth off, one step leaves 8e-5 of it and two less than float32 tells apart
# (over all means and divergences, computed in float64).
_STEPS = 2
# A bound of e^-100 times the mean is 0.
_FAR = 100.0


def kl_lower_bound(mean: jax.Array, divergence: jax.Array) -> jax.Array:
    """The smallest q with d(mean, q) <= divergence, d that of Bernoulli laws.

    It is p e^-w with d(p, p e^-w) / p = y, y = divergence / p. With E = 1 - e^-w and the odds r = (1 - p) / p the left
    side is G(w) = f(-E) + r f(E / r), f(x) = x - log(1 + x), both terms at least 0, so that nothing cancels however
    close q is to p; and e^-w keeps its digits however close q is to 0. G starts as w^2 / (2 (1 - p)) and ends as a
    line of slope 1; the start below is w^2 / (w + 2 (1 - p)) = y.

    Args:
        mean: float32, shape `(…)`; what is outside [0, 1] counts as the nearest end.
        divergence: float32, at least 0, broadcasting with `mean`.

    Returns:
        float32, in [0, mean], within some units in the last place of the mean and of the bound; 0 below 1e-38.
    """
    p = smaller(larger(mean, jnp.float32(_TINY)), jnp.float32(1))
    inverse = 1 / p
    odds = larger((1 - p) * inverse, jnp.float32(_TINY))  # r
    one = 1 / odds
    y = smaller(larger(divergence * inverse, jnp.float32(1e-20)), jnp.float32(_FAR))
    half = y * 0.5
    w = half + jnp.sqrt(rounded(half * half) + rounded((1 - p) * (2 * y)))
    for _ in range(_STEPS):
        less, left = -expm1(-w), larger(exp(-w), jnp.float32(_NORMAL))  # E and e^-w
        wide = odds + less
        near = rounded(odds * excess(rounded(less * one), wide * one))
        miss = (excess(-less, left) + near) - y  # G - y
        # G' = E / (p (r + E)) and G'' = e^-w r / (p (r + E)^2).
        slope = rounded(rounded(inverse * less) * less) - rounded(miss * (left * odds)) * 0.5
        w = w - rounded(miss * (less * wide) / slope)
    return p * exp(-w)


def kl_upper_bound(mean: jax.Array, divergence: jax.Array) -> jax.Array:
    """The largest q with d(mean, q) <= divergence, float32 in [mean, 1]; arguments as of `kl_lower_bound`."""
    return 1 - rounded(kl_lower_bound(1 - mean, divergence))
