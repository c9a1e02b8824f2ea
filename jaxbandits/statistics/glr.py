"""The generalised likelihood ratio statistic, by pairs: the evidence that one arm is better than each of the others.

For arms 1 and a, with means mu and N pulls, it is the least N_1 d(mu_1, lambda) + N_a d(mu_a, lambda + epsilon) over
lambda. It is 0 where mu_a leads by epsilon already. Source: Garivier and Kaufmann 2016, section 4, for epsilon = 0.

An epsilon that is 0 gives the bits of one that is known to be 0: a run does not depend on the grid that it is part of.
Shapes: the arm `(…)`, all arms `(K, …)`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.arrays.numerics import fast_max, no_fma
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.statistics.closest_alternative import Pairs, cheapest
from jaxbandits.statistics.exponential_families import Family

__all__ = ["Evidence", "Lead", "among_family", "among_normal"]

#: An epsilon, float32 `(…)` and not negative, or `StaticInt(0)`.
Lead = jax.Array | StaticInt


class Evidence(NamedTuple):
    """The statistic of every pair; the entry of the arm itself means nothing.

    Attributes:
        cost: the statistic, at least 0.
        share: the part of it that the arm's own pulls make up, in [0, 1]; `ids` pulls the arm with this probability.
    """

    cost: jax.Array
    share: jax.Array


def among_normal(
    top: jax.Array, own: jax.Array, mean: jax.Array, pulls: jax.Array, lead: Lead, precision: jax.Array
) -> Evidence:
    """Return the statistic of normal rewards: (mu_1 - mu_a + epsilon)^2 N_1 N_a / (2 sd^2 (N_1 + N_a)).

    Args:
        top: mean of the arm, `(…)`.
        own: its pulls, float32 `(…)`.
        mean: means, `(K, …)`.
        pulls: float32 `(K, …)`.
        lead: epsilon.
        precision: 1 / sd^2, `(…)`.
    """
    way = top - mean
    if not isinstance(lead, StaticInt):
        way = way + lead
    way = fast_max(way, 0.0)
    share = pulls / (own + pulls)
    return Evidence((way * way) * (share * (own * (precision / 2))), share)


def among_family(
    family: Family, top: jax.Array, own: jax.Array, mean: jax.Array, pulls: jax.Array, lead: Lead
) -> Evidence:
    """Return the statistic of rewards of a family with one parameter.

    Args:
        family: the family.
        top: mean of the arm, `(…)`.
        own: its pulls, float32 `(…)`.
        mean: means, `(K, …)`, in the range of the family.
        pulls: float32 `(K, …)`.
        lead: epsilon.
    """

    def found(epsilon: jax.Array | None) -> Evidence:
        pairs = Pairs(top, mean, epsilon)
        at = cheapest(family, pairs, own, pulls)
        ours, theirs = no_fma(own * at.of_best), no_fma(pulls * at.of_other)
        ahead = (top - mean if epsilon is None else (top - mean) + epsilon) > 0
        cost = jnp.where(ahead, ours + theirs, 0.0)
        return Evidence(cost, jnp.where(cost > 0, ours / jnp.where(cost > 0, cost, 1.0), 0.5))

    if isinstance(lead, StaticInt):
        return found(None)
    chosen: Evidence = jax.lax.cond(lead > 0, lambda: found(lead), lambda: found(None))
    return chosen
