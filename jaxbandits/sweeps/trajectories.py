"""Cells that one run serves: where only the stopping rule knows what they differ by.

A sampling rule that takes no notice of the allowed probability of error, or of the accuracy asked for, makes the same
pulls whatever it is; a run stops the earlier the more may go wrong. So a run that has ended in the cell with the
largest value goes on, in the same lane, as the run of the next one, and has there the bits of a run of its own. Where
several such fields vary, cells are chained by the one that leaves fewest chains.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxbandits.engine.job_queue import Ranges
from jaxbandits.engine.program import Runs
from jaxbandits.sweeps.grid import Cell, identities

__all__ = ["Chains", "chains", "successors"]


class Chains(NamedTuple):
    """Cells whose runs go on from one to the next.

    Attributes:
        field: by which they differ; None where every cell stands alone.
        places: of the cells of each chain in order; a cell that stands alone is a chain of one.
    """

    field: str | None
    places: list[list[int]]


def chains(cells: Sequence[Cell], runs: Runs, points: int) -> Chains:
    """The chains of a grid.

    Args:
        cells: of a grid, whose algorithms are of one class.
        runs: which runs are made of each.
        points: of the curves that are asked for; 0 without.
    """
    algorithm = cells[0].algorithm
    best = Chains(None, [[place] for place in range(len(cells))])
    if runs.independent or points:
        return best
    for field in algorithm.traits.stops_by:
        found = _by(field, cells)
        if len(found) < len(best.places):
            best = Chains(field, found)
    return best


def _by(field: str, cells: Sequence[Cell]) -> list[list[int]]:
    """Chains of cells that differ in a field only, from the largest value down."""
    values = [float(cell.algorithm.values[field]) for cell in cells]
    but_for = identities([cell._replace(algorithm=cell.algorithm.at({field: values[0]})) for cell in cells])
    found: dict[bytes, list[int]] = {}
    for place, what in enumerate(but_for.T):
        found.setdefault(what.tobytes(), []).append(place)
    return [sorted(chain, key=lambda place: -values[place]) for chain in found.values()]


def successors(
    chains: Sequence[Sequence[int]], places: Sequence[int] | np.ndarray, pending: Sequence[Ranges]
) -> np.ndarray | None:
    """The cell with which a run of each goes on, int32 `(C,)`, -1 for none; None where no run goes on.

    Args:
        chains: of the whole grid.
        places: where C like cells stand in it.
        pending: seeds of each of these that are to be run: where they differ each has runs of its own.
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
