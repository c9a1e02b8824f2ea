"""Calls of a rule that eliminates arms, for one run."""

from typing import cast

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.elimination.surviving_arms import SurvivingArms
from jaxbandits.algorithms.told_arms import OwnState
from jaxbandits.arrays.numerics import MAX_COUNT, fast_max, fast_min
from jaxbandits.engine.rule_calls import Told
from jaxbandits.statistics.robust_means import EmpiricalMean, MeanEstimator

__all__ = ["estimating", "is_due", "looked", "next_look"]


def estimating(told: Told) -> MeanEstimator:
    """Return the estimator of means."""
    return told.ask(told.rule.mean_estimator) if told.rule.has("mean_estimator") else EmpiricalMean()


def next_look(told: Told) -> jax.Array:
    """Return the round after which the rule next evaluates the arms, int32 `()`."""
    arms = cast(SurvivingArms, told.arms)
    now = arms.round
    rounds = jnp.asarray(told.ask(told.rule.rounds)).astype(jnp.int32)
    return now + fast_min(fast_max(rounds, 0), MAX_COUNT - now)


def is_due(told: Told) -> jax.Array:
    """Return whether the rule may have to drop an arm, bool `()`."""
    return jnp.asarray(told.ask(told.rule.due))


def looked(told: Told) -> tuple[OwnState, jax.Array]:
    """Return the rule's own state after an evaluation, None where it has none; and the arms that stay, bool `(K,)`."""
    found = told.ask(told.rule.keep, told.key)
    own, kept = found if told.rule.has_state else (None, found)
    arms = cast(SurvivingArms, told.arms)
    return own, jnp.asarray(kept) & arms.active
