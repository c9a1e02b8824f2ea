"""LUCB1: lower and upper confidence bounds, two pulls a round, with fixed confidence.

Kalyanakrishnan, Tewari, Auer, Stone (2012), "PAC subset selection in stochastic multi-armed bandits", ICML.
"""

from collections.abc import Mapping
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.betting_intervals import RADII, first_intervals, next_intervals, with_bounded_rewards
from jaxbandits.algorithms.confidence_bounds.lucb_rounds import LUCBRounds, LUCBState, Rivals, rivals_of
from jaxbandits.algorithms.parameters import parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.problems.base import Problem
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

    With `radius` the intervals are others, which adapt to how much the rewards vary (Waudby-Smith, Ramdas 2024):
    `empirical-bernstein` or the narrower and costlier `betting`. They are confidence sequences at ln(2 K / delta), so
    all hold at all times with probability at least 1 - delta (`jaxbandits.algorithms.betting_intervals`). On a score
    matrix they know that each item is read once, as `serfling` and `bernstein-serfling` do, which exist there only.
    When U_l - L_h < epsilon, no arm left out is then better than a returned one by epsilon or more: the guarantee is
    the same. It needs rewards in [0, b]; `exploration` is not used.

    Attributes:
        epsilon: accuracy, not negative.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.
        exploration: `lucb1` or `kl2013`.
        radius: `hoeffding`, `empirical-bernstein` or `betting`; on score matrices also `serfling` or
            `bernstein-serfling`.

    Raises:
        UsageError: a value outside its range; with another radius than `hoeffding`, rewards that are not known to lie
            in [0, b], or a radius for score matrices on another problem.

    Example:
        >>> ds = jb.simulate(jb.LUCB(epsilon=0.2, delta=0.1), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    exploration: str = parameter(default="lucb1", static=True, choices=("lucb1", "kl2013"))
    radius: str = parameter(default="hoeffding", static=True, choices=RADII)
    traits = Traits(
        setting="fixed confidence, (ε, m); by Hoeffding, or by betting on bounded rewards",
        variants=({}, {"radius": "empirical-bernstein"}, {"radius": "betting"}),
        source="Kalyanakrishnan, Tewari, Auer, Stone 2012; Waudby-Smith, Ramdas 2024",
        answers="m",
        tolerance="epsilon",
    )

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str], ...]:
        """Add the Hoeffding-Serfling radius on score matrices."""
        return (*cls.traits.variants, {"radius": "serfling"}) if problem.finite else cls.traits.variants

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return the bound of the pulls on rewards in [0, 1], for `lucb1`."""
        del variances
        if self.exploration != "lucb1" or self.radius != "hoeffding":
            return None
        return Theorem(theory.lucb_pulls_bound, (means / b, epsilon / b, delta, m), "derived, after the LUCB paper")

    def resolved(self, problem: Problem) -> Self:
        """Check the range of the rewards, for intervals by betting.

        Raises:
            UsageError: the rewards are not known to lie in [0, b].
        """
        new = super().resolved(problem)
        return new if self.radius == "hoeffding" else with_bounded_rewards(new, problem)

    def init(self, arms: Arms, key: jax.Array) -> LUCBState:
        """Return the state after one pull of every arm."""
        state = super().init(arms, key)
        if self.radius == "hoeffding":
            return state
        return state._replace(intervals=first_intervals(self.radius, arms, self.range_of(arms), self.delta))

    def update(self, state: LUCBState, arms: Arms, arm: jax.Array, reward: jax.Array) -> LUCBState:
        """Return the state after a round's two rewards."""
        new = super().update(state, arms, arm, reward)
        if new.intervals is None:
            return new
        b = self.range_of(arms)
        return new._replace(intervals=next_intervals(self.radius, new.intervals, arms, arm, reward, b, self.delta))

    def _rivals(self, state: LUCBState, arms: Arms, chosen: jax.Array, b: jax.Array) -> Rivals:
        """Return h and l by b sqrt(beta / (2 N)), or by betting."""
        if state.intervals is not None:
            return rivals_of(state.intervals.lower, state.intervals.upper, chosen)
        radius = arms.where_unread(b * jnp.sqrt(self._beta(state.round, arms) / (2 * arms.pulls)), 0)
        return rivals_of(arms.mean - radius, arms.mean + radius, chosen)

    def _beta(self, t: jax.Array, arms: Arms) -> jax.Array:
        """Return the exploration rate."""
        if self.exploration == "lucb1":
            return jnp.log(1.25 * arms.count) - log_of(self.delta) + 4 * jnp.log(t)
        return kl2013_rate(kl2013_level(arms.count, log_of(self.delta)), t)
