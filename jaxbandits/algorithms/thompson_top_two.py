"""Top-two rules that are led by a posterior draw: TTTS and T3C.

Russo (2016), "Simple Bayesian algorithms for best arm identification", COLT; Shang, de Heide, Kaufmann, Ménard, Valko
(2020), "Fixed-confidence guarantees for Bayesian best-arm identification", AISTATS. Both stop by the same test
(`bases/glr_stopped.py`).
"""

import dataclasses

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.algorithms.bases.glr_stopped import GLRState
from jaxbandits.algorithms.bases.pairwise_statistic import Standing
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.top_two import TopTwo, TossedState
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.compiler_forms import where_any
from jaxbandits.arrays.numerics import larger, log, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random import ties
from jaxbandits.random.bits import open_uniform, threefry2x32
from jaxbandits.statistics.exponential_families import FAMILIES
from jaxbandits.statistics.pairwise_evidence import Evidence
from jaxbandits.statistics.posterior_tilts import advantage, tilts
from jaxbandits.statistics.posteriors import posterior_draws

__all__ = ["T3C", "TTTS"]

# The second counter of what is drawn given a rare event is none of an attempt before; the first one is an arm's number,
# or, beyond those of all arms, says what is drawn.
_RARE, _RIVAL, _ACCEPTED = 1 << 31, 1 << 30, 3 << 30
# Attempts, of which one succeeds with a probability of some 0.4 / z, z standard deviations between leader and rival.
_MOST = 1024


class _Drawn(TopTwo):
    """A rule whose leader is the best arm of a posterior draw."""

    def first(self, state: GLRState, key: jax.Array) -> TossedState:
        """With the run's key."""
        return TossedState.with_key(state, key)

    def _words(self, state: TossedState, first: int, attempt: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Words of every arm, two uint32 arrays `(K, …)`."""
        arm = arms.index(state.order.shape[0], state.time.shape).astype(jnp.uint32)
        return threefry2x32(*state.draws(), arm + jnp.uint32(first), attempt)

    def _best_of_draw(self, state: TossedState, attempt: jax.Array) -> jax.Array:
        """The place of the best arm of a draw of all means, int32 `(…)`."""
        drawn = posterior_draws(self.family_word, self._words(state, 0, attempt), state.statistics, state.b)
        return ranking.arg_largest(state.existing(drawn, -jnp.inf), state.order)[1]

    def _nearest(self, state: TossedState, leader: jax.Array) -> tuple[Evidence, jax.Array]:
        """The leader's statistics, and the place of the arm with the least."""
        near = self.against(state, ties.mask_at(leader, state.order), self.epsilon)
        return near, ranking.arg_smallest(near.cost, state.order)[1]

    def _one_of_two(self, state: TossedState, leader: jax.Array, challenger: jax.Array, near: Evidence) -> TossedState:
        share = self.leaders_share(near, ties.mask_at(challenger, state.order))
        return state.pulling(jnp.where(state.tossed(share), leader, challenger))


@pytree
@dataclasses.dataclass(frozen=True)
class T3C(_Drawn):
    """T3C: the best arm of a posterior draw leads; the challenger is the arm least apart from it.

    The challenger minimises the statistic of the empirical means against the leader, which is 0 for arms with a larger
    mean (ties by the run's order of the arms). The leader is pulled with the probability `share` (Shang et al. 2020).
    Priors: `jaxbandits.statistics.posteriors`.

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        share: of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best arm of a posterior draw and the arm least apart",
        source="Shang, de Heide, Kaufmann, Ménard, Valko 2020",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=50,
    )

    def decided(self, state: TossedState, seen: Standing, live: jax.Array | bool) -> TossedState:
        """The leader or the challenger, by a toss."""
        del seen, live
        leader = self._best_of_draw(state, jnp.uint32(0))
        near, challenger = self._nearest(state, leader)
        return self._one_of_two(state, leader, challenger, near)


@pytree
@dataclasses.dataclass(frozen=True)
class TTTS(_Drawn):
    """Top-two Thompson sampling: the best arm of a posterior draw leads; that of another draw is the challenger.

    Draws are repeated until another arm than the leader is best (Russo 2016), which takes 1 / delta of them and more
    towards the end of a run. After as many as `resamplings` allows, the challenger is drawn from the law that further
    ones would give it, at once (`jaxbandits.statistics.posterior_tilts`): the limit changes how long a step takes, and
    no law, but for rounding, and for what 1024 attempts of this did not find, which is the arm least apart. Not so with
    normal rewards of unknown variances: their challenger is then the arm least apart from the leader, to which that law
    tends, as in T3C, and runs are somewhat shorter. The leader is pulled with the probability `share`. Priors:
    `jaxbandits.statistics.posteriors`.

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        share: of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        resamplings: draws of a challenger before that, at least 1.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    resamplings: Numeric = parameter("count", default=32)
    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best arms of two posterior draws",
        source="Russo 2016",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=1500,
    )

    def decided(self, state: TossedState, seen: Standing, live: jax.Array | bool) -> TossedState:
        """The leader or the challenger, by a toss."""
        del seen
        leader = self._best_of_draw(state, jnp.uint32(0))
        most = jnp.broadcast_to(jnp.asarray(self.resamplings, jnp.int32), leader.shape)

        def waiting(attempt: jax.Array, challenger: jax.Array) -> jax.Array:
            return (challenger == leader) & (attempt <= most)

        def draw(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            attempt, challenger = carry
            fresh = self._best_of_draw(state, attempt.astype(jnp.uint32))
            return attempt + 1, jnp.where(waiting(attempt, challenger), fresh, challenger)

        def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
            return jnp.any(waiting(*carry))

        _, challenger = lax.while_loop(unfinished, draw, (jnp.int32(1), leader))
        near, nearest = self._nearest(state, leader)
        if self.family_word in FAMILIES:
            missing = (challenger == leader) & live
            challenger = where_any(missing, lambda found: self._rare(state, leader, found, missing), challenger)
        return self._one_of_two(state, leader, jnp.where(challenger == leader, nearest, challenger), near)

    def _rare(self, state: TossedState, leader: jax.Array, challenger: jax.Array, missing: jax.Array) -> jax.Array:
        """The place of the best arm of a draw given that it is not the leader, int32 `(…)`, where one is missing."""
        own = ties.mask_at(leader, state.order)
        tilt = tilts(self.family_word, state.statistics, state.b, own)
        log_weight = state.existing(jnp.where(own, -jnp.inf, tilt.log_weight), -jnp.inf)
        # Not where there is no posterior, as of exponential rewards that are all 0.
        sought = missing & (arms.largest(log_weight) > -jnp.inf)

        def draw(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            number, found = carry
            attempt = number.astype(jnp.uint32) + jnp.uint32(_RARE)
            # Gumbel's: the arm with the largest sum has a probability proportional to its weight.
            level = -log(open_uniform(self._words(state, _RIVAL, attempt)[0]))
            _, rival = ranking.arg_largest(log_weight - log(larger(level, jnp.float32(1e-30))), state.order)
            other = ties.mask_at(rival, state.order)
            mean, strength = (arms.largest(jnp.where(other, x, -jnp.inf)) for x in (tilt.mean, tilt.strength))
            words = self._words(state, 0, attempt)
            pair = ((own | other) & (strength > 0), mean)
            drawn = posterior_draws(self.family_word, words, state.statistics, state.b, pair)
            drawn = state.existing(drawn, -jnp.inf)
            first, second = (arms.largest(jnp.where(mask, drawn, -jnp.inf)) for mask in (own, other))
            above = arms.total((drawn > first).astype(jnp.int32))
            word, _ = threefry2x32(*state.draws(), jnp.uint32(_ACCEPTED), attempt)
            lost = rounded(strength * advantage(self.family_word, first, second))
            accepted = (second > first) & (log(open_uniform(word)) + log(larger(above, 1)) + lost <= 0)
            best = ranking.arg_largest(drawn, state.order)[1]
            return number + 1, jnp.where(accepted & (found == leader), best, found)

        def unfinished(carry: tuple[jax.Array, jax.Array]) -> jax.Array:
            return jnp.any((carry[1] == leader) & sought) & (carry[0] < _MOST)

        return lax.while_loop(unfinished, draw, (jnp.int32(0), challenger))[1]
