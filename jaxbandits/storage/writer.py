"""A process that adds blocks to a store: one of N parts, locked, and visible from other terminals."""

import contextlib
import json
import logging
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import filelock

from jaxbandits.errors import UsageError
from jaxbandits.status import stopped_early
from jaxbandits.storage.block_files import write_block, write_whole
from jaxbandits.storage.blocks import Block, block_of, joined, summed
from jaxbandits.storage.layout import FinishedRuns, Layout
from jaxbandits.storage.locks import lock_of, remedy

__all__ = ["BlockWriter", "Part", "listening", "writing"]

_LOGGER = logging.getLogger(__name__)

#: Seconds between two blocks: at first, as a share of the time so far, and at most.
_FIRST, _SHARE, _MOST = 0.5, 0.05, 300.0
#: Largest share of the time that goes into writing.
_WRITING = 0.03
#: Bytes of runs in memory at which sums take their place, and at which a block is written.
_REDUCED, _MOST_BYTES = 2**22, 2**26
#: Seconds between two status files.
_BEAT = 1.0


class Part(NamedTuple):
    """A share of the runs."""

    number: int  # from 1
    of: int

    @property
    def name(self) -> str:
        """Return the common name of its files."""
        return f"writer-{self.number}-of-{self.of}"


@contextlib.contextmanager
def writing(folder: Path, part: Part) -> Iterator[None]:
    """Hold the lock of this part, so that no other process writes it.

    Raises:
        UsageError: another process writes it, or a part of another division.
    """
    file = folder / f"{part.name}.lock"
    lock = lock_of(file)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        who = _who(file.with_suffix(".json"))
        raise UsageError(f"{who} is writing to {folder.parent}: {_ADVICE}{remedy(file)}") from None
    try:
        for other in _others(folder):
            if other.stem == part.name or other.stem.endswith(f"-of-{part.of}"):
                continue
            with contextlib.suppress(filelock.Timeout), lock_of(other).acquire(timeout=0):
                continue
            name = other.stem.removeprefix("writer-").replace("-of-", "/")
            who = _who(other.with_suffix(".json"))
            raise UsageError(f"{who} is writing part {name} of {folder.parent}: {_ADVICE}{remedy(other)}")
        for old in folder.glob(".*.part"):  # left by a killed process; writing one takes seconds
            if time.time() - old.stat().st_mtime > 3600 or part.of == 1:
                old.unlink(missing_ok=True)
        _tell(folder, part)
        yield
    finally:
        (folder / f"{part.name}.json").unlink(missing_ok=True)
        lock.release()


def _others(folder: Path) -> list[Path]:
    """Return the locks of all parts; some parts may only have a marker."""
    return sorted(
        {file.with_suffix(".lock") for ending in ("lock", "marker") for file in folder.glob(f"writer-*.{ending}")}
    )


_ADVICE = "wait for it, stop it, or give each process its own part, --part 1/2 and --part 2/2"


def _who(file: Path) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError):
        told = json.loads(file.read_text(encoding="utf-8"))
        return f"process {told['process']} on {told['host']}"
    return "another process"


def _tell(folder: Path, part: Part, **numbers: float) -> None:
    """Write a status file."""
    about = {"part": f"{part.number}/{part.of}", "process": os.getpid(), "host": platform.node(), **numbers}
    with contextlib.suppress(OSError):  # a full disk is reported when a block is written
        write_whole(folder / f"{part.name}.json", json.dumps(about).encode())


def listening(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the status of each process that is writing now."""
    for file in sorted(folder.glob("writer-*.json")):
        try:
            with lock_of(file.with_suffix(".lock")).acquire(timeout=0):
                continue  # the process is gone, but its last status file remains
        except filelock.Timeout:
            with contextlib.suppress(OSError, ValueError):
                yield json.loads(file.read_text(encoding="utf-8"))


class BlockWriter:
    """Commits completed runs in blocks."""

    def __init__(self, folder: Path, part: Part, layout: Layout, keep: str, wanted: int) -> None:
        """Start without a run; `wanted` of them are to be made."""
        self._folder, self._part = folder, part
        self._layout, self._keep = layout, keep
        self._runs: list[FinishedRuns] = []  # that are not on disk yet
        self._blocks: list[Block] = []  # of such runs, or their sums
        self._count = self._bytes = 0
        self._began = self._committed = self._told = time.monotonic()
        self._writing = 0.0
        self.runs, self.stopped, self.wanted = 0, 0, wanted

    def add(self, runs: FinishedRuns) -> None:
        """Add runs, and commit them when it is time."""
        if self._runs and self._runs[0].values.keys() != runs.values.keys():  # those of a block have the same variables
            self.commit()
        if runs.cell.size:
            self._runs.append(runs)
            self._count += runs.cell.size
            self._bytes += sum(values.nbytes for values in runs.values.values())
            if self._keep != "runs" and self._bytes >= _REDUCED:
                self._reduce()
            self.stopped += int(stopped_early(runs.values["status"][:, -1]).sum())
        now = time.monotonic()
        wait = max(min(max(_FIRST, _SHARE * (now - self._began)), _MOST), self._writing / _WRITING)
        if now - self._committed >= wait or self._bytes >= _MOST_BYTES:
            self.commit()

    @property
    def seconds_of_a_block(self) -> float:
        """Return how long the latest block took to write."""
        return self._writing

    def commit(self) -> None:
        """Write a block of the buffered runs.

        Raises:
            OSError: it cannot be written; what has been committed is kept.
        """
        began = time.monotonic()
        if count := self._count:
            self._reduce()
            self._count = 0
            name = write_block(self._folder, *self._blocks.pop())
            self.runs += count
            _LOGGER.debug("%s: a block of %d runs, %s", self._folder, count, name)
        self._committed = time.monotonic()
        self._writing = self._committed - began

    def _reduce(self) -> None:
        """Make one block of the runs in memory, and of their sums so far."""
        if self._runs:
            self._blocks.append(block_of(joined(self._runs), self._layout, self._keep))
            self._runs, self._bytes = [], 0
        if len(self._blocks) > 1:
            self._blocks = [summed(self._blocks, self._layout)]

    def tell(self, **numbers: float) -> None:
        """Write the status file at most once a second, for other terminals."""
        now = time.monotonic()
        if now - self._told < _BEAT:
            return
        self._told = now
        seconds = now - self._began
        _tell(self._folder, self._part, seconds=seconds, wanted=self.wanted, committed=self.runs, **numbers)
