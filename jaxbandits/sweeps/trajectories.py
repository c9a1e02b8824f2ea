"""Cells that one run serves: where only the stopping rule knows what they differ by.

A sampling rule that takes no notice of the allowed probability of error makes the same pulls whatever it is; a run
stops the earlier the more may go wrong. So a run that has ended in the cell with the largest value goes on, in the
same lane, as the run of the next one, and has there the bits of a run of its own.
"""

from collections.abc import Sequence

import numpy as np

from jaxbandits.engine.job_queue import Ranges
from jaxbandits.engine.program import Runs
from jaxbandits.sweeps.grid import Cell, identities

__all__ = ["chains", "successors"]


def chains(cells: Sequence[Cell], runs: Runs, points: int) -> list[list[int]]:
    """Places of cells whose runs go on from one to the next; a cell that stands alone is a chain of one.

    Args:
        cells: of a grid.
        runs: which runs are made of each.
        points: of the curves that are asked for; 0 without.
    """
    found: dict[object, list[int]] = {}
    fields = [cell.algorithm.traits.stops_by if cell.algorithm.registered else None for cell in cells]
    linked = [place for place, field in enumerate(fields) if field] if not (runs.independent or points) else []
    alike = dict(zip(linked, _but_for(fields, cells, linked), strict=True))
    for place, cell in enumerate(cells):
        # Arms that a problem has only to fill up a table are no part of it: like cells share a program.
        found.setdefault((alike[place], cell.algorithm.kind) if place in alike else place, []).append(place)
    return [
        sorted(chain, key=lambda place: -_value(cells[place], fields[place])) if len(chain) > 1 else chain
        for chain in found.values()
    ]


def successors(cells: Sequence[Cell], pending: Sequence[Ranges], runs: Runs, points: int) -> np.ndarray | None:
    """The cell with which a run of each goes on, int32 `(C,)`, -1 for none; None where no run goes on.

    Args:
        cells: like cells.
        pending: seeds of each that are to be run: where they differ each has runs of its own.
        runs: which runs are made of each.
        points: of the curves that are asked for; 0 without.
    """
    found = np.full(len(cells), -1, np.int32)
    for chain in chains(cells, runs, points):
        by_seeds: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for place in chain:
            by_seeds.setdefault(tuple(pending[place]), []).append(place)
        for places in by_seeds.values():
            found[places[:-1]] = places[1:]
    return found if np.any(found >= 0) else None


def _but_for(fields: Sequence[str | None], cells: Sequence[Cell], places: Sequence[int]) -> list[bytes]:
    """What each cell is but for one field."""
    same = []
    for place in places:
        first = cells[places[0]].algorithm.values[str(fields[places[0]])]
        algorithm = cells[place].algorithm.at({str(fields[place]): first})
        same.append(cells[place]._replace(algorithm=algorithm))
    return [column.tobytes() for column in identities(same).T] if same else []


def _value(cell: Cell, field: str | None) -> float:
    return float(cell.algorithm.values[str(field)])
