"""Instances whose optimal proportions need no rounds: an arm has no share, or the arms cannot be distinguished."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.arrays.numerics import fast_max
from jaxbandits.statistics.closest_alternative import Pairs
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Edge", "edge_of"]

# A weight below exp(-40) = 4e-18 of another counts as 0, in float32 and in float64.
_NONE = 40.0


class Edge(NamedTuple):
    """A flag for instances at an edge, and their answer; elsewhere the answer means nothing."""

    here: jax.Array  # bool (…)
    portion: jax.Array  # (…), of the best arm
    ratio: jax.Array  # (K, …), of the others, in any unit
    time: jax.Array  # (…)


def edge_of(family: Family, pairs: Pairs, rivals: jax.Array, share: jax.Array | None) -> Edge:
    """Return which instances are at an edge, with their answers.

    - No other arm: the time is 0.
    - Tied arms, or arms that floats cannot distinguish: it is infinite; proportions are uniform over them.
    - An epsilon as large as the range: no alternative exists; the time is 0, proportions are uniform.
    - A best mean that cannot move down, or so little that its share is 0 (Poisson and Bernoulli rewards at 0): only the
      others' pulls count, and each needs 1 / d(mu_a, epsilon).
    - Others that cannot move up (Bernoulli rewards of mean 1), or so little that their share is 0: the best arm has to
      move to 1 - epsilon, and only its pulls count.

    Args:
        family: the rewards.
        pairs: the best arm and others; arms that are no rivals hold the mean of one that is.
        rivals: bool `(K, …)`, the arms that exist and are not the best.
        share: `(…)`, of the best arm; None if it is free.
    """
    top, other, lead = pairs
    zero = jnp.zeros_like(top)
    number = jnp.sum(rivals, axis=0).astype(top.dtype)
    way = top - other if lead is None else (top - other) + lead
    # The cost is of the order of this over the variance.
    least = float(np.finfo(top.dtype).tiny ** 0.8)
    apart = (way > 0) & (way * way > least * family.variance(top - family.lowest, family.highest - top))
    tied = rivals & ~apart
    ties = jnp.sum(tied, axis=0).astype(top.dtype)
    answers = [
        (number == 0, zero + 1, zero + rivals, zero),
        (ties > 0, 1 / (1 + ties), zero + tied, zero + jnp.inf),
    ]
    if lead is not None:
        impossible = lead >= family.highest - family.lowest
        answers.insert(1, (impossible, 1 / (1 + number), zero + rivals, zero))
        if family.reaches_lowest:
            cost = family.divergence_by(other, fast_max(family.lowest + lead - other, 0.0))
            # If the best arm moved to exp(-40) of its mean, the condition of the optimum would require more still.
            cannot = ~jnp.any(rivals & (other >= family.lowest + lead), axis=0)
            cannot &= jnp.sum(jnp.where(rivals, _NONE * (top - family.lowest) / cost, 0.0), axis=0) < 1
            cost = jnp.where(cannot, cost, 1.0)
            ratio = jnp.where(rivals, 1 / cost, 0.0)
            answers.append((cannot, zero, ratio, jnp.sum(ratio, axis=0) / (1 - (zero if share is None else share))))
        if np.isfinite(family.highest):
            start = pairs.least_move(family)
            cost = family.divergence_by(top, -start)
            cannot = jnp.sum(jnp.where(rivals, cost / (_NONE * (family.highest - other)), 0.0), axis=0) > 1
            cannot &= start > 0
            cost = jnp.where(cannot, cost, 1.0)
            answers.append((cannot, zero + 1, zero + rivals, 1 / (cost * (1 if share is None else share))))
    here = jnp.zeros(top.shape, bool)
    portion, ratio, time = zero, zero + rivals, zero
    for holds, its_portion, its_ratio, its_time in answers:
        first = holds & ~here
        portion, time = jnp.where(first, its_portion, portion), jnp.where(first, its_time, time)
        ratio = jnp.where(first, its_ratio, ratio)
        here |= holds
    return Edge(here, portion if share is None else share, ratio, time)
