"""The host's side of the lane engine: sizes, devices, and the loop that collects finished runs."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.arrays.pytrees import classes
from jaxbandits.checks import whole
from jaxbandits.engine.jobs import empty_carry
from jaxbandits.engine.lane_counts import lane_count
from jaxbandits.engine.lane_state import Cells, Settings
from jaxbandits.engine.lanes import advance
from jaxbandits.engine.program import Placement, Program
from jaxbandits.engine.rows import Log, Regret, Row, row_types, unpacked
from jaxbandits.errors import UsageError
from jaxbandits.random.streams import root_key
from jaxbandits.spending.accounts import Account

__all__ = ["Progress", "Rows", "job_rows", "use_all_cores"]

#: Bytes of a log of returned arms: above 65 536 arms it has room for fewer than 1024 runs.
_LOGGED = 2**26
_FIRST_LOOKS = 4
_BLOCK = 16
#: What refilling and logging cost, in blocks of steps of all lanes (measured for 10 and 50 arms, and for long steps).
_LOOK_BLOCKS = 5 / 16
#: Wanted seconds between two looks at the log.
_CALL_SECONDS = 0.3


class Progress(NamedTuple):
    """What a progress display needs after a call."""

    runs: int
    pulls: float


class Rows(NamedTuple):
    """Finished rows: one per run, or one per run and checkpoint."""

    job: np.ndarray  # int32 (N,)
    checkpoint: np.ndarray  # int32 (N,)
    account: Account  # (N,), Wide counts and float32
    steps: np.ndarray  # int32 (N,)
    status: np.ndarray  # int32 (N,)
    ended: np.ndarray  # bool (N,)
    regret: Regret | None  # (N,), float32
    own: dict[str, np.ndarray]  # (N,) or (N, K): a user's metrics
    recommended: np.ndarray  # bool (N, K)


def use_all_cores(count: int | None = None) -> int:
    """Give JAX one CPU device per core, to spread lanes over all of them; call it before JAX starts.

    Args:
        count: number of CPU devices; None for the number of usable cores.

    Returns:
        The number of CPU devices there are now.

    Raises:
        UsageError: if JAX has already started with another number.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = usable if count is None else count
    with contextlib.suppress(RuntimeError):  # raised when JAX has started, which the count of devices shows
        jax.config.update("jax_num_cpu_devices", wanted)
    there = len(jax.devices("cpu"))
    if there != wanted:
        raise UsageError(
            f"JAX has already started with {there} CPU device(s); call use_all_cores() before any computation"
        )
    return there


def job_rows(
    program: Program, placement: Placement, on_progress: Callable[[Progress], None] | None = None
) -> Iterator[Rows]:
    """Make the runs of a program and yield finished rows as they come, in no particular order.

    Args:
        program: what to run.
        placement: where.
        on_progress: called after every call of the compiled loop.

    Raises:
        UsageError: devices, lanes or chunk outside their ranges, or more runs than one call can number.
    """
    algorithm, problem, identity, checkpoints, runs, metrics = program
    devices, lanes, chunk = placement
    cells_count = identity.shape[1]
    available = jax.devices()
    if devices is not None:
        devices = whole("devices", devices, 1, len(available), bound="the number JAX sees")
    mesh = jax.make_mesh(
        (devices or len(available),), ("device",), (AxisType.Auto,), devices=available[: devices or None]
    )
    in_batches = algorithm.traits.in_batches
    if lanes is None:
        lanes = lane_count(algorithm, problem.arms, cells_count * runs.seeds, mesh.size, available[0].platform)
    lanes = whole("lanes", lanes, 1, MAX_COUNT)
    block = (1 if in_batches else _BLOCK) if chunk is None else whole("chunk", chunk, 1, MAX_COUNT)
    settings = Settings(
        mesh=mesh,
        lanes=lanes,
        block=block,
        capacity=max(4 * lanes, min(1024, _LOGGED // problem.arms)),
        independent=runs.independent,
        together=in_batches,
        metrics=metrics,
        classes=classes((algorithm, problem)),
    )
    jobs = cells_count * runs.seeds
    if jobs * max(1, checkpoints.shape[0]) > MAX_COUNT:
        raise UsageError(f"{jobs} runs are more than one call can number (2^31 - 1): split the grid")
    width = _bucket(cells_count) - cells_count

    def pad(leaf: Any) -> Any:
        leaf = np.asarray(leaf)
        return np.concatenate([leaf, np.repeat(leaf[..., -1:], width, axis=-1)], axis=-1)

    numbers: Any = [np.int32(number) for number in (runs.seeds, jobs, runs.max_pulls)]
    cells = Cells(
        algorithm=jax.tree.map(pad, algorithm),
        problem=jax.tree.map(pad, problem),
        identity=pad(identity.astype(np.uint32)),
        checkpoints=pad(checkpoints),
        root=root_key(runs.root_seed),
        seeds=numbers[0],
        jobs=numbers[1],
        max_pulls=numbers[2],
    )
    cells = jax.device_put(cells, NamedSharding(mesh, PartitionSpec()))
    carry = empty_carry(cells, settings)
    types = row_types(cells, carry, settings)
    pace, finished, pulled = _Pace(chunk, block), 0, 0.0
    while finished < jobs:
        began = time.perf_counter()
        carry, log = advance(cells, carry, np.int32(pace.rounds), np.int32(pace.chunk), settings=settings)
        finished = int(np.sum(np.asarray(carry.finished)))
        seconds = time.perf_counter() - began
        pulled += float(np.sum(np.asarray(log.pulled)))
        for rows in _rows(log, types):
            pace.saw(rows)
            yield rows
        pace.adapt(seconds)
        if on_progress is not None:
            on_progress(Progress(runs=finished, pulls=pulled))


class _Pace:
    """How many steps to make between two looks at the lanes (a chunk), and how many chunks in a call."""

    def __init__(self, chunk: int | None, block: int) -> None:
        self.chunk = _FIRST_LOOKS * block if chunk is None else chunk
        self._block = block
        self.rounds = 4
        self._fixed = chunk is not None
        self._rows = self._steps = 0

    def saw(self, rows: Rows) -> None:
        """Count finished rows."""
        self._rows += len(rows.job)
        self._steps += int(rows.steps[rows.ended].sum(dtype=np.int64))

    def adapt(self, seconds: float) -> None:
        """Choose anew, after a call of so many seconds."""
        # A full log ends a call early, which says nothing of the time a chunk takes; only short calls grow the next.
        steps = self.chunk * self.rounds * min(4.0, _CALL_SECONDS / max(seconds, 1e-3))
        if not self._fixed:
            # A row waits half a chunk for its lane to be seen, and a look costs as much as L steps: S / chunk looks a
            # row and chunk / 2 idle steps are fewest together at sqrt(2 S L).
            look = _LOOK_BLOCKS * self._block
            wanted = (2 * look * self._steps / self._rows) ** 0.5 if self._rows else 2 * self.chunk
            self.chunk = int(np.clip(wanted // self._block, 1, 64)) * self._block
        self.rounds = int(np.clip(steps / self.chunk, 1, 2**24))


def _bucket(count: int) -> int:
    """Tables of cells come in few sizes, so that the number of cells rarely means another compilation."""
    size = 64
    while size < count:
        size *= 8
    return size


def _rows(log: Log, types: Row) -> Iterator[Rows]:
    words, recommended = np.asarray(log.words), np.asarray(log.recommended)
    for device, count in enumerate(np.asarray(log.rows)):
        if count:
            found = unpacked(words[device, :, :count], types)
            yield Rows(**found._asdict(), recommended=recommended[device, :count])
