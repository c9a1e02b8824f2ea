"""Checks of the cells of a grid, before anything runs, with the parameters that follow from their problems."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.binding import bind, program_key
from jaxbandits.engine.flight_checks import check_in_flight
from jaxbandits.engine.metric import MetricKind
from jaxbandits.engine.problem_checks import check_problem
from jaxbandits.engine.protocol_checks import check_algorithm
from jaxbandits.errors import UsageError, about
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.entries import Entries, names_at
from jaxbandits.sweeps.grid import NONE, Cell, Grid, hash_cells

__all__ = ["CheckedCells", "check_cells", "check_kinds", "check_same", "not_run_text"]


class CheckedCells(NamedTuple):
    """The cells of a grid after their checks."""

    grid: Grid  # with the algorithms and problems that are run
    identity: np.ndarray  # uint32 (2, C): a hash of each cell as the user gave it
    not_run: dict[str, str]  # why, by the names of an algorithm and a problem that do not fit


def check_cells(grid: Grid, algorithms: Entries, problems: Entries) -> CheckedCells:
    """Check the cells of a grid, and replace their algorithms and problems by those that are run.

    An algorithm of a list that fits no value of a problem of a list is left out there.

    Raises:
        UsageError: an algorithm or a problem that cannot be run; or two that do not fit, where nothing would be left of
            one of them, or where they fit at some values of their axes.
    """
    distinct = grid.distinct_cells
    for cell in distinct:
        check_algorithm(cell.algorithm)
        check_problem(cell.problem)
    numbers = {place: number for number, place in enumerate(grid.distinct)}
    identity = hash_cells(distinct)[:, [numbers[place] for place in grid.first.tolist()]]
    fitting: set[tuple[str, str]] = set()
    refused: dict[tuple[str, str], UsageError] = {}
    cells: list[Cell] = []
    for cell, first in zip(grid.cells, grid.first.tolist(), strict=True):
        if first < len(cells):
            cells.append(cells[first]._replace(position=cell.position))
            continue
        pair = names_at(algorithms, problems, cell.position)
        try:
            with about(*algorithms.places[pair[0]]):
                if cell.flight is not None:
                    check_in_flight(cell.algorithm, cell.problem, cell.flight)
                bound, explored = bind(cell.algorithm, cell.problem)
            cells.append(cell._replace(algorithm=bound, problem=explored))
            fitting.add(pair)
        except UsageError as error:
            cells.append(cell)
            refused.setdefault(pair, error)
    for pair, fault in refused.items():
        if pair in fitting or any(all(pair[i] != other[i] for other in fitting) for i in (0, 1)):
            told = UsageError(f"{_spoken_pair(pair)}: {fault}") if any(pair) else fault
            told.place = fault.place
            raise told
    first = grid.first.copy()
    if refused:
        first[[names_at(algorithms, problems, cell.position) in refused for cell in cells]] = NONE
    not_run = {_spoken_pair(pair): str(fault) for pair, fault in refused.items()}
    return CheckedCells(Grid(grid.dimensions, cells, first), identity, not_run)


def not_run_text(not_run: Mapping[str, str]) -> str:
    """Return one line on pairs of an algorithm and a problem that do not fit; those of one reason together."""
    pairs: dict[str, list[str]] = {}
    for pair, why in not_run.items():
        pairs.setdefault(why, []).append(pair)
    return "left out, as they do not fit: " + "; ".join(f"{', '.join(of)} ({why})" for why, of in pairs.items())


def _spoken_pair(pair: tuple[str, str]) -> str:
    return " on ".join(name for name in pair if name)


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
