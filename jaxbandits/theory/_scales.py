"""The unit in which characteristic times are solved: powers of two, so that scaling rounds nothing.

T* of normal arms is a function of means / sd alone, and that of exponential arms of ratios of means. That of Poisson
arms doubles where the means are halved. Solvers take squares of squares of gaps, which float64 holds from 1e-77 to
1e77. Means, epsilon and sd are therefore scaled to be near 1 first.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.statistics.exponential_families import FAMILIES, GAUSSIAN

__all__ = ["Scaled", "scaled"]


class Scaled(NamedTuple):
    """An instance in its own unit; T* of the given instance is T* times 2^power."""

    means: jax.Array  # (K, …)
    epsilon: jax.Array  # (…)
    sd: jax.Array  # as given
    power: jax.Array  # int32 (…)

    def time(self, found: jax.Array) -> jax.Array:
        """Return T* in pulls, `(…)`, given T* of the scaled instance."""
        plain = (found == 0) | jnp.isinf(found)  # the same in every unit
        # In two steps: a power of two outside the range of floats may lead to a number inside it.
        half = self.power // 2
        moved = _times(_times(found, half), self.power - half)
        return jnp.where(plain, found, moved)


def scaled(family: str, m: int, means: jax.Array, epsilon: jax.Array, sd: jax.Array, real: jax.Array | None) -> Scaled:
    """Return an instance whose gaps, or means, and standard deviations are near 1.

    Args:
        family: of the rewards.
        m: number of best arms.
        means: `(K, …)`.
        epsilon: `()` or `(…)`.
        sd: `()`, `(…)` or `(K, …)`, of normal rewards.
        real: bool `(K, …)`, false for padded arms, whose values mean nothing; None if there are none.
    """
    there = jnp.ones(means.shape, bool) if real is None else real
    nothing = jnp.zeros(means.shape[1:], jnp.int32)
    law = FAMILIES[family]
    if law.degree is None:
        return Scaled(means, epsilon, sd, nothing)
    lead = jnp.broadcast_to(lax.stop_gradient(epsilon), means.shape[1:])
    size = jnp.where(there, jnp.abs(lax.stop_gradient(means)), 0)
    first = _exponent(jnp.maximum(jnp.max(size, axis=0), lead))
    means, epsilon, lead = _times(means, -first), _times(epsilon, -first), _times(lead, -first)
    if law is not GAUSSIAN:
        return Scaled(means, epsilon, sd, -law.degree * first)
    # Between the smallest gap, on which T* depends, and the largest, whose square must be a float, too.
    fixed = lax.stop_gradient(means)
    ordered = jnp.sort(jnp.where(there, -fixed, jnp.inf), axis=0)
    least = (ordered[m] - ordered[m - 1]) + lead
    most = (-ordered[0] - jnp.min(jnp.where(there, fixed, jnp.inf), axis=0)) + lead
    known = jnp.isfinite(least) & (least > 0)
    second = jnp.where(known, (_exponent(jnp.where(known, least, 1)) + _exponent(most)) // 2, _exponent(most))
    means, epsilon = _times(means, -second), _times(epsilon, -second)
    spread = lax.stop_gradient(sd)
    if jnp.ndim(sd) == means.ndim:
        spread = jnp.max(jnp.where(there, spread, 0), axis=0)
    third = _exponent(spread)
    return Scaled(means, epsilon, _times(sd, -third), 2 * (third - first - second))


def _exponent(x: jax.Array) -> jax.Array:
    """Return the e with 2^(e-1) <= x < 2^e, int32; 0 for 0."""
    found: jax.Array = jnp.frexp(x)[1]
    return jnp.where((x > 0) & jnp.isfinite(x), found, 0)


def _times(x: jax.Array, power: jax.Array) -> jax.Array:
    """Return x 2^power, in steps whose factors are floats of the type of x."""
    most = jnp.finfo(x.dtype).maxexp - 2
    for _ in range(3):
        step = jnp.clip(power, -most, most)
        x = x * jnp.ldexp(jnp.ones((), x.dtype), step)
        power = power - step
    return x
