"""LUCB1: lower and upper confidence bounds, two pulls a round, with fixed confidence.

Kalyanakrishnan, Tewari, Auer, Stone (2012), "PAC subset selection in stochastic multi-armed bandits", ICML.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits import theory
from jaxbandits.algorithms.bases.arm_state import ArmState
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.round_based import RoundBased
from jaxbandits.algorithms.bases.traits import Theorem, Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import log
from jaxbandits.arrays.probabilities import log_of
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.problems.base import Problem
from jaxbandits.random.ties import arm_at
from jaxbandits.statistics.arm_statistics import ArmStatistics
from jaxbandits.statistics.confidence import hoeffding_radius, kl2013_level, kl2013_scale, lucb1_scale

__all__ = ["LUCB", "LUCBState"]


@pytree
@dataclasses.dataclass(frozen=True)
class LUCBState(ArmState):
    """The state of a run; arms first, runs last."""

    level: jax.Array  # float32 (…): ln(5 K / (4 delta)), or that of `kl2013`
    rounds: jax.Array  # int32 (…): t, 1 after the first pull of every arm
    chosen: jax.Array | None  # bool (K, …): the m largest means, kept from round to round where m is traced


class _Decision(NamedTuple):
    chosen: jax.Array  # bool (K, …): the m largest means
    low_place: jax.Array  # int32 (…): h, the smallest lower bound among them
    high_place: jax.Array  # int32 (…): l, the largest upper bound among the rest
    distance: jax.Array  # float32 (…): U_l - L_h


@pytree
@dataclasses.dataclass(frozen=True)
class LUCB(RoundBased):
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
        """Its pulls on rewards in [0, 1], for `lucb1`."""
        del variances
        if self.exploration != "lucb1":
            return None
        arguments = (means / b, epsilon / b, delta, m)
        return Theorem(theory.lucb_pulls_bound, arguments, "derived, after the LUCB paper")

    def begin(self, statistics: ArmStatistics, problem: Problem, key: jax.Array) -> LUCBState:
        """The state after one pull of every arm."""
        state = ArmState.of(statistics, problem, key, self.b)
        lucb1 = self.exploration == "lucb1"
        log_delta = log_of(self.delta)
        level = log(1.25 * state.arms) - log_delta if lucb1 else kl2013_level(state.arms, log_delta)
        chosen = None if isinstance(self.m, Known) else state.largest_means(self.m)
        return LUCBState(**state.shared(), level=level, rounds=jnp.ones(key.shape, jnp.int32), chosen=chosen)

    def request(self, state: LUCBState) -> jax.Array:
        """H and l, int32 `(2, …)`."""
        decision = self._decide(state)
        return arm_at(jnp.stack([decision.low_place, decision.high_place]), state.order.shape[0], state.ties)

    def absorb(
        self, state: LUCBState, requested: jax.Array, rewards: jax.Array, live: jax.Array | bool = True
    ) -> LUCBState:
        """The state after a round's two rewards."""
        for slot in range(requested.shape[0]):
            state = state.pulled(requested[slot], rewards[slot], live)
        chosen = state.chosen
        if chosen is not None:
            mean = state.existing(state.statistics.mean, -jnp.inf)
            for _ in range(requested.shape[0]):  # a mean that changed moves at most one arm
                chosen, _ = ranking.exchange(mean, chosen, state.order)
        return dataclasses.replace(state, rounds=state.rounds + jnp.asarray(live).astype(jnp.int32), chosen=chosen)

    def done(self, state: LUCBState) -> jax.Array:
        """U_l - L_h < epsilon."""
        return self._decide(state).distance < self.epsilon

    def recommend(self, state: LUCBState) -> jax.Array:
        """The m largest means."""
        return self._decide(state).chosen

    def _decide(self, state: LUCBState) -> _Decision:
        known = state.statistics
        scale = lucb1_scale if self.exploration == "lucb1" else kl2013_scale
        radius = hoeffding_radius(scale(state.level, state.rounds, state.b), known.inverse_root)
        mean = state.existing(known.mean, -jnp.inf)
        chosen = ranking.top_mask(mean, self.m, state.order) if state.chosen is None else state.chosen
        low, low_place = ranking.arg_smallest(jnp.where(chosen, mean - radius, jnp.inf), state.order)
        high, high_place = ranking.arg_largest(jnp.where(chosen, -jnp.inf, mean + radius), state.order)
        return _Decision(chosen=chosen, low_place=low_place, high_place=high_place, distance=high - low)
