"""Cells to programs: which cells of a grid share one, and their algorithms and problems batched for it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxbandits.algorithms.bases.parameters import is_parameter
from jaxbandits.algorithms.bases.protocol import BuiltIn, RoundBased, Sequential
from jaxbandits.arrays.known import Known
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.border import in_registry
from jaxbandits.engine.program import Program, Runs
from jaxbandits.engine.vectorise import Vectorised
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.grid import Cell

__all__ = ["alike", "program", "stacked_algorithm"]


def alike(cells: list[Cell]) -> list[list[Cell]]:
    """Cells that share one program: the same classes and static choices, arms within one power of two."""
    groups: dict[Any, list[Cell]] = {}
    for cell in cells:
        arms = cell.problem.arms // cell.problem.bandits
        problem = cell.problem.kind()
        static = (jax.tree.structure(cell.algorithm), jax.tree.structure(problem), classes((cell.algorithm, problem)))
        # A user's own algorithm need not know of arms that are there only to fill up a table: its are never padded.
        size = (arms - 1).bit_length() if in_registry(cell.algorithm) else arms
        groups.setdefault((static, size), []).append(cell)
    return list(groups.values())


def program(cells: list[Cell], identity: np.ndarray, checkpoints: np.ndarray, runs: Runs) -> Program:
    """Like cells as the engine wants them.

    Args:
        cells: C cells from `alike`.
        identity: uint32 `(2, C)`: a hash of what each cell is.
        checkpoints: `(Q,)`, shared by all.
        runs: which runs are made of each.

    Raises:
        UsageError: whole numbers beyond the range of int32.
    """
    return Program(
        algorithm=_batched_algorithm(cells),
        problem=_batched_problem(cells, max(cell.problem.arms // cell.problem.bandits for cell in cells)),
        identity=identity,
        checkpoints=np.repeat(checkpoints[:, None], len(cells), axis=1),
        runs=runs,
    )


def _batched_algorithm(cells: list[Cell]) -> Any:
    """The cells' algorithms as one, with leaves of shape `(C,)`; what may be written for one run is wrapped."""
    stacked = stacked_algorithm(cells)
    # A class with these two halves may be written for one run, too, as `AskTell` needs no more.
    several = isinstance(stacked, BuiltIn) and not isinstance(stacked, Sequential | RoundBased)
    return stacked if several or in_registry(stacked) else Vectorised(stacked)


def stacked_algorithm(cells: list[Cell]) -> Any:
    """The cells' algorithms as one, with leaves of shape `(…, C)`."""
    algorithms = [cell.algorithm for cell in cells]
    first = algorithms[0]
    name = type(first).__name__
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(first) if isinstance(first, BuiltIn) else ():
        values = [getattr(algorithm, field.name) for algorithm in algorithms]
        if not is_parameter(field) or field.metadata["static"] or values[0] is None:
            continue
        common = field.metadata["common"]
        if common is not None and all(value == common for value in values):
            changes[field.name] = Known(common)
        elif field.metadata["rule"] == "count":
            if max(values) > MAX_COUNT:
                raise UsageError(f"{name}: {field.name} must stay below 2^31, got {max(values):g}")
            changes[field.name] = np.asarray(values, np.int32)
        else:
            changes[field.name] = np.asarray(values, np.float32)
    stacked = jax.tree.map(lambda *leaves: _stack(name, leaves), *algorithms)
    return dataclasses.replace(stacked, **changes) if changes else stacked


def _stack(owner: str, leaves: Sequence[Any]) -> np.ndarray:
    stacked = np.stack([np.asarray(leaf) for leaf in leaves], axis=-1)
    if np.issubdtype(stacked.dtype, np.floating):
        return stacked.astype(np.float32)
    if np.issubdtype(stacked.dtype, np.integer):
        if stacked.size and np.abs(stacked).max() > MAX_COUNT:
            raise UsageError(f"{owner}: whole numbers must stay below 2^31, got {np.abs(stacked).max()}")
        return stacked.astype(np.int32)
    return stacked


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
