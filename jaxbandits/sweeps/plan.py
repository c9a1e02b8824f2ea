"""A plan of a sweep: everything is checked before anything runs; any part of it can then be run."""

import dataclasses
import functools
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import is_traced
from jaxbandits.checks import seed, whole
from jaxbandits.engine.binding import accept, bind, most_pulls
from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.engine.driver import Progress, run_jobs
from jaxbandits.engine.first_pulls import check_first_pulls
from jaxbandits.engine.gradient_guard import INSTEAD
from jaxbandits.engine.job_queue import JobQueue, Ranges
from jaxbandits.engine.loop_start import compile_loop
from jaxbandits.engine.mapping import map_algorithm
from jaxbandits.engine.metric import Metric, Metrics, check_metrics, functions_of, users_metrics
from jaxbandits.engine.pallas_support import in_powers_of_two
from jaxbandits.engine.problem_checks import check_family, check_problem, check_values
from jaxbandits.engine.program import Placement, Program, Runs
from jaxbandits.engine.protocol_checks import check_algorithm
from jaxbandits.engine.stacked_algorithms import check_like
from jaxbandits.errors import UsageError
from jaxbandits.interruptions import interruptible
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.storage.layout import FinishedRuns, Layout
from jaxbandits.sweeps.assemble_runs import RunAssembler, refuse_faults
from jaxbandits.sweeps.grid import RESERVED, Cell, expand, hash_cells
from jaxbandits.sweeps.group_cells import batched_problem, group_by_program, program
from jaxbandits.sweeps.length_guesses import rough_lengths
from jaxbandits.sweeps.metrics import METRICS, MetricSpec, table
from jaxbandits.sweeps.options import check_names, checkpoint_values
from jaxbandits.sweeps.results import layout_of
from jaxbandits.sweeps.shared_trajectories import Chains, next_cells, share_trajectories
from jaxbandits.sweeps.spec import describe
from jaxbandits.users_code.records import recorded
from jaxbandits.xla_flags import ATTRIBUTE, flags_now

__all__ = ["Plan", "ProgramStart", "Timing", "compile_runs", "make_plan", "make_runs"]

_LOGGER = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A checked sweep."""

    algorithm: Rule
    problem: Problem | ProblemFamily
    cells: list[Cell]  # with the parameters derived from the problem
    identity: np.ndarray  # uint32 (2, C): a hash of each cell, as the user gave it
    runs: Runs
    checkpoints: np.ndarray  # (Q,)
    own: Metrics
    metrics: dict[str, MetricSpec]
    spec: dict[str, Any]
    layout: Layout

    @property
    def attrs(self) -> dict[str, Any]:
        """Return the attributes of a Dataset of this sweep."""
        found: dict[str, Any] = {}
        unseen = [cell.algorithm.unseen(cell.problem) for cell in self.cells]
        if improbable := [probability for probability in unseen if probability is not None]:
            found["unseen"] = max(improbable)
        if self.chains.field is not None:
            found["one_trajectory"] = self.chains.field
        return found | {
            "algorithm": type(self.algorithm).__name__,
            "problem": self.problem.name,
            "root_seed": self.runs.root_seed,
            "spec": json.dumps(self.spec),
            ATTRIBUTE: flags_now(),
        }

    @functools.cached_property
    def chains(self) -> Chains:
        """Return the numbers of the cells that share runs, in the order in which a run continues."""
        return share_trajectories(self.cells, self.runs, len(self.checkpoints))

    def places(self, cells: Sequence[Cell]) -> np.ndarray:
        """Return the numbers of cells in the grid, int64 `(C,)`."""
        shape = self.layout.shape
        steps = np.cumprod([1, *shape[:0:-1]], dtype=np.int64)[::-1][: len(shape)]
        return np.asarray(np.asarray([cell.position for cell in cells], np.int64) @ steps)

    def groups(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return groups of cells that share a program."""
        return group_by_program(list(cells), self.runs, padded=not self.own)


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


def make_plan(
    algorithm: Any,
    problem: Problem | ProblemFamily,
    seeds: int,
    *,
    first_seed: int = 0,
    root_seed: int = 0,
    max_pulls: int | None = None,
    checkpoints: Sequence[float] | None = None,
    independent: bool = False,
    metrics: Mapping[str, Callable[..., Any] | Metric] | None = None,
) -> Plan:
    """Check everything that a sweep is given; arguments as in `sweep`.

    Raises:
        UsageError: any input that cannot be run.
    """
    seeds, root_seed = whole("seeds", seeds, 1, MAX_COUNT), seed("root_seed", root_seed)
    first_seed = whole("first_seed", first_seed, 0, MAX_COUNT - seeds)
    known = accept(algorithm)
    limited = max_pulls is not None
    max_pulls = most_pulls(known) if max_pulls is None else whole("max_pulls", max_pulls, 1, MAX_COUNT)
    points = checkpoint_values(known, checkpoints, max_pulls)
    check_problem(problem)
    if is_traced((algorithm, problem)):
        raise UsageError(f"jb.simulate and jb.sweep run on values, and these are being traced: {INSTEAD}")
    grid = expand(known, problem)
    own = users_metrics(metrics, {**METRICS, **grid.dimensions, **dict.fromkeys(RESERVED)})
    check_names(known, problem, [name for name, _ in own])
    for cell in grid.cells:
        check_algorithm(cell.algorithm)
        check_problem(cell.problem)
    identity = hash_cells(grid.cells)
    for i, cell in enumerate(grid.cells):
        bound, explored = bind(cell.algorithm, cell.problem)
        grid.cells[i] = cell._replace(algorithm=bound, problem=explored)
    runs = Runs(seeds, root_seed, max_pulls, independent)
    settings: dict[str, Any] = runs._asdict()
    if first_seed:
        settings["first_seed"] = first_seed
    if checkpoints is not None:
        settings["checkpoints"] = points.tolist()
    if own:
        settings["metrics"] = [name for name, _ in own]  # text cannot hold their functions
        settings |= recorded(functions=functions_of(own))
    types = {}
    for cells in group_by_program(grid.cells, runs, padded=not own):
        key = jax.random.key(0, impl="threefry2x32")
        check_family(cells[0].problem, key)
        for cell in cells:
            check_values(cell.problem, key)
        check_like([cell.algorithm for cell in cells], cells[0].problem, key)
        if limited:
            check_first_pulls([cell.algorithm for cell in cells], batched_problem(cells), max_pulls)
        types = check_metrics(own, map_algorithm(cells[0].algorithm), cells[0].problem, key)
    spec = describe(known, problem, settings)  # before the runs, of the code as it is now
    measured = table(own, types)
    layout = layout_of(grid, first_seed, seeds, points, measured, identity)
    return Plan(known, problem, grid.cells, identity, runs, points, own, measured, spec, layout)


def make_runs(
    plan: Plan,
    pending: Sequence[Ranges],
    placement: Placement,
    take: Callable[[FinishedRuns], None],
    on_progress: Callable[[Progress], None] | None = None,
    on_program: Callable[[ProgramStart], None] | None = None,
) -> Timing:
    """Make runs of a plan.

    Args:
        plan: the plan of the sweep.
        pending: seeds of each of its cells.
        placement: the devices and lanes.
        take: called now and then with runs that have ended.
        on_progress: called now and then with the progress so far.
        on_program: called before each program.

    Raises:
        UsageError: a run in which a user's own algorithm broke the protocol.
    """
    began = time.perf_counter()
    done = Progress(runs=0, pulls=0.0)
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
            gathering = RunAssembler(plan.layout, plan.metrics)
            batched, queue = _jobs_of(plan, cells, pending, placement)
            for rows in run_jobs(batched, queue, placement, report):
                refuse_faults(rows, cells, plan.layout.dimensions)
                take(gathering.add(cells, places, rows))
    seconds = time.perf_counter() - began
    return Timing(max(seconds - clock.seconds, 1e-9), clock.seconds, done)


def compile_runs(plan: Plan, placement: Placement) -> None:
    """Compile the programs of all runs of a plan, and make none; another thread may do so while runs are made."""
    pending: list[Ranges] = [[(plan.layout.first_seed, plan.layout.first_seed + plan.layout.seeds)]] * len(plan.cells)
    with kept_programs():
        for cells in plan.groups(plan.cells):
            compile_loop(*_jobs_of(plan, cells, pending, placement), placement)


def _jobs_of(
    plan: Plan, cells: Sequence[Cell], pending: Sequence[Ranges], placement: Placement
) -> tuple[Program, JobQueue]:
    """Return the program of some cells, and the queue of their runs."""
    places = plan.places(cells)
    wanted = [pending[place] for place in places]
    following = next_cells(plan.chains.places, places, wanted)
    batched = program(
        list(cells), plan.identity[:, places], plan.checkpoints, plan.runs, plan.own, following,
        in_powers_of_two=in_powers_of_two(placement),
    )  # fmt: skip
    return batched, JobQueue(wanted, following, rough_lengths(cells, plan.runs.max_pulls))
