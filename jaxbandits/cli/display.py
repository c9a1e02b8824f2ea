"""What a person sees: progress on stderr, tables on stdout."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.engine.driver import Progress

__all__ = ["progress_bar", "say", "table"]


def say(text: str = "") -> None:
    """Print a line of results."""
    print(text)  # noqa: T201


@contextlib.contextmanager
def progress_bar(shown: bool | None, runs: int, title: str = "") -> Iterator[Callable[[Progress, int], None]]:
    """A bar with runs done, pulls per second and time left, which vanishes at the end.

    Args:
        shown: whether to show it; None for whether stderr is a terminal.
        runs: how many there will be.
        title: what is running.

    Yields:
        What to call with the progress so far and the number of runs there will be.
    """
    began = time.perf_counter()
    with tqdm(
        total=runs,
        desc=title,
        file=sys.stderr,
        disable=not (sys.stderr.isatty() if shown is None else shown),
        leave=False,
        # The average from the start: runs end in bursts, and the latest speed misleads.
        smoothing=0,
        bar_format="{desc}{percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} runs{postfix}, {remaining} left",
    ) as bar:

        def update(progress: Progress, runs: int) -> None:
            speed = progress.pulls / (time.perf_counter() - began)
            bar.total = runs
            bar.set_postfix_str(f"{tqdm.format_sizeof(speed)} pulls/s", refresh=False)
            bar.n = progress.runs
            bar.refresh()

        yield update


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text, the first being the heading, in columns; all but the first and the last to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *numbers, last in rows:
        cells = (text.rjust(width) for text, width in zip(numbers, widths[1:-1], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *cells, last]).rstrip())
    return "\n".join(lines)
