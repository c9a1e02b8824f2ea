"""Kullback-Leibler divergences between reward laws, exact to rounding however close or extreme their means are."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.checks import FINITE, INSIDE_UNIT, NOT_NEGATIVE, POSITIVE, UNIT
from jaxbandits.theory._checks import as_float, check, log_of

__all__ = [
    "binary_relative_entropy",
    "kl_bernoulli",
    "kl_exponential",
    "kl_gaussian",
    "kl_poisson",
]

# For |x| <= 1/2 the series of x - log(1+x) in s = x/(2+x) has |s| <= 1/3: 14 terms leave 3^-29.
_SERIES_TERMS = 14


def kl_bernoulli(p: ArrayLike, q: ArrayLike) -> jax.Array:
    """Return KL(Bernoulli(p), Bernoulli(q)) = p log(p/q) + (1-p) log((1-p)/(1-q)).

    Exact to a few units in the last place for every p and q, near-ties included. Gradients are finite where the
    divergence is. In p the true slope at 0 and 1 is infinite; a large number replaces it. At p = q in {0, 1} both
    slopes are 0, as at any minimum.

    Args:
        p: mean of the first law, in [0, 1], shape `(…)`.
        q: mean of the second law, in [0, 1], broadcasting with p.

    Returns:
        Shape `(…)`, at least 0; infinite where q is 0 or 1 and p is not.

    Example:
        >>> round(float(jb.theory.kl_bernoulli(0.7, 0.5)), 4)
        0.0823
    """
    check("p", p, UNIT)
    check("q", q, UNIT)
    first, second = jnp.broadcast_arrays(as_float(p), as_float(q))
    return _kl_bernoulli(first, second)


def kl_gaussian(p: ArrayLike, q: ArrayLike, sd: ArrayLike = 1.0) -> jax.Array:
    """Return KL(N(p, sd^2), N(q, sd^2)) = (p - q)^2 / (2 sd^2).

    Args:
        p: mean of the first law, shape `(…)`.
        q: mean of the second law, broadcasting with p.
        sd: common standard deviation, positive.

    Returns:
        Shape `(…)`, at least 0.

    Example:
        >>> round(float(jb.theory.kl_gaussian(1.0, 0.0, sd=2.0)), 4)
        0.125
    """
    check("means", p, FINITE)
    check("means", q, FINITE)
    check("sd", sd, POSITIVE)
    return ((as_float(p) - as_float(q)) / as_float(sd)) ** 2 / 2


def kl_poisson(p: ArrayLike, q: ArrayLike) -> jax.Array:
    """Return KL(Poisson(p), Poisson(q)) = p log(p/q) + q - p; value and gradients are as exact as `kl_bernoulli`.

    Args:
        p: mean of the first law, at least 0, shape `(…)`.
        q: mean of the second law, at least 0, broadcasting with p.

    Returns:
        Shape `(…)`, at least 0; infinite where q is 0 and p is not.

    Example:
        >>> round(float(jb.theory.kl_poisson(1.0, 2.0)), 4)
        0.3069
    """
    check("p", p, NOT_NEGATIVE)
    check("q", q, NOT_NEGATIVE)
    first, second = jnp.broadcast_arrays(as_float(p), as_float(q))
    return _kl_poisson(first, second)


def kl_exponential(p: ArrayLike, q: ArrayLike) -> jax.Array:
    """Return KL between exponential laws of means p and q, log(q/p) + p/q - 1; it is as exact as `kl_bernoulli`.

    Args:
        p: mean of the first law, positive, shape `(…)`.
        q: mean of the second law, positive, broadcasting with p.

    Returns:
        Shape `(…)`, at least 0.

    Example:
        >>> round(float(jb.theory.kl_exponential(1.0, 2.0)), 4)
        0.1931
    """
    check("p", p, POSITIVE)
    check("q", q, POSITIVE)
    first, second = jnp.broadcast_arrays(as_float(p), as_float(q))
    return _kl_exponential(first, second)


def binary_relative_entropy(delta: ArrayLike) -> jax.Array:
    """Return kl(delta, 1 - delta): the information that a decision with error probability delta must carry.

    Args:
        delta: in (0, 1), shape `(…)`.

    Returns:
        Shape `(…)`, at least 0, symmetric about its zero at 1/2.

    Example:
        >>> round(float(jb.theory.binary_relative_entropy(0.05)), 3)
        2.65
    """
    check("delta", delta, INSIDE_UNIT)
    error = as_float(delta)
    # (1 - 2 delta) log((1 - delta) / delta), the logarithm in a form that keeps its digits near 1/2 and near 0.
    near_half = jnp.where(error < 0.1, 0.1, error)
    odds = jnp.log1p((1 - 2 * near_half) / near_half)
    return (1 - 2 * error) * jnp.where(error < 0.1, jnp.log1p(-error) - log_of(delta), odds)


def _bernoulli_divergence(p: jax.Array, q: jax.Array) -> jax.Array:
    """Return `kl_bernoulli` without its checks and derivative.

    With d = q - p and f(x) = x - log(1+x), p log(p/q) + (1-p) log((1-p)/(1-q)) = p f(d/p) + (1-p) f(-d/(1-p)). The
    linear parts p (d/p) and -(1-p) d/(1-p) cancel on paper. Both terms are positive, so nothing cancels in floating
    point.
    """
    return _excess(p, q - p, _log_ratio(p, q, q - p)) + _excess(1 - p, p - q, _log_ratio(1 - p, 1 - q, p - q))


def _poisson_divergence(p: jax.Array, q: jax.Array) -> jax.Array:
    """Return `kl_poisson`, as `_bernoulli_divergence` does `kl_bernoulli`."""
    return _excess(p, q - p, _log_ratio(p, q, q - p))


def _exponential_divergence(p: jax.Array, q: jax.Array) -> jax.Array:
    """Return `kl_exponential`, as `_bernoulli_divergence` does `kl_bernoulli`: f(p/q - 1)."""
    x = (p - q) / jnp.maximum(q, _tiny(q))
    return _excess(jnp.ones_like(x), x, _log_ratio(q, p, p - q))


def _excess(base: jax.Array, difference: jax.Array, log: jax.Array) -> jax.Array:
    """Return one term, base f(x) with x = difference / base, f(x) = x - log(1+x), log = log(1+x).

    For base = 0 it is its limit, the difference.
    """
    near, x = _relative(base, difference)
    # log(1+x) = 2 artanh(s) and x - 2s = x s, so f(x) = x s - 2 s^3 (1/3 + s^2/5 + s^4/7 + ...).
    s = x / (2 + x)
    series = jnp.zeros_like(s)
    for k in range(_SERIES_TERMS, 0, -1):
        series = series * s * s + 1 / (2 * k + 1)
    far = difference - base * log
    return jnp.where(near, base * s * (x - 2 * s * s * series), far)


def _log_ratio(base: jax.Array, other: jax.Array, difference: jax.Array) -> jax.Array:
    """Return the logarithm of other / base: from their difference if they are close, else from their ratio."""
    near, x = _relative(base, difference)
    divisor = jnp.maximum(base, _tiny(base))
    # A quotient outside the range of floats, such as any mean above 4 over 0, is computed from logarithms.
    most, least = float(np.finfo(divisor.dtype).max), _tiny(divisor)
    above = (divisor < 1) & (other / 4 >= jnp.minimum(divisor, 1.0) * (most / 4))
    below = (divisor > 1) & (other > 0) & (other < jnp.maximum(divisor, 1.0) * least)
    beyond = above | below
    ratio = jnp.where(near | beyond, 1.0, other / jnp.where(beyond, 1.0, divisor))
    apart = jnp.log(jnp.where(beyond, other, 1.0)) - jnp.log(jnp.where(beyond, divisor, 1.0))
    return jnp.where(near, jnp.log1p(x), jnp.where(beyond, apart, jnp.log(ratio)))


def _relative(base: jax.Array, difference: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return whether |difference / base| is at most 1/2, and the quotient there, 0 elsewhere."""
    x = difference / jnp.maximum(base, _tiny(base))
    near = jnp.abs(x) <= 0.5
    return near, jnp.where(near, x, 0.0)


def _tiny(x: jax.Array) -> float:
    """Return the smallest normal number: as a divisor in place of 0 it keeps quotients of probabilities finite."""
    return float(np.finfo(x.dtype).tiny)


@jax.custom_jvp
def _kl_bernoulli(p: jax.Array, q: jax.Array) -> jax.Array:
    return _bernoulli_divergence(p, q)


@_kl_bernoulli.defjvp
def _kl_bernoulli_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (p, q), (dp, dq) = primals, tangents
    # d/dp = log(p/q) - log((1-p)/(1-q)), two terms of one sign.
    slope_p = _log_ratio(1 - p, 1 - q, p - q) - _log_ratio(p, q, q - p)
    # d/dq = (q-p) / (q(1-q)); the denominator is made safe first, `where` alone would not protect the next derivative.
    slope_q = (q - p) / jnp.where(p == q, 1.0, q * (1 - q))
    return _kl_bernoulli(p, q), slope_p * dp + slope_q * dq


@jax.custom_jvp
def _kl_poisson(p: jax.Array, q: jax.Array) -> jax.Array:
    return _poisson_divergence(p, q)


@_kl_poisson.defjvp
def _kl_poisson_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (p, q), (dp, dq) = primals, tangents
    slope_p = -_log_ratio(p, q, q - p)
    slope_q = (q - p) / jnp.where(p == q, 1.0, q)
    return _kl_poisson(p, q), slope_p * dp + slope_q * dq


@jax.custom_jvp
def _kl_exponential(p: jax.Array, q: jax.Array) -> jax.Array:
    return _exponential_divergence(p, q)


@_kl_exponential.defjvp
def _kl_exponential_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (p, q), (dp, dq) = primals, tangents
    return _kl_exponential(p, q), (p - q) / p / q * dp + (q - p) / q / q * dq
