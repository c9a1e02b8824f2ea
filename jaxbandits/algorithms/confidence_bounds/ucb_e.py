"""UCB-E: upper confidence bounds for exploration with a fixed budget.

Audibert, Bubeck, Munos (2010), "Best arm identification in multi-armed bandits", COLT.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxbandits import theory
from jaxbandits.algorithms.confidence_bounds.gap_complexity import GapBased, hoeffding_complexity
from jaxbandits.algorithms.elimination.rejects_phases import ceil_share, rejects_share
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, algorithm
from jaxbandits.algorithms.traits import Theorem, Traits
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem

__all__ = ["UCBE"]

#: The most arms for which the phases are exact.
_MOST_ARMS = 3000


class _Phase(NamedTuple):
    """A run's phase among the K - 1 phases of Successive Rejects."""

    number: jax.Array  # int32 (): k
    before: jax.Array  # int32 (): n_1 + … + n_{k-1}
    end: jax.Array  # int32 (): t_k = n_1 + … + n_{k-1} + (K - k + 1) n_k, in pulls; 0 after the last phase
    share: jax.Array  # int32 (): of which n_k is a part


class _State(NamedTuple):
    a: jax.Array  # float32 ()
    phase: _Phase | None  # None where a does not change


@algorithm
class UCBE(GapBased):
    """Pulls the arm with the largest mean + b sqrt(a / T); returns the largest mean.

    P(error) <= 2 n K exp(-2a/25) for 0 < a <= (25/36)(n - K) / H1 (Theorem 1).

    Attributes:
        budget: number of pulls n, at least K.
        a: exploration parameter, positive. None computes it from H1 of the true gaps: an oracle.
        eta: a = eta n / H1, positive; None takes the theorem's (25/36)(n - K) / H1, and 1 with `adaptive`.
        adaptive: Adaptive UCB-E (Figure 4): a = eta n / H1 with H1 estimated at the ends of K phases.
        b: range of the rewards; None takes the problem's.

    Raises:
        UsageError: a value outside its range, or both `a` and `adaptive`.

    Example:
        >>> ds = jb.simulate(jb.UCBE(budget=100, a=2.0), jb.bernoulli([0.9, 0.4]), seeds=20)
        >>> bool(ds.correct.mean() >= 0.9)
        True
    """

    budget: Numeric = parameter("count")
    a: Numeric = parameter("positive", default=None)
    eta: Numeric = parameter("positive", default=None)
    adaptive: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed budget, one arm, adaptive",
        source="Audibert, Bubeck, Munos 2010",
        anytime=False,
    )

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Return Theorem 1 for this a."""
        del variances, delta, epsilon, m
        if self.adaptive:
            return None
        return Theorem(theory.ucb_e_error_bound, (means / b, self.budget, self.a), "UCB-E, Theorem 1")

    def check_suitable(self, problem: Problem, m: float) -> None:
        """Check also that there is only one best arm.

        Raises:
            UsageError: the rule is not suitable; the message is the reason.
        """
        super().check_suitable(problem, m)
        if np.sum(np.asarray(problem.mean) == np.max(problem.mean)) > 1:
            raise UsageError("its parameter is computed from the gaps, and the best arms tie")

    def init(self, arms: Arms, key: jax.Array) -> _State:
        """Return a; the first estimate of H1 is K."""
        del key
        if not self.adaptive:
            return _State(jnp.asarray(self.a, jnp.float32), None)
        share = rejects_share(self.budget, arms.count, _MOST_ARMS)
        first = _Phase(jnp.int32(1), jnp.int32(0), arms.count * ceil_share(share, arms.count), share)
        return self._looked_at(_State(self._adapted(arms.count).astype(jnp.float32), first), arms)

    def update(self, state: _State, arms: Arms, arm: jax.Array, reward: jax.Array) -> _State:
        """Return the state after a pull."""
        del arm, reward
        return state if state.phase is None else self._looked_at(state, arms)

    def select(self, state: _State, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest index, on a score matrix of those that have items left."""
        del key
        return jnp.argmax(arms.where_unread(self.indices(arms, state.a), -jnp.inf))

    def done(self, state: _State, arms: Arms) -> jax.Array:
        """Return whether the budget is spent."""
        del state
        return arms.time >= self.budget

    def recommend(self, state: _State, arms: Arms) -> jax.Array:
        """Return the largest mean."""
        del state
        return jnp.argmax(arms.mean)

    def indices(self, arms: Arms, a: Numeric) -> jax.Array:
        """Return the index of each arm with this a, float32 `(K,)`."""
        return arms.mean + self.range_of(arms) * jnp.sqrt(a / arms.pulls)

    def exploration(self, problem: Problem) -> Numeric:
        """Compute a from H1 of the true gaps; the gap of the best arm is its lead over the second best."""
        complexity = hoeffding_complexity(self.true_gaps(problem, 1), self.true_range(problem))
        theorem = 25 / 36 * (self.budget - problem.arms)
        return (theorem if self.eta is None else self.eta * self.budget) / complexity

    def _adapted(self, complexity: jax.Array) -> jax.Array:
        return (1.0 if self.eta is None else self.eta) * self.budget / complexity

    def _looked_at(self, state: _State, arms: Arms) -> _State:
        """Estimate H1 again if a phase ends."""
        assert state.phase is not None
        return lax.cond(arms.time == state.phase.end, self._at_end, lambda state, _: state, state, arms)

    def _at_end(self, state: _State, arms: Arms) -> _State:
        """Return the state after phase k: H1 is the largest i / gap_<i>^2 of the k largest gaps (Figure 4)."""
        assert state.phase is not None
        phase = lax.while_loop(
            lambda p: (p.end == arms.time) & (p.number <= arms.count), lambda p: _next(p, arms.count), state.phase
        )
        gap = jnp.sort(jnp.max(arms.mean) - arms.mean)  # gap_<1> = 0 <= … <= gap_<K>
        i = jnp.arange(1, len(arms) + 1)
        largest = i > arms.count - (phase.number - 1)
        complexity = jnp.max(jnp.where(largest, i * (self.range_of(arms) / gap) ** 2, 0))
        return _State(self._adapted(complexity).astype(jnp.float32), phase)


def _next(phase: _Phase, count: jax.Array) -> _Phase:
    """Return the next phase, k + 1."""
    left = count - phase.number  # K - k + 1 of the next k
    before = phase.before + ceil_share(phase.share, left + 1)
    end = jnp.where(left > 1, before + left * ceil_share(phase.share, jnp.maximum(left, 1)), 0)
    return _Phase(phase.number + 1, before, end, phase.share)
