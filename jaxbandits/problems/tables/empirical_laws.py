"""Rewards from values that were seen: each is one of an arm's values, drawn at random with replacement."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.correlation import estimate_correlation
from jaxbandits.random.streams import SHARED_ROWS, reward_block
from jaxbandits.random.threefry import block

__all__ = ["Empirical", "UnequalEmpirical"]


@register_problem
@dataclasses.dataclass(frozen=True)
class Empirical(Problem):
    """Rewards from a table: `table` float32 `(K, N, …)`, the N values of each arm.

    Example:
        >>> isinstance(jb.empirical(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])), jb.problems.Empirical)
        True
    """

    has_moments = True
    in_interval = True

    table: jax.Array
    joint: bool = False
    parameters: ClassVar[tuple[str, ...]] = ("table",)
    choices = ("joint",)

    @property
    def mean(self) -> jax.Array:
        """Return the mean of the values."""
        return jnp.mean(self.table, axis=1)

    @property
    def variance(self) -> jax.Array:
        """Return the variance of the values; they are the whole law, so the divisor is N."""
        return jnp.var(self.table, axis=1)

    @property
    def bound_law(self) -> tuple[str, float] | None:
        """Return the Bernoulli law if all values are 0 or 1 and rows are independent; else None.

        Where arms share their rows, the reward of a pull depends on rewards of other arms.
        """
        table = np.asarray(self.table)
        return ("bernoulli", 1.0) if not self.joint and bool(np.all((table == 0) | (table == 1))) else None

    @property
    def reward_range(self) -> jax.Array:
        """Return the largest value minus the smallest, over all arms."""
        return arms.largest(jnp.max(self.table, axis=1)) - arms.smallest(jnp.min(self.table, axis=1))

    @property
    def lowest_reward(self) -> float:
        """Return the smallest value of the table."""
        return float(np.min(np.asarray(self.table)))

    @property
    def sub_gaussian(self) -> bool:
        """Return whether rows are independent: values of an interval are sub-Gaussian (Hoeffding's lemma)."""
        return not self.joint

    @property
    def common_random_numbers(self) -> bool:
        """Return whether arms share their rows."""
        return self.joint

    @property
    def correlation(self) -> float:
        """Return the table's correlation where arms share their rows, else 1."""
        return estimate_correlation(np.asarray(self.table).T) if self.joint else 1.0

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`."""
        values = np.asarray(self.table, np.float64)
        center = values.mean(axis=1, keepdims=True) if central else 0.0
        return np.mean(np.abs(values - center) ** p, axis=1)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Raise an error: rewards are not elementwise in the table; see `reward`."""
        raise NotImplementedError

    @property
    def second_word_free(self) -> bool:
        """Return whether rows are independent: the second word is then used by no other arm."""
        return not self.joint

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        words = self._words(key, arm, pull)
        return self._entry(arm, self._row(words[0], arm)), words

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        arm = jnp.broadcast_to(arms.index(self.arms, key.shape), (self.arms, *key.shape))
        return self._entry(arm, self._row(self._words(key, arm, pull)[0], arm))

    def _words(self, key: jax.Array, arm: jax.Array, pull: ArrayLike) -> tuple[jax.Array, jax.Array]:
        """Return two random words of a pull; if `joint`, all arms share them at the same pull."""
        return block(key, jnp.uint32(SHARED_ROWS), pull) if self.joint else reward_block(key, arm, pull)

    def _row(self, word: jax.Array, arm: jax.Array) -> jax.Array:
        # The high word of word * N, for N below 2^16, in 32 bits: every row has probability 1/N within 2^-32.
        rows = self._rows(arm)
        low = ((word & jnp.uint32(0xFFFF)) * rows) >> jnp.uint32(16)
        return (((word >> jnp.uint32(16)) * rows + low) >> jnp.uint32(16)).astype(jnp.int32)

    def _rows(self, arm: jax.Array) -> jax.Array:
        """Return the number of values of arms, uint32 that broadcasts with `arm`."""
        del arm
        return jnp.uint32(self.table.shape[1])

    def _entry(self, arm: jax.Array, row: jax.Array) -> jax.Array:
        table = jnp.asarray(self.table)
        flat = table.reshape(table.shape[0] * table.shape[1], *table.shape[2:])
        return arms.take(flat, arm * table.shape[1] + row)


@register_problem
@dataclasses.dataclass(frozen=True)
class UnequalEmpirical(Empirical):
    """Rewards from lists of different lengths.

    Attributes:
        table: float32 `(K, N, …)`, of which arm k has the first `counts[k]` entries; the others repeat its first one.
        counts: int32 `(K, …)`: how many values each arm has.

    Example:
        >>> isinstance(jb.empirical({"A": [0.0, 1.0, 0.5], "B": [1.0, 0.0]}), jb.problems.UnequalEmpirical)
        True
    """

    counts: jax.Array = dataclasses.field(kw_only=True)
    parameters = ("table", "counts")

    @property
    def mean(self) -> jax.Array:
        """Return the mean of the values."""
        return self._averaged(self.table)

    @property
    def variance(self) -> jax.Array:
        """Return the variance of the values, with their number as the divisor."""
        return self._averaged((self.table - self.mean[:, None]) ** 2)

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each arm, or E|X - mean|^p, float64 `(K,)`."""
        lists = [row[:count] for row, count in zip(np.asarray(self.table, np.float64), self.counts, strict=True)]
        return np.asarray([np.mean(np.abs(values - (values.mean() if central else 0)) ** p) for values in lists])

    def _rows(self, arm: jax.Array) -> jax.Array:
        return arms.take(self.counts, arm).astype(jnp.uint32)

    def _averaged(self, values: jax.Array) -> jax.Array:
        """Return the mean of numbers `(K, N, …)` over the entries that an arm has, `(K, …)`."""
        place = jnp.arange(values.shape[1]).reshape(1, -1, *[1] * (values.ndim - 2))
        return jnp.sum(jnp.where(place < self.counts[:, None], values, 0), axis=1) / self.counts
