"""The rewards of a step, and the cost of its pull where costs are recorded."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.compilers.xla_cpu import materialize
from jaxbandits.engine.rule_states import RuleState
from jaxbandits.problems.base import Problem

__all__ = ["draw"]


def draw(
    problem: Problem, key: jax.Array, state: RuleState, places: Sequence[jax.Array]
) -> tuple[list[jax.Array], jax.Array | None]:
    """Draw the next reward of each place, and the cost of the one pull that a step then makes.

    Args:
        problem: leaves `(K, …)`.
        key: the runs' typed keys, shape `(…)`.
        state: the state before the step.
        places: int32 `(…)` each.

    Returns:
        Rewards, int32 or float32 `(…)` each, and the cost, float32 `(…)`; None where no costs are recorded.
    """
    rewards: list[jax.Array] = []
    for slot, place in enumerate(places):
        before = arms.take(state.statistics.pulls, place)
        if state.costs is not None:
            # Several results depend on both, and the compiler would draw them for each.
            reward, cost = materialize(problem.payoff, key, state.arm_at(place), before)
            return [reward], cost
        for other in places[:slot]:  # an arm that is selected twice has its next two rewards
            before = before + (other == place).astype(jnp.int32)
        rewards.append(problem.reward(key, state.arm_at(place), before))
    return rewards, None
