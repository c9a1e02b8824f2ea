"""Whether answers are correct, and by how much they miss, from the returned arms."""

import numpy as np

from jaxbandits.algorithms.bases.traits import CRITERIA
from jaxbandits.engine.rows import Regret
from jaxbandits.sweeps.grid import Cell

__all__ = ["criterion", "judged"]

_DRAWN = (
    "every returned ratio of expected reward to expected cost is at least that of the m-th best arm that the run drew "
    "minus epsilon; regrets are to the best that the reservoir has"
)
#: Means are float32: what lies within this of a bound, relative to the largest mean, meets it.
_TOLERANCE = 1e-6


def criterion(cell: Cell) -> str:
    """What counts as correct, in words; where arms are drawn, an answer is judged by those that the run drew."""
    return _DRAWN if cell.problem.drawn else CRITERIA[cell.algorithm.traits.criterion]


def judged(
    cells: list[Cell], local: np.ndarray, recommended: np.ndarray, regret: Regret | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simple regret and aggregate regret, float64 `(N,)`, NaN where nothing is returned, and correctness, bool `(N,)`.

    Args:
        cells: like cells.
        local: int `(N,)`: which of them a row is of.
        recommended: bool `(N, bandits, K)`.
        regret: float32 `(N,)`, of rows whose arms only the device knew; None where they are given.
    """
    epsilon = np.asarray([cell.algorithm.tolerance for cell in cells])
    if regret is not None:
        simple, aggregate, drawn = (np.maximum(one, 0) for one in regret)
        return simple, aggregate, drawn <= epsilon[local] + _TOLERANCE
    kind = cells[0].algorithm.traits.criterion
    arms = recommended.shape[2]
    means = np.full((len(cells), recommended.shape[1], arms), -np.inf)
    for i, cell in enumerate(cells):
        worth = cell.problem.value if kind == "ratio" else cell.problem.mean
        mean = np.asarray(worth, np.float64).reshape(-1, cell.problem.bandits).T
        means[i, :, : mean.shape[1]] = mean
    best = -np.sort(-means, axis=2)
    sums = np.cumsum(np.where(np.isfinite(best), best, 0), axis=2)
    slack = _TOLERANCE * np.maximum(1, np.abs(np.where(np.isfinite(means), means, 0)).max(axis=(1, 2)))
    row_means = means[local]
    returned = np.count_nonzero(recommended, axis=2)
    last = (local[:, None], np.arange(recommended.shape[1]), np.maximum(returned - 1, 0))
    threshold, total = best[last], sums[last]
    worst = np.min(row_means, axis=2, where=recommended, initial=np.inf)
    gained = np.sum(row_means, axis=2, where=recommended)
    nothing = (returned == 0).any(axis=1)
    simple = np.where(nothing, np.nan, np.maximum(threshold - worst, 0).max(axis=1))
    aggregate = np.where(nothing, np.nan, np.maximum((total - gained) / np.maximum(returned, 1), 0).mean(axis=1))
    lost = simple if kind in ("epsilon-m", "ratio") else aggregate
    correct = ~nothing & (np.where(nothing, np.inf, lost) <= (epsilon + slack)[local])
    return simple, aggregate, correct
