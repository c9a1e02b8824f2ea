"""The constructor of matrices of scores: from an array, a data frame, or a CSV file in wide or long form."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.arrays.on_host import as_float32
from jaxbandits.checks import NOT_NEGATIVE, each, numbers, shown, whole
from jaxbandits.errors import UsageError
from jaxbandits.io.serialize import File
from jaxbandits.problems.constructors import varying
from jaxbandits.problems.tables.column_checks import check_scores, refuse_indices, table_numbers
from jaxbandits.problems.tables.finite_arms import Matrix
from jaxbandits.problems.tables.score_files import ScoreTable, read_scores

__all__ = ["matrix", "synthetic_scores"]

#: Largest number of rows or columns of `synthetic_scores`.
MAX_ITEMS = 2**20


def _read(scores: Any) -> Any:
    """Return a file that is given by its path, read; other scores unchanged."""
    return File.read(scores) if isinstance(scores, str | Path) else scores


@varying(scores=_read)
def matrix(
    scores: ArrayLike | str | Path, *, paired: bool = True, item: str = "item", model: str = "model", score: str = "",
    weights: ArrayLike | str | None = None, name: str = "",
) -> Matrix:  # fmt: skip
    """Return candidates that are judged on a finite set of items: a run reads each cell of the matrix at most once.

    A pull of a candidate reads its score of the next item, in a random order. A candidate whose items are all read is
    known exactly: pulls return its mean, and read no cell. Results have `evaluations`, the cells that were read, beside
    `pulls`. A run ends at the latest when it has read all cells. It is truncated after 10 times as many pulls of known
    candidates (10 000 at least). Rules that request batches end by themselves, and such pulls take them no time.

    Args:
        scores: numbers, `(N, K)`: a row per item, a column per candidate, NaN where a score is missing. Or the path of
            a CSV file in UTF-8, separated by commas or tabs. In wide form it has a column per candidate, and may have
            a first column with the names of the items. In long form it has a row per score, with the columns `item`
            and `model`. Missing scores are empty cells, NA, NaN, null or None; True is 1 and False 0.
        paired: whether all candidates have the items in the same order, each without those that it lacks; else each
            has an order of its own, which takes longer to draw.
        item: of a file in long form, the column of the items; of one in wide form, a column of their names.
        model: the column of the candidates, of a file in long form.
        score: the column of the scores, of a file in long form with several.
        weights: of the items, `(N,)`, not negative, or the column of a file that has them; None for equal ones. A
            candidate's value is then the weighted mean of its scores. A reward is a score times N w / (sum of w), over
            the items that the candidate has: its mean is that value. Items without weight are left out.
        name: what the problem is called in results.

    Raises:
        UsageError: not a matrix of two candidates or more; a cell that is not a number (its row or line, and its
            column, are given); a second score of the same item and candidate; a candidate without scores, or scores
            that float32 does not hold. A best candidate whose lead float32 does not hold.

    Example:
        >>> ds = jb.simulate(jb.Uniform(budget=6), jb.matrix([[0, 1], [1, 1], [0, 0.5]]), seeds=5)
        >>> int(ds.evaluations.max()), bool(ds.correct.all())
        (6, True)
    """
    if isinstance(scores, File):
        if not isinstance(weights, str | None):
            raise UsageError(f"weights must name a column of the file {scores}, got {shown(weights)}")
        found = read_scores(scores, item=item, model=model, score=score, weights=weights or "")
        return _made(found, paired, name or str(scores), f"{scores}: ")
    for option, given, usual in (("item", item, "item"), ("model", model, "model"), ("score", score, "")):
        if given != usual:
            raise UsageError(f"{option} names a column of a file, and scores are given as numbers")
    assert not isinstance(scores, str | Path)
    table = table_numbers("scores", _with_nan(scores))
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise UsageError(f"scores must have a row per item and a column per candidate, two or more, got {table.shape}")
    columns = [f"column {j + 1}" for j in range(table.shape[1])]
    if hasattr(scores, "columns"):
        names = [str(column) for column in scores.columns]
        columns = [f"column {column!r}" for column in names]
        refuse_indices("scores", names, table.T, "leave it out, or give scores.to_numpy() if it is one")
    if isinstance(weights, str):
        raise UsageError("weights names a column of a file, and scores are given as numbers: give an array (N,)")
    return _made(ScoreTable(columns, table, _weights(weights, len(table))), paired, name, "scores: ")


def _with_nan(scores: Any) -> Any:
    """Return scores with NaN where a nullable column of pandas has a missing value; arrays of JAX as those of NumPy."""
    if hasattr(scores, "columns") and any(hasattr(dtype, "na_value") for dtype in scores.dtypes):
        return scores.astype(object).where(scores.notna(), np.nan)
    return np.asarray(scores) if isinstance(scores, jax.Array) else scores


def _weights(given: ArrayLike | None, items: int) -> np.ndarray | None:
    """Return weights that are given as numbers, float64 `(N,)`."""
    if given is None:
        return None
    weights = numbers("weights", np.asarray(given) if isinstance(given, jax.Array) else given)
    if weights.shape != (items,):
        raise UsageError(f"weights must have one entry for each of {items} items, got shape {weights.shape}")
    each("weights", weights, NOT_NEGATIVE, "item")
    return weights


def _weighted(where: str, found: ScoreTable) -> np.ndarray:
    """Return scores whose plain means are the weighted means, float64 `(N, K)`; NaN where an item has no weight."""
    if found.weights is None:
        return found.scores
    if not found.weights.any():
        raise UsageError(f"{where}all weights are 0")
    shares = np.where(np.isnan(found.scores), 0, found.weights[:, None] / found.weights.max())
    number, total = np.sum(shares > 0, axis=0), np.sum(shares, axis=0)
    return np.where(shares > 0, found.scores * shares * (number / np.where(total > 0, total, 1)), np.nan)


def _made(found: ScoreTable, paired: bool, name: str, where: str) -> Matrix:
    table = _weighted(where, found)
    table = table[~np.isnan(table).all(axis=1)] if found.weights is not None else table
    check_scores(where, found.columns, table)
    single = table.astype(np.float32).astype(np.float64)
    missing = np.isnan(table)
    count, items = table.shape[1], table.shape[0]
    cells = jax.device_put(np.sum(~missing, axis=0).astype(np.int32))
    return Matrix(
        as_float32(table.T), cells, as_float32(np.nanmean(single, axis=0)), as_float32(np.nanvar(single, axis=0)),
        paired=bool(paired), gaps=bool(missing.any()), name=name or f"matrix ({items} items, {count} candidates)",
    )  # fmt: skip


def synthetic_scores(items: int = 500, candidates: int = 20, seed: int = 0) -> np.ndarray:
    """Return 0/1 scores of candidates on items of different difficulty, float64 `(N, K)`.

    A candidate solves an item with the probability of a Rasch (1960) model, 1 / (1 + exp(difficulty - skill)). Most
    items are easy or hard for all, so that candidates agree on them. Skills fall off as those of models on a leader
    board: a few are nearly as good as the best, which is not the first column.

    Args:
        items: number of items N, at least 2.
        candidates: number of candidates K, at least 2.
        seed: another seed, another matrix.

    Raises:
        UsageError: a number outside its range.

    Example:
        >>> jb.problems.synthetic_scores(items=50, candidates=4).shape
        (50, 4)
    """
    items, candidates = whole("items", items, 2, MAX_ITEMS), whole("candidates", candidates, 2, MAX_ITEMS)
    rng = np.random.default_rng(whole("seed", seed, 0))
    difficulty = rng.normal(0.0, 2.0, size=(items, 1))
    skill = rng.permutation(0.8 - 1.2 * (np.arange(candidates) / candidates) ** 0.7)
    return (rng.random((items, candidates)) < 1 / (1 + np.exp(difficulty - skill))).astype(np.float64)
