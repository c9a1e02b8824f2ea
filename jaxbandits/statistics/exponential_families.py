"""Families of rewards with one parameter, their mean: divergences, exact to rounding however close two means are.

d(mu, x) is the Kullback-Leibler divergence of the law with mean mu from the law with mean x, and V(x) the variance of
the latter: the derivative of d(mu, x) in x is (x - mu) / V(x). Functions take a mean and the shift x - mu, which is
known to more digits than x where the two are close, and V takes the distances of x from the ends of the range of means,
for the same reason. float32 (in runs, by the rule of numerics) or float64 (theory), arrays of any shape that broadcast;
differentiable.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import excess, larger, rounded

__all__ = ["BERNOULLI", "EXPONENTIAL", "FAMILIES", "GAUSSIAN", "POISSON", "Family"]

Function = Callable[[jax.Array, jax.Array], jax.Array]


class Family(NamedTuple):
    """A family of rewards.

    Attributes:
        lowest: the infimum of the means.
        highest: the supremum of the means; one that is finite may be a mean.
        reaches_lowest: whether the lowest may be a mean.
        divergence: d(mu, mu + shift) of mu and the shift.
        variance: V(x) of x - lowest and highest - x.
        log_variance_slope: V'(x) / V(x) of the same; where the range has no end, the distance from it is infinite.
    """

    lowest: float
    highest: float
    reaches_lowest: bool
    divergence: Function
    variance: Function
    log_variance_slope: Function


@jax.custom_jvp
def _scaled_excess(base: jax.Array, shift: jax.Array) -> jax.Array:
    """Base f(shift / base) with f(x) = x - log(1 + x): shift - base log(1 + shift / base), for base = 0 the shift.

    The divergences below are sums of such terms, each at least 0, so that nothing cancels.
    """
    base = _positive(base)
    inverse = 1 / base  # see `numerics`: a base that many shifts share
    return rounded(base * excess(rounded(shift * inverse), _positive((base + shift) * inverse)))


@_scaled_excess.defjvp
def _scaled_excess_jvp(
    primals: tuple[jax.Array, jax.Array], tangents: tuple[jax.Array, jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (base, shift), (of_base, of_shift) = primals, tangents
    moved = _positive(base + shift)
    relative = shift / moved
    # In the base -log(1 + x) + x / (1 + x) with x = shift / base, that is -f(-shift / (base + shift)).
    slope = -excess(-relative, _positive(base / moved))
    return _scaled_excess(base, shift), slope * of_base + relative * of_shift


def _positive(x: jax.Array) -> jax.Array:
    """In place of 0 a number so small that it is none; at the ends of a range, infinite numbers become large ones."""
    return larger(x, jnp.asarray(float(np.finfo(x.dtype).tiny ** 0.75), x.dtype))


def _bernoulli_divergence(mean: jax.Array, shift: jax.Array) -> jax.Array:
    # With d = x - mu, mu log(mu/x) + (1-mu) log((1-mu)/(1-x)) = mu f(d/mu) + (1-mu) f(-d/(1-mu)).
    return _scaled_excess(mean, shift) + _scaled_excess(1 - mean, -shift)


def _exponential_divergence(mean: jax.Array, shift: jax.Array) -> jax.Array:
    # log(x/mu) + mu/x - 1 = f(mu/x - 1)
    moved = _positive(mean + shift)
    return excess(-shift / moved, _positive(mean / moved))


BERNOULLI = Family(
    lowest=0.0,
    highest=1.0,
    reaches_lowest=True,
    divergence=_bernoulli_divergence,
    variance=lambda low, high: low * high,
    log_variance_slope=lambda low, high: 1 / low - 1 / high,
)
#: Normal rewards of variance 1: with another one, divide divergences by it.
GAUSSIAN = Family(
    lowest=-np.inf,
    highest=np.inf,
    reaches_lowest=False,
    divergence=lambda mean, shift: rounded(shift * shift) / 2 + jnp.zeros_like(mean),
    variance=lambda low, _: jnp.ones_like(low),
    log_variance_slope=lambda low, _: jnp.zeros_like(low),
)
POISSON = Family(
    lowest=0.0,
    highest=np.inf,
    reaches_lowest=True,
    divergence=_scaled_excess,  # mu log(mu/x) + x - mu = mu f(d/mu)
    variance=lambda low, _: low,
    log_variance_slope=lambda low, _: 1 / low,
)
#: Exponential rewards; means are positive.
EXPONENTIAL = Family(
    lowest=0.0,
    highest=np.inf,
    reaches_lowest=False,
    divergence=_exponential_divergence,
    variance=lambda low, _: low * low,
    log_variance_slope=lambda low, _: 2 / low,
)
#: By name.
FAMILIES = {"bernoulli": BERNOULLI, "exponential": EXPONENTIAL, "gaussian": GAUSSIAN, "poisson": POISSON}
