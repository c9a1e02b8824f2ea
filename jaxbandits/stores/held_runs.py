"""Runs that have ended and are not on disk yet: themselves, or what is kept of them, which takes little memory."""

from jaxbandits.stores.block_contents import Block, block_of, joined, summed
from jaxbandits.stores.layout import Finished, Layout

__all__ = ["HeldRuns"]

#: Bytes of runs of which only sums are kept, before they are reduced to these.
_REDUCED = 2**22
#: Bytes of runs that are held in memory at most.
_MOST = 2**26


class HeldRuns:
    """What a block will have."""

    def __init__(self, layout: Layout, keep: str) -> None:
        """Without a run.

        Args:
            layout: of the sweep.
            keep: what is kept, one of `KEEP`.
        """
        self._layout, self._keep = layout, keep
        self._runs: list[Finished] = []
        self._sums: list[Block] = []
        self._bytes = 0
        self.count = 0

    def takes(self, runs: Finished) -> bool:
        """Whether runs fit to those that are held: a block's runs measure the same."""
        return not self._runs or self._runs[0].values.keys() == runs.values.keys()

    @property
    def full(self) -> bool:
        """Whether no more can be held."""
        return self._bytes >= _MOST

    def add(self, runs: Finished) -> None:
        """Take runs."""
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
        """All that is held; then nothing is."""
        blocks = self._sums + ([self._reduced()] if self._runs else [])
        self._sums, self.count = [], 0
        return blocks[0] if len(blocks) == 1 else summed(blocks, self._layout)
