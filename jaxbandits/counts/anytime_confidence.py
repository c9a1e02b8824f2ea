"""How sure counts are by a test that holds at all times: the smallest delta at which it would stop now."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.likelihood_ratio.glr_families import UNKNOWN_VARIANCE, threshold_for
from jaxbandits.arrays.static_int import StaticInt
from jaxbandits.counts.count_tables import CountTable
from jaxbandits.statistics.exponential_families import BERNOULLI
from jaxbandits.statistics.glr import Lead, among_family
from jaxbandits.statistics.glr_unknown_variance import among_unknown_variances, discounted

__all__ = ["LEAST_DELTA", "AnytimeTest", "anytime_test", "family_settings"]

#: The least delta that is searched; it is returned where the test would stop with smaller ones, too.
LEAST_DELTA = math.exp(-200.0)
_HALVINGS = 60


class AnytimeTest(NamedTuple):
    """A generalised likelihood ratio test, at the counts so far."""

    statistic: float
    threshold: str  # its name in `jaxbandits.theory.glr_threshold`
    delta: float  # the smallest with which it would stop now, at least LEAST_DELTA; 1 where none would


def _statistic(counts: CountTable, epsilon: float, unit: float) -> float:
    """Return the least statistic of the leader against another arm; `epsilon` is in the tests' unit.

    float32 loses the differences of means near 1 or far from 0. So coins are taken in float64, and normal rewards by
    their distances from the largest mean.
    """
    means = counts.means / unit
    best = counts.leader
    lead: Any = StaticInt(0) if epsilon == 0 else epsilon
    if counts.rewards == "normal":
        pulls, variance = (
            jnp.asarray(each, jnp.float32) for each in (counts.pulls, counts.squares / counts.pulls / unit**2)
        )
        found = _of_normal(jnp.asarray(means - means[best], jnp.float32), pulls, variance, best, lead)
    else:
        with jax.enable_x64(True):
            found = _of_coins(jnp.asarray(means), jnp.asarray(counts.pulls, float), best, lead)
    return float(np.min(np.delete(np.asarray(found), best)))


@jax.jit
def _of_coins(mean: jax.Array, pulls: jax.Array, best: jax.Array | int, lead: Lead) -> jax.Array:
    return among_family(BERNOULLI, mean[best], pulls[best], mean, pulls, lead).cost


@jax.jit
def _of_normal(mean: jax.Array, pulls: jax.Array, variance: jax.Array, best: jax.Array | int, lead: Lead) -> jax.Array:
    own = pulls[best]
    found = among_unknown_variances(mean[best], own, variance[best], mean, pulls, variance, lead)
    return discounted(found.cost, own, pulls)


def family_settings(rewards: str) -> dict[str, str]:
    """Return family and threshold of tests of a kind of rewards; those with a proof for it, the lowest there is."""
    family = {"coins": "bernoulli", "bounded": "bernoulli", "normal": UNKNOWN_VARIANCE}[rewards]
    return {"family": family, "threshold": "gk16" if rewards == "coins" else threshold_for(family)}


def anytime_test(counts: CountTable, epsilon: float, unit: float) -> AnytimeTest:
    """Return the test that the leader is within epsilon of the best arm.

    It holds at all times together, if each arm was chosen by what was known before its reward.

    Args:
        counts: the counts.
        epsilon: in the unit of the rewards.
        unit: of the tests, see `unit_of`.
    """
    settings = family_settings(counts.rewards)
    name, count = settings["threshold"], len(counts.arms)
    if np.min(counts.pulls) < (2 if counts.rewards == "normal" else 1):
        return AnytimeTest(0.0, name, 1.0)
    statistic = _statistic(counts, epsilon / unit, unit)

    def stops(log_delta: float) -> bool:
        threshold = theory.glr_threshold(float(counts.pulls.sum()), count, math.exp(log_delta), name)
        return statistic > float(threshold)

    high, low = -1e-9, math.log(LEAST_DELTA)
    if not stops(high):
        return AnytimeTest(statistic, name, 1.0)
    if stops(low):
        return AnytimeTest(statistic, name, LEAST_DELTA)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if stops(middle) else (middle, high)
    return AnytimeTest(statistic, name, math.exp(high))
