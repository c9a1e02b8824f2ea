"""A process that adds blocks to a store: one of N parts, locked, and heard of from other terminals."""

import contextlib
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import filelock

from jaxbandits.errors import UsageError
from jaxbandits.status import stopped_early
from jaxbandits.stores.block_files import write_block, write_whole
from jaxbandits.stores.held_runs import HeldRuns
from jaxbandits.stores.layout import Finished, Layout
from jaxbandits.stores.locks import lock_of, remedy

__all__ = ["BlockWriter", "Part", "heard", "writing"]

#: Seconds between two blocks: at first, as a share of the time so far, and at most.
_FIRST, _SHARE, _MOST = 0.5, 0.05, 300.0
#: Of the time, at most this share goes into writing.
_WRITING = 0.03
#: Seconds between two signs of life.
_BEAT = 1.0


class Part(NamedTuple):
    """A share of the runs."""

    number: int  # from 1
    of: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"writer-{self.number}-of-{self.of}"


@contextlib.contextmanager
def writing(folder: Path, part: Part) -> Iterator[None]:
    """Be the only process that writes this part.

    Raises:
        UsageError: another process writes it, or another share of the whole.
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
        for old in folder.glob(".*.part"):  # of a process that was killed; parts of other numbers write for seconds
            if time.time() - old.stat().st_mtime > 3600 or part.of == 1:
                old.unlink(missing_ok=True)
        _tell(folder, part)
        yield
    finally:
        (folder / f"{part.name}.json").unlink(missing_ok=True)
        lock.release()


def _others(folder: Path) -> list[Path]:
    """Return the locks of all parts; of some there may only be a marker."""
    return sorted(
        {file.with_suffix(".lock") for ending in ("lock", "marker") for file in folder.glob(f"writer-*.{ending}")}
    )


_ADVICE = "wait for it, stop it, or give each process a part of its own, --part 1/2 and --part 2/2"


def _who(file: Path) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError):
        told = json.loads(file.read_text(encoding="utf-8"))
        return f"process {told['process']} on {told['host']}"
    return "another process"


def _tell(folder: Path, part: Part, **numbers: float) -> None:
    """Leave a sign of life."""
    about = {"part": f"{part.number}/{part.of}", "process": os.getpid(), "host": platform.node(), **numbers}
    with contextlib.suppress(OSError):  # a full disk is told of when a block is written
        write_whole(folder / f"{part.name}.json", json.dumps(about).encode())


def heard(folder: Path) -> Iterator[dict[str, Any]]:
    """What the processes say that are writing now."""
    for file in sorted(folder.glob("writer-*.json")):
        try:
            with lock_of(file.with_suffix(".lock")).acquire(timeout=0):
                continue  # it is gone, and what it said stays
        except filelock.Timeout:
            with contextlib.suppress(OSError, ValueError):
                yield json.loads(file.read_text(encoding="utf-8"))


class BlockWriter:
    """Runs that have ended, committed a block at a time."""

    def __init__(self, folder: Path, part: Part, layout: Layout, keep: str, wanted: int) -> None:
        """Of no run.

        Args:
            folder: of the blocks.
            part: which part is written.
            layout: of the sweep.
            keep: what is kept.
            wanted: runs that are to be made.
        """
        self._folder, self._part = folder, part
        self._held = HeldRuns(layout, keep)
        self._began = self._committed = self._told = time.monotonic()
        self._writing = 0.0
        self.runs, self.stopped, self.wanted = 0, 0, wanted

    def add(self, runs: Finished) -> None:
        """Take runs, and commit them if it is time."""
        if not self._held.takes(runs):
            self.commit()
        if runs.cell.size:
            self._held.add(runs)
            self.stopped += int(stopped_early(runs.values["status"][:, -1]).sum())
        now = time.monotonic()
        wait = max(min(max(_FIRST, _SHARE * (now - self._began)), _MOST), self._writing / _WRITING)
        if now - self._committed >= wait or self._held.full:
            self.commit()

    def commit(self) -> None:
        """Write a block of what is held.

        Raises:
            OSError: it cannot be written; what has been committed is kept.
        """
        began = time.monotonic()
        if count := self._held.count:
            write_block(self._folder, *self._held.block())
            self.runs += count
        self._committed = time.monotonic()
        self._writing = self._committed - began

    def tell(self, **numbers: float) -> None:
        """Leave a sign of life, now and then, for other terminals."""
        now = time.monotonic()
        if now - self._told < _BEAT:
            return
        self._told = now
        seconds = now - self._began
        _tell(self._folder, self._part, seconds=seconds, wanted=self.wanted, committed=self.runs, **numbers)
