"""UGapEb: unified gap-based exploration with a fixed budget.

Gabillon, Ghavamzadeh, Lazaric (2012), "Best arm identification: a unified approach to fixed budget and fixed
confidence", NIPS 25.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.confidence_bounds.gap_complexity import (
    GapBased,
    Gaps,
    bernstein_complexity,
    deviation_lower_bound,
    estimated_gaps,
    gap_upper_bound,
    hoeffding_complexity,
)
from jaxbandits.algorithms.confidence_bounds.ugape_selection import Selection, bernstein_radius, select_arm
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.problems.base import Problem

__all__ = ["UGapEb"]


class _Best(NamedTuple):
    worst: jax.Array | None  # float32 (): the smallest B_J(t) so far; None where the last J(t) is returned
    chosen: jax.Array | None  # bool (K,): its J(t)


@algorithm
class UGapEb(GapBased):
    """UGapE with a fixed budget: after n pulls returns the J(t) with the smallest B_J(t), t = K+1, …, n (Figure 1).

    P(simple regret >= epsilon) <= 2 K n exp(-2a) for 0 < a <= (n - K) / (4 H_eps) (Theorem 1). At realistic budgets
    that a is very small. The J with the smallest index is then an early, lucky one, and the algorithm is worse than
    uniform sampling. `last` returns the last J, `adaptive` estimates H.

    Attributes:
        budget: number of pulls n, at least K (2K with `variance`).
        epsilon: accuracy, not negative.
        m: arms to return, 1 <= m < K.
        a: exploration parameter, positive. None computes the theorem's largest from the problem's true gaps: an oracle.
        adaptive: before every pull, a = (n - K) / (4 H) with H estimated by sum_i (gap_i + sqrt(1/(2 T_i)))^-2.
        variance: UGapE-V; a <= (n - 2K) / (2 H^sigma_eps).
        last: return the last J(t).
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or both `a` and `adaptive`.

    Example:
        >>> ds = jb.simulate(jb.UGapEb(budget=100, adaptive=True), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    epsilon: Numeric = parameter("not negative", default=0.0)
    m: Numeric = parameter("count", default=1, common=1)
    a: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    variance: bool = parameter(default=False, static=True)
    last: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, (ε, m), several bandits, variances, adaptive",
        variants=({}, {"last": True}, {"adaptive": True}),
        source="Gabillon, Ghavamzadeh, Lazaric 2012",
        answers="m",
        tolerance="epsilon",
        anytime=False,
        multi_bandit=True,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 1 for this a; with empirical variances, a bound derived in the same way."""
        del delta
        if self.adaptive or self.last:
            return None
        if self.variance:
            arguments = (means, variances, self.budget, epsilon, m, b, self.a)
            return Theorem(theory.ugape_b_variance_error_bound, arguments, "derived, empirical Bernstein")
        return Theorem(theory.ugape_b_error_bound, (means, self.budget, epsilon, m, b, self.a), "UGapE, Theorem 1")

    def init(self, arms: Arms, key: jax.Array) -> _Best:
        """Return the first J(t)."""
        del key
        return _Best(None, None) if self.last else _Best(*self._selection(arms)[:2])

    def update(self, best: _Best, arms: Arms, arm: jax.Array, reward: jax.Array) -> _Best:
        """Return the J(t) with the smallest index; the J(t) after the last pull does not count."""
        del arm, reward
        if best.worst is None or best.chosen is None:
            return best
        now = self._selection(arms)
        better = (now.worst < best.worst) & (arms.time < self.budget)
        return _Best(jnp.where(better, now.worst, best.worst), jnp.where(better, now.chosen, best.chosen))

    def select(self, best: _Best, arms: Arms, key: jax.Array) -> jax.Array:
        """Return I(t)."""
        del best, key
        return self._selection(arms).arm

    def done(self, best: _Best, arms: Arms) -> jax.Array:
        """Return whether all n pulls are made."""
        del best
        return arms.time >= self.budget

    def recommend(self, best: _Best, arms: Arms) -> jax.Array:
        """Return the J(t) with the smallest B_J(t), or the last one."""
        return self._selection(arms).chosen if best.chosen is None else best.chosen

    def _selection(self, arms: Arms) -> Selection:
        a, b = self.a, self.range_of(arms)
        if self.adaptive:
            distance = gap_upper_bound(estimated_gaps(arms, self.m), arms)
            a = self._exploration(distance, lambda: deviation_lower_bound(arms), b, arms.count)
        radius = bernstein_radius(a, b, arms) if self.variance else b * jnp.sqrt(a / arms.pulls)
        return select_arm(arms, arms.where_unread(radius, 0), self.m)

    def exploration(self, problem: Problem) -> Numeric:
        """Compute the largest a of Theorem 1 from the true gaps."""
        distance = np.maximum((self.true_gaps(problem, self.m) + self.epsilon) / 2, self.epsilon)
        deviation = lambda: self.true_deviations(problem)  # noqa: E731
        return self._exploration(distance, deviation, self.true_range(problem), problem.arms)

    def _exploration(
        self, distance: Gaps, deviation: Callable[[], Gaps], b: Numeric, count: int | jax.Array
    ) -> Numeric:
        """Return (n - K) / (4 H), with the complexity H of these distances."""
        if self.variance:
            return (self.budget - 2 * count) / (2 * bernstein_complexity(distance, deviation(), b, 13 / 3))
        return (self.budget - count) / (4 * hoeffding_complexity(distance, b))
