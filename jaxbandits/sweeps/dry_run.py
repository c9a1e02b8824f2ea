"""The expected time and size of a sweep, estimated from some seconds of its runs."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxbandits.engine.compilation import make_room
from jaxbandits.engine.program import Placement
from jaxbandits.storage.layout import Layout
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.lane_schedule import Schedule, schedule
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.run_samples import Sample, sample

__all__ = ["Estimate", "bytes_of_runs", "estimated"]

#: Seconds of runs of all programs, and how long a dry run may take if it can; compiling one program is not counted.
_SECONDS, _ALTOGETHER = 8.0, 12.0
#: Shares of the lanes' time that are worth a word.
_BUSY, _PADDED = 0.8, 0.2


class Estimate(NamedTuple):
    """The expected pulls and time of a sweep, without a guarantee."""

    programs: int
    pulls: float  # of all runs
    at_least: bool  # whether no run of some cell ended
    seconds: float  # of all runs, without compilation
    compile_seconds: float
    busy: float  # share of the lanes' time in which they run something
    idle: tuple[str, ...]  # why lanes are idle, or work for nothing


def estimated(plan: Plan, placement: Placement) -> Estimate:
    """Estimate a sweep from some seconds of runs, the programs with most arms first.

    Programs that take too long to compile are estimated from the others.
    """
    groups = sorted(plan.groups(plan.distinct_cells), key=lambda cells: -_arms(cells))
    began, samples = time.perf_counter(), list[Sample]()
    make_room()
    for number, cells in enumerate(groups):
        left = _ALTOGETHER - (time.perf_counter() - began)
        if samples and left < 1 + max(one.compile_seconds for one in samples):
            nearest = min(
                samples, key=lambda one: (one.kind is not type(cells[0].algorithm), abs(one.arms - _arms(cells)))
            )
            samples.append(nearest.moved(plan, cells))
        else:
            samples.append(sample(plan, cells, placement, max(_SECONDS / (len(groups) - number), 0.5)))
            began += samples[-1].compile_seconds if not number else 0.0
    times = [_scheduled(one) for one in samples]
    seconds = sum(one.seconds for one in times)
    return Estimate(
        programs=len(groups),
        pulls=sum(float(one.lengths @ one.jobs) * one.pulls_of_a_step for one in samples),
        at_least=any(one.at_least for one in samples),
        seconds=seconds,
        compile_seconds=sum(one.compile_seconds for one in samples),
        busy=sum(one.busy * one.seconds for one in times) / max(seconds, 1e-9),
        idle=tuple(_reasons(plan, groups, samples, times)),
    )


def _arms(cells: Sequence[Cell]) -> int:
    return max(cell.problem.arms for cell in cells)


def _scheduled(one: Sample) -> Schedule:
    if one.measured is not None:  # all runs have been made
        return one.measured
    return schedule(one.lengths, one.jobs, one.ratios, one.lanes, one.seconds_of_a_step, shrinks=one.shrinks)


def _reasons(plan: Plan, groups: list[list[Cell]], samples: list[Sample], times: list[Schedule]) -> list[str]:
    """Return why lanes are idle, or compute arms that do not exist, of the program that takes longest."""
    most = int(np.argmax([one.seconds for one in times]))
    one, cells, found = samples[most], groups[most], list[str]()
    if times[most].busy < _BUSY:
        longest = int(np.argmax(np.where(one.jobs > 0, one.lengths, 0)))
        where, mean = _where(plan, cells[longest]), float(one.lengths @ one.jobs) / max(int(one.jobs.sum()), 1)
        times_mean = one.lengths[longest] / max(mean, 1e-9)
        found.append(
            f"{one.lanes:,} lanes wait for the longest runs{where and f' ({where})'}, {times_mean:.2g} times the mean: "
            "more seeds keep them busy"
        )
    work = one.lengths * one.jobs
    existing = np.asarray([cell.problem.arms for cell in cells]) / one.arms
    if (padded := 1 - float(work @ existing) / max(float(work.sum()), 1e-9)) > _PADDED:
        few = min(cell.problem.arms for cell in cells)
        found.append(f"{100 * padded:.0f}% of the work is padding: problems of {few} arms run beside {one.arms}")
    return found


def _where(plan: Plan, cell: Cell) -> str:
    """Return the values of the axes in a cell."""
    found = []
    for (name, known), i in zip(plan.layout.dimensions.items(), cell.position, strict=True):
        value = np.asarray(known).tolist()[i]
        found.append(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}")
    return ", ".join(found)


def bytes_of_runs(layout: Layout) -> int:
    """Return the bytes of the runs of a sweep on disk, where they are kept."""
    of_arms = -(-layout.arms // 8) * layout.bandits
    each = sum(of_arms if v.per_arm else np.dtype(v.dtype).itemsize for v in layout.variables.values())
    return layout.runs * (8 + layout.points * each)
