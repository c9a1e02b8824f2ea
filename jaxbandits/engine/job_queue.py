"""Jobs that wait: runs of cells, the longest first, dealt out to devices a window at a time.

Lanes are idle at the end, when few runs are left, for as long as these take. So cells with long runs come first. How
long they are is seen as they end: every cell starts with one run, and what has not ended yet is taken for the longest.
The order changes no result.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxbandits.engine.lane_state import Window

__all__ = ["JobQueue", "Ranges"]

#: Seeds, `(first, one after the last)` of each stretch.
Ranges = list[tuple[int, int]]


class JobQueue:
    """Runs of C cells that are to be made."""

    def __init__(self, pending: Iterable[Ranges], successor: np.ndarray | None = None) -> None:
        """Seeds by cell.

        Args:
            pending: of each cell; stretches do not overlap.
            successor: int32 `(C,)`: the cell with which a run of each goes on, whose runs are then no jobs of their
                own; -1 for none.
        """
        self._pending: list[Ranges] = [list(reversed(ranges)) for ranges in pending]
        self._last = np.arange(len(self._pending))  # where a run of each ends
        if successor is not None:
            for cell in successor[successor >= 0]:
                self._pending[cell] = []
            while np.any(further := successor[self._last] >= 0):
                self._last = np.where(further, successor[self._last], self._last)
        self._left = np.asarray([sum(stop - start for start, stop in ranges) for ranges in self._pending], np.int64)
        self._started = np.zeros(len(self._pending), bool)
        self._ended, self._steps = np.zeros(len(self._pending), np.int64), np.zeros(len(self._pending))
        self._cell, self._seed = np.zeros(0, np.int32), np.zeros(0, np.int32)  # taken, and not loaded yet

    @property
    def left(self) -> int:
        """Jobs that no lane has loaded."""
        return int(self._left.sum()) + self._cell.size

    def deal(self, devices: int, width: int) -> Window:
        """The next jobs of each device, `width` at most; the device axis first."""
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
        """So many of the jobs that were dealt out have been loaded, by device; the others are dealt out again."""
        waits = np.ones(self._cell.size, bool)
        for device, count in enumerate(counts):
            waits[device :: len(counts)][:count] = False
        self._cell, self._seed = self._cell[waits], self._seed[waits]

    def saw(self, cell: np.ndarray, steps: np.ndarray) -> None:
        """Runs that have ended, and their steps, each `(N,)`."""
        self._ended += np.bincount(cell, minlength=self._ended.size)
        self._steps += np.bincount(cell, steps, self._ended.size)

    def still(self, cell: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Steps that runs which have made so many are likely to need still, each `(N,)`.

        As many again, where no run of the cell has ended or the run is longer than those.
        """
        length = self._lengths()[cell]
        return np.where(np.isfinite(length) & (length > steps), length - steps, steps)

    def _lengths(self) -> np.ndarray:
        """Steps of a run by cell, infinite where none has ended, `(C,)`."""
        return np.where(self._ended > 0, self._steps / np.maximum(self._ended, 1), np.inf)[self._last]

    def _take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The next jobs, `count` at most: one of each cell that has not started, then the longest."""
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
        """Take the next seeds of a cell, `count` at most, and say how many there were."""
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
