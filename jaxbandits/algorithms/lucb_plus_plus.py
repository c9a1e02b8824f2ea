"""LUCB++: LUCB with bounds that hold at all times, by an iterated logarithm, and less confidence where few arms are.

Simchowitz, Jamieson, Recht (2017), "The simulator: understanding adaptive sampling in the moderate-confidence regime",
COLT, Algorithm 1.
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.rival_pairs import RivalPairs, RivalState
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays.compiler_forms import computed_once
from jaxbandits.arrays.numerics import larger, log, rounded
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.checks import is_number
from jaxbandits.statistics.confidence import iterated_level

__all__ = ["LUCBPlusPlus"]

# Up to so much the bounds hold with the probability that they are meant for, whatever K and m: delta / 2 <= 0.09.
_MOST_DELTA = 0.18


@pytree
@dataclasses.dataclass(frozen=True)
class LUCBPlusPlus(RivalPairs):
    """LUCB with the radius b sqrt(beta / (2 N)) that holds at all N, beta = level + (3/2) ln(1 + ln N).

    With d = delta / (2 (K - m)) for the m best-looking arms and delta / (2m) for the others, level = ln(1/d) +
    3 ln ln(1/d). Only the lower bounds of bad arms and the upper bounds of good ones are to hold: K - m and m of them.
    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b], or
    (b/2)-sub-Gaussian; proved for delta up to 0.18.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.
    """

    traits = Traits(
        setting="fixed confidence, (ε, m)",
        source="Simchowitz, Jamieson, Recht 2017",
        answers="m",
        tolerance="epsilon",
    )

    @property
    def proved(self) -> bool:
        """For small delta: see `confidence.iterated_level`."""
        return not is_number(self.delta) or bool(self.delta <= _MOST_DELTA)

    def _level(self, state: ArmState) -> jax.Array:
        m = jnp.broadcast_to(jnp.asarray(self.m, jnp.float32), state.arms.shape)
        others = jnp.stack([state.arms - m, m])  # of the chosen, of the rest
        return iterated_level(log_of(self.delta) - log(2 * others))

    def _lower(self, state: RivalState, own: jax.Array, chosen: jax.Array) -> jax.Array:
        level = jnp.where(chosen, state.level[0], state.level[1])
        return computed_once(_lower_bound, own, state.statistics.pulls, state.statistics.inverse_root, level, state.b)


def _lower_bound(
    mean: jax.Array, pulls: jax.Array, inverse_root: jax.Array, level: jax.Array, b: jax.Array
) -> jax.Array:
    beta = level + rounded(jnp.float32(1.5) * log(1 + log(larger(pulls, jnp.int32(1)))))  # padded arms have no pulls
    return mean - rounded(rounded(b * jnp.sqrt(beta * 0.5)) * inverse_root)
