"""Stopping when confidence intervals part: at which exploration rate those of two arms would just touch.

The interval of an arm is mean +- b sqrt(beta / (2 N)), of which either end errs with probability exp(-beta) at most, by
Hoeffding's inequality. Those of arms 1 and a are epsilon apart, U_a - L_1 < epsilon, if

    2 (mu_1 - mu_a + epsilon)^2 / (b^2 (1/sqrt(N_1) + 1/sqrt(N_a))^2) > beta(t),

with a sum that is positive. So this takes the place of a likelihood ratio, and the rate beta(t) that of its threshold
(`lucb1` and `ugape` of `jaxbandits.theory.glr_threshold`, with the proof).
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.arrays import arms
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger
from jaxbandits.statistics.pairwise_evidence import Lead

__all__ = ["STOPPING_WORDS", "parted", "rate_for"]

_RATES = {"lucb-gap": "lucb1", "ugape-index": "ugape", "elimination": "lucb1"}
STOPPING_WORDS = ("glr", *_RATES)


def rate_for(stopping: str) -> str | None:
    """The name of the exploration rate of a stopping rule; None for the likelihood ratio's."""
    return _RATES.get(stopping)


def parted(state: ArmState, chosen: jax.Array, lead: Lead) -> jax.Array:
    """The rate up to which the interval of an arm is apart from that of every other, `(K, …)`; of itself it is nothing.

    Args:
        state: the state.
        chosen: mask of the arm, bool `(K, …)`.
        lead: epsilon.
    """
    mean, root = state.statistics.mean, state.statistics.inverse_root
    way = arms.largest(jnp.where(chosen, mean, -jnp.inf)) - mean
    if not isinstance(lead, Known):
        way = way + lead
    widths = arms.largest(jnp.where(chosen, root, 0.0)) + root
    ratio = larger(way, jnp.float32(0)) / (state.b * widths)
    return 2 * (ratio * ratio)
