"""The texts that `sweep --dry-run` and `status` print."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

from jaxbandits.report.text_tables import text_table
from jaxbandits.sweeps.checked_cells import not_run_text
from jaxbandits.sweeps.dry_run import Estimate, bytes_of_runs
from jaxbandits.sweeps.entries import Kind
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.store_status import State, names_of, pace
from jaxbandits.xla_flags import NONE

__all__ = ["bytes_text", "estimate", "state"]

#: The largest number of algorithms or problems whose names are listed.
_MOST_NAMES = 4


def estimate(plan: Plan, keep: str, found: Estimate) -> str:
    """Return the expected size and time of a sweep, a line per quantity."""
    layout = plan.layout
    axes = " x ".join(f"{size} {name}" for name, size in zip(layout.dimensions, layout.shape, strict=True))
    distinct, without = len(layout.distinct_cells), layout.left_out.size
    repeated = f", {distinct:,} of them different" if distinct < len(layout.cells) - without else ""
    repeated += f", {without:,} left out" if without else ""
    more = "at least " if found.at_least else ""
    pulls = tqdm.format_sizeof(found.pulls)
    lines = [
        ("cells", f"{len(layout.cells):,}{f' ({axes})' if axes else ''}{repeated}"),
        ("runs", f"{layout.runs:,} ({layout.seeds:,} of each cell)"),
        ("programs", f"{found.programs}, some {found.compile_seconds:.3g} s to compile, the first time"),
        ("pulls", f"{more}{pulls}"),
        ("time", f"{more}{_time(found.seconds)} on this machine, as measured in some seconds"),
        ("lanes", f"{100 * found.busy:.0f}% busy"),
        *(("", why) for why in found.idle),
        ("memory", bytes_text(_peak())),
        ("on disk", bytes_text(bytes_of_runs(layout)) if keep == "runs" else f"little, for {keep} only are kept"),
    ]
    return text_table(lines, left=(0, 1))


def state(store: Path, found: State) -> str:
    """Return how complete a store is, and who is writing to it."""
    return "\n".join(_state(store, found))


def _state(store: Path, found: State) -> Iterator[str]:
    algorithm, problem = _named(found.spec, "algorithm"), _named(found.spec, "problem")
    run = found.spec.get("run", {})
    share = 100 * found.there / max(found.wanted, 1)
    arrays = "its arrays are there" if found.readable else "its arrays are made once all runs are complete"
    lines = [
        ("store", f"{store}, {bytes_text(found.bytes)}"),
        ("of", f"{algorithm} on {problem}, keeping {run.get('keep', 'runs')}"),
        ("runs", f"{found.there:,} of {found.wanted:,} ({share:.3g}%); {arrays}"),
    ]
    if found.made_with:
        lines.append(("made with", found.made_with))
    if found.xla_flags not in ("", NONE):
        lines.append(("XLA flags", found.xla_flags))
    yield text_table(lines, left=(0, 1))
    if found.not_run:
        yield not_run_text(found.not_run)
    if found.writers:
        head = ("writing", "process", "runs", "pulls/s", "lanes busy", "time left")
        yield ""
        yield text_table([head, *map(_writer, found.writers)], left=(0, 1))
    elif found.there < found.wanted:
        yield "Nobody is writing to it: sweep … --resume makes the runs that are missing."


def _named(spec: dict[str, Any], kind: Kind) -> str:
    """Return the name of an algorithm or a problem, or the names of a list of them."""
    names = names_of(spec, kind)
    if not isinstance(names, list):
        return str(names)
    return ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} {kind}s"


def _writer(told: dict[str, Any]) -> tuple[str, ...]:
    """Return a line about a process that is writing."""
    now = pace(told)
    left = "not known yet" if now["seconds_left"] is None else _time(now["seconds_left"])
    busy = "-" if now["lanes_busy"] is None else f"{100 * now['lanes_busy']:.0f}%"
    who = f"{told.get('process')} on {told.get('host')}"
    speed = tqdm.format_sizeof(now["pulls_per_second"])
    return (f"part {told.get('part')}", who, f"{now['runs']:,} of {now['wanted']:,}", speed, busy, left)


def _time(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.2g} s"
    return str(tqdm.format_interval(seconds))


def bytes_text(count: float) -> str:
    """Return a number of bytes as a text."""
    return f"{tqdm.format_sizeof(count, 'B', 1024)}"


def _peak() -> int:
    """Return the largest number of bytes that this process has held."""
    import resource  # not on every system

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
