"""The rounds of LUCB and its variants: pull the weakest of the m best-looking arms and the strongest of the rest.

The variants differ in their confidence bounds: one method, `_rivals`.
"""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.betting_intervals import Intervals, are_apart
from jaxbandits.algorithms.largest_arms import exchange, is_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.arrays.static_int import StaticInt

__all__ = ["LUCBRounds", "LUCBState", "Rivals", "rivals_of"]


class LUCBState(NamedTuple):
    """The state between two rounds."""

    round: jax.Array  # int32 (): t, 1 after the first pull of every arm, and at least the pulls of any arm
    chosen: jax.Array | None  # bool (K,): the m largest means; None if they are computed when needed
    intervals: Intervals | None = None  # by betting; None for those of a rule's paper


class Rivals(NamedTuple):
    """The two arms of a round."""

    h: jax.Array  # int32 (): the smallest lower bound L of the chosen arms
    l: jax.Array  # noqa: E741 - as in the papers; int32 (): the largest upper bound U of the rest
    distance: jax.Array  # float32 (): U_l - L_h


@dataclasses.dataclass(frozen=True)
class LUCBRounds(Rule):
    """Pulls h and l until U_l - L_h < epsilon; a subclass has the bounds."""

    epsilon: Numeric = parameter("not negative")
    delta: Numeric = parameter("error probability")
    m: Numeric = parameter("count", default=1, common=1)
    b: Numeric = parameter("positive", default=None)

    @property
    def takes_counts(self) -> bool:
        """Whether a run may start from counts: not by betting, which must see each reward."""
        return not self.bets

    @abc.abstractmethod
    def _rivals(self, state: LUCBState, arms: Arms, chosen: jax.Array, b: jax.Array) -> Rivals:
        """Return h among the chosen arms and l among the rest; b is the range of the rewards."""

    def init(self, arms: Arms, key: jax.Array) -> LUCBState:
        """Return the state after one pull of every arm, or more: unions over t have counts up to t."""
        del key
        return LUCBState(jnp.max(arms.pulls), None if isinstance(self.m, StaticInt) else is_largest(arms.mean, self.m))

    def update(self, state: LUCBState, arms: Arms, arm: jax.Array, reward: jax.Array) -> LUCBState:
        """Return the state after a round's two rewards; each changed mean moves at most one arm."""
        del arm, reward
        chosen = state.chosen
        if chosen is not None:
            chosen = exchange(arms.mean, exchange(arms.mean, chosen))
        return state._replace(round=state.round + 1, chosen=chosen)

    def select(self, state: LUCBState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return h and l."""
        del key
        rivals = self.rivals(state, arms)
        return jnp.stack([rivals.h, rivals.l])

    def done(self, state: LUCBState, arms: Arms) -> jax.Array:
        """Return whether U_l - L_h < epsilon."""
        return are_apart(arms, self.rivals(state, arms).distance, self.epsilon)

    def recommend(self, state: LUCBState, arms: Arms) -> jax.Array:
        """Return the m largest means."""
        return self._largest(state, arms)

    def rivals(self, state: LUCBState, arms: Arms) -> Rivals:
        """Return h and l, and U_l - L_h."""
        return self._rivals(state, arms, self._largest(state, arms), self.range_of(arms))

    def _largest(self, state: LUCBState, arms: Arms) -> jax.Array:
        """Return the m largest means, also where a subclass answers otherwise."""
        return is_largest(arms.mean, self.m) if state.chosen is None else state.chosen


def rivals_of(lower: jax.Array, upper: jax.Array, chosen: jax.Array) -> Rivals:
    """Return h and l by bounds `(K,)`; lower bounds count for chosen arms, upper bounds for the rest."""
    lower, upper = jnp.where(chosen, lower, jnp.inf), jnp.where(chosen, -jnp.inf, upper)
    return Rivals(jnp.argmin(lower), jnp.argmax(upper), jnp.max(upper) - jnp.min(lower))
