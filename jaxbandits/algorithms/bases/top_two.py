"""Top-two rules: a leader, a challenger, and which of the two is pulled.

Russo (2016), "Simple Bayesian algorithms for best arm identification", COLT; Jourdan, Degenne, Baudry, de Heide,
Kaufmann (2022), "Top two algorithms revisited", NeurIPS 35. Which of the two is pulled is tossed for, or the numbers of
pulls are kept near their shares ("tracking").
"""

import dataclasses

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.bases.candidates import Candidates, CandidatesFirst
from jaxbandits.algorithms.bases.glr_stopped import GLRState, GLRStopped
from jaxbandits.algorithms.bases.parameters import Numeric, Word, parameter
from jaxbandits.arrays import arms, ranking
from jaxbandits.arrays.pytrees import pytree
from jaxbandits.random import ties
from jaxbandits.random.bits import key_words, open_uniform, threefry2x32
from jaxbandits.random.streams import POSTERIOR
from jaxbandits.statistics.pairwise_evidence import Evidence

__all__ = ["UNIT", "TopTwo", "TossedState", "TrackedPair", "TrackingState", "of_mask", "paid"]

#: A pull, in the whole numbers in which shares are added up: a share is a multiple of 2^-24.
UNIT = 1 << 24
# Below the words of a time, arms are the first counter of draws; the coin's is none of theirs.
_COIN = 0xFFFFFFFF


@dataclasses.dataclass(frozen=True)
class TopTwo(GLRStopped):
    """A rule of a leader and a challenger.

    Attributes:
        share: of the pulls that go to the leader, in (0, 1), or `ids`: N_B d(mu_B, u) over N_B d(mu_B, u) + N_C d(mu_C,
            u), the leader's part of the statistic of the two (information-directed selection; You, Qin, Wang, Yang
            2023), which is N_C / (N_B + N_C) for normal rewards.
    """

    share: Numeric = parameter("probability", default=0.5, words=("ids",))

    def leaders_share(self, evidence: Evidence, challenger: jax.Array) -> jax.Array:
        """The leader's share, float32 `(…)`, by its evidence and against a challenger by its mask, both `(K, …)`."""
        if isinstance(self.share, Word):
            return of_mask(challenger, evidence.share)
        return jnp.broadcast_to(jnp.asarray(self.share, jnp.float32), challenger.shape[1:])


def of_mask(mask: jax.Array, x: jax.Array) -> jax.Array:
    """The entry of one arm, `(K, …)` to `(…)`, of entries that are not negative."""
    return arms.largest(jnp.where(mask, x, jnp.zeros((), x.dtype)))


@pytree
@dataclasses.dataclass(frozen=True)
class TrackingState(GLRState):
    """The state of a run; arms first, runs last.

    What is owed is the sum of shares so far less the pulls, kept as whole numbers: of each leader, or of the challenger
    of each pair (leader k, challenger c at k K + c).
    """

    owed: jax.Array  # int32 (K, …) or (K^2, …), in units of 1 / UNIT


def paid(owed: jax.Array, entry: jax.Array, share: jax.Array, live: jax.Array | bool) -> tuple[jax.Array, jax.Array]:
    """An account credited with a share, and debited a pull if it then is not negative: with the pull of its arm.

    Args:
        owed: int32 `(A, …)`.
        entry: whose account, int32 `(…)`.
        share: float32 `(…)`, in [0, 1].
        live: bool `(…)`; where false, no account changes.

    Returns:
        The accounts, and whether the arm is pulled, bool `(…)`.
    """
    before = arms.take(owed, entry)
    credited = before + jnp.round(share * UNIT).astype(jnp.int32)
    pull = credited >= 0
    after = jnp.where(pull, credited - UNIT, credited)
    return arms.put(owed, entry, jnp.where(live, after, before)), pull


@dataclasses.dataclass(frozen=True)
class TrackedPair(TopTwo, CandidatesFirst):
    """A rule whose leader and challenger follow from pulls and rewards, and which keeps their pulls near the shares."""

    def pair(self, state: GLRState, leader: jax.Array, lead: Numeric) -> Candidates:
        """A leader, by its place in the tie order, and the arm least apart from it with an epsilon."""
        near = self.against(state, ties.mask_at(leader, state.order), lead)
        _, challenger = ranking.arg_smallest(near.cost, state.order)
        count = state.order.shape[0]
        return ties.arm_at(leader, count, state.ties), ties.arm_at(challenger, count, state.ties)

    def share_of(self, state: GLRState, pair: Candidates, lead: Numeric) -> jax.Array:
        """The leader's share, float32 `(…)`."""
        leader, challenger = (arms.index(state.order.shape[0], arm.shape) == arm for arm in pair)
        return self.leaders_share(self.against(state, leader, lead), challenger)


@pytree
@dataclasses.dataclass(frozen=True)
class TossedState(GLRState):
    """The state of a run with draws of its own; arms first, runs last."""

    words: jax.Array  # uint32 (2, …): the run's key

    @classmethod
    def with_key(cls, state: GLRState, key: jax.Array) -> "TossedState":
        """A state with the run's key, `(…)`."""
        return cls(**state.of_the_test(), words=jnp.stack(key_words(key)))

    def draws(self) -> tuple[jax.Array, jax.Array]:
        """The words under which everything is drawn at this time, uint32 `(…)` each."""
        return threefry2x32(self.words[0], self.words[1], jnp.uint32(POSTERIOR), self.time.astype(jnp.uint32))

    def tossed(self, share: jax.Array) -> jax.Array:
        """True with the probability `share`, float32 `(…)`."""
        word, _ = threefry2x32(*self.draws(), jnp.uint32(_COIN), jnp.uint32(0))
        return open_uniform(word) <= share
