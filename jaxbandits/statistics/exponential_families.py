"""Families of rewards with one parameter, their mean: divergences, exact to rounding however close two means are.

`FAMILIES` is the table of laws. `bound_law` of a problem and `family` of a rule or of a formula take a name from there,
and the entry says what must hold for the means.

d(mu, x) is the Kullback-Leibler divergence of the law with mean mu from the law with mean x. V(x) is the variance of
the latter: the derivative of d(mu, x) in x is (x - mu) / V(x). Functions take the shift x - mu and the distances of x
from the ends of the range of means, which may be known to more digits than x. float32 (in runs, by the rule of
numerics) or float64 (theory), arrays of any shape that broadcast; differentiable.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import fast_max, log1pmx, no_fma

__all__ = ["BERNOULLI", "EXPONENTIAL", "FAMILIES", "GAUSSIAN", "POISSON", "Family"]

Function = Callable[[jax.Array, jax.Array], jax.Array]
Divergence = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], jax.Array]


class Family(NamedTuple):
    """A family of rewards.

    Attributes:
        lowest: the infimum of the means.
        highest: the supremum of the means; a finite one may be a mean.
        reaches_lowest: whether the lowest may be a mean.
        degree: the n with d(c mu, c x) = c^n d(mu, x); None where there is none.
        divergence: d(mu, x) of mu, x - mu, x - lowest and highest - x; derivatives come through mu and x - mu alone.
        variance: V(x) of x - lowest and highest - x.
        log_variance_slope: V'(x) / V(x) of the same; where the range has no end, the distance from it is infinite.
    """

    lowest: float
    highest: float
    reaches_lowest: bool
    degree: int | None
    divergence: Divergence
    variance: Function
    log_variance_slope: Function

    def divergence_by(self, mean: jax.Array, shift: jax.Array) -> jax.Array:
        """Return d(mu, mu + shift)."""
        return self.divergence(mean, shift, (mean - self.lowest) + shift, (self.highest - mean) - shift)


@jax.custom_jvp
def _scaled_excess(base: jax.Array, shift: jax.Array, moved: jax.Array) -> jax.Array:
    """Return base f(shift / base) with f(x) = x - log(1 + x); for base = 0 the shift.

    That is shift - base log(1 + shift / base). The divergences below are sums of such terms, each at least 0, so that
    nothing cancels. `moved` is base + shift.
    """
    base = _positive(base)
    inverse = 1 / base  # see `numerics`: a base that many shifts share
    return no_fma(base * log1pmx(no_fma(shift * inverse), _positive(moved * inverse)))


@_scaled_excess.defjvp
def _scaled_excess_jvp(primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
    base, shift, moved = primals
    moved = _positive(moved)
    relative = shift / moved
    # In the base -log(1 + x) + x / (1 + x) with x = shift / base, that is -f(-shift / (base + shift)).
    slope = -log1pmx(-relative, _positive(base / moved))
    return _scaled_excess(*primals), slope * tangents[0] + relative * tangents[1]


def _positive(x: jax.Array) -> jax.Array:
    """Replace 0 by a number small enough to count as 0; so infinite values at the ends of a range become large ones."""
    return fast_max(x, jnp.asarray(float(np.finfo(x.dtype).tiny ** 0.75), x.dtype))


def _bernoulli_divergence(mean: jax.Array, shift: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    # With d = x - mu, mu log(mu/x) + (1-mu) log((1-mu)/(1-x)) = mu f(d/mu) + (1-mu) f(-d/(1-mu)).
    return _scaled_excess(mean, shift, low) + _scaled_excess(1 - mean, -shift, high)


def _gaussian_divergence(mean: jax.Array, shift: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    del low, high
    return no_fma(shift * shift) / 2 + jnp.zeros_like(mean)


def _poisson_divergence(mean: jax.Array, shift: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    del high
    return _scaled_excess(mean, shift, low)  # mu log(mu/x) + x - mu = mu f(d/mu)


def _exponential_divergence(mean: jax.Array, shift: jax.Array, low: jax.Array, high: jax.Array) -> jax.Array:
    del high
    low = _positive(low)
    # log(x/mu) + mu/x - 1 = f(mu/x - 1). Both arguments depend on x; derivatives come through the first alone.
    return log1pmx(-shift / low, _positive(mean / low))


BERNOULLI = Family(
    lowest=0.0,
    highest=1.0,
    reaches_lowest=True,
    degree=None,
    divergence=_bernoulli_divergence,
    variance=lambda low, high: low * high,
    log_variance_slope=lambda low, high: 1 / low - 1 / high,
)
#: Normal rewards of variance 1: with another one, divide divergences by it.
GAUSSIAN = Family(
    lowest=-np.inf,
    highest=np.inf,
    reaches_lowest=False,
    degree=2,
    divergence=_gaussian_divergence,
    variance=lambda low, _: jnp.ones_like(low),
    log_variance_slope=lambda low, _: jnp.zeros_like(low),
)
POISSON = Family(
    lowest=0.0,
    highest=np.inf,
    reaches_lowest=True,
    degree=1,
    divergence=_poisson_divergence,
    variance=lambda low, _: low,
    log_variance_slope=lambda low, _: 1 / low,
)
#: Exponential rewards; means are positive.
EXPONENTIAL = Family(
    lowest=0.0,
    highest=np.inf,
    reaches_lowest=False,
    degree=0,
    divergence=_exponential_divergence,
    variance=lambda low, _: low * low,
    log_variance_slope=lambda low, _: 2 / low,
)
#: By name.
FAMILIES = {"bernoulli": BERNOULLI, "exponential": EXPONENTIAL, "gaussian": GAUSSIAN, "poisson": POISSON}
