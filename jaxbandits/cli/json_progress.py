"""Progress for programs: one JSON object a line on stdout, as `sweep --progress json` prints it."""

import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxbandits.engine.driver import Progress
from jaxbandits.sweeps.plan_runs import ProgramStart
from jaxbandits.sweeps.store_status import pace

__all__ = ["ProgressLines", "progress_lines"]

#: Seconds between two lines about the progress.
_BEAT = 1.0


class ProgressLines:
    """Prints events; every line has `event` and `time`, in seconds since 1970."""

    def __init__(self) -> None:
        """Start the clock."""
        self._began = time.monotonic()
        self._told = -_BEAT
        self._latest: tuple[Progress, int] | None = None
        self._closed = False

    def tell(self, event: str, **facts: Any) -> None:
        """Print an event; once the reader is gone, print nothing, and let the sweep go on."""
        if self._closed or sys.stdout is None:
            return
        line = json.dumps({"event": event, "time": round(time.time(), 3), **facts}, ensure_ascii=False)
        try:
            print(line, flush=True)  # noqa: T201
        except BrokenPipeError:
            self._closed = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def start_program(self, program: ProgramStart) -> None:
        """Print that a program is about to be compiled and run."""
        self.tell("program", **program._asdict())

    def update(self, progress: Progress, wanted: int) -> None:
        """Print the progress, at most once a second."""
        self._latest = progress, wanted
        if (now := time.monotonic()) - self._told >= _BEAT:
            self._told = now
            self._show()

    def _show(self) -> None:
        if self._latest is not None:
            (progress, wanted), self._latest = self._latest, None
            seconds = time.monotonic() - self._began
            self.tell("progress", **pace({**progress._asdict(), "wanted": wanted, "seconds": seconds}))

    def end(self, outcome: str, **facts: Any) -> None:
        """Print the latest progress, and how the command ended."""
        self._show()
        self.tell("end", outcome=outcome, **facts)


@contextlib.contextmanager
def progress_lines(out: Path, part: str) -> Iterator[ProgressLines]:
    """Print that a sweep starts and, if an exception ends it, how; yield what prints the other events.

    Args:
        out: the store.
        part: the part that is made, such as `1/8`.
    """
    lines = ProgressLines()
    lines.tell("start", store=str(out), part=part, process=os.getpid(), host=platform.node())
    try:
        yield lines
    except KeyboardInterrupt as interrupt:
        lines.end("interrupted", message=str(interrupt))
        raise
    except Exception as error:
        lines.end("failed", message=str(error) or type(error).__name__)
        raise
