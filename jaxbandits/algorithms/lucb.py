"""LUCB1: lower and upper confidence bounds, two pulls a round, with fixed confidence.

Kalyanakrishnan, Tewari, Auer, Stone (2012), "PAC subset selection in stochastic multi-armed bandits", ICML.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.algorithms.largest_arms import exchange, is_largest
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.statistics.confidence import KL2013_ALPHA, KL2013_K1

__all__ = ["LUCB"]


class _State(NamedTuple):
    round: jax.Array  # int32 (): t, 1 after the first pull of every arm
    chosen: jax.Array | None  # bool (K,): the m largest means, where these are kept from round to round


@algorithm
class LUCB(Rule):
    """Samples the weakest of the m best-looking arms and the strongest of the rest until they are epsilon apart.

    Returns an (epsilon, m)-optimal set with probability at least 1 - delta for rewards in [0, b]. The radius is
    b sqrt(beta / (2 N)), in round t with the exploration rate beta

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
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1, common=1)
    b: Numeric = parameter("positive", default=None)
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
        """Return what is proved of its pulls on rewards in [0, 1], for `lucb1`."""
        del variances
        if self.exploration != "lucb1":
            return None
        return Theorem(theory.lucb_pulls_bound, (means / b, epsilon / b, delta, m), "derived, after the LUCB paper")

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after one pull of every arm."""
        del key
        return _State(jnp.int32(1), None if isinstance(self.m, Known) else is_largest(arms.mean, self.m))

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a round's two rewards: a mean that changed moves at most one arm."""
        del arm, reward
        chosen = state.chosen
        if chosen is not None:
            chosen = exchange(arms.mean, exchange(arms.mean, chosen))
        return _State(state.round + 1, chosen)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return h, the smallest lower bound of the chosen arms, and l, the largest upper bound of the rest."""
        del key
        h, l, _ = self._rivals(state, arms)  # noqa: E741 - as in the paper
        return jnp.stack([h, l])

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether U_l - L_h < epsilon."""
        return self._rivals(state, arms)[2] < self.epsilon

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the m largest means."""
        return is_largest(arms.mean, self.m) if state.chosen is None else state.chosen

    def _rivals(self, state: _State, arms: Arms) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Return h, l and U_l - L_h."""
        b, chosen = arms.reward_range if self.b is None else self.b, self.recommend(state, arms)
        radius = b * jnp.sqrt(self._beta(state.round, arms) / (2 * arms.pulls))
        lower = jnp.where(chosen, arms.mean - radius, jnp.inf)
        upper = jnp.where(chosen, -jnp.inf, arms.mean + radius)
        return jnp.argmin(lower), jnp.argmax(upper), jnp.max(upper) - jnp.min(lower)

    def _beta(self, t: jax.Array, arms: Arms) -> jax.Array:
        """Return the exploration rate."""
        if self.exploration == "lucb1":
            return jnp.log(1.25 * arms.count) - log_of(self.delta) + 4 * jnp.log(t)
        x = jnp.log(KL2013_K1 * arms.count) - log_of(self.delta) + KL2013_ALPHA * jnp.log(t)
        return x + jnp.log(x)
