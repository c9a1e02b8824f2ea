"""Confidence bounds of Bernoulli means by their Kullback-Leibler divergence.

Chernoff: of n rewards in [0, 1] with mean mu, the empirical mean p has n d(p, mu) > x and p > mu with probability at
most exp(-x), and likewise below. So the bounds are the ends of {q: n d(p, q) <= x}.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits.arrays.numerics import SMALLEST, exp, expm1, fast_max, fast_min, log1pmx, no_fma
from jaxbandits.compilers.known_functions import known_function

__all__ = ["kl_lower_bound", "kl_rival_key", "kl_upper_bound", "kl_upper_of_key"]

# A replacement for a mean or odds of 0, small enough to count as 0.
_TINY = 1e-28
# Halley's steps: the start is at most a tenth off. One step leaves 8e-5 of that, and two leave less than float32
# resolves (over all means and divergences, computed in float64).
_STEPS = 2
# A bound of e^-100 times the mean is 0.
_FAR = 100.0
# An upper bound below this keeps its own digits in `kl_rival_key`; other keys hold the digits of 1 - bound.
_SMALL = 2.0**-8
_MEETING = int(np.float32(_SMALL).view(np.int32)) + int(np.float32(1 - _SMALL).view(np.int32))


@known_function(0.0, 1.0)
def kl_lower_bound(mean: jax.Array, divergence: jax.Array) -> jax.Array:
    """Return the smallest q with d(mean, q) <= divergence, d that of Bernoulli laws.

    Args:
        mean: float32, shape `(…)`; values outside [0, 1] count as the nearest end.
        divergence: float32, at least 0, broadcasting with `mean`.

    Returns:
        float32, in [0, mean], within some units in the last place of the mean and of the bound; 0 below 1e-38.
    """
    p = fast_min(fast_max(mean, jnp.float32(_TINY)), jnp.float32(1))
    # A mean below _TINY has the bound 0 for all divergences that a run has.
    return fast_min(p * exp(-_exponent(p, 1 - p, divergence)), fast_max(mean, jnp.float32(0)))


@known_function(0.0, 1.0)
def kl_upper_bound(mean: jax.Array, divergence: jax.Array) -> jax.Array:
    """Return the largest q with d(mean, q) <= divergence, d that of Bernoulli laws.

    It is 1 - (1 - p) e^-w, with the w of the lower bound at 1 - p. In floats it is p + (1 - p) (1 - e^-w): that keeps
    its digits however close the mean and the bound are to 0.

    Args:
        mean: float32, shape `(…)`; values outside [0, 1] count as the nearest end.
        divergence: float32, at least 0, broadcasting with `mean`.

    Returns:
        float32, in [mean, 1], within some units in the last place.

    Example:
        >>> f"{kl_upper_bound(jnp.float32(0), jnp.float32(1e-8)):.1e}"  # d(0, q) = -ln(1 - q)
        '1.0e-08'
    """
    p = fast_min(fast_max(mean, jnp.float32(0)), jnp.float32(1))
    lack = fast_max(1 - p, jnp.float32(_TINY))
    w = _exponent(lack, p, divergence, scale=2.0**24)
    return jnp.where(p < 0.5, p - no_fma(lack * expm1(-w)), 1 - no_fma(lack * exp(-w)))


@known_function(0.0, 1.0)
def kl_rival_key(own: jax.Array, mean: jax.Array, divergence: jax.Array) -> jax.Array:
    """Return the lower bounds of chosen arms and, of the others, keys that fall as the upper bound rises.

    A key is 1 minus the upper bound, to all digits near 1: `kl_lower_bound(own, divergence)`, as for the chosen arms.
    Where the bound is below _SMALL, that difference has lost its digits. The key is then the float whose bits fall as
    those of the bound rise, starting from 1 - _SMALL: exact, and cheaper than an inverse. `kl_upper_of_key` returns the
    bound.

    Args:
        own: float32, shape `(…)`: the mean of a chosen arm, 1 minus the mean of another.
        mean: float32, shape `(…)`, in [0, 1]; where it is below _SMALL, an arm is chosen if `own` is not near 1.
        divergence: float32, broadcasting with `mean`; from 1e-10 on keys are within some units in the last place.

    Returns:
        float32, at least 0.
    """
    p = fast_min(fast_max(own, jnp.float32(_TINY)), jnp.float32(1))
    small = (mean < _SMALL) & (own > 0.5)
    w = _exponent(p, jnp.where(small, mean, 1 - p), divergence)
    upper = mean - no_fma(p * expm1(-w))
    return jnp.where(small & (upper < _SMALL), _mirrored(upper), p * exp(-w))


def kl_upper_of_key(key: jax.Array, b: jax.Array) -> jax.Array:
    """Return b times the upper bound whose `kl_rival_key`, times b, is `key`; float32 of its shape."""
    part = key * (1 / b)
    return jnp.where(part > 1 - _SMALL, no_fma(b * _mirrored(part)), b - key)


def _mirrored(x: jax.Array) -> jax.Array:
    """Return the float that is as many floats from 1 - _SMALL as x is from _SMALL; its own inverse."""
    return lax.bitcast_convert_type(_MEETING - lax.bitcast_convert_type(x, jnp.int32), jnp.float32)


def _exponent(p: jax.Array, lack: jax.Array, divergence: jax.Array, scale: float = 1.0) -> jax.Array:
    """Return the w with d(p, p e^-w) = divergence, within some units in the last place.

    Let E = 1 - e^-w and let r = (1 - p) / p be the odds. Then d(p, p e^-w) / p = divergence / p = y reads G(w) = y with
    G(w) = f(-E) + r f(E / r), f(x) = x - log(1 + x). Both terms are at least 0, so that nothing cancels however close q
    is to p. e^-w keeps its digits however close q is to 0. G starts as w^2 / (2 (1 - p)) and ends as a line of slope 1;
    the start below is w^2 / (w + 2 (1 - p)) = y.

    Args:
        p: float32, positive, at most 1.
        lack: float32, 1 - p, to more digits than p holds where p is close to 1.
        divergence: float32, at least 0.
        scale: a power of two by which steps are scaled while they are computed. 2^24 keeps those of w below 1e-9 normal
            numbers, and those of all odds finite.
    """
    inverse = 1 / p
    odds = fast_max(lack * inverse, jnp.float32(_TINY))  # r
    one = 1 / odds
    y = fast_min(fast_max(divergence * inverse, jnp.float32(1e-20)), jnp.float32(_FAR))
    half = y * 0.5
    w = half + jnp.sqrt(no_fma(half * half) + no_fma(lack * (2 * y)))
    for _ in range(_STEPS):
        less, left = -expm1(-w), fast_max(exp(-w), jnp.float32(SMALLEST))  # E and e^-w
        wide = odds + less
        near = no_fma(odds * log1pmx(no_fma(less * one), wide * one))
        miss = (log1pmx(-less, left) + near) - y  # G - y
        # G' = E / (p (r + E)) and G'' = e^-w r / (p (r + E)^2).
        slope = no_fma(no_fma(inverse * less) * less) - no_fma(miss * (left * odds)) * 0.5
        step = no_fma(miss * (less * wide * scale) / slope) * (1 / scale)
        w = w - step
    return w
