"""Reading all candidates of a score matrix equally often: the errors, with which rules are compared."""

from typing import Any, NamedTuple

import numpy as np

__all__ = ["EqualReading", "read_equally"]

#: Cells that are read in all orders together, at most, and orders at least: a few seconds.
_WORK, _FEWEST = 2e8, 20


class EqualReading(NamedTuple):
    """What equal reading achieves.

    Attributes:
        evaluations: int64 `(N,)`, the cells that were read after 1, 2, … items of each candidate.
        errors: float64 `(N,)`, the share of orders in which the candidates with the largest means are then wrong.
        orders: the number of random orders of the items.
    """

    evaluations: np.ndarray
    errors: np.ndarray
    orders: int

    def evaluations_for(self, error: float) -> int:
        """Return the evaluations from which on the share of wrong orders is at most `error`; all cells are enough."""
        above = np.flatnonzero(self.errors > error + 1e-12)
        return int(self.evaluations[above[-1] + 1 if above.size else 0])


def read_equally(problem: Any, orders: int, *, epsilon: float = 0.0, m: int = 1) -> EqualReading:
    """Return the errors of equal reading in random orders of the items, as runs read them.

    Args:
        problem: the matrix, a `jb.problems.Matrix`.
        orders: how many orders; fewer for large matrices.
        epsilon: a mean this far below the m-th best is good enough.
        m: how many candidates are sought.
    """
    table = np.asarray(problem.table, np.float64)
    missing, (count, items) = np.isnan(table), table.shape
    filled, cells = np.where(missing, 0, table), np.sum(~missing, axis=1)
    means = np.asarray(problem.mean, np.float64)
    least = np.sort(means)[-m] - epsilon - 1e-6 * np.abs(means).max()
    read = np.minimum(np.arange(1, items + 1), cells[:, None])  # (K, N)
    orders = max(min(orders, int(_WORK / table.size)), min(orders, _FEWEST))
    random, wrong = np.random.default_rng(0), np.zeros(items)
    for _ in range(orders):
        words = random.random((1 if problem.paired else count, items))
        order = np.argsort(np.where(missing, np.inf, words), axis=1)
        seen = np.cumsum(np.take_along_axis(filled, order, axis=1), axis=1) / read
        shuffled = random.permutation(count)  # ties are fair
        best = shuffled[np.argsort(-seen[shuffled], axis=0, kind="stable")[:m]]
        wrong += np.min(means[best], axis=0) < least
    wrong[-1] = 0  # means of all items, whatever their rounding
    return EqualReading(read.sum(axis=0), wrong / orders, orders)
