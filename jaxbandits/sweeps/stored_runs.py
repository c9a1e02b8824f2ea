"""Makes runs and commits them to a store, until all are made, a signal arrives, or the time is over."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from jaxbandits.engine.compilation import compile_clock
from jaxbandits.engine.driver import Progress
from jaxbandits.engine.program import Placement
from jaxbandits.interruptions import interrupts
from jaxbandits.storage.layout import FinishedRuns
from jaxbandits.storage.seed_ranges import Stretch
from jaxbandits.storage.writer import BlockWriter
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.plan_runs import ProgramStart, Timing, make_runs
from jaxbandits.sweeps.time_limit import OutOfTimeError, TimeLimit

__all__ = ["Listeners", "make_stored_runs"]


class Listeners(NamedTuple):
    """Functions that are told what happens."""

    on_progress: Callable[[Progress, int], None] | None = None  # the progress so far, and the runs to make
    on_program: Callable[[ProgramStart], None] | None = None


def make_stored_runs(
    plan: Plan,
    pending: list[list[Stretch]],
    placement: Placement,
    writer: BlockWriter,
    path: Path,
    limit: TimeLimit | None,
    listeners: Listeners,
) -> Timing:
    """Make the `pending` runs of each cell and commit them; return the time that this took.

    Raises:
        KeyboardInterrupt: interrupted; completed runs are committed.
    """
    began, latest = time.perf_counter(), Progress(0, 0.0)
    with interrupts() as interrupted, compile_clock() as clock:

        def stop_if_asked() -> None:
            if interrupted.asked:
                writer.commit()
                rest = "the others" if writer.runs < writer.wanted else "its arrays"
                raise KeyboardInterrupt(
                    f"{interrupted.words}: {writer.runs:,} of {writer.wanted:,} runs are kept in {path}, --resume "
                    f"makes {rest}"
                )

        def stop_in_time() -> None:
            stop_if_asked()
            if limit is not None and limit.is_near(writer.seconds_of_a_block):
                raise OutOfTimeError

        def take(runs: FinishedRuns) -> None:
            writer.add(runs)
            stop_if_asked()

        def report(progress: Progress) -> None:
            nonlocal latest
            latest = progress
            writer.tell(**progress._asdict())
            if listeners.on_progress is not None:
                listeners.on_progress(progress, writer.wanted)
            stop_in_time()

        def begin(program: ProgramStart) -> None:
            stop_if_asked()
            if limit is not None and not limit.allows_program(writer.seconds_of_a_block):
                raise OutOfTimeError
            if listeners.on_program is not None:
                listeners.on_program(program)

        if listeners.on_progress is not None:
            listeners.on_progress(latest, writer.wanted)
        try:
            spent = make_runs(plan, pending, placement, take, report, begin)
        except OutOfTimeError:
            seconds = time.perf_counter() - began
            spent = Timing(max(seconds - clock.seconds, 1e-9), clock.seconds, latest)
        writer.commit()
        stop_if_asked()  # after the last check: the caller may have more to run
    return spent
