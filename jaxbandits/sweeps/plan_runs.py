"""The runs of a plan: program by program, or their compilation alone."""

import collections
import logging
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.engine.driver import Progress, run_jobs
from jaxbandits.engine.job_queue import JobQueue, Ranges
from jaxbandits.engine.loop_start import compile_loop
from jaxbandits.engine.on_chip.pallas_support import in_powers_of_two
from jaxbandits.engine.program import Placement, Program
from jaxbandits.errors import warn
from jaxbandits.interruptions import interruptible
from jaxbandits.status import MOST_IDLE, STALLED
from jaxbandits.storage.layout import FinishedRuns
from jaxbandits.sweeps.assemble_runs import RunAssembler, refuse_faults, stalled_names
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.group_cells import program
from jaxbandits.sweeps.length_guesses import rough_lengths
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.shared_trajectories import next_cells

__all__ = ["ProgramStart", "Timing", "compile_runs", "jobs_of", "make_runs"]

_LOGGER = logging.getLogger(__name__)


class ProgramStart(NamedTuple):
    """A program that is about to be compiled and run."""

    number: int  # from 1
    of: int
    cells: int
    arms: int  # the most of its cells


class Timing(NamedTuple):
    """The time of runs."""

    seconds: float  # without compilation
    compile_seconds: float
    progress: Progress


def make_runs(
    plan: Plan,
    pending: Sequence[Ranges],
    placement: Placement,
    take: Callable[[FinishedRuns], None],
    on_progress: Callable[[Progress], None] | None = None,
    on_program: Callable[[ProgramStart], None] | None = None,
) -> Timing:
    """Make runs of a plan, the `pending` seeds of each cell; `take` is called now and then with those that have ended.

    It warns of runs that made many steps without a pull.

    Raises:
        UsageError: a run in which a user's own algorithm broke the protocol.
    """
    began = time.perf_counter()
    done = Progress(runs=0, pulls=0.0)
    stalled: collections.Counter[str] = collections.Counter()
    make_room()
    with interruptible(), kept_programs(), compile_clock() as clock:
        groups = plan.groups([cell for cell, seeds in zip(plan.cells, pending, strict=True) if seeds])
        for number, cells in enumerate(groups, 1):
            start = ProgramStart(number, len(groups), len(cells), max(cell.problem.arms for cell in cells))
            _LOGGER.info("program %d of %d: %d cells, up to %d arms", *start)
            if on_program is not None:
                on_program(start)
            before = done

            def report(progress: Progress, before: Progress = before) -> None:
                nonlocal done
                done = progress.after(before)
                if on_progress is not None:
                    on_progress(done)

            places = plan.places(cells)
            gathering = RunAssembler(plan.layout, plan.metrics, cells, places)
            batched, queue = jobs_of(plan, cells, [pending[place] for place in places], placement)
            for rows in run_jobs(batched, queue, placement, report):
                refuse_faults(rows, cells, plan.layout.dimensions)
                stalled.update(stalled_names(rows, cells))
                take(gathering.add(rows))
    for name, runs in stalled.items():
        warn(
            f"{name}: {runs} runs made {MOST_IDLE:,} steps in a row without a pull and did not end, so they were "
            f"truncated (status {STALLED}); does it ask for no pulls before it is done?"
        )
    seconds = time.perf_counter() - began
    return Timing(max(seconds - clock.seconds, 1e-9), clock.seconds, done)


def compile_runs(plan: Plan, placement: Placement) -> None:
    """Compile the programs of all runs of a plan, and make none; another thread may do so while runs are made."""
    with kept_programs():
        for cells in plan.groups(plan.distinct_cells):
            compile_loop(*jobs_of(plan, cells, plan.all_seeds(cells), placement), placement)


def jobs_of(
    plan: Plan, cells: Sequence[Cell], pending: Sequence[Ranges], placement: Placement
) -> tuple[Program, JobQueue]:
    """Return the program of compatible cells, and the queue of their runs: the `pending` seeds of each."""
    places = plan.places(cells)
    following = next_cells(plan.chains.places, places, pending)
    batched = program(
        list(cells), plan.identity[:, places], plan.checkpoints, plan.runs_of(cells), plan.own, following,
        in_powers_of_two=in_powers_of_two(placement),
    )  # fmt: skip
    return batched, JobQueue(pending, following, rough_lengths(cells, plan.runs_of(cells).max_pulls))
