"""Find the good arms, one after another: pull an undecided arm until its confidence interval leaves the threshold.

Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama (2019), "Good arm identification via bandit feedback", Machine
Learning 108. The rules differ in the arm that they pull: one method, `index`.
"""

import abc
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.algorithms.traits import ANY, Traits
from jaxbandits.arrays.probabilities import log_of

__all__ = ["GoodArmRounds", "GoodArmState"]


class GoodArmState(NamedTuple):
    """What is decided of each arm, and its confidence interval."""

    radius: jax.Array  # float32 (K,): half the width of the interval that decides
    undecided: jax.Array  # bool (K,): the interval of the arm still holds the threshold
    good: jax.Array  # bool (K,): the arm was found to be good
    found_at: jax.Array  # int32 (K,): the number of pulls, of all arms, when a good arm was found; 0 for the others


@dataclasses.dataclass(frozen=True)
class GoodArmRounds(Rule):
    """Pulls the undecided arm with the largest index; a subclass has the index."""

    delta: Numeric = parameter("error probability")
    threshold: Numeric = parameter("finite")
    b: Numeric = parameter("positive", default=None)

    traits = Traits(
        setting="fixed confidence, the arms above a threshold",
        source="Kano, Honda, Sakamaki, Matsuura, Nakamura, Sugiyama 2019",
        answers=ANY,
        criterion="above-threshold",
    )

    @abc.abstractmethod
    def index(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return the index of each arm, float32 `(K,)`."""

    def init(self, arms: Arms, key: jax.Array) -> GoodArmState:
        """Return what is decided after one pull of every arm."""
        del key
        nothing = jnp.zeros(len(arms), bool)
        blank = jnp.zeros(len(arms))
        state = GoodArmState(radius=blank, undecided=~nothing, good=nothing, found_at=blank.astype(jnp.int32))
        return self._decided(state, arms, jnp.arange(len(arms)))

    def select(self, state: GoodArmState, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the undecided arm with the largest index (Algorithm 1)."""
        del key
        return jnp.argmax(jnp.where(state.undecided, self.index(state, arms), -jnp.inf))

    def update(self, state: GoodArmState, arms: Arms, arm: jax.Array, reward: jax.Array) -> GoodArmState:
        """Return what is decided after a pull; only the pulled arm's interval has changed."""
        del reward
        return self._decided(state, arms, arm)

    def done(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return whether every arm is decided."""
        del arms
        return ~jnp.any(state.undecided)

    def recommend(self, state: GoodArmState, arms: Arms) -> jax.Array:
        """Return the arms that were found to be good."""
        del arms
        return state.good

    def _decided(self, state: GoodArmState, arms: Arms, some: jax.Array) -> GoodArmState:
        """Return the state after some arms, int32 `()` or `(N,)`, were checked (Algorithm 1)."""
        radius, mean = self._radius(arms, arms.pulls[some]), arms.mean[some]
        if arms.cells is not None:  # a finite population that was read in full is known
            radius = jnp.where(arms.pulls[some] < arms.cells[some], radius, 0)
        good = state.undecided[some] & (mean - radius >= self.threshold)
        bad = mean + radius < self.threshold
        return GoodArmState(
            radius=state.radius.at[some].set(radius),
            undecided=state.undecided.at[some].set(state.undecided[some] & ~good & ~bad),
            good=state.good.at[some].set(state.good[some] | good),
            found_at=state.found_at.at[some].set(jnp.where(good, arms.time, state.found_at[some])),
        )

    def _radius(self, arms: Arms, pulls: jax.Array) -> jax.Array:
        """Return b sqrt(ln(4 K N^2 / delta) / (2 N)) of some arms by their pulls N (eqs. 4, 5)."""
        level = jnp.log(4.0 * arms.count) - log_of(self.delta) + 2 * jnp.log(pulls)
        return self.range_of(arms) * jnp.sqrt(level / (2 * pulls))
