"""How long lanes take for jobs of known lengths, longest first; and for how much of that time they are idle."""

import heapq
from typing import NamedTuple

import numpy as np

from jaxbandits.engine.lane_compaction import WORTH

__all__ = ["Schedule", "schedule"]

#: Jobs that are placed one by one; the shorter ones fill the lanes that are idle.
_PLACED = 50_000
#: Seconds between two looks at the lanes, about.
_LOOK = 0.3
#: Seconds to compile for fewer lanes.
_COMPILING = 4.0


class Schedule(NamedTuple):
    """The time of some jobs on some lanes."""

    seconds: float
    busy: float  # share of the lanes' time in which they run a job, in (0, 1]


def schedule(
    lengths: np.ndarray, jobs: np.ndarray, ratios: np.ndarray, lanes: int, seconds_of_a_step: float, *, shrinks: bool
) -> Schedule:
    """Return how long jobs take.

    Args:
        lengths: the mean steps of a job of each cell, `(C,)`.
        jobs: the number of jobs of each cell, `(C,)`.
        ratios: lengths of single jobs, as multiples of the mean of their cell, `(N,)`.
        lanes: jobs at a time.
        seconds_of_a_step: the time of a step of all lanes.
        shrinks: whether there will be fewer lanes at the end, where that saves time (`engine.lane_compaction`).
    """
    total = float(lengths @ jobs)
    order = np.argsort(-lengths, kind="stable")
    longest = np.repeat(lengths[order], np.minimum(jobs[order], _PLACED))[:_PLACED]
    longest = longest * np.random.default_rng(0).choice(ratios / ratios.mean(), longest.size)
    free = [0.0] * lanes
    for length in longest.tolist():
        heapq.heapreplace(free, free[0] + length)
    ends = np.sort(free)
    # The shorter jobs fill the lanes up to the level at which all are done.
    rest = max(0.0, total - float(longest.sum()))
    below = np.arange(1, lanes + 1) * ends - np.cumsum(ends)  # the room below each end
    number = int(np.searchsorted(below, rest, side="right"))
    level = (rest + float(ends[:number].sum())) / max(number, 1)
    ends = np.maximum(ends, level)
    steps = _steps_of_the_end(ends, seconds_of_a_step) if shrinks else float(ends[-1])
    made = float(ends.sum()) if total == 0 else max(total, float(longest.sum()))
    return Schedule(steps * seconds_of_a_step, min(1.0, made / max(steps * lanes, 1e-9)))


def _steps_of_the_end(ends: np.ndarray, seconds_of_a_step: float) -> float:
    """Return the steps of all lanes that take as long as these jobs, if fewer lanes make the last ones."""
    lanes, last = ends.size, float(ends[-1])
    width, spent, at = lanes, 0.0, 0.0  # of steps of all lanes
    for end in ends[:-1].tolist():
        left = lanes - int(np.searchsorted(ends, end + _LOOK / seconds_of_a_step, side="right"))
        if left and (last - end) * seconds_of_a_step * (width - left) / lanes > WORTH:
            spent += (end - at) * width / lanes + _COMPILING / seconds_of_a_step
            at, width = end, left
    return spent + (last - at) * width / lanes
