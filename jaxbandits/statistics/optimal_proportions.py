"""Proportions of pulls that distinguish the best arm from the others fastest: w* and T* of an instance.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT: 1/T* is the maximum over
proportions w of the least cost, over the other arms, of an alternative in which that arm is the best. w* attains it.
With epsilon > 0 the other arm has to lead by epsilon. With a given share of the best arm (top-two algorithms), the
maximum is over the other arms' proportions. Normal arms may have different variances s_a^2: n pulls then count n /
s_a^2, so that a unit of what counts has the price s_a^2.

float32 or float64; differentiable; shapes as in `closest_alternative`. `allocation_newton` has the method.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import no_fma
from jaxbandits.statistics.allocation_newton import Task, solved
from jaxbandits.statistics.allocation_special_cases import edge_of
from jaxbandits.statistics.closest_alternative import Pairs, alternative
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Proportions", "proportions"]

#: Rounds that leave a relative error of some 1e-6 in float32, where epsilon is not large beside the means.
ROUNDS, ROUNDS_WITH_EPSILON = 4, 8
# Means that replace those of an instance that needs no rounds: they are in the range of every family.
_HIGH, _LOW = 0.75, 0.25


class Proportions(NamedTuple):
    """The result of `proportions`.

    Attributes:
        weights: w*, `(K, …)`, adding up to 1; 0 for padded arms.
        time: T*, `(…)`: infinite where the best arm is not unique, 0 where no alternative exists.
        split: `(K, …)`, a start for an instance near this one.
    """

    weights: jax.Array
    time: jax.Array
    split: jax.Array


def proportions(
    family: Family,
    means: jax.Array,
    *,
    mask: jax.Array | None = None,
    best: jax.Array | None = None,
    epsilon: jax.Array | None = None,
    share: jax.Array | None = None,
    variances: jax.Array | None = None,
    start: jax.Array | None = None,
    rounds: int | None = None,
) -> Proportions:
    """Return optimal proportions and the characteristic time.

    Args:
        family: the rewards; normal ones have variance 1 if none are given.
        means: float32 or float64, `(K, …)`, in the range of the family.
        mask: bool `(K, …)`, false for padded arms.
        best: bool `(K, …)`, true for one arm that no other exceeds; None for the first of the best.
        epsilon: `(…)`, at least 0; None if known to be 0.
        share: `(…)`, in (0, 1), the share of the best arm; None for the optimal one.
        variances: `(K, …)`, positive, of normal rewards.
        start: the `split` of an instance near this one.
        rounds: how many rounds; each costs some four logarithms an arm.

    Returns:
        Proportions; where several arms are the best and epsilon = 0, they are uniform over these.
    """
    real = jnp.ones(means.shape, bool) if mask is None else mask
    best = _first_of_best(means, real) if best is None else best
    rivals = real & ~best
    top = jnp.max(jnp.where(best, means, -jnp.inf), axis=0)
    other = jnp.where(rivals, means, jnp.min(jnp.where(rivals, means, jnp.inf), axis=0))
    lead = None if epsilon is None else jnp.broadcast_to(jnp.asarray(epsilon, means.dtype), top.shape)
    portion = None if share is None else jnp.broadcast_to(jnp.asarray(share, means.dtype), top.shape)
    edge = edge_of(family, Pairs(top, other, lead), rivals, portion)
    # An edge is solved with other means, so that all of it, and its derivatives, are finite.
    pairs = Pairs(
        jnp.where(edge.here, _HIGH, top),
        jnp.where(edge.here, _LOW, other),
        None if lead is None else jnp.where(edge.here, _LOW, lead),
    )
    price = None
    if variances is not None:
        known = jnp.where(edge.here, 1.0, variances)
        unit = jnp.max(jnp.where(best, known, -jnp.inf), axis=0)
        price = no_fma(known * (1 / unit))
    odds = None if portion is None else (1 - portion) / portion
    few = ROUNDS if epsilon is None else ROUNDS_WITH_EPSILON
    if start is None:  # with prices, that is right for a single rival
        start = jnp.ones_like(means) if price is None else 1 / jnp.sqrt(price)
    else:
        start = jnp.where(edge.here, 1.0, start)
    z, w = solved(family, few if rounds is None else rounds, Task(pairs, rivals, odds, price), start)
    ratio = z if lead is None else alternative(family, pairs, z).ratio
    ratio = jnp.where(rivals, ratio if price is None else no_fma(ratio * price), 0.0)
    # w is the weight of the best arm in units in which its pulls and the others' cost 1 more than its own alone do.
    fixed = 0.0 if lead is None else no_fma(w * family.divergence_by(pairs.best, -pairs.least_move(family)))
    weight, others = w / (1 + fixed), jnp.sum(ratio, axis=0)
    if portion is None:
        portion, time = 1 / (1 + others), weight * (1 + others)
    else:
        time = weight / portion
    if price is not None:
        time = no_fma(time * unit)
    ratio, portion = jnp.where(edge.here, edge.ratio, ratio), jnp.where(edge.here, edge.portion, portion)
    others = jnp.sum(ratio, axis=0)
    weights = jnp.where(best, portion, ratio * ((1 - portion) / jnp.where(others > 0, others, 1.0)))
    return Proportions(weights, jnp.where(edge.here, edge.time, time), z)


def _first_of_best(means: jax.Array, real: jax.Array) -> jax.Array:
    """Return the mask of the first arm with the largest mean."""
    number = jnp.arange(len(means)).reshape(-1, *(1 for _ in means.shape[1:]))
    return number == jnp.argmax(jnp.where(real, means, -jnp.inf), axis=0)
