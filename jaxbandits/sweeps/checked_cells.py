"""Checks of the cells of a grid, before anything runs, with the parameters that follow from their problems."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.binding import bind, program_key
from jaxbandits.engine.metric import MetricKind
from jaxbandits.engine.problem_checks import check_problem
from jaxbandits.engine.protocol_checks import check_algorithm
from jaxbandits.errors import UsageError, about
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.entries import Entries, names_at
from jaxbandits.sweeps.grid import Cell, Grid, hash_cells

__all__ = ["check_cells", "check_kinds", "check_same"]


def check_cells(grid: Grid, algorithms: Entries, problems: Entries) -> np.ndarray:
    """Check the cells of a grid, and replace their algorithms and problems by those that are run.

    Returns:
        uint32 `(2, C)`, the hash of each cell as the user gave it.

    Raises:
        UsageError: an algorithm or a problem that cannot be run, or two that do not fit.
    """
    distinct = grid.distinct_cells
    for cell in distinct:
        check_algorithm(cell.algorithm)
        check_problem(cell.problem)
    numbers = {place: number for number, place in enumerate(sorted(set(grid.first)))}
    identity = hash_cells(distinct)[:, [numbers[place] for place in grid.first]]
    for i, cell in enumerate(grid.cells):
        if (first := grid.first[i]) < i:
            grid.cells[i] = grid.cells[first]._replace(position=cell.position)
            continue
        names = names_at(algorithms, problems, cell.position)
        try:
            with about(*algorithms.places[names[0]]):
                bound, explored = bind(cell.algorithm, cell.problem)
        except UsageError as error:
            pair = " on ".join(name for name in names if name)
            refused = UsageError(f"{pair}: {error}") if pair else error
            refused.place = error.place
            raise refused from None
        grid.cells[i] = cell._replace(algorithm=bound, problem=explored)
    return identity


def check_same(one: Cell, other: Cell) -> None:
    """Check that two cells with one hash are the same, so that their runs are.

    Raises:
        UsageError: they are not: two classes, or functions among their values, have one name.
    """
    kinds = [(program_key(cell.algorithm), _kind_of(cell.problem.kind())) for cell in (one, other)]
    if kinds[0] != kinds[1]:
        owner = one.algorithm if kinds[0][0] != kinds[1][0] else one.problem
        raise UsageError(
            f"two cells of the grid have equal values and different code, of {type(owner).__name__}: a store cannot "
            "distinguish them, so give their classes and functions different names"
        )


def _kind_of(problem: Problem) -> Any:
    return jax.tree.structure(problem), classes(problem)


def check_kinds(known: Mapping[str, MetricKind], found: Mapping[str, MetricKind], cell: Cell) -> None:
    """Check that a user's metrics have values of one type for all algorithms and problems.

    Raises:
        UsageError: one that has not.
    """
    for name, kind in found.items():
        if known.get(name, kind) != kind:
            raise UsageError(
                f"the metric {name!r} has values of another type for {type(cell.algorithm).__name__} on "
                f"{cell.problem.name}: {_spoken(kind)} there and {_spoken(known[name])} for others"
            )


def _spoken(kind: MetricKind) -> str:
    return f"{np.dtype(kind.dtype).name}{' of each arm' if kind.per_arm else ''}"
