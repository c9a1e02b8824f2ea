"""Output for people: progress on stderr, tables on stdout."""

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.engine.driver import Progress

__all__ = ["print_result", "print_status", "progress_bar", "stage_bar", "told", "width"]


def told(wanted: bool | None) -> bool:
    """Return whether to show progress: as requested, or where stderr is a terminal."""
    return sys.stderr.isatty() if wanted is None else wanted


def print_status(text: str) -> None:
    """Print a line on stderr, above a progress bar if there is one."""
    tqdm.write(text, file=sys.stderr)
    sys.stderr.flush()


def width() -> int:
    """Return the number of characters in a line of the terminal; 80 where there is none."""
    return shutil.get_terminal_size().columns


def print_result(text: str = "") -> None:
    """Print a line of results."""
    print(text)  # noqa: T201


@contextlib.contextmanager
def progress_bar(shown: bool | None) -> Iterator[Callable[[Progress, int], None]]:
    """Show a bar with runs done, pulls per second and time left; it vanishes at the end.

    Args:
        shown: whether to show it; None for whether stderr is a terminal.

    Yields:
        A function of the progress so far and of the number of runs in total.
    """
    began = time.perf_counter()
    with _bar(shown, "{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} runs{postfix}, {remaining} left") as bar:

        def update(progress: Progress, runs: int) -> None:
            idle = "" if progress.lane_steps <= 0 else f", lanes {100 * progress.steps / progress.lane_steps:.0f}% busy"
            _show(bar, progress.runs, runs, f"{_speed(progress.pulls, began)}{idle}")

        yield update


@contextlib.contextmanager
def stage_bar(shown: bool | None) -> Iterator[Callable[[Any], None]]:
    """Show a bar for the papers' figures; yield a function of each `jaxbandits.papers.Stage`.

    The bar counts figures, and names the work under way. Each finished picture gets a line, also without a terminal,
    unless `shown` is false.
    """
    began = time.perf_counter()
    with _bar(shown, "{desc}|{bar}| {n_fmt}/{total_fmt} done{postfix}, {remaining} left") as bar:

        def update(stage: Any) -> None:
            nonlocal began
            if stage.finished is not None:
                if shown is not False:
                    print_status(f"{stage.finished.name}  {stage.finished.seconds:.1f} s")
                return
            if stage.pulls == 0:  # a sweep begins
                began = time.perf_counter()
            which = f"figure {stage.number} of {stage.figures}, {stage.figure}"
            bar.set_description_str(f"{which}: {stage.doing} ", refresh=False)
            _show(bar, stage.number - 1, stage.figures, f"{stage.runs:,} runs, {_speed(stage.pulls, began)}")

        yield update


def _bar(shown: bool | None, bar_format: str) -> Any:
    return tqdm(
        total=0,
        file=sys.stderr,
        disable=not told(shown),
        leave=False,
        smoothing=0,  # the average from the start: runs end in bursts, and the latest speed misleads
        bar_format=bar_format,
    )


def _show(bar: Any, done: int, total: int, postfix: str) -> None:
    bar.n, bar.total = done, total
    bar.set_postfix_str(postfix, refresh=False)
    bar.refresh()


def _speed(pulls: float, began: float) -> str:
    return f"{tqdm.format_sizeof(pulls / max(time.perf_counter() - began, 1e-9))} pulls/s"
