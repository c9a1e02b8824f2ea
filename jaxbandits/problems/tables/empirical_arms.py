"""Arms that resample a table: each reward is an entry of a row, drawn at random with replacement."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits import data
from jaxbandits.arrays import arms
from jaxbandits.arrays.on_host import as_float32
from jaxbandits.errors import UsageError
from jaxbandits.io.csv_files import Table
from jaxbandits.io.serialize import File
from jaxbandits.problems.base import Problem, register_problem
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.correlation import estimate_correlation
from jaxbandits.problems.tables.column_checks import check_columns, check_names, refuse_indices, table_numbers
from jaxbandits.random.streams import SHARED_ROWS, reward_block
from jaxbandits.random.threefry import block

__all__ = ["Empirical", "empirical", "empirical_from_csv", "empirical_from_data"]


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
    parameters = ("table",)
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
        return self._entry(arm, self._row(words[0])), words

    def rewards(self, key: jax.Array, pull: ArrayLike) -> jax.Array:
        """Return the rewards of one pull of every arm; shapes as in `Problem.rewards`."""
        arm = jnp.broadcast_to(arms.index(self.arms, key.shape), (self.arms, *key.shape))
        return self._entry(arm, self._row(self._words(key, arm, pull)[0]))

    def _words(self, key: jax.Array, arm: jax.Array, pull: ArrayLike) -> tuple[jax.Array, jax.Array]:
        """Return two random words of a pull; if `joint`, all arms share them at the same pull."""
        return block(key, jnp.uint32(SHARED_ROWS), pull) if self.joint else reward_block(key, arm, pull)

    def _row(self, word: jax.Array) -> jax.Array:
        # The high word of word * N, for N below 2^16, in 32 bits: every row has probability 1/N within 2^-32.
        rows = jnp.uint32(self.table.shape[1])
        low = ((word & jnp.uint32(0xFFFF)) * rows) >> jnp.uint32(16)
        return (((word >> jnp.uint32(16)) * rows + low) >> jnp.uint32(16)).astype(jnp.int32)

    def _entry(self, arm: jax.Array, row: jax.Array) -> jax.Array:
        table = jnp.asarray(self.table)
        flat = table.reshape(table.shape[0] * table.shape[1], *table.shape[2:])
        return arms.take(flat, arm * table.shape[1] + row)


@varying
def empirical(samples: ArrayLike, *, joint: bool = False, name: str = "") -> Empirical:
    """Return arms that resample the columns of a table.

    Args:
        samples: numbers, `(N, K)`: a row per observation, a column per arm; 2 <= N < 2^16.
        joint: whether the n-th pulls of all arms come from the same row; else rows are independent.
        name: what the problem is called in results.

    Raises:
        UsageError: not a table of finite numbers with two columns or more. Each column must vary, and float32 must
            hold it. In a pandas table no column may be an index or dates by its name.

    Example:
        >>> print(jb.empirical(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])).mean)
        [0.33333334 0.8333334 ]
    """
    table = table_numbers("samples", samples)
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(f"samples must have a column per arm, and two or more, got shape {table.shape}")
    if not hasattr(samples, "columns"):
        return _checked(table, [f"column {j + 1}" for j in range(table.shape[1])], joint, name)
    names = [str(column) for column in samples.columns]
    made = _checked(table, [f"column {column!r}" for column in names], joint, name)
    refuse_indices("samples", names, table, "leave it out, or give samples.to_numpy() if it is one")
    return made


@varying(path=File.read)
def empirical_from_csv(path: str | Path, *, joint: bool = False) -> Empirical:
    """Return arms that resample the columns of a CSV file; a first column of dates or labels is left out.

    Args:
        path: the file, in UTF-8, separated by commas or tabs, with column names that are not numbers; it may be
            compressed by gzip. True is 1, and False 0.
        joint: as in `empirical`.

    Raises:
        UsageError: no such file, no header, or a cell that is not a number (its line and column are given). There must
            be two columns or more, with distinct names. Each must vary, and none may hold an index or dates.

    Example:
        >>> import pandas as pd
        >>> pd.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0.5]}).to_csv("scores.csv", index=False)
        >>> print(jb.empirical_from_csv("scores.csv").mean)
        [0.33333334 0.8333334 ]
    """
    return _from_file(path, joint)


@varying(table=data.table)
def empirical_from_data(table: str, *, joint: bool = False) -> Empirical:
    """Return arms that resample a bundled table, `market-returns` (see `jaxbandits/data/ATTRIBUTION.md`).

    Args:
        table: the part after `data:` on the command line.
        joint: as in `empirical`.

    Raises:
        UsageError: an unknown name.

    Example:
        >>> jb.empirical_from_data("market-returns").arms
        3
    """
    return _from_file(File.of(f"data:{table}", data.table(table).content), joint)


def _from_file(file: str | Path, joint: bool) -> Empirical:
    table = Table.read(file, least=2)
    source, places = table.source, range(1 if table.has_labels else 0, len(table.header))
    names = [table.header[place] for place in places]
    remedy = "leave it out if it is an index, and name it if not"
    check_names(source, names, places, "arm", remedy, "a column is an arm")
    values = np.asarray([[table.score(line, row, place) for place in places] for line, row in table.rows])
    made = _checked(values, [f"column {name!r}" for name in names], joint, source)
    refuse_indices(source, names, values, "leave it out of the file, or give the numbers to jb.empirical if it is one")
    return made


def _checked(table: np.ndarray, columns: list[str], joint: bool, name: str) -> Empirical:
    check_columns(f"{name}: " if name else "samples: ", columns, table)
    return Empirical(as_float32(table.T), joint, name=name or f"empirical ({table.shape[1]} arms)")
