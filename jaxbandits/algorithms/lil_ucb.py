"""lil'UCB: upper confidence bounds by the law of the iterated logarithm, until one arm has most of the pulls.

Jamieson, Malloy, Nowak, Bubeck (2014), "lil' UCB: an optimal exploration algorithm for multi-armed bandits", COLT.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.sequential import Sequential
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import larger, log, rounded
from jaxbandits.arrays.probabilities import log_of, value_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics

__all__ = ["LilUCB", "LilUCBState"]

# epsilon of the theorem's constants, and c_epsilon = ((2 + e) / e) (1 / ln(1 + e))^(1 + e).
_EPSILON = 0.01
_C = (2 + _EPSILON) / _EPSILON * math.log1p(_EPSILON) ** -(1 + _EPSILON)


@pytree
@dataclasses.dataclass(frozen=True)
class LilUCBState(ArmState):
    """The state of a run; arms first, runs last."""

    level: jax.Array  # float32 (…): ln(1/omega), omega the confidence of one bound
    index: jax.Array  # float32 (K, …): mean + radius; a pull changes that of one arm


@pytree
@dataclasses.dataclass(frozen=True)
class LilUCB(Sequential):
    """Pulls the arm with the largest index; stops when an arm has 1 + lambda times the other pulls, and returns it.

    The index is mean + (1 + beta) (1 + sqrt(e)) sqrt(2 s^2 (1 + e) ln(ln((1 + e) T) / omega) / T), s = b/2, with

    * e = .01, beta = 1, lambda = 9, omega = (sqrt(1 + delta) - 1)^2 / (4 c_e), those of the theorem: the best arm is
      returned with probability at least 1 - delta;
    * `heuristic`: e = 0, beta = 1/2, lambda = 1 + 10/K, omega = delta / 5, and ln(T + 2) for ln((1 + e) T), the
      paper's for experiments: nothing is proved.

    Attributes:
        delta: allowed probability of error, in (0, 1). With two best arms the run only ends at `max_pulls`.
        heuristic: the constants for experiments.
        b: range of the rewards; None takes the problem's. Rewards may be (b/2)-sub-Gaussian, too.

    Raises:
        UsageError: a value outside its range.
    """

    delta: Numeric = parameter("error probability")
    heuristic: bool = parameter(default=False, static=True)
    b: Numeric = parameter("positive", default=None)
    traits = Traits(
        setting="fixed confidence, one arm",
        variants=({}, {"heuristic": True}),
        source="Jamieson, Malloy, Nowak, Bubeck 2014",
    )

    @property
    def proved(self) -> bool:
        """With the theorem's constants."""
        return not self.heuristic

    def rate(self, problem: Problem) -> Theorem | None:
        """The rate of its pulls (Theorem 2)."""
        if self.heuristic or problem.bandits > 1:
            return None
        arguments = (np.asarray(problem.mean), self.delta)
        return Theorem(theory.lil_ucb_pulls_rate, arguments, "Jamieson et al. 2014, Theorem 2, a rate")

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> LilUCBState:
        """The state after one pull of every arm."""
        state = ArmState.of(statistics, problem, key, self.b)
        if self.heuristic:
            level = np.float32(math.log(5)) - log_of(self.delta)
        else:
            # sqrt(1 + delta) - 1 = delta / (sqrt(1 + delta) + 1), without the difference.
            log_root = log_of(self.delta) - log(jnp.sqrt(1 + value_of(self.delta)) + 1)
            level = -2 * log_root + jnp.float32(math.log(4 * _C))
        # The compiler would add the constants of two sums first, in one program and not in another.
        level = jnp.broadcast_to(rounded(level), key.shape)
        index = self._index(statistics.mean, statistics.pulls, statistics.inverse_root, level, state.b)
        return LilUCBState(**state.shared(), level=level, index=state.existing(index, -jnp.inf))

    def _index(
        self, mean: jax.Array, pulls: jax.Array, inverse_root: jax.Array, level: jax.Array, b: jax.Array
    ) -> jax.Array:
        """The index, elementwise."""
        pulls = larger(pulls, jnp.int32(1))  # of padded arms there are none
        if self.heuristic:
            factor, grown = 1.5 * math.sqrt(0.5), log(pulls + 2)
        else:
            factor = 2 * (1 + math.sqrt(_EPSILON)) * math.sqrt((1 + _EPSILON) / 2)
            grown = log(pulls) + jnp.float32(math.log1p(_EPSILON))
        spread = rounded((jnp.float32(factor) * b) * jnp.sqrt(log(grown) + level))
        return mean + rounded(spread * inverse_root)

    def select(self, state: LilUCBState) -> jax.Array:
        """The arm with the largest index, int32 `(…)`."""
        _, place = ranking.arg_largest(state.index, state.order)
        return arm_at(place, state.order.shape[0], state.ties)

    def update(
        self, state: LilUCBState, arm: jax.Array, reward: jax.Array, live: jax.Array | bool = True
    ) -> LilUCBState:
        """The state after one reward, and its arm's new index."""
        new = state.pulled(arm, reward, live)
        known = new.statistics
        mean, pulls, root = (arms.take(x, arm) for x in (known.mean, known.pulls, known.inverse_root))
        index = arms.put(new.index, arm, self._index(mean, pulls, root, new.level, new.b))
        return dataclasses.replace(new, index=index)

    def done(self, state: LilUCBState) -> jax.Array:
        """An arm has at least 1 + lambda times the pulls of all others."""
        most = arms.largest(state.pulls)
        others = (state.time - most).astype(jnp.float32)
        factor = 1 + rounded(10 * (1 / state.arms)) if self.heuristic else jnp.float32(9)
        return most.astype(jnp.float32) >= 1 + rounded(factor * others)

    def recommend(self, state: LilUCBState) -> jax.Array:
        """The arm that was pulled most."""
        _, place = ranking.arg_largest(state.existing(state.pulls, -1), state.order)
        return state.order == place
