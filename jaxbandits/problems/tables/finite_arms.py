"""Arms that are finite populations: a matrix of scores of which a run reads each cell at most once."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike

from jaxbandits.arrays import arms
from jaxbandits.arrays.compensated_sums import CompensatedSum
from jaxbandits.arrays.numerics import fast_max, fast_min, no_fma
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.correlation import estimate_correlation
from jaxbandits.random.item_orders import arm_words, item_order, item_words, sorted_last

__all__ = ["Matrix", "OrderedMatrix"]


@dataclasses.dataclass(frozen=True)
class _Scores(Problem):
    """Candidates with N items each, of which some may be missing.

    Attributes:
        table: float32 `(K, N, …)`, the scores.
        cells: int32 `(K, …)`, how many items each candidate has.
        average: float32 `(K, …)`, their mean score.
        spread: float32 `(K, …)`, the variance of their scores.
    """

    finite = True
    in_interval = True
    has_moments = True

    table: jax.Array
    cells: jax.Array
    average: jax.Array
    spread: jax.Array
    parameters = ("table", "cells", "average", "spread")

    @property
    def mean(self) -> jax.Array:
        """Return the mean score of each candidate: a full read gives it."""
        return jnp.asarray(self.average)

    @property
    def variance(self) -> jax.Array:
        """Return the variance of the scores; they are the whole population, so the divisor is their number."""
        return jnp.asarray(self.spread)

    @property
    def reward_range(self) -> jax.Array:
        """Return the largest score minus the smallest, over all candidates."""
        if not is_traced(self.table):  # a number also while a program of the user's is traced
            table = np.asarray(self.table)
            return np.nanmax(table, axis=(0, 1)) - np.nanmin(table, axis=(0, 1))
        return arms.largest(jnp.nanmax(self.table, axis=1)) - arms.smallest(jnp.nanmin(self.table, axis=1))

    @property
    def lowest_reward(self) -> float:
        """Return the smallest score."""
        return float(np.nanmin(np.asarray(self.table)))

    def read(self, pulls: jax.Array) -> jax.Array:
        """Return how many cells of each candidate runs have read after these pulls `(K, …)`, int32 `(K, …)`."""
        return fast_min(pulls, jnp.broadcast_to(self.cells, pulls.shape))

    def evaluations(self, pulls: jax.Array) -> jax.Array:
        """Return how many cells runs have read after these pulls `(K, …)`, int32 `(…)`."""
        return arms.total(self._of_existing(self.read(pulls)))

    def payoff(self, key: jax.Array, arm: ArrayLike, pull: ArrayLike) -> tuple[jax.Array, jax.Array]:
        """Return the reward of one pull and its cost, 0 where all items have been read; see `Problem.payoff`."""
        reward, cost = super().payoff(key, arm, pull)
        known = jnp.asarray(pull) >= arms.take(jnp.asarray(self.cells), jnp.asarray(arm))
        return reward, jnp.where(known, 0, cost)

    @property
    def all_cells(self) -> jax.Array:
        """Return how many cells there are, int32 `(…)`."""
        return arms.total(self._of_existing(jnp.asarray(self.cells)))

    @property
    def most_cells(self) -> jax.Array:
        """Return how many cells the candidate with the most has, int32 `(…)`."""
        return arms.largest(self._of_existing(jnp.asarray(self.cells)))

    def _of_existing(self, counts: jax.Array) -> jax.Array:
        return counts if self.mask is None else jnp.where(self.mask, counts, 0)

    @classmethod
    def sample(cls, words: tuple[jax.Array, jax.Array], *parameters: jax.Array) -> jax.Array:
        """Raise an error: rewards are not elementwise in the table; see `reward`."""
        raise NotImplementedError


@register_problem
@dataclasses.dataclass(frozen=True)
class Matrix(_Scores):
    """A matrix of scores, NaN where a cell is missing; every run reads the items in a random order of its own.

    A pull of an arm is its next item, and each item comes once. After its last item an arm is known exactly: a pull
    returns the mean of its scores, and reads no cell.

    Attributes:
        paired: whether all arms have the items in the same order, each without those that it lacks.
        gaps: whether cells are missing.

    Example:
        >>> isinstance(jb.matrix([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]]), jb.problems.Matrix)
        True
    """

    paired: bool = True
    gaps: bool = False
    choices = ("paired", "gaps")

    @property
    def common_random_numbers(self) -> bool:
        """Return whether candidates read the same items in the same order."""
        return self.paired

    @property
    def correlation(self) -> float:
        """Return the correlation of the items that all candidates have, if paired and there are two or more; else 1."""
        table = np.asarray(self.table, np.float64).T
        whole = table[~np.isnan(table).any(axis=1)]
        return estimate_correlation(whole) if self.paired and len(whole) > 1 else 1.0

    def moments(self, p: float, *, central: bool) -> np.ndarray:
        """Return E|X|^p of each candidate's scores, or E|X - mean|^p, float64 `(K,)`."""
        values = np.asarray(self.table, np.float64)
        center = np.nanmean(values, axis=1, keepdims=True) if central else 0.0
        return np.nanmean(np.abs(values - center) ** p, axis=1)

    def realised(self, key: jax.Array) -> "OrderedMatrix":
        """Return the matrix with the items in the order in which the runs with these keys read them."""
        items = self.table.shape[1]
        table = jnp.broadcast_to(self.table, (self.arms, items, *key.shape))
        average = jnp.broadcast_to(self.average, (self.arms, *key.shape))[:, None]
        if self.paired and not self.gaps:
            table = jnp.take_along_axis(table, item_order(key, items)[None], axis=1, mode="clip")
        else:
            words = item_words(key, items)[None] if self.paired else arm_words(key, self.arms, items)
            missing = jnp.isnan(table)
            filled = jnp.where(missing, average, table)
            table = sorted_last(jnp.broadcast_to(words, table.shape), filled, missing)
        fields: dict[str, Any] = {
            name: getattr(self, name) for name in ("cells", "spread", "mask", "costs", "bandits", "name")
        }
        return OrderedMatrix(jnp.concatenate([table, average], axis=1), average=self.average, **fields)

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        return self.realised(key)._drawn(key, arm, pull)

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        return self.realised(key).rewards(key, pull)

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Return the sums of the next scores; shapes as in `Problem.sums`."""
        return self.realised(key).sums(key, batch, count, pulled)


@register_problem
@dataclasses.dataclass(frozen=True)
class OrderedMatrix(_Scores):
    """The matrix of a run: `table` float32 `(K, N + 1, …)` has the scores in the order in which the run reads them.

    The mean of a candidate's scores is in the last column, and in the place of missing ones, which come last.
    """

    scored: ClassVar[tuple[str, ...]] = ()

    def _drawn(self, key: jax.Array, arm: jax.Array, pull: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
        del key
        reward = self._entry(arm, pull)
        nothing = jnp.zeros(reward.shape, jnp.uint32)
        return reward, (nothing, nothing)

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        shape = (self.arms, *key.shape)
        return self._entry(jnp.broadcast_to(arms.index(self.arms, key.shape), shape), jnp.broadcast_to(pull, shape))

    def sums(self, key: jax.Array, batch: jax.Array, count: jax.Array, pulled: jax.Array) -> jax.Array:
        """Return the sums of the next scores: cell by cell, and the means of known candidates at once."""
        del batch
        unread = fast_min(count, fast_max(self.cells - pulled, 0))
        most, arm = jnp.max(unread), jnp.broadcast_to(arms.index(self.arms, key.shape), count.shape)

        def add(carry: tuple[jax.Array, CompensatedSum]) -> tuple[jax.Array, CompensatedSum]:
            i, total = carry
            return i + 1, total.plus(jnp.where(i < unread, self._entry(arm, fast_min(pulled, self.items) + i), 0))

        nothing = CompensatedSum.of(jnp.zeros(count.shape, jnp.float32))
        _, total = lax.while_loop(lambda carry: carry[0] < most, add, (jnp.int32(0), nothing))
        return total.plus(no_fma(self.average * (count - unread).astype(jnp.float32))).high

    @property
    def items(self) -> int:
        """Return how many items there are."""
        return int(self.table.shape[1]) - 1

    def _entry(self, arm: jax.Array, pull: jax.Array) -> jax.Array:
        table, columns = jnp.asarray(self.table), self.items + 1
        flat = table.reshape(self.arms * columns, *table.shape[2:])
        return arms.take(flat, arm * columns + fast_min(pull, self.items))
