"""Track-and-Stop: pulls in the proportions that would tell the best-looking arm soonest, and simpler rules beside it.

Garivier, Kaufmann (2016), "Optimal best arm identification with fixed confidence", COLT. All stop by the same test
(`bases/glr_stopped.py`).
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.candidates import Candidates, CandidatesFirst
from jaxbandits.algorithms.bases.glr_stopped import GLRState
from jaxbandits.algorithms.bases.optimal_tracking import Tracked, TrackedState, behind, least_pulled
from jaxbandits.algorithms.bases.pairwise_statistic import Standing
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.numerics import larger, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.arrays.sums import CompensatedSum
from jaxbandits.random.ties import arm_at, mask_at

__all__ = ["BestChallenger", "TrackAndStop", "TrackAndStopState", "UniformGLR"]

# Newton's method on a piecewise linear, convex function: each step puts at least one more arm at the floor.
_PROJECTIONS = 6


@pytree
@dataclasses.dataclass(frozen=True)
class UniformGLR(CandidatesFirst):
    """Pulls the arm pulled least until the test tells the m best-looking ones from all others.

    What adaptive sampling is worth, with the same stopping rule. Ties are broken by the run's order of the arms.

    Attributes:
        delta: as for `GLRStopped`, as are the others.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed confidence, (ε, m); uniform sampling, stopped by a likelihood ratio test",
        source="Garivier, Kaufmann 2016",
        answers="m",
        tolerance="epsilon",
        stops_by=("delta", "epsilon"),
        dearness=8,
    )

    def candidates(self, state: GLRState) -> Candidates:
        """An arm pulled least."""
        return (arm_at(least_pulled(state)[0], state.order.shape[0], state.ties),)

    def decided(self, state: GLRState, seen: Candidates, live: jax.Array | bool) -> GLRState:
        """It is pulled."""
        del live
        return dataclasses.replace(state, following=seen[0])


@pytree
@dataclasses.dataclass(frozen=True)
class TrackAndStopState(TrackedState):
    """The state of a run; arms first, runs last."""

    asked: CompensatedSum | None  # (K, …): sums of the proportions so far, in C-tracking


@pytree
@dataclasses.dataclass(frozen=True)
class TrackAndStop(Tracked):
    """Track-and-Stop: keeps the numbers of pulls near t w*, w* being optimal for the empirical means.

    The expected pulls are T* log(1/delta) for small delta, as the lower bound has it (Theorems 1 and 14). w* is found
    in a few rounds of Newton's method that start where they ended at the last pull.

    * `d`, D-tracking: an arm pulled least while it has fewer than sqrt(t) - K/2 pulls, else argmax t w*_a - N_a;
    * `c`, C-tracking: argmax of the sum over s <= t of w^(e_s)_a - N_a, where w^e is the nearest point to w* in the
      largest coordinate with entries of at least e, and e_s = (K^2 + s)^(-1/2) / 2. The sum begins with the one
      pull of every arm.

    With epsilon, w* is that of the epsilon-best answer which looks best (Garivier and Kaufmann 2021).

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        lazy: not the paper's rule but a cheaper one: w* is computed again when the pulls have grown by a 64th.
        tracking: `d` or `c`.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    tracking: str = parameter(default="d", static=True, choices=("c", "d"))
    traits = Traits(
        setting="fixed confidence, ε, one arm; optimal proportions, tracked at every pull or, `lazy`, now and then",
        variants=({}, {"threshold": "heuristic"}),
        source="Garivier, Kaufmann 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=50,
    )

    def first(self, state: GLRState, key: jax.Array) -> TrackAndStopState:
        """With the sum of proportions that the first pulls have kept to."""
        tracked = super().first(state, key)
        sums = CompensatedSum.of(jnp.ones(state.order.shape, jnp.float32)) if self.tracking == "c" else None
        return TrackAndStopState(**tracked.of_the_tracking(), asked=sums)

    def decided(self, state: TrackAndStopState, seen: Standing, live: jax.Array | bool) -> TrackAndStopState:
        """The arm that is furthest behind."""
        state = self.weighed(state, seen.nearest, live)
        if state.asked is None:
            fewest, forced = least_pulled(state)
            _, late = ranking.arg_largest(behind(state), state.order)
            return state.pulling(jnp.where(forced, fewest, late))
        asked = state.asked.plus(jnp.where(live, self._at_least(state), 0.0))
        # The difference of like numbers is exact: what the sum's high part has lost comes after it.
        missing = (asked.high - state.pulls.astype(jnp.float32)) + asked.low
        _, late = ranking.arg_largest(state.existing(missing, -jnp.inf), state.order)
        return dataclasses.replace(state, asked=asked).pulling(late)

    def _at_least(self, state: TrackedState) -> jax.Array:
        """w^e: the floor raises some arms, and the others give the same each, but for those that it stops."""
        floor = 0.5 / jnp.sqrt(rounded(state.arms * state.arms) + state.time.astype(jnp.float32))
        given = jnp.zeros_like(floor)
        for _ in range(_PROJECTIONS):
            raised = larger(state.weights - given, floor)
            above = state.existing((state.weights - given) > floor, False)
            excess = arms.total(state.existing(raised, 0.0)) - 1
            number = larger(arms.total(above.astype(jnp.int32)), 1).astype(jnp.float32)
            given = given + larger(excess, 0.0) / number
        return state.existing(larger(state.weights - given, floor), 0.0)


@pytree
@dataclasses.dataclass(frozen=True)
class BestChallenger(Tracked):
    """Pulls the best-looking arm or its nearest rival, by their shares in w*.

    The rival is the arm with the least statistic. An arm pulled least is pulled while it has fewer than sqrt(t) - K/2
    pulls; else the best-looking arm a, if N_a / (N_a + N_c) < w*_a / (w*_a + w*_c), and the rival c if not (the rule of
    the paper's experiments, section 6).

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        lazy: w* is computed again when the pulls have grown by a 64th, not at every pull.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; the best-looking arm or its nearest rival",
        source="Garivier, Kaufmann 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=40,
    )

    def decided(self, state: TrackedState, seen: Standing, live: jax.Array | bool) -> TrackedState:
        """One of the two, or an arm pulled least."""
        best = seen.nearest
        state = self.weighed(state, best, live)
        _, rival = ranking.arg_smallest(seen.evidence.cost, state.order)
        chosen, other = mask_at(best, state.order), mask_at(rival, state.order)

        def its(mask: jax.Array, x: jax.Array) -> jax.Array:
            return arms.largest(jnp.where(mask, x, 0.0))

        pulls = state.pulls.astype(jnp.float32)
        fewer = its(chosen, pulls) * its(other, state.weights) < its(chosen, state.weights) * its(other, pulls)
        fewest, forced = least_pulled(state)
        return state.pulling(jnp.where(forced, fewest, jnp.where(fewer, best, rival)))
