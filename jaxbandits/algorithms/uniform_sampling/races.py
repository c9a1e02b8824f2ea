"""The base class of races: the arms are pulled equally often, and those whose intervals are decisive leave.

Kaufmann, Kalyanakrishnan (2013), "Information complexity in bandit subset selection", COLT, Algorithm 1.
"""

import abc
import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.betting_intervals import are_apart
from jaxbandits.algorithms.largest_arms import are_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.told_arms import LARGEST_BATCH
from jaxbandits.algorithms.uniform_sampling.joint_rounds import as_count
from jaxbandits.arrays.compensated_sums import Sums, sums_of
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.probabilities import log_of

__all__ = ["Bounds", "Race", "RaceState", "decisive"]


class RaceState(NamedTuple):
    """The state between two looks."""

    total: Sums  # (K,): of all rewards
    active: jax.Array  # bool (K,)
    accepted: jax.Array  # bool (K,)
    looked: jax.Array  # int32 (): n_r, pulls of every active arm
    round: jax.Array  # int32 (): r, looks so far


class Bounds(NamedTuple):
    """Bounds of the means, float32 `(K,)`, monotone in the empirical mean."""

    lower: jax.Array
    upper: jax.Array


@dataclasses.dataclass(frozen=True)
class Race(Rule):
    """A race; a subclass has the intervals.

    The r-th look is after n_r pulls of every active arm: n_1 = ceil(level), n_(r+1) = ceil(growth n_r). All its
    intervals hold with probability 1 - delta / (r (r+1)). So the intervals of all looks hold with probability
    1 - delta.
    """

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1)
    growth: Numeric = parameter("above one", default=1.3)
    b: Numeric = parameter("positive", default=None)
    initial_pulls = 0
    fresh_only = True
    #: c: an interval fails with probability at most c exp(-level).
    sides: ClassVar[float]

    @abc.abstractmethod
    def _bounds(self, mean: jax.Array, share: jax.Array, b: jax.Array) -> Bounds:
        """Return the intervals around empirical means `(K,)`, with level / n and the range of the rewards."""

    def init(self, arms: Arms, key: jax.Array) -> RaceState:
        """Return the state before the first pull."""
        del key
        nobody = jnp.zeros(len(arms), bool)
        return RaceState(sums_of(arms.total), ~nobody, nobody, jnp.int32(0), jnp.int32(0))

    def request(self, state: RaceState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the pulls until the next look; if sums would exceed the range of counts, a number that is refused."""
        del key
        further = (self.growth - 1) * state.looked
        each = as_count(jnp.where(state.round == 0, self._level(state, arms), further))
        each = jnp.where(state.looked < LARGEST_BATCH - each, each, MAX_COUNT)
        return jnp.where(state.active, each, 0)

    def absorb(self, state: RaceState, arms: Arms, counts: jax.Array, sums: jax.Array) -> RaceState:
        """Return the state after a look; J are the best-looking arms that complete the m."""
        b = self.range_of(arms)
        n = state.looked + jnp.max(counts)
        new = state._replace(total=state.total.plus(sums), looked=n, round=state.round + 1)
        lower, upper = self._bounds(new.total.value / n, self._level(state, arms) / n, b)
        accepted, discarded = decisive(arms, Bounds(lower, upper), self._leaders(new), state.active, self.epsilon)
        return new._replace(active=state.active & ~accepted & ~discarded, accepted=state.accepted | accepted)

    def done(self, state: RaceState, arms: Arms) -> jax.Array:
        """Return whether all m are accepted, or all active arms complete the m."""
        del arms
        left = self._left(state)
        return (left == 0) | (left == jnp.sum(state.active))

    def recommend(self, state: RaceState, arms: Arms) -> jax.Array:
        """Return the accepted arms, and the best active ones."""
        del arms
        return state.accepted | self._leaders(state)

    def _left(self, state: RaceState) -> jax.Array:
        """Return how many of the m arms are not yet accepted."""
        return self.m - jnp.sum(state.accepted)

    def _leaders(self, state: RaceState) -> jax.Array:
        """Return J, the active arms with the largest means that complete the m; bool `(K,)`."""
        return are_largest(state.total.value, self._left(state), state.active)

    def _level(self, state: RaceState, arms: Arms) -> jax.Array:
        """Return the level of the next look, ln(c K r (r+1) / delta)."""
        r = state.round + 1
        return jnp.log(self.sides) + jnp.log(arms.count) - log_of(self.delta) + jnp.log(r) + jnp.log(r + 1)


def decisive(
    arms: Arms, bounds: Bounds, inside: jax.Array, active: jax.Array, epsilon: Numeric
) -> tuple[jax.Array, jax.Array]:
    """Return which arms are accepted and which are discarded, bool `(K,)` each.

    Args:
        arms: what is known of the arms.
        bounds: the intervals.
        inside: bool `(K,)`, J: the best-looking active arms that complete the m.
        active: bool `(K,)`.
        epsilon: the accuracy.
    """
    outside = active & ~inside
    high = jnp.max(jnp.where(outside, bounds.upper, -jnp.inf))  # U_u
    low = jnp.min(jnp.where(inside, bounds.lower, jnp.inf))  # L_l
    accepted = inside & are_apart(arms, high - bounds.lower, epsilon)
    discarded = outside & are_apart(arms, bounds.upper - low, epsilon)
    return accepted, discarded
