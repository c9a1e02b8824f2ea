"""UGapEc: unified gap-based exploration with fixed confidence.

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.confidence_bounds.ugape_selection import Selection, bernstein_radius, select_arm
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of

__all__ = ["UGapEc"]


@algorithm
class UGapEc(Rule):
    """UGapE with fixed confidence: returns an (epsilon, m)-optimal set with probability at least 1 - delta.

    Rewards lie in [0, b], or are (b/2)-sub-Gaussian. It makes K + O(H_eps log(H_eps / delta)) pulls (Theorem 2). With
    `variance` the radii are empirical Bernstein's, with the guarantee derived in `_radius`. On a multi-bandit problem
    it returns the m best arms of every bandit, and K counts the arms of all bandits.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        c: exploration parameter; the guarantee is for 1/2.
        variance: UGapE-V.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range.

    Example:
        >>> ds = jb.simulate(jb.UGapEc(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1, common=1)
    c: Numeric = parameter("positive", default=0.5)
    variance: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, (ε, m), several bandits, variances",
        variants=({}, {"variance": True}),
        source="Gabillon, Ghavamzadeh, Lazaric 2012",
        answers="m",
        tolerance="epsilon",
        multi_bandit=True,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 2; with empirical variances, a bound derived in the same way."""
        if self.variance:
            arguments = (means, variances, epsilon, delta, m, b)
            return Theorem(theory.ugape_c_variance_pulls_bound, arguments, "derived, empirical Bernstein")
        return Theorem(theory.ugape_c_pulls_bound, (means, epsilon, delta, m, b), "UGapE, Theorem 2")

    def select(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return I(t)."""
        del key
        return self._selection(arms).arm

    def done(self, arms: Arms) -> jax.Array:
        """Return whether B_J(t) < epsilon (Figure 1)."""
        return self._selection(arms).worst < self.epsilon

    def recommend(self, arms: Arms) -> jax.Array:
        """Return J(t)."""
        return self._selection(arms).chosen

    def _selection(self, arms: Arms) -> Selection:
        return select_arm(arms, self._radius(arms), self.m)

    def _radius(self, arms: Arms) -> jax.Array:
        """Return b sqrt(c ln(4 K t^3 / delta) / T) (eq. 4); with variances Bernstein's, a = ln(7 K t^3 / delta).

        Why 7: Maurer and Pontil (2009), Theorem 4, fails with probability at most 4 exp(-a) for one arm and count. A
        union over t and counts up to t needs sum_t K t 4 exp(-a_t) <= delta. This holds, as 4 pi^2 / 6 = 6.58 < 7.
        With ln(4 K t^3 / delta) the sum would be 1.65 delta.
        """
        b = arms.reward_range if self.b is None else self.b
        a = jnp.log((7 if self.variance else 4) * arms.count) + 3 * jnp.log(arms.time) - log_of(self.delta)
        if self.variance:
            return bernstein_radius(a, b, arms)
        return b * jnp.sqrt(self.c * a / arms.pulls)
