"""Cells that share runs: those that differ only in a parameter of the stopping rule.

A sampling rule may ignore the allowed probability of error, or the requested accuracy. It then makes the same pulls
for every value, and a run stops the earlier the larger the value. So a run that has ended in the cell with the largest
value continues, in the same lane, as the run of the next cell. It has the bits of a separate run there. Where several
such fields vary, cells are chained by the one that leaves the fewest chains.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxbandits.algorithms.parameters import values_of
from jaxbandits.engine.binding import with_values
from jaxbandits.engine.job_queue import Ranges
from jaxbandits.engine.program import Runs
from jaxbandits.sweeps.grid import Cell, hash_cells

__all__ = ["Chains", "next_cells", "share_trajectories"]


class Chains(NamedTuple):
    """Cells whose runs continue from one to the next.

    Attributes:
        field: the field in which they differ; None where no cells share runs.
        places: the cells of each chain in order; a cell without a partner is a chain of one.
    """

    field: str | None
    places: list[list[int]]


def share_trajectories(cells: Sequence[Cell], runs: Runs, points: int) -> Chains:
    """Return the chains of a grid.

    Args:
        cells: cells of a grid, whose algorithms are of one class.
        runs: which runs are made of each.
        points: number of points of the requested curves; 0 without.
    """
    algorithm = cells[0].algorithm
    best = Chains(None, [[place] for place in range(len(cells))])
    if runs.independent or points or any(cell.flight is not None for cell in cells):
        return best
    for field in algorithm.traits.stops_by:
        found = _by(field, cells)
        if len(found) < len(best.places):
            best = Chains(field, found)
    return best


def _by(field: str, cells: Sequence[Cell]) -> list[list[int]]:
    """Return chains of cells that differ in one field only, from the largest value down."""
    values = [float(values_of(cell.algorithm)[field]) for cell in cells]
    but_for = hash_cells([cell._replace(algorithm=with_values(cell.algorithm, {field: values[0]})) for cell in cells])
    found: dict[bytes, list[int]] = {}
    for place, what in enumerate(but_for.T):
        found.setdefault(what.tobytes(), []).append(place)
    return [sorted(chain, key=lambda place: -values[place]) for chain in found.values()]


def next_cells(
    chains: Sequence[Sequence[int]], places: Sequence[int] | np.ndarray, pending: Sequence[Ranges]
) -> np.ndarray | None:
    """Return the cell in which a run of each continues, int32 `(C,)`, -1 for none; None where no run continues.

    Args:
        chains: the chains of the whole grid.
        places: the indices of C compatible cells in it.
        pending: seeds of each of these that are to be run; cells with different ones do not share runs.
    """
    own = {int(place): number for number, place in enumerate(places)}
    found = np.full(len(places), -1, np.int32)
    for chain in chains:
        by_seeds: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for number in (own[place] for place in chain if place in own):
            by_seeds.setdefault(tuple(pending[number]), []).append(number)
        for numbers in by_seeds.values():
            found[numbers[:-1]] = numbers[1:]
    return found if np.any(found >= 0) else None
