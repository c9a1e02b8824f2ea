"""Phases of fixed-budget algorithms, as traced arrays over phases; arms first, runs last."""

from typing import NamedTuple, Self

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.elimination import Elimination
from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger, smaller

__all__ = ["EliminationInPhases", "RejectsPhases", "rejects_pulls"]

# Float32 quotients err by some units in 10^-7; without this a whole quotient could be rounded up to the next integer.
_BELOW = 1 - 4e-7


class EliminationInPhases(Elimination):
    """Elimination in rounds that are known beforehand: the last ones of phases."""

    def _target(self, state: EliminationState) -> jax.Array:
        """The round that ends the phase, int32 `(…)`."""
        target: jax.Array = state.plan.target
        return target

    def _due(self, state: EliminationState) -> jax.Array:
        return state.round >= self._target(state)

    def _quiet(self, state: EliminationState) -> jax.Array:
        return self._target(state) - state.round - 1


def rejects_pulls(budget: jax.Array, count: jax.Array, axis: int, *, half: bool = True) -> jax.Array:
    """Successive Rejects' n_k = ceil((n - K) / (H (K + 1 - k))), H = 1/2 + sum_{i=2}^K 1/i.

    Audibert, Bubeck, Munos (2010), Figure 3. Yu et al. (2018) take the whole harmonic sum, without `half`. Within one
    pull for budgets up to 10^6.

    Args:
        budget: n, `(…)`.
        count: number of arms K that exist, float32 `(…)`.
        axis: length of the axis of phases, at least K.
        half: whether the sum starts with 1/2.

    Returns:
        int32 `(axis, …)`: entry k - 1 is n_k for k = 1, …, K - 1; 0 after that.
    """
    phase = arms.index(axis, jnp.shape(count)) + 1  # k, and i of the sum
    log_bar = arms.total(jnp.where(phase <= count, 1 / phase.astype(jnp.float32), 0)) - (0.5 if half else 0.0)
    left = larger(count + 1 - phase, 1)
    pulls = jnp.ceil((budget - count) / (log_bar * left) * _BELOW)
    return jnp.where(phase < count, pulls, 0).astype(jnp.int32)


class RejectsPhases(NamedTuple):
    """Where a run stands in Successive Rejects' phases: at the end of phase k the active arms have n_k pulls each."""

    pulls: jax.Array  # int32 (K, …): n_k at k - 1, at least 1
    target: jax.Array  # int32 (…): n_k of the next phase to end

    @classmethod
    def of(cls, budget: jax.Array, count: jax.Array, axis: int, *, half: bool = True) -> Self:
        """At the start; arguments as in `rejects_pulls`. What no phase asks for is met by the first pulls."""
        pulls = larger(rejects_pulls(budget, count, axis, half=half), 1)
        return cls(pulls, pulls[0])

    def ended(self, pulls: jax.Array, count: jax.Array) -> jax.Array:
        """How many phases have ended when the active of `count` arms have `pulls` pulls each, int32 `(…)`.

        Phases of equal length end together.
        """
        phase = arms.index(self.pulls.shape[0], jnp.shape(pulls)) + 1
        return arms.total(((self.pulls <= pulls) & (phase < count)).astype(jnp.int32))

    def after(self, ended: jax.Array) -> Self:
        """Where the run stands once so many phases have ended."""
        return self._replace(target=arms.take(self.pulls, smaller(ended, self.pulls.shape[0] - 1)))
