"""Categorical rewards: one of a few values, each with its probability, such as stars of a rating."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import no_fma
from jaxbandits.arrays.on_host import as_float32
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.distributions.components import Components, as_chances, in_shape
from jaxbandits.random.categorical_draws import draw_counts, draw_outcome
from jaxbandits.random.streams import batch_key

__all__ = ["Categorical", "categorical"]


@register_problem
@dataclasses.dataclass(frozen=True)
class Categorical(Components):
    """Rewards that are one of L values; `outcome` and `chance` float32 `(K, L, …)`.

    Example:
        >>> arms = jb.categorical([0, 1, 2], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
        >>> isinstance(arms, jb.problems.Categorical)
        True
    """

    outcome: jax.Array
    parameters = ("chance", "outcome")
    in_interval = True
    sub_gaussian = True  # of an interval with length b (Hoeffding's lemma)
    second_word_free = True

    @property
    def mean(self) -> jax.Array:
        """Return the sum of the values times their probabilities."""
        return self.weighted(self.outcome)

    @property
    def variance(self) -> jax.Array:
        """Return the expected square of the distance from the mean."""
        return self.weighted((self.outcome - self.mean[:, None]) ** 2)

    @property
    def reward_range(self) -> jax.Array:
        """Return the largest value minus the smallest, over all arms."""
        outcome = jnp.asarray(self.outcome)
        return arms.largest(jnp.max(outcome, axis=1)) - arms.smallest(jnp.min(outcome, axis=1))

    @property
    def lowest_reward(self) -> float:
        """Return the smallest value."""
        return float(np.min(np.asarray(self.outcome)))

    @property
    def bound_law(self) -> tuple[str, float] | None:
        """Return the Bernoulli law if all values are 0 or 1; else None."""
        outcome = np.asarray(self.outcome)
        return ("bernoulli", 1.0) if bool(np.all((outcome == 0) | (outcome == 1))) else None

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`."""
        chance, outcome = np.asarray(self.chance, np.float64), np.asarray(self.outcome, np.float64)
        center = (chance * outcome).sum(axis=1, keepdims=True) if central else 0.0
        return np.sum(chance * np.abs(outcome - center) ** p, axis=1)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Draw multinomial counts of the values, and add up."""
        del pulled
        counts = draw_counts(batch_key(key, batch), count, list(self.each("chance")))
        total = jnp.zeros(count.shape, jnp.float32)
        for number, outcome in zip(counts, self.each("outcome"), strict=True):
            total = total + no_fma(number.astype(jnp.float32) * outcome)
        return total

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], chance: jax.Array, outcome: jax.Array) -> jax.Array:
        """Draw one of the values of `(L, …)`."""
        chosen = draw_outcome(words[0], list(chance))
        value = jnp.broadcast_to(outcome[0], chosen.shape)
        for number in range(1, outcome.shape[0]):
            value = jnp.where(chosen == number, outcome[number], value)
        return value


@varying
def categorical(values: ArrayLike, probabilities: ArrayLike, *, name: str = "") -> Categorical:
    """Return arms whose rewards are one of a few values.

    Args:
        values: L numbers, at most 64, the same for all arms; or a row of them for each arm, `(K, L)`.
        probabilities: `(K, L)`: a row for each arm, which adds up to 1.
        name: what the problem is called in results.

    Raises:
        UsageError: fewer than two arms, shapes that do not fit, probabilities that are negative or do not add up to
            1, or all values equal. For more than 64 values give a table of rewards to `jb.empirical`.

    Example:
        >>> print(jb.categorical([1, 3, 5], [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]).mean)
        [3.5 2.5]
    """
    chance = as_chances("categorical probabilities", probabilities)
    outcome = in_shape("categorical values", values, chance)
    if np.ptp(outcome) == 0:
        raise UsageError(f"categorical values must differ, got {outcome.flat[0]:g} only")
    return Categorical(chance, as_float32(outcome), name=name or f"categorical ({chance.shape[0]} arms)")
