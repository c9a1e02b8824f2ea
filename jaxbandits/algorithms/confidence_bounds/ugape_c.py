"""UGapEc: unified gap-based exploration with fixed confidence.

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.betting_intervals import (
    RADII,
    Intervals,
    are_apart,
    first_intervals,
    next_intervals,
    with_bounded_rewards,
)
from jaxbandits.algorithms.confidence_bounds.ugape_selection import (
    Selection,
    bernstein_radius,
    select_arm,
    select_by_bounds,
)
from jaxbandits.algorithms.parameters import Numeric, parameter, reaches
from jaxbandits.algorithms.protocol import Arms, Rule, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["UGapEc"]


class _State(NamedTuple):
    intervals: Intervals | None  # by betting; None for those of the paper


@algorithm
class UGapEc(Rule):
    """UGapE with fixed confidence: returns an (epsilon, m)-optimal set with probability at least 1 - delta.

    Rewards lie in [0, b], or are (b/2)-sub-Gaussian. It makes K + O(H_eps log(H_eps / delta)) pulls (Theorem 2). With
    `variance` the radii are empirical Bernstein's, with the guarantee derived in `_radius`. On a multi-bandit problem
    it returns the m best arms of every bandit, and K counts the arms of all bandits.

    With `radius` the intervals are others, which adapt to how much the rewards vary (Waudby-Smith, Ramdas 2024):
    `empirical-bernstein` or the narrower and costlier `betting`. They are confidence sequences at ln(2 K / delta), so
    all hold at all times with probability at least 1 - delta (`jaxbandits.algorithms.betting_intervals`). On a score
    matrix they know that each item is read once, as `serfling` and `bernstein-serfling` do, which exist there only. The
    rule then pulls no candidate whose items are all read. The index B_J(t) bounds the regret of J(t) (Lemma 1 needs no
    more), and the guarantee is the same. It needs rewards in [0, b]; `c` is not used.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        c: exploration parameter; the guarantee is for 1/2 and more.
        variance: UGapE-V.
        b: range of the rewards; None takes the problem's.
        radius: `hoeffding`, `empirical-bernstein` or `betting`; on score matrices also `serfling` or
            `bernstein-serfling`.

    Raises:
        UsageError: a value outside its range; with another radius than `hoeffding`, rewards that are not known to lie
            in [0, b], or a radius for score matrices on another problem.

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
    radius: str = parameter(default="hoeffding", static=True, choices=RADII)
    traits = Traits(
        setting="fixed confidence, (ε, m), several bandits, variances, betting on bounded rewards",
        variants=({}, {"variance": True}, {"radius": "empirical-bernstein"}),
        source="Gabillon, Ghavamzadeh, Lazaric 2012; Waudby-Smith, Ramdas 2024",
        answers="m",
        tolerance="epsilon",
        multi_bandit=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variance and self.radius != "hoeffding":
            raise UsageError(f"UGapEc: variance has radii of its own: leave out variance, or radius={self.radius}")

    @property
    def proved(self) -> bool:
        """Whether the radii are wide enough: those of the paper with c = 1/2 or more, or others, which have no c."""
        return self.variance or self.radius != "hoeffding" or reaches(self.c, 0.5)

    @property
    def takes_counts(self) -> bool:
        """Whether a run may start from counts: not by betting, which must see each reward."""
        return not self.bets

    def resolved(self, problem: Problem) -> Self:
        """Check the range of the rewards, for intervals by betting.

        Raises:
            UsageError: the rewards are not known to lie in [0, b].
        """
        new = super().resolved(problem)
        return new if self.radius == "hoeffding" else with_bounded_rewards(new, problem)

    @classmethod
    def variants_on(cls, problem: Problem) -> tuple[Mapping[str, bool | str], ...]:
        """Add the Hoeffding-Serfling radius on score matrices."""
        return (*cls.traits.variants, {"radius": "serfling"}) if problem.finite else cls.traits.variants

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 2; with empirical variances, a bound derived in the same way; None by betting or another c."""
        if self.radius != "hoeffding" or self.c != 0.5:
            return None
        if self.variance:
            arguments = (means, variances, epsilon, delta, m, b)
            return Theorem(theory.ugape_c_variance_pulls_bound, arguments, "derived, empirical Bernstein")
        return Theorem(theory.ugape_c_pulls_bound, (means, epsilon, delta, m, b), "UGapE, Theorem 2")

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return the state after the first pulls: nothing but intervals by betting."""
        del key
        if self.radius == "hoeffding":
            return _State(None)
        return _State(first_intervals(self.radius, arms, self.range_of(arms), self.delta))

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a reward."""
        if state.intervals is None:
            return state
        b = self.range_of(arms)
        return _State(next_intervals(self.radius, state.intervals, arms, arm, reward, b, self.delta))

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return I(t)."""
        del key
        return self._selection(state, arms).arm

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether B_J(t) < epsilon (Figure 1)."""
        return are_apart(arms, self._selection(state, arms).worst, self.epsilon)

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return J(t)."""
        return self._selection(state, arms).chosen

    def _selection(self, state: _State, arms: Arms) -> Selection:
        if state.intervals is not None:
            return select_by_bounds(arms, state.intervals.lower, state.intervals.upper, self.m)
        return select_arm(arms, arms.where_unread(self._radius(arms), 0), self.m)

    def _radius(self, arms: Arms) -> jax.Array:
        """Return b sqrt(c ln(4 K t^3 / delta) / T) (eq. 4); with variances Bernstein's, a = ln(7 K t^3 / delta).

        Why 7: Maurer and Pontil (2009), Theorem 4, fails with probability at most 4 exp(-a) for one arm and count. A
        union over t and counts up to t needs sum_t K t 4 exp(-a_t) <= delta. This holds, as 4 pi^2 / 6 = 6.58 < 7.
        With ln(4 K t^3 / delta) the sum would be 1.65 delta.
        """
        b = self.range_of(arms)
        a = jnp.log((7 if self.variance else 4) * arms.count) + 3 * jnp.log(arms.time) - log_of(self.delta)
        if self.variance:
            return bernstein_radius(a, b, arms)
        return b * jnp.sqrt(self.c * a / arms.pulls)
