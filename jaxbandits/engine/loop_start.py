"""The start of a compiled loop: its settings, the grid and the empty lanes on the devices, and its compilation."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax.typing import ArrayLike

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import whole
from jaxbandits.engine.aot_cache import with_machine_code
from jaxbandits.engine.devices import chosen_devices
from jaxbandits.engine.job_queue import JobQueue
from jaxbandits.engine.jobs import empty_carry
from jaxbandits.engine.lane_counts import block_length, lane_count
from jaxbandits.engine.lane_state import Carry, Cells, Settings
from jaxbandits.engine.lanes import advance
from jaxbandits.engine.memory_limits import oom_as_usage_error
from jaxbandits.engine.metric import functions_of
from jaxbandits.engine.on_chip.pallas_loop import whole_kernels
from jaxbandits.engine.on_chip.pallas_support import may_stay_on_chip
from jaxbandits.engine.program import Placement, Program
from jaxbandits.engine.rows import LogRow, row_types
from jaxbandits.random.streams import root_key
from jaxbandits.transform import traced_once
from jaxbandits.users_code.cache_key import code_of

__all__ = ["LoopStart", "compile_loop", "log_capacity", "start_loop", "usual_lanes"]

#: Bytes of a log of returned arms: above 65 536 arms there is room for fewer than 1024 runs.
_LOGGED = 2**26


class LoopStart(NamedTuple):
    """What a compiled loop starts with."""

    settings: Settings
    cells: Cells
    carry: Carry  # lanes without jobs, the device axis first
    types: LogRow  # shapes and dtypes of a logged row


def start_loop(program: Program, queue: JobQueue, placement: Placement) -> LoopStart:
    """Return the start of a program's loop.

    Args:
        program: what to run.
        queue: the runs to make of its cells.
        placement: where to run it.

    Raises:
        UsageError: devices, lanes or chunk outside their ranges; more lanes than fit into a device's memory.
    """
    algorithm, problem, identity, checkpoints, runs, metrics, judge, successor = program
    lanes, chunk = placement.lanes, placement.chunk
    available = chosen_devices(placement)
    mesh = jax.make_mesh((len(available),), ("device",), (AxisType.Auto,), devices=available)
    in_batches, platform = algorithm.traits.in_batches, available[0].platform
    on_chip = placement.on_chip and may_stay_on_chip(algorithm, platform)
    if lanes is None:
        lanes = usual_lanes(program, queue, mesh.size, platform)
    lanes = whole("lanes", lanes, 1, MAX_COUNT)
    if on_chip:
        lanes = whole_kernels(lanes, platform, problem.arms)
    usual = block_length(platform, in_batches=in_batches, on_chip=on_chip)
    settings = Settings(
        mesh=mesh,
        lanes=lanes,
        block=usual if chunk is None else whole("chunk", chunk, 1, MAX_COUNT),
        capacity=log_capacity(lanes, problem.arms),
        independent=runs.independent,
        together=in_batches,
        metrics=metrics,
        judge=judge,
        code=code_of(algorithm, problem, functions=functions_of(metrics)),
        on_chip=on_chip,
    )
    width = _bucket(identity.shape[1]) - identity.shape[1]

    def pad(leaf: ArrayLike) -> Any:
        leaf = np.asarray(leaf)
        return np.concatenate([leaf, np.repeat(leaf[..., -1:], width, axis=-1)], axis=-1)

    max_pulls: Any = np.int32(runs.max_pulls)
    cells = Cells(
        algorithm=jax.tree.map(pad, algorithm),
        problem=jax.tree.map(pad, problem),
        identity=pad(identity.astype(np.uint32)),
        checkpoints=pad(checkpoints),
        root=root_key(runs.root_seed),
        max_pulls=max_pulls,
        successor=None if successor is None else pad(successor),
    )
    cells = jax.device_put(cells, NamedSharding(mesh, PartitionSpec()))
    carry = empty_carry(cells, settings)
    return LoopStart(settings, cells, carry, row_types(cells, carry, settings))


def usual_lanes(program: Program, queue: JobQueue, devices: int, platform: str) -> int:
    """Return the number of runs at a time per device, where the user gives none.

    Args:
        program: what to run.
        queue: the runs to make of its cells.
        devices: number of devices.
        platform: JAX's name of their platform.
    """
    # On a CPU idle lanes take time, and only the longest runs keep all of them busy until the end.
    jobs = queue.longest_left if platform == "cpu" else queue.left
    return lane_count(program.algorithm, program.problem.arms, jobs, devices, platform)


@traced_once()
def compile_loop(program: Program, queue: JobQueue, placement: Placement) -> None:
    """Compile the loop with which `run_jobs` makes these runs, and make none; arguments and errors as there."""
    settings, cells, carry, _ = start_loop(program, queue, placement)
    window = queue.deal(settings.mesh.size, settings.window)
    window = jax.device_put(window, NamedSharding(settings.mesh, PartitionSpec("device")))
    arguments = (cells, window, carry, np.int32(0), np.int32(settings.block))  # no rounds
    with oom_as_usage_error(settings):
        jax.block_until_ready(with_machine_code(advance, arguments, settings)(*arguments))


def log_capacity(lanes: int, arms: int) -> int:
    """Return the number of rows of a log."""
    return max(4 * lanes, min(1024, _LOGGED // arms))


def _bucket(count: int) -> int:
    """Return the size of a table of cells: one of few, so that another number of cells rarely compiles again."""
    size = 64
    while size < count:
        size *= 8
    return size
