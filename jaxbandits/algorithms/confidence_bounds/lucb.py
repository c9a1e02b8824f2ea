"""LUCB1: lower and upper confidence bounds, two pulls a round, with fixed confidence.

Kalyanakrishnan, Tewari, Auer, Stone (2012), "PAC subset selection in stochastic multi-armed bandits", ICML.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBRounds, LUCBState, Rivals, rivals_of
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.statistics.confidence import kl2013_level, kl2013_rate

__all__ = ["LUCB"]


@algorithm
class LUCB(LUCBRounds):
    """Samples the weakest of the m best-looking arms and the strongest of the rest until they are epsilon apart.

    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b]. The radius is
    b sqrt(beta / (2 N)). In round t the exploration rate beta is one of

    * `lucb1`: ln(5 K t^4 / (4 delta));
    * `kl2013`: x + ln x, x = ln(405.5 K t^1.1 / delta), that of KL-LUCB, as in the comparison of Kaufmann and
      Kalyanakrishnan (2013).

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.
        exploration: `lucb1` or `kl2013`.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.LUCB(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    exploration: str = parameter(default="lucb1", static=True, choices=("lucb1", "kl2013"))
    traits = Traits(
        setting="fixed confidence, (ε, m)",
        source="Kalyanakrishnan, Tewari, Auer, Stone 2012",
        answers="m",
        tolerance="epsilon",
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the bound of the pulls on rewards in [0, 1], for `lucb1`."""
        del variances
        if self.exploration != "lucb1":
            return None
        return Theorem(theory.lucb_pulls_bound, (means / b, epsilon / b, delta, m), "derived, after the LUCB paper")

    def _rivals(self, state: LUCBState, arms: Arms, chosen: jax.Array, b: jax.Array) -> Rivals:
        """Return h and l by b sqrt(beta / (2 N))."""
        radius = b * jnp.sqrt(self._beta(state.round, arms) / (2 * arms.pulls))
        return rivals_of(arms.mean - radius, arms.mean + radius, chosen)

    def _beta(self, t: jax.Array, arms: Arms) -> jax.Array:
        """Return the exploration rate."""
        if self.exploration == "lucb1":
            return jnp.log(1.25 * arms.count) - log_of(self.delta) + 4 * jnp.log(t)
        return kl2013_rate(kl2013_level(arms.count, log_of(self.delta)), t)
