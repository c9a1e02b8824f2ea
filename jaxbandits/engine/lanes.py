"""The lane engine: a queue of jobs keeps a fixed number of lanes busy, inside one compiled loop per device.

A job is (cell of the grid, seed). A lane that finishes its job logs one row and loads the next job. So runs whose
lengths differ by orders of magnitude do not wait for each other. Memory depends on lanes, cells and the log's capacity,
never on the number of jobs. Results do not depend on lanes, chunk, devices or the other cells: a run is a function of
its algorithm, its problem and its key.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec

from jaxbandits.arrays.numerics import fast_min
from jaxbandits.arrays.platform_lowering import tracing_for
from jaxbandits.bounded_jit import recent_programs
from jaxbandits.compilers.jax_versions import KERNELS_IN_TURN
from jaxbandits.compilers.xla_cpu import LEAVE_BARRIERS
from jaxbandits.engine.finite_populations import runs_on
from jaxbandits.engine.jobs import refill
from jaxbandits.engine.lane_state import Carry, Cells, Settings, Window, next_checkpoint
from jaxbandits.engine.llvm.ffi_kernel import compiler_is_there, steps_by_llvm
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.on_chip.pallas_loop import loop_of_kernels, tile
from jaxbandits.engine.rows import Log, LogRow, blank_log, record, row_types
from jaxbandits.engine.rule_states import RunState
from jaxbandits.problems.base import Problem
from jaxbandits.random.threefry import KeyWords

__all__ = ["COMPILER_OPTIONS", "advance", "run_chunk"]

#: Each core is a CPU device with its lanes. The compiler's own splitting of small loops over threads only costs time.
COMPILER_OPTIONS = {
    **KERNELS_IN_TURN,
    "xla_cpu_prefer_vector_width": 512,
    "xla_disable_hlo_passes": f"cpu-parallel-task-assigner,{LEAVE_BARRIERS}",
}

#: Programs that a process holds, some 40 MB each. A comparison of all algorithms needs up to 53, one after the other:
#: with fewer the next comparison would find none of them.
MOST_PROGRAMS = 64


@recent_programs(MOST_PROGRAMS, "settings", compiler_options=COMPILER_OPTIONS)
def advance(
    cells: Cells, window: Window, carry: Carry, rounds: jax.Array, chunk: jax.Array, *, settings: Settings
) -> tuple[Carry, Log]:
    """Run the lanes until no job is left, the log is full, or `rounds` chunks are done.

    Args:
        cells: the grid.
        window: the next jobs, every leaf with the device axis first: `settings.window`, or all that are left.
        carry: the lanes, every leaf with the device axis first.
        rounds: int32 (), at least 1.
        chunk: int32 (), a multiple of `settings.block`: steps in a chunk, after which finished lanes are refilled.
        settings: what the loop is compiled for.

    Returns:
        The lanes and the log, with the device axis first; `following` is the number of loaded jobs of the window.
    """
    shared, split = PartitionSpec(), PartitionSpec("device")
    types = row_types(cells, carry, settings)  # traced before, for the host

    def on_device(cells: Cells, window: Window, carry: Carry, rounds: jax.Array, chunk: jax.Array) -> tuple[Carry, Log]:
        jobs, lanes = jax.tree.map(lambda x: x[0], (window, carry))
        with tracing_for(settings.platform):
            result = _work(cells, jobs, lanes, rounds, chunk, types, settings)
        return jax.tree.map(lambda x: x[None], result)

    parts, whole = (shared, split, split, shared, shared), split
    with settings.code.traced():
        return jax.shard_map(on_device, mesh=settings.mesh, in_specs=parts, out_specs=whole, check_vma=False)(
            cells, window, carry, rounds, chunk
        )


def _work(
    cells: Cells, window: Window, carry: Carry, rounds: jax.Array, chunk: jax.Array, types: LogRow, settings: Settings
) -> tuple[Carry, Log]:
    log = blank_log(types, carry.problem.arms, settings)
    carry = carry._replace(following=carry.following * 0)

    def unfinished(loop: tuple[jax.Array, Carry, Log]) -> jax.Array:
        done_rounds, carry, log = loop
        left = (carry.following < window.jobs) | jnp.any(carry.busy)
        return left & (log.rows + settings.lanes <= settings.capacity) & (done_rounds < rounds)

    def one_round(loop: tuple[jax.Array, Carry, Log]) -> tuple[jax.Array, Carry, Log]:
        done_rounds, carry, log = loop
        idle = ~carry.busy
        carry = refill(cells, window, carry, settings)
        if carry.problem.history is None:  # or else the first states have pulls from before the runs
            first = jnp.sum(jnp.where(idle & carry.busy, carry.state.made(), 0))
            log = log._replace(pulled=log.pulled + first)
        carry, log = run_chunk(cells, carry, log, chunk, settings)
        carry, log = record(cells, carry, log, settings)
        return done_rounds + 1, carry, log

    done_rounds, carry, log = lax.while_loop(unfinished, one_round, (jnp.int32(0), carry, log))
    return carry, log._replace(rounds=done_rounds)


class _LoopInvariants(NamedTuple):
    """The data that a step reads and does not change."""

    algorithm: MappedAlgorithm  # leaves (R,)
    problem: Problem  # leaves (K, R)
    key: Any  # words of the runs' keys, runs last for vectorisation: uint32 (2, R), or `KeyWords`
    busy: jax.Array  # bool (R,)
    max_pulls: jax.Array  # int32 ()
    stop: jax.Array  # int32 () or (R,): pulls that no step needs to pass
    point: jax.Array | None  # int32 or float32 (R,): the next checkpoint


_Lanes = tuple[RunState, jax.Array]  # the state, and int32 (R,) steps


def run_chunk(cells: Cells, carry: Carry, log: Log, chunk: jax.Array, settings: Settings) -> tuple[Carry, Log]:
    """Make `chunk` steps of every lane; a lane pauses once it is done or at its next checkpoint.

    Args:
        cells: the grid.
        carry: the lanes.
        log: the log of the call.
        chunk: int32 (), a multiple of `settings.block`.
        settings: what the loop is compiled for.

    Returns:
        The lanes after these steps, and the log with their pulls.
    """
    point = next_checkpoint(cells, carry) if cells.checkpoints.shape[0] else None
    stop = cells.max_pulls
    in_flight = carry.algorithm.in_flight
    if point is not None and not in_flight and jnp.issubdtype(point.dtype, jnp.integer):  # pulls, not costs
        stop = fast_min(stop, point)
    before = carry.state.made()
    words = jax.random.key_data(carry.key).T
    standing = _LoopInvariants(carry.algorithm, carry.problem, words, carry.busy, cells.max_pulls, stop, point)
    lanes, blocks = (carry.state, carry.steps), chunk // settings.block

    def one_block(standing: _LoopInvariants, lanes: _Lanes) -> _Lanes:
        return lax.fori_loop(0, settings.block, lambda _, lanes: _one_step(standing, lanes), lanes)

    if settings.on_chip:
        standing = standing._replace(key=KeyWords(*words))
    if settings.on_chip and settings.platform == "cpu" and compiler_is_there():
        state, steps = steps_by_llvm(_one_step, standing, lanes, carry.busy, chunk)
    elif settings.on_chip:
        shape, interpret = tile(settings.platform, carry.problem.arms), settings.platform == "cpu"
        state, steps = loop_of_kernels(one_block, standing, lanes, blocks, shape, interpret=interpret)
    else:
        state, steps = lax.fori_loop(0, blocks, lambda _, lanes: one_block(standing, lanes), lanes)
    if carry.algorithm.states_count_steps:
        steps = steps + carry.algorithm.steps_made(carry.state, state, carry.busy)
    pulled = jnp.sum(state.made() - before)
    return carry._replace(state=state, steps=steps), log._replace(pulled=log.pulled + pulled)


def _one_step(standing: _LoopInvariants, lanes: _Lanes) -> _Lanes:
    (algorithm, problem, key, busy, max_pulls, stop, point), (state, steps) = standing, lanes
    live = busy & ~algorithm.at_limit(state, max_pulls)
    if not algorithm.one_pull_a_step:
        live = live & ~algorithm.done(state)
    # Always arrays: Python's ~False is -1, and would turn a mask of lanes into whole numbers.
    live = live & ~jnp.asarray(algorithm.exhausted(state)) & ~jnp.asarray(algorithm.stalled(state))
    if problem.finite:
        live = live & runs_on(algorithm, problem, state)
    if point is not None:
        live = live & ~state.reached(point)
    if not isinstance(key, KeyWords):
        key = jax.random.wrap_key_data(key.T, impl="threefry2x32")
    new = algorithm.advance(problem, key, state, live, stop)
    if algorithm.states_count_steps:  # counted once, after the loop
        return new, steps
    return new, steps + algorithm.steps_made(state, new, live)
