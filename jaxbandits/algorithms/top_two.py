"""Top-two rules without posteriors: EB-TC and EB-TCI, led by the empirical best arm, and TTUCB, by an upper bound.

Jourdan, Degenne, Kaufmann (2023), "An epsilon-best-arm identification algorithm for fixed-confidence and beyond",
NeurIPS 36; Jourdan, Degenne, Baudry, de Heide, Kaufmann (2022), "Top two algorithms revisited", NeurIPS 35; Jourdan,
Degenne (2023), "Non-asymptotic analysis of a UCB-based top two algorithm", NeurIPS 36. All stop by the same test
(`bases/glr_stopped.py`).
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.candidates import Candidates
from jaxbandits.algorithms.bases.glr_stopped import GLRState
from jaxbandits.algorithms.bases.pairwise_statistic import Standing
from jaxbandits.algorithms.bases.parameters import Numeric, parameter
from jaxbandits.algorithms.bases.top_two import TopTwo, TossedState, TrackedPair, TrackingState, of_mask, paid
from jaxbandits.algorithms.bases.traits import Traits
from jaxbandits.arrays import ranking
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import larger, log, rounded
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.errors import UsageError
from jaxbandits.random import ties

__all__ = ["EBTC", "EBTCI", "TTUCB"]

# Accounts of all pairs take memory by the square.
_MOST_ARMS = 256
#: TTUCB's g(n) = 2 alpha (1 + s) log n with alpha = s = 1.2, as in the paper's experiments.
_BONUS = 2 * 1.2 * (1 + 1.2)


@pytree
@dataclasses.dataclass(frozen=True)
class EBTC(TrackedPair):
    """EB-TC: the empirical best arm leads; the challenger is the arm least apart from it, with a slack.

    The challenger C minimises the statistic against the leader B with epsilon = slack, for normal rewards (mu_B - mu_C
    + slack) / sqrt(1/N_B + 1/N_C). It is pulled if its pulls as challenger of this leader are at most the sum over the
    times of this pair, this one included, of 1 - share; else the leader (Jourdan, Degenne, Kaufmann 2023, Algorithm 1).
    The paper is about normal rewards; others take their own statistic. Ties are broken by the run's order of the arms.

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        share: of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        slack: the paper's epsilon_0, not negative, in units of rewards. With 0 a run may stay with the wrong two arms
            for very long.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family, more than 256 arms.
    """

    slack: Numeric = parameter("not negative", default=0.1, common=0)
    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the best-looking arm and the one least apart from it",
        source="Jourdan, Degenne, Kaufmann 2023",
        tolerance="epsilon",
        stops_by=("delta", "epsilon"),
        dearness=14,
    )

    def check(self, arms_per_bandit: int, bandits: int) -> None:
        """Also that the accounts of all pairs are not too many."""
        super().check(arms_per_bandit, bandits)
        if arms_per_bandit > _MOST_ARMS:
            raise UsageError(
                f"EBTC keeps an account for every pair of arms: at most {_MOST_ARMS} arms, got {arms_per_bandit}"
            )

    def first(self, state: GLRState, key: jax.Array) -> TrackingState:
        """With an account of every pair."""
        del key
        pairs = (state.order.shape[0] ** 2, *state.time.shape)
        return TrackingState(**state.of_the_test(), owed=jnp.zeros(pairs, jnp.int32))

    def candidates(self, state: GLRState) -> Candidates:
        """The best-looking arm, and the one least apart from it with the slack."""
        _, leader = ranking.arg_largest(state.existing(state.statistics.mean, -jnp.inf), state.order)
        return self.pair(state, leader, self.slack)

    def decided(self, state: TrackingState, seen: Candidates, live: jax.Array | bool) -> TrackingState:
        """The challenger while it is owed a pull, else the leader."""
        leader, challenger = seen
        share = 1 - self.share_of(state, seen, self.slack)
        owed, pull = paid(state.owed, leader * state.order.shape[0] + challenger, share, live)
        return dataclasses.replace(state, owed=owed, following=jnp.where(pull, challenger, leader))


@pytree
@dataclasses.dataclass(frozen=True)
class EBTCI(TopTwo):
    """EB-TCI: the empirical best arm leads; the challenger minimises the statistic against it plus log N.

    The logarithm keeps arms from being forgotten ("improved transportation cost"; Jourdan et al. 2022). The leader is
    pulled with the probability `share`, tossed for from a stream of the run's own. Ties are broken by the run's order
    of the arms.

    To find m arms, the statistic of an arm is that against the one of the m best-looking arms that is least apart from
    it, and this one leads (You, Qin, Wang, Yang 2023; no top-two rule is then asymptotically optimal with any constant
    share, as they show).

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        share: of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.
        m: arms to return, 1 <= m < K.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    m: Numeric = parameter("count", default=1, common=1)
    traits = Traits(
        setting="fixed confidence, (ε, m); top two: a best-looking arm and a rival, with few pulls preferred",
        source="Jourdan, Degenne, Baudry, de Heide, Kaufmann 2022; You, Qin, Wang, Yang 2023",
        answers="m",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=10,
    )

    def first(self, state: GLRState, key: jax.Array) -> TossedState:
        """With the run's key."""
        return TossedState.with_key(state, key)

    def decided(self, state: TossedState, seen: Standing, live: jax.Array | bool) -> TossedState:
        """The leader or the challenger, by a toss."""
        del live
        pulls = larger(state.pulls, 1).astype(jnp.float32)
        _, challenger = ranking.arg_smallest(rounded(seen.evidence.cost) + log(pulls), state.order)
        chosen = ties.mask_at(challenger, state.order)
        leader = seen.nearest if isinstance(self.m, Known) else of_mask(chosen, seen.nearest)
        share = self.leaders_share(seen.evidence, chosen)
        return state.pulling(jnp.where(state.tossed(share), leader, challenger))


@pytree
@dataclasses.dataclass(frozen=True)
class TTUCB(TrackedPair):
    """TTUCB: the arm with the largest upper bound leads; the challenger is the arm least apart from it.

    The bound is mu + sd sqrt(g(n) / N), g(n) = 2 alpha (1 + s) log n with alpha = s = 1.2 and n the number of the next
    pull; the challenger minimises the statistic against the leader, 0 for arms with a larger mean. The leader is pulled
    if its pulls while it led are at most the sum of its shares over the times it led, this one included (Jourdan,
    Degenne 2023, Algorithm 1). The standard deviation is b / 2, and for other families, of which the paper says
    nothing, that of a reward with the empirical mean, or the empirical one where variances are unknown. Ties are broken
    by the run's order of the arms.

    Attributes:
        delta: as for `GLRStopped`, as are epsilon, threshold, family, b and stopping.
        share: of the leader, in (0, 1), or `ids`: N_C / (N_B + N_C) for normal rewards.

    Raises:
        UsageError: a value outside its range, a threshold that is proved for another family.
    """

    traits = Traits(
        setting="fixed confidence, ε, one arm; top two: the largest upper bound and the arm least apart from it",
        source="Jourdan, Degenne 2023",
        tolerance="epsilon",
        stops_by=("delta",),
        dearness=10,
    )

    def first(self, state: GLRState, key: jax.Array) -> TrackingState:
        """With an account of every leader."""
        del key
        return TrackingState(**state.of_the_test(), owed=jnp.zeros(state.order.shape, jnp.int32))

    def candidates(self, state: GLRState) -> Candidates:
        """The arm with the largest upper bound, and the one least apart from it."""
        bonus = jnp.sqrt(_BONUS * log((state.time + 1).astype(jnp.float32)))
        upper = state.statistics.mean + rounded((self.spread(state) * bonus) * state.statistics.inverse_root)
        _, leader = ranking.arg_largest(state.existing(upper, -jnp.inf), state.order)
        return self.pair(state, leader, self.epsilon)

    def decided(self, state: TrackingState, seen: Candidates, live: jax.Array | bool) -> TrackingState:
        """The leader while it is owed a pull, else the challenger."""
        leader, challenger = seen
        owed, pull = paid(state.owed, leader, self.share_of(state, seen, self.epsilon), live)
        return dataclasses.replace(state, owed=owed, following=jnp.where(pull, leader, challenger))
