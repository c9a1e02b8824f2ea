"""Seeds that have been run, as ranges `(first, one after the last)`."""

from collections.abc import Iterable

import numpy as np

__all__ = ["Stretch", "by_cell", "common", "count_seeds", "missing", "of_seeds", "unite_rows", "united"]

Stretch = tuple[int, int]


def of_seeds(seeds: np.ndarray) -> list[Stretch]:
    """Return sorted distinct seeds `(N,)` as ranges."""
    if not seeds.size:
        return []
    breaks = np.flatnonzero(np.diff(seeds) != 1) + 1
    starts, stops = seeds[np.append(0, breaks)], seeds[np.append(breaks, seeds.size) - 1] + 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def united(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the same seeds in order, in the fewest possible ranges."""
    found: list[Stretch] = []
    for start, stop in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


def unite_rows(rows: np.ndarray) -> np.ndarray:
    """Return the same seeds in order, in the fewest ranges: uint64 `(n, 3)` of cell, first seed and one after the last.

    Args:
        rows: such ranges in any order, uint64 `(N, 3)`; they may overlap.
    """
    cell, start, stop = rows[np.lexsort((rows[:, 1], rows[:, 0]))].T
    other = np.append(True, cell[1:] != cell[:-1])[: cell.size]
    offset = np.cumsum(other, dtype=np.uint64) << np.uint64(33)  # seeds are below 2^32
    latest = np.maximum.accumulate(offset + stop) - offset
    first = other | np.append(True, start[1:] > latest[:-1])[: cell.size]
    last = np.append(first[1:], True)[: cell.size]
    return np.column_stack([cell[first], start[first], latest[last]])


def by_cell(rows: np.ndarray) -> dict[str, list[Stretch]]:
    """Return the seeds of each cell, by its hash, from ranges as in `unite_rows`."""
    found: dict[str, list[Stretch]] = {}
    for cell, start, stop in unite_rows(rows).tolist():
        found.setdefault(f"{cell:016x}", []).append((start, stop))
    return found


def count_seeds(rows: np.ndarray) -> int:
    """Return the number of seeds of all cells, from ranges as in `unite_rows`."""
    _, start, stop = unite_rows(rows).T
    return int((stop - start).sum())


def common(some: Iterable[Stretch], others: Iterable[Stretch]) -> list[Stretch]:
    """Return the intersection of two lists of ranges, each in order and without overlap."""
    others = list(others)
    found = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(start, stop) for start, stop in found if start < stop]


def missing(wanted: Stretch, there: Iterable[Stretch]) -> list[Stretch]:
    """Return the seeds of a range that others lack; these are in order and do not overlap."""
    found, start = [], wanted[0]
    for first, stop in there:
        if first > start:
            found.append((start, min(first, wanted[1])))
        start = max(start, stop)
        if start >= wanted[1]:
            break
    if start < wanted[1]:
        found.append((start, wanted[1]))
    return [(a, b) for a, b in found if a < b]
