"""From cells to programs: which cells of a grid share one, and their batched algorithms and problems."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxbandits.algorithms.traits import judge_of
from jaxbandits.arrays.pytrees import classes
from jaxbandits.engine.binding import likely_pulls, may_be_padded, program_key
from jaxbandits.engine.flights import stack_flights
from jaxbandits.engine.metric import Metrics
from jaxbandits.engine.program import Program, Runs
from jaxbandits.engine.stacked_algorithms import stack_algorithms
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.grid import Cell

__all__ = ["batched_problem", "group_by_program", "program"]


#: Seconds to compile another program, and seconds of an arm in a pull of a run, whether it exists or not. The last is
#: the assumed number of pulls where it is unknown (measured on two cores; none changes a result).
_COMPILING, _PULL_OF_AN_ARM, _USUAL_PULLS = 4.0, 1e-9, 10_000
#: Which programs of the package's own classes may be padded.
_of_own_classes: dict[Any, bool] = {}


def group_by_program(
    cells: list[Cell], runs: Runs, *, padded: bool = True, known: dict[Any, bool] | None = None
) -> list[list[Cell]]:
    """Return groups of cells that share a program: equal classes, choices and table lengths, arms in a power of two.

    Fewer arms are padded to more where that takes less time than compiling another program.

    Args:
        cells: cells of a grid.
        runs: which runs are made of each.
        padded: whether nonexistent arms may be added.
        known: which programs may be padded; what is found is added to it. That of the package's own classes is kept
            for later calls, too: a user's code may have changed by then.
    """
    known = {} if known is None else known
    kinds: dict[Any, list[Cell]] = {}
    for cell in cells:
        problem = cell.problem.kind()
        lengths = tuple(np.shape(leaf)[1:] for leaf in jax.tree.leaves(problem))  # rows of a table of rewards
        law = None if cell.flight is None else cell.flight.law
        static = (program_key(cell.algorithm), jax.tree.structure(problem), classes(problem), lengths, law)
        kinds.setdefault(static, []).append(cell)
    found: list[list[Cell]] = []
    for static, alike in kinds.items():
        sizes = _by_size(alike, lambda cell: _power_of_two(_arms(cell)))
        for group in _merged(sizes, runs) if padded else [alike]:
            found += _paddable(group, static, known) if padded else _by_size(group, _arms).values()
    order = {cell.position: place for place, cell in enumerate(cells)}
    return sorted(found, key=lambda group: order[group[0].position])


def _arms(cell: Cell) -> int:
    """Return the number of arms of each bandit."""
    return cell.problem.arms // cell.problem.bandits


def _by_size(cells: list[Cell], size: Callable[[Cell], int]) -> dict[int, list[Cell]]:
    found: dict[int, list[Cell]] = {}
    for cell in cells:
        found.setdefault(size(cell), []).append(cell)
    return found


def _paddable(group: list[Cell], static: Any, known: dict[Any, bool]) -> list[list[Cell]]:
    """Return a group of compatible cells, or smaller ones where it cannot be padded to its largest number of arms."""
    exact = _by_size(group, _arms)
    if len(exact) == 1:  # no arms are added then
        return [group]
    wide, cell = _power_of_two(max(exact)), group[0]
    own = _all_own(cell)
    # A user's code may be special for one number of arms, as by `if len(arms) == 12`.
    numbers = () if own else tuple(sorted(exact))
    key = static, wide, numbers
    if key not in known:  # tracing decides, once for all cells of a program
        kept = _of_own_classes if own else known
        if key not in kept:
            kept[key] = may_be_padded(cell.algorithm, cell.problem, wide, numbers)
        known[key] = kept[key]
    if known[key]:
        return [group]
    smaller = _by_size(group, lambda cell: _power_of_two(_arms(cell)))
    if len(smaller) == 1:
        return list(exact.values())
    return [part for cells in smaller.values() for part in _paddable(cells, static, known)]


def _all_own(cell: Cell) -> bool:
    """Return whether all classes of a cell are the package's own, or Python's."""
    modules = {kind.__module__.partition(".")[0] for kind in classes((cell.algorithm, cell.problem))}
    return modules <= {"jaxbandits", "builtins"}


def _merged(sizes: dict[int, list[Cell]], runs: Runs) -> list[list[Cell]]:
    """Return groups of compatible cells by numbers of arms, merged where padding costs less than compiling."""
    found: list[list[Cell]] = []
    width = 0
    for size in sorted(sizes, reverse=True):
        pulls = sum(likely_pulls(cell.algorithm, _USUAL_PULLS) for cell in sizes[size]) * runs.seeds
        arms = (width - size) * sizes[size][0].problem.bandits  # padded arms, evaluated for nothing
        if found and min(pulls, runs.max_pulls * runs.seeds * len(sizes[size])) * arms * _PULL_OF_AN_ARM <= _COMPILING:
            found[-1] = [*sizes[size], *found[-1]]
        else:
            width = size
            found.append(sizes[size])
    return found


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


def program(
    cells: list[Cell],
    identity: np.ndarray,
    checkpoints: np.ndarray,
    runs: Runs,
    metrics: Metrics = (),
    successor: np.ndarray | None = None,
    *,
    in_powers_of_two: bool = False,
) -> Program:
    """Return compatible cells as a program of the engine.

    Args:
        cells: C cells from `group_by_program`.
        identity: uint32 `(2, C)`: a hash of each cell.
        checkpoints: `(Q,)`, shared by all.
        runs: which runs are made of each.
        metrics: a user's own.
        successor: int32 `(C,)`, the cell with which a run of each goes on, -1 for none; None where none goes on.
        in_powers_of_two: whether arms are padded to a power of two even where all cells have as many; only where there
            is no metric of a user's, as in `group_by_program`.

    Raises:
        UsageError: whole numbers beyond the range of int32.
    """
    widest = max(cells, key=lambda cell: cell.problem.arms).problem
    wide = _power_of_two(widest.arms // widest.bandits)
    numbers = tuple(sorted({_arms(cell) for cell in cells}))
    padded = in_powers_of_two and not metrics and may_be_padded(cells[0].algorithm, widest, wide, numbers)
    problem = batched_problem(cells, in_powers_of_two=padded)
    flights = [cell.flight for cell in cells if cell.flight is not None]
    flight = stack_flights(flights) if flights else None
    return Program(
        algorithm=stack_algorithms([cell.algorithm for cell in cells], problem, flight),
        problem=problem,
        identity=identity,
        checkpoints=np.repeat(checkpoints[:, None], len(cells), axis=1),
        runs=runs,
        metrics=metrics,
        judge=judge_of(cells[0].algorithm),
        successor=successor,
    )


def batched_problem(cells: list[Cell], *, in_powers_of_two: bool = False) -> Problem:
    """Return the cells' problems as one, leaves `(K, C)`.

    It is padded where their numbers of arms differ, or if `in_powers_of_two`.
    """
    counts = {cell.problem.arms // cell.problem.bandits for cell in cells}
    # A power of two, so that other numbers of arms in the same range reuse the program.
    width = _power_of_two(max(counts))
    if len(counts) > 1 or (in_powers_of_two and counts != {width}):
        problems = [cell.problem.padded(width) for cell in cells]
    else:
        problems = [cell.problem for cell in cells]
    unnamed = [dataclasses.replace(problem, name="") for problem in problems]
    stacked: Problem = jax.tree.map(lambda *leaves: np.stack([np.asarray(x) for x in leaves], axis=-1), *unnamed)
    return stacked
