"""Cells to programs: which cells of a grid share one, and their algorithms and problems batched for it."""

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.admitted import batched
from jaxbandits.engine.metric import Measures
from jaxbandits.engine.program import Program, Runs
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.grid import Cell

__all__ = ["alike", "program"]


def alike(cells: list[Cell], *, padded: bool = True) -> list[list[Cell]]:
    """Cells that share one program: the same classes and static choices, arms within one power of two.

    Args:
        cells: of a grid.
        padded: whether arms may be added that do not exist.
    """
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        arms = cell.problem.arms // cell.problem.bandits
        problem = cell.problem.kind()
        static = (cell.algorithm.kind, jax.tree.structure(problem), classes(problem))
        # A user's own algorithm need not know of arms that are there only to fill up a table: its are never padded.
        size = (arms - 1).bit_length() if padded and cell.algorithm.registered else arms
        groups.setdefault((static, size), []).append(cell)
    return list(groups.values())


def program(
    cells: list[Cell], identity: np.ndarray, checkpoints: np.ndarray, runs: Runs, metrics: Measures = ()
) -> Program:
    """Like cells as the engine wants them.

    Args:
        cells: C cells from `alike`.
        identity: uint32 `(2, C)`: a hash of what each cell is.
        checkpoints: `(Q,)`, shared by all.
        runs: which runs are made of each.
        metrics: a user's own.

    Raises:
        UsageError: whole numbers beyond the range of int32.
    """
    return Program(
        algorithm=batched([cell.algorithm for cell in cells]),
        problem=_batched_problem(cells, max(cell.problem.arms // cell.problem.bandits for cell in cells)),
        identity=identity,
        checkpoints=np.repeat(checkpoints[:, None], len(cells), axis=1),
        runs=runs,
        metrics=metrics,
    )


def _batched_problem(cells: list[Cell], arms: int) -> Problem:
    """The cells' problems as one, with leaves of shape `(K, C)`; padded only where their numbers of arms differ."""
    counts = {cell.problem.arms // cell.problem.bandits for cell in cells}
    if len(counts) > 1:
        # A power of two, so that other numbers of arms in the same range reuse the program.
        width = 1 << (arms - 1).bit_length()
        problems = [cell.problem.padded(width) for cell in cells]
    else:
        problems = [cell.problem for cell in cells]
    unnamed = [dataclasses.replace(problem, name="") for problem in problems]
    stacked: Problem = jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves], axis=-1), *unnamed)
    return stacked
