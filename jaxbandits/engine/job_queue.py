"""The queue of jobs: runs of cells, the longest first, distributed to the devices a window at a time.

At the end few runs are left, and the other lanes are idle until the last run ends. So cells with long runs come first.
Their lengths are estimated as runs end. Every cell starts with one run, and a cell without an ended run counts as the
longest. The order changes no result.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxbandits.engine.lane_state import Window

__all__ = ["JobQueue", "Ranges"]

#: Ranges of seeds, `(first, one after the last)` each.
Ranges = list[tuple[int, int]]


class JobQueue:
    """The runs of C cells that have not started."""

    def __init__(self, pending: Iterable[Ranges], successor: np.ndarray | None = None) -> None:
        """Create the queue.

        Args:
            pending: the seeds of each cell; ranges do not overlap.
            successor: int32 `(C,)`: the cell in which a run of each cell continues, or -1. The runs of such a cell are
                not separate jobs.
        """
        self._pending: list[Ranges] = [list(reversed(ranges)) for ranges in pending]
        self._last = np.arange(len(self._pending))  # the cell in which a run of each ends
        if successor is not None:
            for cell in successor[successor >= 0]:
                self._pending[cell] = []
            while np.any(further := successor[self._last] >= 0):
                self._last = np.where(further, successor[self._last], self._last)
        self._left = np.asarray([sum(stop - start for start, stop in ranges) for ranges in self._pending], np.int64)
        self._started = np.zeros(len(self._pending), bool)
        self._ended, self._steps = np.zeros(len(self._pending), np.int64), np.zeros(len(self._pending))
        self._cell, self._seed = np.zeros(0, np.int32), np.zeros(0, np.int32)  # dealt, and not loaded yet

    @property
    def left(self) -> int:
        """Return the number of jobs that no lane has loaded."""
        return int(self._left.sum()) + self._cell.size

    def deal(self, devices: int, width: int) -> Window:
        """Return the next jobs of each device, at most `width`; the device axis first."""
        cell, seed = self._take(devices * width - self._cell.size)
        self._cell, self._seed = np.append(self._cell, cell), np.append(self._seed, seed)
        if self._left.size > 1:
            order = np.argsort(-self._lengths()[self._cell], kind="stable")
            self._cell, self._seed = self._cell[order], self._seed[order]
        dealt: Any = np.zeros((devices, 2, width + 1), np.int32)
        for device in range(devices):
            for jobs, own in zip((self._cell, self._seed), dealt[device], strict=True):
                part = jobs[device::devices]
                own[: part.size], own[-1] = part, part.size
        return Window(dealt)

    def loaded(self, counts: Sequence[int] | np.ndarray) -> None:
        """Remove the dealt jobs that were loaded.

        Args:
            counts: how many of its jobs each device has loaded; the others are dealt again.
        """
        waits = np.ones(self._cell.size, bool)
        for device, count in enumerate(counts):
            waits[device :: len(counts)][:count] = False
        self._cell, self._seed = self._cell[waits], self._seed[waits]

    def saw(self, cell: np.ndarray, steps: np.ndarray) -> None:
        """Count runs that have ended: their cells and their steps, each `(N,)`."""
        self._ended += np.bincount(cell, minlength=self._ended.size)
        self._steps += np.bincount(cell, steps, self._ended.size)

    def still(self, cell: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Return how many more steps runs are likely to make, `(N,)`.

        A run is expected to double its steps if no run of its cell has ended, or if it is longer than their mean.

        Args:
            cell: the cell of each run, `(N,)`.
            steps: the steps of each so far, `(N,)`.
        """
        length = self._lengths()[cell]
        return np.where(np.isfinite(length) & (length > steps), length - steps, steps)

    def _lengths(self) -> np.ndarray:
        """Return the mean number of steps of a run by cell, infinite where none has ended, `(C,)`."""
        return np.where(self._ended > 0, self._steps / np.maximum(self._ended, 1), np.inf)[self._last]

    def _take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the next jobs, at most `count`: one of each cell that has not started, then the longest."""
        taken: list[tuple[int, range]] = []
        for cell in np.flatnonzero(~self._started & (self._left > 0))[: max(count, 0)]:
            count -= self._next(int(cell), 1, taken)
        for cell in np.argsort(-self._lengths(), kind="stable"):
            if count <= 0:
                break
            count -= self._next(int(cell), count, taken)
        cells: Any = [np.full(len(seeds), cell, np.int32) for cell, seeds in taken]
        seeds: Any = [np.arange(seeds.start, seeds.stop, dtype=np.int32) for _, seeds in taken]
        nothing = np.zeros(0, np.int32)
        return np.concatenate([nothing, *cells]), np.concatenate([nothing, *seeds])

    def _next(self, cell: int, count: int, taken: list[tuple[int, range]]) -> int:
        """Take the next seeds of a cell, at most `count`, and return how many there were."""
        ranges, found = self._pending[cell], 0
        while ranges and found < count:
            start, stop = ranges.pop()
            end = min(stop, start + count - found)
            if end < stop:
                ranges.append((end, stop))
            taken.append((cell, range(start, end)))
            found += end - start
        self._left[cell] -= found
        self._started[cell] = True
        return found
