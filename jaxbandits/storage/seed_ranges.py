"""Seeds that have been run, as ranges `(first, one after the last)`."""

from collections.abc import Iterable

import numpy as np

__all__ = ["Stretch", "common", "missing", "of_seeds", "overlap", "united", "united_arrays"]

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


def united_arrays(starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `united` returns, for ranges as two arrays, int64 `(N,)`."""
    order = np.argsort(starts, kind="stable")
    starts, latest = starts[order], np.maximum.accumulate(stops[order])
    first = np.append(True, starts[1:] > latest[:-1])[: starts.size]
    last = np.append(first[1:], True)[: starts.size]
    return starts[first], latest[last]


def overlap(stretches: Iterable[Stretch]) -> Stretch | None:
    """Return the seeds that two of the ranges share, if any do."""
    last = 0
    for start, stop in sorted(stretches):
        if start < last:
            return (start, min(stop, last))
        last = max(last, stop)
    return None


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
