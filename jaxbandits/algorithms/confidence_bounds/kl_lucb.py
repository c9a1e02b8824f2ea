"""KL-LUCB: LUCB with confidence bounds by the Kullback-Leibler divergence of Bernoulli laws.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBRounds, LUCBState, Rivals
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.statistics.bernoulli_bounds import kl_rival_key, kl_upper_of_key
from jaxbandits.statistics.confidence import kl2013_level, kl2013_rate

__all__ = ["KLLUCB"]


@algorithm
class KLLUCB(LUCBRounds):
    """LUCB with the bounds that are furthest with N d(mean, bound) <= beta(t), d the divergence of Bernoulli laws.

    Rewards lie in [0, b]; the bounds are those for [0, 1], times b. The round t is 1 after the first pull of every arm.
    The exploration rate beta(t) is one of

    * `kl2013`: x + ln x, x = ln(405.5 K t^1.1 / delta). An (epsilon, m)-optimal set is returned with probability at
      least 1 - delta (Theorem 1);
    * `log`: ln(t / delta), a heuristic after the paper's KL-LUCB-log(t), which is for a budget and has no delta;
    * `heuristic`: ln((1 + ln s) / delta), s pulls so far, the usual choice in experiments (Garivier and Kaufmann 2016).
      Nothing is proved.

    Bounds keep their digits at both ends: means of 1e-8 are compared as accurately as means of 0.1.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.
        exploration: `kl2013`, `log` or `heuristic`.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.

    Example:
        >>> ds = jb.simulate(jb.KLLUCB(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    exploration: str = parameter(default="kl2013", static=True, choices=("kl2013", "log", "heuristic"))
    traits = Traits(
        relative_cost=6,
        setting="fixed confidence, (ε, m), rewards in [0, b]",
        variants=({}, {"exploration": "heuristic"}),
        source="Kaufmann, Kalyanakrishnan 2013",
        answers="m",
        tolerance="epsilon",
    )
    from_zero = True

    @property
    def proved(self) -> bool:
        """Whether the rate is the paper's."""
        return self.exploration == "kl2013"

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the bound of the pulls on rewards in [0, 1]."""
        del variances
        if not self.proved:
            return None
        return Theorem(
            theory.kl_lucb_pulls_bound, (means / b, epsilon / b, delta, m), "derived, after the KL-LUCB paper"
        )

    def _rivals(self, state: LUCBState, arms: Arms, chosen: jax.Array, b: jax.Array) -> Rivals:
        """Return h and l by {q: N d(mean / b, q / b) <= beta(t)}; U is compared as b - U, which keeps all digits."""
        share = self._beta(state.round, arms) / arms.pulls
        own = jnp.where(chosen, arms.mean, b - arms.mean)
        bound = b * kl_rival_key(own / b, arms.mean / b, share)
        lower, lack = jnp.where(chosen, bound, jnp.inf), jnp.where(chosen, jnp.inf, bound)
        return Rivals(jnp.argmin(lower), jnp.argmin(lack), kl_upper_of_key(jnp.min(lack), b) - jnp.min(lower))

    def _beta(self, t: jax.Array, arms: Arms) -> jax.Array:
        """Return the exploration rate."""
        if self.exploration == "log":
            return jnp.log(t) - log_of(self.delta)
        if self.exploration == "heuristic":
            return jnp.log(1 + jnp.log(arms.time)) - log_of(self.delta)
        return kl2013_rate(kl2013_level(arms.count, log_of(self.delta)), t)
