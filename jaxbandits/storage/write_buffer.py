"""A buffer of completed runs that are not yet on disk: the runs, or their sums, which take little memory."""

from jaxbandits.storage.blocks import Block, block_of, joined, summed
from jaxbandits.storage.layout import FinishedRuns, Layout

__all__ = ["HeldRuns"]

#: Bytes of runs at which a buffer of sums reduces them.
_REDUCED = 2**22
#: Largest number of bytes of runs in memory.
_MOST = 2**26


class HeldRuns:
    """The contents of the next block."""

    def __init__(self, layout: Layout, keep: str) -> None:
        """Start without a run."""
        self._layout, self._keep = layout, keep
        self._runs: list[FinishedRuns] = []
        self._sums: list[Block] = []
        self._bytes = 0
        self.count = 0

    def takes(self, runs: FinishedRuns) -> bool:
        """Return whether runs have the same variables as the buffered ones, as those of a block must."""
        return not self._runs or self._runs[0].values.keys() == runs.values.keys()

    @property
    def full(self) -> bool:
        """Return whether the buffer is full."""
        return self._bytes >= _MOST

    def add(self, runs: FinishedRuns) -> None:
        """Add runs to the buffer."""
        self._runs.append(runs)
        self._bytes += sum(values.nbytes for values in runs.values.values())
        self.count += runs.cell.size
        if self._keep != "runs" and self._bytes >= _REDUCED:
            self._sums = [summed([*self._sums, self._reduced()], self._layout)]

    def _reduced(self) -> Block:
        block = block_of(joined(self._runs), self._layout, self._keep)
        self._runs, self._bytes = [], 0
        return block

    def block(self) -> Block:
        """Return the buffered runs as a block, and clear the buffer."""
        blocks = self._sums + ([self._reduced()] if self._runs else [])
        self._sums, self.count = [], 0
        return blocks[0] if len(blocks) == 1 else summed(blocks, self._layout)
