"""The base class of the rules that spend a budget of cost on the arm with the largest index."""

import abc
import dataclasses

import jax

from jaxbandits.algorithms.largest_arms import one_of_largest
from jaxbandits.algorithms.parameters import Numeric, parameter
from jaxbandits.algorithms.protocol import Arms, Rule
from jaxbandits.random.tie_breaking import reshuffle

__all__ = ["BudgetIndex"]


@dataclasses.dataclass(frozen=True)
class BudgetIndex(Rule, abc.ABC):
    """Pulls every arm once, and then the arm with the largest index, until a pull costs more than is left.

    That pull pays nothing. Ties for the largest index are broken at random, independently at every pull.
    """

    budget: Numeric = parameter("positive")

    @abc.abstractmethod
    def index(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the index of each arm, float32 `(K,)`, not NaN."""

    def init(self, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the random words that break ties, uint32 `(2,)`."""
        del arms
        return jax.random.key_data(key)

    def update(self, words: jax.Array, arms: Arms, arm: jax.Array, reward: jax.Array) -> jax.Array:
        """Return the same words."""
        del arms, arm, reward
        return words

    def select(self, words: jax.Array, arms: Arms, key: jax.Array) -> jax.Array:
        """Return the arm with the largest index."""
        return one_of_largest(self.index(arms, key), reshuffle(words, arms.time))

    def recommend(self, words: jax.Array, arms: Arms) -> jax.Array:
        """Return the arm pulled most often."""
        return one_of_largest(arms.pulls, words)
