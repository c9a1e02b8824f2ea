"""The expected time and size of a sweep, estimated from a few seconds of its runs."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.compilation_cache import kept_programs
from jaxbandits.engine.driver import Progress, run_jobs
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.program import Placement
from jaxbandits.storage.layout import Layout
from jaxbandits.sweeps.grid import Cell
from jaxbandits.sweeps.group_cells import program
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.shared_trajectories import next_cells

__all__ = ["Estimate", "bytes_of_runs", "estimated"]

#: Seconds of runs, of all programs together; and of runs and compilation, where that is possible.
_SECONDS, _ALTOGETHER = 4.0, 9.0


class Estimate(NamedTuple):
    """The expected pulls and time of a sweep, without a guarantee."""

    programs: int
    pulls: float  # of all runs
    at_least: bool  # whether no run of some cell ended
    seconds: float  # of all runs, without compilation
    compile_seconds: float


class _Sample(NamedTuple):
    """Measurements of some seconds of a program's runs."""

    arms: int
    pulls: float  # of a run, on average over its cells
    rate: float  # pulls a second
    compile_seconds: float
    at_least: bool

    def moved(self, arms: int) -> "_Sample":
        """Return the sample scaled to another number of arms: pulls and the time of a pull grow about in proportion."""
        return self._replace(arms=arms, pulls=self.pulls * arms / self.arms, rate=self.rate * self.arms / arms)


def estimated(plan: Plan, placement: Placement) -> Estimate:
    """Estimate a sweep from a few seconds of runs, the programs with most arms first.

    Programs that take too long to compile are estimated from the others.

    Args:
        plan: the sweep.
        placement: where it is to be run.
    """
    groups = sorted(plan.groups(plan.distinct_cells), key=lambda cells: -_arms(cells))
    began, samples = time.perf_counter(), list[_Sample]()
    make_room()
    for number, cells in enumerate(groups):
        left = _ALTOGETHER - (time.perf_counter() - began)
        if samples and left < 1 + max(sample.compile_seconds for sample in samples):
            nearest = min(samples, key=lambda sample: abs(sample.arms - _arms(cells)))
            samples.append(nearest.moved(_arms(cells)))
        else:
            samples.append(_sampled(plan, cells, placement, min(_SECONDS, max(left - 1, 0.5)) / (len(groups) - number)))
    seeds = plan.layout.seeds
    pulls = [sample.pulls * len(cells) * seeds for sample, cells in zip(samples, groups, strict=True)]
    return Estimate(
        programs=len(groups),
        pulls=sum(pulls),
        at_least=any(sample.at_least for sample in samples),
        seconds=sum(count / sample.rate for count, sample in zip(pulls, samples, strict=True)),
        compile_seconds=sum(sample.compile_seconds for sample in samples),
    )


def _arms(cells: Sequence[Cell]) -> int:
    return max(cell.problem.arms for cell in cells)


def _sampled(plan: Plan, cells: list[Cell], placement: Placement, seconds: float) -> _Sample:
    """Make runs of compatible cells for `seconds`, and return their measurements."""
    places, first = plan.places(cells), plan.layout.first_seed
    seeds = [[(first, first + plan.layout.seeds)]] * len(cells)
    following = next_cells(plan.chains.places, places, seeds)
    batched = program(cells, plan.identity[:, places], plan.checkpoints, plan.runs_of(cells), plan.own, following)
    ended, pulls = np.zeros(len(cells)), np.zeros(len(cells))
    latest, began = Progress(0, 0.0), time.perf_counter()

    def report(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    with kept_programs(), compile_clock() as clock:
        queue = JobQueue(seeds, following)
        for rows in run_jobs(batched, queue, placement, report):
            over = rows.ended
            np.add.at(ended, rows.cell[over], 1)
            np.add.at(pulls, rows.cell[over], rows.account.pulls.to_numpy()[over])
            if time.perf_counter() - began - clock.seconds >= seconds:
                break
    running = max(time.perf_counter() - began - clock.seconds, 1e-6)
    known = ended > 0
    mean = pulls / np.maximum(ended, 1)
    mean = np.where(known, mean, mean.max())  # runs of a cell are the longest if none has ended
    rate = max(latest.pulls, pulls.sum(), 1.0) / running
    return _Sample(_arms(cells), float(mean.mean()), rate, clock.seconds, not known.all())


def bytes_of_runs(layout: Layout) -> int:
    """Return the bytes of the runs of a sweep on disk, where they are kept."""
    of_arms = -(-layout.arms // 8) * layout.bandits
    each = sum(of_arms if v.per_arm else np.dtype(v.dtype).itemsize for v in layout.variables.values())
    return layout.runs * (8 + layout.points * each)
