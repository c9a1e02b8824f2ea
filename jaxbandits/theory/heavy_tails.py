"""Radii around estimates of the mean where tails are heavy; differentiable in every real number.

Yu, Shao, Lyu, King (2018), "Pure exploration of multi-armed bandits with heavy-tailed payoffs", UAI. Arms have a p-th
raw moment of at most B and a p-th central moment of at most C, 1 < p <= 2. Arguments are `()` or `(…)`, results `(…)`.
The radius around infinitely many rewards is 0, with derivatives of 0.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.checks import INSIDE_UNIT, POSITIVE
from jaxbandits.theory._checks import SOME, as_float, check, check_moment_order, log_of

__all__ = [
    "catoni_radius",
    "empirical_mean_radius",
    "median_of_means_radius",
    "truncated_mean_radius",
]


def empirical_mean_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Return the radius around the mean of s rewards that holds with probability 1 - delta (Lemma 1, EA).

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, above 1; above 2 the lemma's second form, with C_p = (8 (p-1) max(1, 2^(p-3)))^p.
        moment_c: C, bound of E|X - mean|^p, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.empirical_mean_radius(1000, 0.05, 2.0, 1.0)), 3)
        0.2
    """
    _check(s, delta, p, moment_c)
    s, p, c = (as_float(x) for x in (s, p, moment_c))
    factor = jnp.where(p <= 2, 1.0, 8 * (p - 1) * jnp.maximum(1.0, 2 ** (p - 3)))  # 1, and C_p^(1/p) above 2
    scale, rate = jnp.where(p <= 2, 2 * c, c), jnp.where(p <= 2, p - 1, p / 2)
    # Logarithms: 1 / delta^2, an intermediate of the derivative, exceeds the range of floats where the radius does not.
    return _vanishing(s, lambda s: factor * jnp.exp((jnp.log(scale) - rate * jnp.log(s) - log_of(delta)) / p))


def truncated_mean_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_b: ArrayLike) -> jax.Array:
    """Return the radius around the truncated mean of s rewards that holds with probability 1 - delta (Lemma 1, TEA).

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, above 1; the rate of orders above 2 is that of 2.
        moment_b: B, bound of E|X|^p, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.truncated_mean_radius(1000, 0.05, 2.0, 1.0)), 3)
        0.304
    """
    _check(s, delta, p, moment_b)
    s, p, b = (as_float(x) for x in (s, p, moment_b))
    rate = jnp.minimum((p - 1) / p, 0.5)
    return _vanishing(s, lambda s: 5 * b ** (1 / p) * (_log_inverse(delta) / s) ** rate)


def median_of_means_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Return the radius around the median of the means of k = ceil(8 ln(2/delta)) batches.

    It holds with probability 1 - delta. It is (12 C / N^(p-1))^(1/p), with N = floor(s / k) rewards in the smallest
    batch, and infinite where N = 0. Source: Bubeck, Cesa-Bianchi, Lugosi (2013), "Bandits with heavy tails", IEEE
    Trans. Inf. Theory 59, proof of Lemma 2. A batch is that far off with probability at most 1/4, and half of them with
    exp(-k/8) on either side.

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, bound of E|X - mean|^p, positive.

    Returns:
        Shape `(…)`; piecewise constant in s and delta.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.median_of_means_radius(1000, 0.05, 2.0, 1.0)), 3)
        0.603
    """
    _check(s, delta, p, moment_c, most=2)
    s, p, c = (as_float(x) for x in (s, p, moment_c))
    whole = 1 + 4 * float(jnp.finfo(s.dtype).eps)  # rounding may leave a whole number slightly off

    def radius(s: jax.Array) -> jax.Array:
        size = jnp.floor(s / jnp.ceil(8 * _log_inverse(delta) / whole) * whole)
        return jnp.where(size >= 1, (12 * c / jnp.maximum(size, 1.0) ** (p - 1)) ** (1 / p), jnp.inf)

    return _vanishing(s, radius)


def catoni_radius(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment_c: ArrayLike) -> jax.Array:
    """Return the radius around Catoni's estimate from s rewards that holds with probability 1 - delta.

    Derived at `jaxbandits.statistics.robust_means.Catoni`; near sqrt(2 C ln(2/delta) / s) for p = 2. Infinite below
    (p / (p-1))^2 ln(2/delta) rewards.

    Args:
        s: number of rewards, at least 1.
        delta: probability of error, in (0, 1).
        p: order of the moment, in (1, 2].
        moment_c: C, bound of E|X - mean|^p, positive.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> round(float(jb.theory.catoni_radius(1000, 0.05, 2.0, 1.0)), 3)
        0.086
    """
    _check(s, delta, p, moment_c, most=2)
    s, p, c = (as_float(x) for x in (s, p, moment_c))
    level = _log_inverse(delta)

    def radius(s: jax.Array) -> jax.Array:
        alpha = (p * level / ((p - 1) * s * c * 2 ** (2 - p))) ** (1 / p)
        share = level * p / ((p - 1) * s)
        enough = share < (p - 1) / p
        least = jnp.where(enough, share, 0.5 * (p - 1) / p)

        def closer(u: jax.Array) -> jax.Array:  # Newton's method for the smallest root of u = least + u^p / p
            slope = -jnp.expm1((p - 1) * jnp.log(u))
            return u + (least - u * (p - 1 + slope) / p) / jnp.maximum(slope, jnp.finfo(u.dtype).eps)

        root = lax.fori_loop(0, 40, lambda _, u: closer(u), least)
        u = closer(lax.stop_gradient(root))  # its derivative is the root's (implicit function theorem)
        return jnp.where(enough, u / alpha, jnp.inf)

    return _vanishing(s, radius)


def _vanishing(s: jax.Array, radius: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """Return the radius around s rewards; 0 for infinitely many, which the formula does not see."""
    endless = jnp.isinf(s)
    return jnp.where(endless, 0.0, radius(jnp.where(endless, 1.0, s)))


def _check(s: ArrayLike, delta: ArrayLike, p: ArrayLike, moment: ArrayLike, most: float = float("inf")) -> None:
    check("s", s, SOME)
    check("delta", delta, INSIDE_UNIT)
    check_moment_order(p, most)
    check("the moment", moment, POSITIVE)


def _log_inverse(delta: ArrayLike) -> jax.Array:
    """Return log(2 / delta)."""
    return jnp.log(2.0) - log_of(delta)
