"""The host side of the lane engine: sizes, devices, and the loop that collects finished runs."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from jaxbandits.costs.accounts import Account
from jaxbandits.engine.aot_cache import with_machine_code
from jaxbandits.engine.flights import Journey
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.lane_compaction import lanes_worth_having, packed
from jaxbandits.engine.lane_state import Carry
from jaxbandits.engine.lanes import advance
from jaxbandits.engine.loop_start import log_capacity, start_loop
from jaxbandits.engine.memory_limits import oom_as_usage_error
from jaxbandits.engine.on_chip.pallas_support import compiles_on_chip
from jaxbandits.engine.program import Placement, Program
from jaxbandits.engine.rows import Log, LogRow, Regret, unpacked

__all__ = ["LogRows", "Progress", "run_jobs"]

_FIRST_LOOKS = 4
#: The cost of refilling and logging, in blocks of steps of all lanes (measured for 10 and 50 arms, and long steps).
_LOOK_BLOCKS = 5 / 16
#: Seconds that a call of the compiled loop should take.
_CALL_SECONDS = 0.3


class Progress(NamedTuple):
    """The progress of the runs, reported after a call.

    Attributes:
        runs: runs that have ended.
        pulls: pulls of all runs.
        steps: steps of these runs, and of those in progress.
        lane_steps: steps of all lanes, including idle ones.

    Example:
        >>> jb.Progress(runs=10, pulls=500.0).runs
        10
    """

    runs: int
    pulls: float
    steps: float = 0.0
    lane_steps: float = 0.0

    def after(self, earlier: "Progress") -> "Progress":
        """Return the sum of both."""
        return Progress(*(a + b for a, b in zip(self, earlier, strict=True)))  # type: ignore[arg-type]


class LogRows(NamedTuple):
    """Finished rows: one per run, or one per run and checkpoint."""

    cell: np.ndarray  # int32 (N,)
    seed: np.ndarray  # int32 (N,)
    checkpoint: np.ndarray  # int32 (N,)
    account: Account  # (N,); counts are `UInt64`, costs float32
    steps: np.ndarray  # int32 (N,)
    status: np.ndarray  # int32 (N,)
    ended: np.ndarray  # bool (N,)
    regret: Regret | None  # (N,), float32
    correct: np.ndarray | None  # bool (N,): by the algorithm's own criterion
    own: dict[str, np.ndarray]  # (N,) or (N, K): the user's metrics
    evaluations: np.ndarray | None  # int32 (N,): cells of finite populations that were read
    journey: Journey | None  # (N,), int32: of runs with pulls in flight
    recommended: np.ndarray  # bool (N, K)


def run_jobs(
    program: Program, queue: JobQueue, placement: Placement, on_progress: Callable[[Progress], None] | None = None
) -> Iterator[LogRows]:
    """Make the runs of a program, and yield finished rows as they come, in no particular order.

    Args:
        program: what to run.
        queue: the runs to make of its cells.
        placement: where to run it.
        on_progress: called after every call of the compiled loop.

    Raises:
        UsageError: devices, lanes or chunk outside their ranges; more lanes than fit into a device's memory.
    """
    problem, successor = program.problem, program.successor
    settings, cells, carry, types = start_loop(program, queue, placement)
    mesh, block, chunk = settings.mesh, settings.block, placement.chunk
    shrinks = placement.lanes is None and settings.platform == "cpu" and not settings.on_chip
    split = NamedSharding(mesh, PartitionSpec("device"))
    pace, done, in_lanes, compiled = _Pace(chunk, block), Progress(runs=0, pulls=0.0), 0, False
    work: Callable[..., tuple[Carry, Log]] | None = None
    while queue.left or in_lanes:
        began = time.perf_counter()
        window = jax.device_put(queue.deal(mesh.size, settings.window), split)
        arguments = (cells, window, carry, np.int32(pace.rounds), np.int32(pace.chunk))
        if work is None:
            if settings.on_chip and not compiles_on_chip(advance, arguments, settings):
                settings = dataclasses.replace(settings, on_chip=False)
            work = with_machine_code(advance, arguments, settings)
        with oom_as_usage_error(settings):
            carry, log = work(*arguments)
            loaded = np.asarray(carry.following)
        queue.loaded(loaded)
        seconds = time.perf_counter() - began
        in_lanes += int(loaded.sum())
        logged, ended, steps = 0, 0, 0.0
        for rows in _rows(log, types):
            over = rows.ended
            queue.saw(rows.cell[over], rows.steps[over])
            logged, ended = logged + len(over), ended + int(over.sum())
            free = over if successor is None else over & (successor[rows.cell] < 0)
            in_lanes -= int(free.sum())
            steps += float(rows.steps[free].sum(dtype=np.int64))
            yield rows
        made = np.asarray(log.rounds).astype(np.int64) * pace.chunk
        lane_steps = float(settings.lanes * made.sum())
        done = Progress(ended, float(np.sum(np.asarray(log.pulled))), steps, lane_steps).after(done)
        pace.adapt(seconds, logged, steps)
        if on_progress is not None:
            under_way = np.asarray(carry.steps)[np.asarray(carry.busy)].sum(dtype=np.int64)
            on_progress(done._replace(steps=done.steps + float(under_way)))
        fewer = settings.lanes
        if shrinks and compiled:  # the time of the first call includes compilation
            fewer = lanes_worth_having(carry, queue, settings, seconds / max(int(made.max()), 1))
        compiled = fewer == settings.lanes
        if not compiled:
            settings = dataclasses.replace(settings, lanes=fewer, capacity=log_capacity(fewer, problem.arms))
            carry, work = packed(carry, settings), None


class _Pace:
    """The number of steps between two refills of the lanes (a chunk), and the number of chunks in a call."""

    def __init__(self, chunk: int | None, block: int) -> None:
        self.chunk = _FIRST_LOOKS * block if chunk is None else chunk
        self._block = block
        self.rounds = 4
        self._fixed = chunk is not None
        self._rows, self._steps = 0, 0.0

    def adapt(self, seconds: float, rows: int, steps: float) -> None:
        """Choose both again after a call.

        Args:
            seconds: the time of the call.
            rows: how many rows it logged.
            steps: steps of the runs that ended in it.
        """
        self._rows += rows
        self._steps += steps
        # A full log ends a call early, so its time does not measure a chunk; only short calls make the next one longer.
        steps = self.chunk * self.rounds * min(4.0, _CALL_SECONDS / max(seconds, 1e-3))
        if not self._fixed:
            # A finished lane waits half a chunk on average, and a refill costs as much as L steps. With S steps a row,
            # the sum of (S / chunk) L and chunk / 2 is smallest at chunk = sqrt(2 S L).
            look = _LOOK_BLOCKS * self._block
            wanted = (2 * look * self._steps / self._rows) ** 0.5 if self._rows else 2 * self.chunk
            self.chunk = int(np.clip(wanted // self._block, 1, 64)) * self._block
        self.rounds = int(np.clip(steps / self.chunk, 1, 2**24))


def _rows(log: Log, types: LogRow) -> Iterator[LogRows]:
    words, recommended = np.asarray(log.words), np.asarray(log.recommended)
    for device, count in enumerate(np.asarray(log.rows)):
        if count:
            found = unpacked(words[device, :, :count], types)
            yield LogRows(**found._asdict(), recommended=recommended[device, :count])
