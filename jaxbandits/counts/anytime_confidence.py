"""How sure counts are by a test that holds at all times: the smallest delta at which it would stop now."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.likelihood_ratio.glr_families import UNKNOWN_VARIANCE, threshold_for
from jaxbandits.algorithms.likelihood_ratio.glr_stopping import Tested
from jaxbandits.algorithms.likelihood_ratio.uniform_glr import UniformGLR
from jaxbandits.algorithms.told_arms import Arms
from jaxbandits.counts.count_tables import CountTable

__all__ = ["AnytimeTest", "anytime_test", "family_settings"]

#: The least logarithm of a delta that is searched.
_LEAST = -200.0
_HALVINGS = 60


class AnytimeTest(NamedTuple):
    """A generalised likelihood ratio test, at the counts so far."""

    statistic: float
    threshold: str  # its name in `jaxbandits.theory.glr_threshold`
    delta: float  # the smallest with which it would stop now; 1 where none would


@jax.jit
def _statistic(rule: UniformGLR, arms: Arms) -> jax.Array:
    return rule.statistic(Tested(None), arms)


def family_settings(rewards: str) -> dict[str, str]:
    """Return family and threshold of tests of a kind of rewards; those with a proof for it, the lowest there is."""
    family = {"coins": "bernoulli", "bounded": "bernoulli", "normal": UNKNOWN_VARIANCE}[rewards]
    return {"family": family, "threshold": "gk16" if rewards == "coins" else threshold_for(family)}


def anytime_test(counts: CountTable, epsilon: float, unit: float) -> AnytimeTest:
    """Return the test that the arm with the largest mean is within epsilon of the best.

    It holds at all times together, if each arm was chosen by what was known before its reward.

    Args:
        counts: the counts.
        epsilon: in the unit of the rewards.
        unit: the range of bounded rewards, 1 for others.
    """
    settings = family_settings(counts.rewards)
    name, count = settings["threshold"], len(counts.arms)
    if np.min(counts.pulls) < (2 if counts.rewards == "normal" else 1):
        return AnytimeTest(0.0, name, 1.0)
    rule = UniformGLR(delta=0.5, epsilon=epsilon / unit, b=1.0, **settings)
    pulls = jnp.asarray(counts.pulls, jnp.int32)
    arms = Arms(
        pulls=pulls,
        mean=jnp.asarray(counts.means / unit, jnp.float32),
        inverse_root=1 / jnp.sqrt(pulls.astype(jnp.float32)),
        total=jnp.asarray(counts.total / unit, jnp.float32),
        squares=jnp.asarray(counts.squares / unit**2, jnp.float32),
        time=jnp.sum(pulls),
        count=jnp.int32(count),
        b=jnp.float32(1),
    )
    statistic = float(_statistic(rule, arms))

    def stops(log_delta: float) -> bool:
        threshold = theory.glr_threshold(float(counts.pulls.sum()), count, math.exp(log_delta), name)
        return statistic > float(threshold)

    high, low = -1e-9, _LEAST
    if not stops(high):
        return AnytimeTest(statistic, name, 1.0)
    if stops(low):
        return AnytimeTest(statistic, name, math.exp(low))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if stops(middle) else (middle, high)
    return AnytimeTest(statistic, name, math.exp(high))
