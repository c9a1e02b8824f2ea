"""What a sweep is likely to take, from a few seconds of its runs."""

import time
from typing import NamedTuple

import numpy as np

from jaxbandits.engine.compilation import compile_clock, make_room
from jaxbandits.engine.driver import Progress, job_rows
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.program import Placement
from jaxbandits.engine.programs_on_disk import kept_programs
from jaxbandits.stores.layout import Layout
from jaxbandits.sweeps.plan import Plan
from jaxbandits.sweeps.programs import program

__all__ = ["Estimate", "bytes_of_runs", "estimated"]

#: Seconds that the runs go on, and that they and compilation take together where that is possible.
_SECONDS, _ALTOGETHER = 4.0, 9.0


class Estimate(NamedTuple):
    """What a sweep is likely to take; nothing of it is promised."""

    programs: int
    pulls: float  # of all runs
    at_least: bool  # whether there are cells of which no run ended
    seconds: float  # of all runs, without compilation
    compile_seconds: float


def estimated(plan: Plan, placement: Placement) -> Estimate:
    """Make runs for a few seconds, of the program with most cells, and see how far they come.

    Args:
        plan: the sweep.
        placement: where it is to be run.
    """
    groups = plan.groups(plan.cells)
    cells = max(groups, key=len)
    places = plan.places(cells)
    first, count = plan.layout.first_seed, plan.layout.seeds
    batched = program(cells, plan.identity[:, places], plan.checkpoints, plan.runs, plan.own)
    ended, pulls = np.zeros(len(cells)), np.zeros(len(cells))
    latest, began = Progress(0, 0.0), time.perf_counter()

    def report(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    make_room()
    with kept_programs(), compile_clock() as clock:
        queue = JobQueue([[(first, first + count)]] * len(cells))
        for rows in job_rows(batched, queue, placement, report):
            over = rows.ended
            np.add.at(ended, rows.cell[over], 1)
            np.add.at(pulls, rows.cell[over], rows.account.pulls.to_numpy()[over])
            now = time.perf_counter()
            spent = now - began - clock.seconds
            if spent >= _SECONDS or (spent > 0.5 and now - began >= _ALTOGETHER):
                break
    running = max(time.perf_counter() - began - clock.seconds, 1e-6)
    known = ended > 0
    usual = pulls.sum() / max(ended.sum(), 1)
    mean = np.where(known, pulls / np.maximum(ended, 1), usual)
    rate = max(latest.pulls, pulls.sum()) / running
    total = float(mean.mean()) * plan.layout.runs
    return Estimate(len(groups), total, not known.all(), total / max(rate, 1e-9), clock.seconds * len(groups))


def bytes_of_runs(layout: Layout) -> int:
    """Bytes that the runs of a sweep take on disk, where they are kept."""
    of_arms = -(-layout.arms // 8) * layout.bandits
    each = sum(of_arms if v.per_arm else np.dtype(v.dtype).itemsize for v in layout.variables.values())
    return layout.runs * (8 + layout.points * each)
