"""The queue of jobs: runs of cells, the longest first, distributed to the devices a window at a time.

At the end few runs are left, and the other lanes are idle until the last run ends. So cells with long runs come first.
Their lengths are estimated as runs end. Every cell starts with one run, and a cell without an ended run counts as the
longest; of several such cells, rough guesses decide. The order changes no result.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.engine.lane_state import Window

__all__ = ["JobQueue", "Ranges", "Seen"]

#: Ranges of seeds, `(first, one after the last)` each.
Ranges = list[tuple[int, int]]


class Seen(NamedTuple):
    """What is known of the jobs of C cells; a run that continues in other cells is a job of the first."""

    jobs: np.ndarray  # int64 (C,)
    loaded: np.ndarray  # int64 (C,): how many have started
    ended: np.ndarray  # int64 (C,)
    length: np.ndarray  # float64 (C,): their mean steps, infinite where none has ended


class JobQueue:
    """The runs of C cells that have not started."""

    def __init__(
        self, pending: Iterable[Ranges], successor: np.ndarray | None = None, rough: np.ndarray | None = None
    ) -> None:
        """Create the queue.

        Args:
            pending: the seeds of each cell; ranges do not overlap.
            successor: int32 `(C,)`: the cell in which a run of each cell continues, or -1. The runs of such a cell are
                not separate jobs.
            rough: guesses of the length of a run of each cell, positive `(C,)`, up to a common factor.
        """
        self._pending: list[Ranges] = [list(reversed(ranges)) for ranges in pending]
        self._last = np.arange(len(self._pending))  # the cell in which a run of each ends
        if successor is not None:
            for cell in successor[successor >= 0]:
                self._pending[cell] = []
            while np.any(further := successor[self._last] >= 0):
                self._last = np.where(further, successor[self._last], self._last)
        self._rough = np.ones(self._last.size) if rough is None else rough[self._last]
        self._left = np.asarray([sum(stop - start for start, stop in ranges) for ranges in self._pending], np.int64)
        self._jobs = self._left.copy()
        self._started = np.zeros(len(self._pending), bool)
        self._ended, self._steps = np.zeros(len(self._pending), np.int64), np.zeros(len(self._pending))
        self._cell, self._seed = np.zeros(0, np.int32), np.zeros(0, np.int32)  # dealt, and not loaded yet

    @property
    def left(self) -> int:
        """Return the number of jobs that no lane has loaded."""
        return int(self._left.sum()) + self._cell.size

    @property
    def longest_left(self) -> int:
        """Return how many of the longest runs would take as long as all that no lane has loaded, at least 1."""
        there = self._left > 0
        if not there.any():
            return self.left
        return max(1, round(float((self._left @ self._rough) / self._rough[there].max())))

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

    def seen(self) -> "Seen":
        """Return what is known of the jobs of each cell."""
        loaded = self._jobs - self._left - np.bincount(self._cell, minlength=self._jobs.size)
        ended = np.where(self._jobs > 0, self._ended[self._last], 0)
        return Seen(self._jobs, loaded, ended, self._lengths())

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

    def _order(self) -> np.ndarray:
        """Return the cells, those with the longest runs first; of those without an ended run, by the guesses."""
        return np.lexsort((-self._rough, -self._lengths()))

    def _take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the next jobs, at most `count`: one of each cell that has not started, then the longest."""
        taken: list[tuple[int, range]] = []
        order = self._order()
        for cell in order[(~self._started & (self._left > 0))[order]][: max(count, 0)]:
            count -= self._next(int(cell), 1, taken)
        for cell in order:
            if count <= 0:
                break
            count -= self._next(int(cell), count, taken)
        cells: list[np.ndarray] = [np.full(len(seeds), cell, np.int32) for cell, seeds in taken]
        seeds: list[np.ndarray] = [np.arange(seeds.start, seeds.stop, dtype=np.int32) for _, seeds in taken]
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
