"""LUCB++: LUCB with bounds that hold at all times, by an iterated logarithm, and less confidence where few arms are.

Simchowitz, Jamieson, Recht (2017), "The simulator: understanding adaptive sampling in the moderate-confidence regime",
COLT, Algorithm 1.
"""

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBRounds, LUCBState, Rivals, rivals_of
from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.checks import is_number
from jaxbandits.statistics.confidence import iterated_level

__all__ = ["LUCBPlusPlus"]

# Up to this delta the bounds hold with the intended probability, for all K and m: delta / 2 <= 0.09.
_MOST_DELTA = 0.18


@algorithm
class LUCBPlusPlus(LUCBRounds):
    """LUCB with the radius b sqrt(beta / (2 N)) that holds at all N, beta = level + (3/2) ln(1 + ln N).

    With d = delta / (2 (K - m)) for the m best-looking arms and delta / (2m) for the others, level = ln(1/d) +
    3 ln ln(1/d). Only the lower bounds of the K - m bad arms and the upper bounds of the m good arms must hold.
    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b], or
    (b/2)-sub-Gaussian; proved for delta up to 0.18.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.LUCBPlusPlus(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    traits = Traits(
        setting="fixed confidence, (ε, m)",
        source="Simchowitz, Jamieson, Recht 2017",
        answers="m",
        tolerance="epsilon",
    )

    @property
    def proved(self) -> bool:
        """Whether delta is small enough: see `confidence.iterated_level`."""
        return not is_number(self.delta) or bool(self.delta <= _MOST_DELTA)

    def _rivals(self, state: LUCBState, arms: Arms, chosen: jax.Array, b: jax.Array) -> Rivals:
        """Return h and l by b sqrt(beta / (2 N)), beta = level + (3/2) ln(1 + ln N) (Kaufmann et al. 2016, Lemma 7)."""
        del state
        level = jnp.where(chosen, self._level(arms.count - self.m), self._level(self.m))
        radius = b * jnp.sqrt((level + 1.5 * jnp.log(1 + jnp.log(arms.pulls))) / (2 * arms.pulls))
        return rivals_of(arms.mean - radius, arms.mean + radius, chosen)

    def _level(self, others: Numeric) -> jax.Array:
        """Return ln(1/d) + 3 ln ln(1/d), d = delta / (2 others)."""
        return iterated_level(log_of(self.delta) - jnp.log(2 * others))
