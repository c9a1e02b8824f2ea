"""Measures some seconds of a program's runs: how long they are, and how long a step of all lanes takes."""

import dataclasses
import time
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.engine.compilation import compile_clock
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.driver import Progress, run_jobs
from jaxbandits.engine.job_queue import JobQueue, Ranges, Seen
from jaxbandits.engine.loop_start import usual_lanes
from jaxbandits.engine.program import Placement, Program
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.lane_schedule import Schedule
from jaxbandits.sweeps.length_guesses import rough_lengths
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.plan_runs import jobs_of

__all__ = ["Sample", "sample"]

#: Lanes of few runs, whose steps are short: long runs end there sooner. Fewer than this many take no less time.
_FEW, _MANY = 48, 200
#: Share of the loaded runs of a cell that must have ended for their mean to be that of all.
_ENDED = 0.8
#: Or how many times their mean length must have passed.
_TIMES = 1.5
#: Runs without an end are taken to be longer than they are so far.
_LONGER = 1.2
#: Share of the time in which all lanes are measured, before few are.
_ALL = 0.4


@dataclasses.dataclass(frozen=True)
class Sample:
    """Measurements of C compatible cells."""

    kind: type
    arms: int
    lengths: np.ndarray  # float64 (C,): mean steps of a run
    jobs: np.ndarray  # int64 (C,): runs that are not the continuation of another
    rough: np.ndarray  # float64 (C,): guesses of the lengths
    ratios: np.ndarray  # float64 (N,): lengths of single runs, as multiples of the mean of their cell
    pulls_of_a_step: float
    seconds_of_a_step: float  # of all lanes
    lanes: int  # of all devices
    shrinks: bool
    compile_seconds: float
    at_least: bool
    measured: Schedule | None = None  # where all runs have been made

    def moved(self, plan: Plan, cells: list[Cell]) -> "Sample":
        """Return the sample for other cells: steps as guessed, and their time about in proportion to the arms."""
        rough = rough_lengths(cells, plan.runs_of(cells).max_pulls)
        arms = max(cell.problem.arms for cell in cells)
        jobs = np.full(len(cells), plan.layout.seeds)
        scale = float(self.lengths.sum() / self.rough.sum())
        step = self.seconds_of_a_step * arms / self.arms
        return dataclasses.replace(
            self, arms=arms, lengths=rough * scale, jobs=jobs, rough=rough, seconds_of_a_step=step, measured=None
        )


class _EnoughError(Exception):
    """The time of a sample is over."""


class _Part(NamedTuple):
    """Runs of some seconds."""

    queue: JobQueue
    ratios: np.ndarray
    progress: Progress
    seconds: float  # without compilation
    seconds_of_a_step: float
    compile_seconds: float
    whole: bool  # whether all runs were made


def sample(plan: Plan, cells: list[Cell], placement: Placement, seconds: float) -> Sample:
    """Make runs of compatible cells for some seconds, without compilation, and return what was measured.

    All lanes are measured as the sweep will have them. Where no run of some cells ends, some are made on few lanes.
    """
    seeds = plan.all_seeds(cells)
    batched, queue = jobs_of(plan, cells, seeds, placement)
    rough, devices = rough_lengths(cells, plan.runs_of(cells).max_pulls), chosen_devices(placement)
    platform = devices[0].platform
    each = placement.lanes or usual_lanes(batched, queue, len(devices), platform)
    lanes, few = each * len(devices), platform == "cpu" and each > _MANY
    part = _run(batched, queue, placement, lanes, seconds * (_ALL if few else 1.0))
    compiling, seen, passed = part.compile_seconds, queue.seen(), part.progress.lane_steps / lanes
    known = _known(seen, passed)
    lengths = np.where(known, seen.length, 0.0)
    wanted = seen.jobs
    unknown = np.flatnonzero(~known & (wanted > 0))
    if few and unknown.size:
        shorter = _some(seeds, unknown, _FEW * len(devices))
        further = JobQueue(shorter, batched.successor, rough)
        other = _run(batched, further, placement._replace(lanes=_FEW), 0, seconds * (1 - _ALL))
        compiling, again = compiling + other.compile_seconds, further.seen()
        passed = other.progress.lane_steps / (_FEW * len(devices))
        measured = _known(again, passed)
        lengths, known = np.where(measured, again.length, lengths), known | measured
        seen = again if again.ended[unknown].sum() > seen.ended[unknown].sum() else seen
    if not known.all():
        scale = _scale(lengths[known], rough[known])
        floor = np.where(seen.ended > 0, seen.length, np.where(seen.loaded > 0, _LONGER * passed, 0.0))
        lengths = np.where(known, lengths, np.maximum(rough * scale, floor))
    steps = max(part.progress.steps, 1.0)
    busy = min(1.0, part.progress.steps / max(part.progress.lane_steps, 1.0))
    return Sample(
        kind=type(cells[0].algorithm), arms=max(cell.problem.arms for cell in cells), lengths=lengths, jobs=wanted,
        rough=rough, ratios=part.ratios if part.ratios.size else np.ones(1), lanes=lanes,
        pulls_of_a_step=part.progress.pulls / steps, seconds_of_a_step=part.seconds_of_a_step,
        shrinks=platform == "cpu" and placement.lanes is None, compile_seconds=compiling,
        at_least=bool((~known & (wanted > 0)).any()),
        measured=Schedule(part.seconds, busy) if part.whole else None,
    )  # fmt: skip


def _known(seen: Seen, passed: float) -> np.ndarray:
    """Return of which cells the mean of the ended runs is that of all: most have ended, or their time is long over."""
    return (seen.ended >= 1) & ((seen.ended >= _ENDED * seen.loaded) | (passed >= _TIMES * seen.length))


def _scale(lengths: np.ndarray, rough: np.ndarray) -> float:
    """Return lengths as a multiple of guesses, of the quarter that is longest: those that are not known are longer."""
    longest = np.argsort(-rough)[: -(-rough.size // 4)]
    return float(lengths[longest].sum() / rough[longest].sum()) if rough.size else 0.0


def _some(seeds: list[Ranges], unknown: np.ndarray, most: int) -> list[Ranges]:
    """Return the first seeds of some cells, `most` in all; of many cells some are drawn."""
    chosen = np.random.default_rng(0).permutation(unknown)[:most]
    each = max(1, most // chosen.size)
    found: list[Ranges] = [[] for _ in seeds]
    for cell in chosen:
        start, stop = seeds[cell][0]
        found[cell] = [(start, min(stop, start + each))]
    return found


def _run(batched: Program, queue: JobQueue, placement: Placement, lanes: int, seconds: float) -> _Part:
    """Make runs for some seconds."""
    began, steps, cell = time.perf_counter(), list[np.ndarray](), list[np.ndarray]()
    reports: list[tuple[float, Progress]] = []

    def report(progress: Progress) -> None:
        now = time.perf_counter() - clock.seconds
        reports.append((now, progress))
        if now - began >= seconds:
            raise _EnoughError

    whole = False
    with kept_programs(), compile_clock() as clock:
        try:
            for rows in run_jobs(batched, queue, placement, report):
                steps.append(rows.steps[rows.ended])
                cell.append(rows.cell[rows.ended])
            whole = True
        except _EnoughError:
            pass
        passed = time.perf_counter() - began - clock.seconds
    first, last = (reports[0], reports[-1]) if len(reports) > 1 else ((began, Progress(0, 0.0)), reports[-1])
    made = (last[1].lane_steps - first[1].lane_steps) / max(lanes, 1)
    every, of = np.concatenate([np.zeros(0), *steps]), np.concatenate([np.zeros(0, int), *cell])
    mean: Any = np.bincount(of, every, minlength=1) / np.maximum(np.bincount(of, minlength=1), 1)
    return _Part(
        queue, (every / np.maximum(mean[of], 1e-9))[:10_000], last[1], max(passed, 1e-6),
        (last[0] - first[0]) / max(made, 1.0), clock.seconds, whole,
    )  # fmt: skip
