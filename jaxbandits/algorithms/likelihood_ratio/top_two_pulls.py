"""Top-two rules: choose between a leader and a challenger, at random or by keeping pulls near shares ("tracking").

Russo (2016), "Simple Bayesian algorithms for best arm identification", COLT; Jourdan, Degenne, Baudry, de Heide,
Kaufmann (2022), "Top two algorithms revisited", NeurIPS 35.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.likelihood_ratio.glr_stopping import GLRStopped, Remembered
from jaxbandits.algorithms.parameters import Numeric, Word, parameter
from jaxbandits.errors import UsageError
from jaxbandits.random.threefry import open_uniform
from jaxbandits.statistics.glr import Evidence

__all__ = ["UNIT", "TopTwo", "Tracking", "check_pairs", "paid", "pay_pair", "share_of", "toss_share"]

#: One pull in the whole numbers that add up shares: a share is a multiple of 2^-24.
UNIT = 1 << 24
# Accounts of all pairs take memory by the square.
_MOST_ARMS = 256


@dataclasses.dataclass(frozen=True)
class TopTwo(GLRStopped):
    """A rule with a leader and a challenger.

    Attributes:
        share: share of the pulls that go to the leader, in (0, 1), or `ids` (information-directed selection; You, Qin,
            Wang, Yang 2023). `ids` is the leader's part of the statistic of the two, N_B d(mu_B, u) over
            N_B d(mu_B, u) + N_C d(mu_C, u). For normal rewards it is N_C / (N_B + N_C). For others it is 1/2 where the
            leader's mean is not the larger one.
    """

    share: Numeric = parameter("probability", default=0.5, words=("ids",))

    def leaders_share(self, evidence: Evidence, challenger: jax.Array) -> jax.Array:
        """Return the leader's share against a challenger, float32 `()`, by its evidence, `(K,)`."""
        return share_of(self.share, evidence, challenger)


class Tracking(NamedTuple):
    """The state of a rule that tracks shares, with the pull that it has decided on.

    `owed` is the sum of the shares so far less the pulls, in whole numbers: for each leader, or for the challenger of
    each pair.
    """

    parted: Remembered  # see `GLRStopped.first_parted`
    owed: jax.Array  # int32 (K,) or (K, K), in units of 1 / UNIT
    following: jax.Array  # int32 (): the arm to pull next


def paid(owed: jax.Array, share: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Credit an account with a share; if it then is not negative, pull its arm and debit the pull.

    Args:
        owed: int32 `()`.
        share: float32 `()`, in [0, 1].

    Returns:
        The account, and whether the arm is pulled, bool `()`.
    """
    credited = owed + jnp.round(share * UNIT).astype(jnp.int32)
    pull = credited >= 0
    return jnp.where(pull, credited - UNIT, credited), pull


def share_of(share: Numeric, evidence: Evidence, challenger: jax.Array) -> jax.Array:
    """Return the leader's share, a number or `ids`, against a challenger, float32 `()`, by its evidence, `(K,)`."""
    return evidence.share[challenger] if isinstance(share, Word) else jnp.asarray(share, jnp.float32)


def pay_pair(
    owed: jax.Array, leader: jax.Array, challenger: jax.Array, share: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the accounts of all pairs, int32 `(K, K)`, and the arm of this pair that is pulled, int32 `()`.

    The challenger's account with this leader is credited with 1 - share. It is pulled if that is owed, else the leader
    (Jourdan, Degenne, Kaufmann 2023, Algorithm 1).
    """
    number = jnp.arange(len(owed))
    pair = (number == leader)[:, None] & (number == challenger)[None]
    account, pull = paid(jnp.sum(jnp.where(pair, owed, 0)), 1 - share)
    return jnp.where(pair, account, owed), jnp.where(pull, challenger, leader)


def check_pairs(rule: object, arms: int) -> None:
    """Check that the accounts of all pairs of arms are not too many.

    Raises:
        UsageError: they are.
    """
    if arms > _MOST_ARMS:
        name = type(rule).__name__
        raise UsageError(f"{name} keeps an account for every pair of arms: at most {_MOST_ARMS} arms, got {arms}")


def toss_share(key: jax.Array, share: jax.Array) -> jax.Array:
    """Return True with the probability `share`, float32 `()`."""
    return open_uniform(jax.random.bits(key)) <= share
