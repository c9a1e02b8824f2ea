"""Phases of fixed-budget algorithms, as traced arrays over phases; arms first, runs last."""

import functools
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.bases.elimination import Elimination
from jaxbandits.algorithms.bases.elimination_state import EliminationState
from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger, smaller
from jaxbandits.arrays.wide_counts import Wide

__all__ = ["EliminationInPhases", "RejectsPhases", "rejects_pulls"]

# Words of 32 bits of 1 / H: a whole number below 2^31 times what they lack is below 2^-64. Such a multiple of 1 / H
# that is not whole is 2^-46 at least above a whole number, for up to 3000 arms, by continued fractions.
_WORDS = 3


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
    """Return Successive Rejects' n_k = ceil((n - K) / (H (K + 1 - k))), H = 1/2 + sum_{i=2}^K 1/i, exact integers.

    Audibert, Bubeck, Munos (2010), Figure 3. Yu et al. (2018) take the whole harmonic sum, without `half`. Whole
    numbers are computed with alone: n_k is the ceiling of ceil((n - K) / H) / (K + 1 - k).

    Args:
        budget: n, int32 `(…)`, at least K.
        count: number of arms K that exist, int32 or float32 `(…)`.
        axis: length of the axis of phases, at least K.
        half: whether the sum starts with 1/2.

    Returns:
        int32 `(axis, …)`: entry k - 1 is n_k for k = 1, …, K - 1; 0 after that.
    """
    count = jnp.asarray(count).astype(jnp.int32)
    spare = jnp.asarray(budget, jnp.int32) - count
    first, second, third = jnp.asarray(_inverse_sums(axis, half))[:, larger(count, 1) - 1]
    # What 1 / H lacks is positive and takes no product below the next whole number but those that are whole: the floor
    # is one less than the ceiling.
    rest = Wide.product(spare, third).high
    rest = Wide.product(spare, second).plus(Wide(jnp.zeros_like(rest), rest)).high
    whole = Wide.product(spare, first).plus(Wide(jnp.zeros_like(rest), rest)).high.astype(jnp.int32)
    share = jnp.where(spare > 0, whole + 1, 0)  # ceil((n - K) / H)
    phase = arms.index(axis, jnp.shape(share)) + 1
    left = larger(count + 1 - phase, 1)
    return jnp.where(phase < count, (share - 1) // left + 1, 0)


@functools.lru_cache(maxsize=16)
def _inverse_sums(axis: int, half: bool) -> np.ndarray:
    """Return 1 / H of 1, …, `axis` arms, less 2^-96 or a little more: uint32 `(3, axis)`, the first word first."""
    bits = 64 * _WORDS
    total, words = -(1 << bits - 1) if half else 0, np.zeros((_WORDS, axis), np.uint32)
    for i in range(1, axis + 1):
        total += (1 << bits) // i  # H 2^192 is above this, by i at most
        if i > 1:
            inverse = -(-(1 << bits + 32 * _WORDS) // (total + i)) - 1  # below 2^96 / H
            words[:, i - 1] = [inverse >> shift & 0xFFFFFFFF for shift in (64, 32, 0)]
    return words


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
