"""KL-LUCB: LUCB with confidence bounds by the Kullback-Leibler divergence of Bernoulli laws.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT.
"""

import dataclasses
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import parameter
from jaxbandits.algorithms.bases.rewards_from_zero import with_range_from_zero
from jaxbandits.algorithms.bases.rival_pairs import RivalPairs, RivalState
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.arrays.compiler_forms import computed_once
from jaxbandits.arrays.numerics import log, rounded
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.statistics.bernoulli_bounds import kl_rival_key, kl_upper_of_key
from jaxbandits.statistics.confidence import kl2013_level, kl2013_rate

__all__ = ["KLLUCB"]


@pytree
@dataclasses.dataclass(frozen=True)
class KLLUCB(RivalPairs):
    """LUCB with the bounds that are furthest with N d(mean, bound) <= beta(t), d the divergence of Bernoulli laws.

    For rewards in [0, b], those of [0, 1] times b. t are rounds, 1 after the first pull of every arm. The exploration
    rate beta(t):

    * `kl2013`: x + ln x, x = ln(405.5 K t^1.1 / delta): an (epsilon, m)-optimal set is returned with probability at
      least 1 - delta (Theorem 1);
    * `log`: ln(t / delta), after the paper's KL-LUCB-log(t), which is for a budget and has no delta: a heuristic;
    * `heuristic`: ln((1 + ln s) / delta), s pulls so far, the usual in experiments (Garivier and Kaufmann 2016): a
      heuristic.

    Bounds keep their digits at both ends: means of 1e-8 are compared as those of 0.1 are.

    Attributes:
        epsilon: accuracy, not negative. With 0 and equal means the run only ends at `max_pulls`.
        delta: allowed probability of error, in (0, 1).
        m: arms to return, 1 <= m < K.
        b: range of the rewards; None takes the problem's.
        exploration: `kl2013`, `log` or `heuristic`.

    Raises:
        UsageError: a value outside its range, or rewards that may be negative.
    """

    exploration: str = parameter(default="kl2013", static=True, choices=("kl2013", "log", "heuristic"))
    traits = Traits(
        dearness=6,
        setting="fixed confidence, (ε, m), rewards in [0, b]",
        variants=({}, {"exploration": "heuristic"}),
        source="Kaufmann, Kalyanakrishnan 2013",
        answers="m",
        tolerance="epsilon",
    )

    @property
    def proved(self) -> bool:
        """With the rate of the paper."""
        return self.exploration == "kl2013"

    def theorem(
        self, means: np.ndarray, variances: np.ndarray, b: float, *, delta: float, epsilon: float, m: int
    ) -> Theorem | None:
        """Its pulls on rewards in [0, 1]."""
        del variances
        if not self.proved:
            return None
        return Theorem(
            theory.kl_lucb_pulls_bound, (means / b, epsilon / b, delta, m), "derived, after the KL-LUCB paper"
        )

    def resolved(self, problem: Problem) -> Self:
        """With a range that begins at 0.

        Raises:
            UsageError: rewards that do not lie in an interval [0, b].
        """
        return with_range_from_zero(super().resolved(problem), problem)

    def _level(self, state: ArmState) -> jax.Array:
        if self.exploration == "kl2013":
            return kl2013_level(state.arms, log_of(self.delta))
        return jnp.broadcast_to(-log_of(self.delta), state.arms.shape)

    def _rate(self, state: RivalState) -> jax.Array:
        """Beta(t), float32 `(…)`."""
        if self.exploration == "kl2013":
            return kl2013_rate(state.level, state.rounds)
        if self.exploration == "log":
            return state.level + log(state.rounds)
        return state.level + log(1 + log(state.statistics.time))

    def _lower(self, state: RivalState, own: jax.Array, chosen: jax.Array) -> jax.Array:
        del chosen
        root = state.statistics.inverse_root
        share = self._rate(state) * rounded(root * root)
        inverse = 1 / state.b
        return state.b * computed_once(kl_rival_key, own * inverse, state.statistics.mean * inverse, share)

    def _upper(self, state: RivalState, lower: jax.Array) -> jax.Array:
        return kl_upper_of_key(lower, state.b)
