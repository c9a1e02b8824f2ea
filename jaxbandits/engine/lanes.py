"""The lane engine: a fixed number of lanes kept busy from a queue of jobs, inside one compiled loop per device.

A job is (cell of the grid, seed). A lane that finishes its job logs one row and loads the next job, so runs that
differ by orders of magnitude in length do not wait for each other. Memory follows lanes, cells and the log's
capacity, never the number of jobs. Results do not depend on lanes, chunk, devices or the other cells: a run is a
function of its algorithm, its problem and its key.
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxbandits.arrays import arms
from jaxbandits.arrays.numerics import larger, smaller
from jaxbandits.engine.metric import Measures, measured
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import cell_key, run_key
from jaxbandits.spending.accounts import Account, Looked
from jaxbandits.status import CAPPED, ENDED, STALLED

__all__ = ["Carry", "Cells", "Log", "Regret", "Row", "Settings", "advance", "empty_carry", "row_types", "unpacked"]


class Cells(NamedTuple):
    """The grid: hyperparameters, problems and checkpoints by cell (C cells, padded), and what all jobs share."""

    algorithm: Any  # leaves (C,)
    problem: Problem  # leaves (K, C)
    identity: jax.Array  # uint32 (2, C): a hash of the cell, folded into run keys when cells are to be independent
    checkpoints: jax.Array  # (Q, C), increasing: int32, pulls at which a run is logged, or float32, costs
    root: jax.Array  # typed key ()
    seeds: jax.Array  # int32 (): seeds per cell
    jobs: jax.Array  # int32 ()
    max_pulls: jax.Array  # int32 ()


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the compiled loop is made for; none of it changes a result."""

    mesh: Mesh
    lanes: int
    block: int  # steps of the innermost loop: an accelerator runs a loop of known length without asking the host
    capacity: int
    independent: bool
    together: bool  # whether lanes tend to end in the same step, and are refilled all at once
    metrics: Measures  # a user's own
    classes: tuple[type, ...]  # of all nodes of algorithm and problem, which JAX may not tell apart


class Carry(NamedTuple):
    """The lanes of one device (a leading device axis is added outside); R lanes, arms first, runs last."""

    state: Any  # the algorithm's state, (…, R)
    algorithm: Any  # leaves (R,)
    problem: Problem  # leaves (K, R)
    key: jax.Array  # typed keys (R,)
    job: jax.Array  # int32 (R,): number in this device's queue
    busy: jax.Array  # bool (R,)
    cell: jax.Array  # int32 (R,)
    checkpoint: jax.Array  # int32 (R,): next checkpoint
    steps: jax.Array  # int32 (R,)
    looked: Looked | None  # (K, R), where costs are drawn when a run is looked at, and it is more than once
    following: jax.Array  # int32 (): next job of the queue
    finished: jax.Array  # int32 (): jobs done


class Regret(NamedTuple):
    """How far the returned arms are from the best that the reservoir has, in value; NaN where none is returned."""

    simple: jax.Array  # float32 (…): the worst of them
    aggregate: jax.Array  # float32 (…): their mean
    drawn: jax.Array  # float32 (…): the worst of m of them, from the m-th best that the run pulled


class Row(NamedTuple):
    """What is logged of a run at a time."""

    job: jax.Array  # int32 (…): number in the whole list of jobs
    checkpoint: jax.Array  # int32 (…)
    account: Account  # (…)
    steps: jax.Array  # int32 (…)
    status: jax.Array  # int32 (…): how the run ended, a code of `jaxbandits.status`
    ended: jax.Array  # bool (…): the run's last row
    regret: Regret | None  # (…): where arms were drawn for the run, and only the device knows them
    own: dict[str, jax.Array]  # (…): a user's metrics


class Log(NamedTuple):
    """Rows written in one call, in order of completion; the first `rows` are valid."""

    rows: jax.Array  # int32 ()
    pulled: jax.Array  # float32 (): pulls made in this call, for the progress display
    # One array: the compiler takes 30 ms for each loop over lanes, however small, and there is one for each array.
    words: jax.Array  # uint32 (W, capacity): the leaves of `Row`, see `unpacked`
    recommended: jax.Array  # bool (capacity, K)


def _row(
    cells: Cells, carry: Carry, job: jax.Array, status: jax.Array, ended: jax.Array, settings: Settings
) -> tuple[Row, jax.Array]:
    """Rows of all lanes, and their recommended arms, bool (K, R)."""
    recommended = carry.algorithm.recommend(carry.state)
    budget = carry.algorithm.cost_budget
    if budget is not None and cells.checkpoints.shape[0]:
        budget = smaller(budget, _next_checkpoint(cells, carry))
    spent = carry.state.account(carry.problem, carry.key, budget, carry.looked)
    row = Row(
        job=job, checkpoint=carry.checkpoint, account=spent, steps=carry.steps, status=status, ended=ended,
        regret=_regret(carry.problem, recommended, carry.state.pulls > 0),
        own=measured(settings.metrics, carry.problem, carry.algorithm.state_of(carry.state), recommended),
    )  # fmt: skip
    return row, recommended


def _regret(problem: Problem, recommended: jax.Array, pulled: jax.Array) -> Regret | None:
    if problem.supremum is None:
        return None
    value, number = problem.value, arms.total(recommended.astype(jnp.int32))
    worst = arms.smallest(jnp.where(recommended, value, jnp.inf))
    mean = arms.total(jnp.where(recommended, value, 0)) / number.astype(jnp.float32)
    best = arms.kth_largest(value, larger(number, 1), pulled)
    lost = (problem.supremum - worst, problem.supremum - mean, best - worst)
    return Regret(*(jnp.where(number > 0, regret, jnp.nan) for regret in lost))


def row_types(cells: Cells, carry: Carry, settings: Settings) -> Row:
    """The types of what is logged of these lanes, which have the device axis first."""
    types: Row = jax.eval_shape(jax.vmap(lambda c: _row(cells, c, c.job, c.job, c.busy, settings)[0]), carry)
    return types


def _packed(row: Row) -> jax.Array:
    """The leaves of rows `(R,)`, bit for bit; uint32 `(W, R)`."""
    whole = [leaf.astype(jnp.int32) if leaf.dtype == bool else leaf for leaf in jax.tree.leaves(row)]
    return jnp.stack([lax.bitcast_convert_type(leaf, jnp.uint32) for leaf in whole])


def unpacked(words: np.ndarray, like: Row) -> Row:
    """Rows `(N,)` from the words `(W, N)` of a log, on the host.

    Args:
        words: uint32.
        like: rows with the leaves' types, of any shape.
    """
    leaves, structure = jax.tree.flatten(like)
    found = [
        column.astype(bool) if leaf.dtype == bool else column.view(leaf.dtype)
        for column, leaf in zip(words, leaves, strict=True)
    ]
    rows: Row = jax.tree.unflatten(structure, found)
    return rows


def empty_carry(cells: Cells, settings: Settings) -> Carry:
    """Lanes that hold no job yet, with the device axis first on every leaf."""
    devices, lanes = settings.mesh.size, settings.lanes
    shapes = jax.eval_shape(lambda c: _load(c, jnp.zeros(lanes, jnp.int32), settings), cells)

    def blank(leaf: jax.ShapeDtypeStruct) -> Any:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            words: Any = np.zeros((devices, *leaf.shape, 2), np.uint32)
            return jax.random.wrap_key_data(words, impl="threefry2x32")
        return np.zeros((devices, *leaf.shape), leaf.dtype)

    never = jax.eval_shape(lambda: _never_looked(cells, shapes[0], shapes[1], (lanes,)))
    (algorithm, problem, key, cell, state), looked = jax.tree.map(blank, (shapes, never))
    zeros: Any = np.zeros((devices, lanes), np.int32)
    count: Any = np.zeros(devices, np.int32)
    carry = Carry(
        state=state, algorithm=algorithm, problem=problem, key=key, job=zeros, busy=zeros > 0, cell=cell,
        checkpoint=zeros, steps=zeros, looked=looked, following=count, finished=count,
    )  # fmt: skip
    # Placed as the loop will return it: another placement would be another compilation.
    return jax.device_put(carry, NamedSharding(settings.mesh, PartitionSpec("device")))


# Lanes are spread over one CPU device per core; the compiler's own splitting of small loops over threads only costs.
_COMPILER_OPTIONS = {"xla_cpu_prefer_vector_width": 512, "xla_disable_hlo_passes": "cpu-parallel-task-assigner"}


@functools.partial(jax.jit, static_argnames=("settings",), compiler_options=_COMPILER_OPTIONS)
def advance(
    cells: Cells, carry: Carry, rounds: jax.Array, chunk: jax.Array, *, settings: Settings
) -> tuple[Carry, Log]:
    """Run the lanes until the queue is empty, the log is full, or `rounds` chunks are done.

    Args:
        cells: the grid.
        carry: the lanes, every leaf with the device axis first.
        rounds: int32 (), at least 1.
        chunk: int32 (), a multiple of `settings.block`: steps in a chunk, after which finished lanes are refilled.
        settings: what the loop is compiled for.

    Returns:
        The lanes and the log, with the device axis first. All jobs are finished when the `finished` counts add up to
        `cells.jobs`.
    """
    shared, split = PartitionSpec(), PartitionSpec("device")

    def on_device(cells: Cells, carry: Carry, rounds: jax.Array, chunk: jax.Array) -> tuple[Carry, Log]:
        local = jax.tree.map(lambda x: x[0], carry)
        result = _work(cells, local, rounds, chunk, settings)
        return jax.tree.map(lambda x: x[None], result)

    return jax.shard_map(
        on_device, mesh=settings.mesh, in_specs=(shared, split, shared, shared), out_specs=split, check_vma=False
    )(cells, carry, rounds, chunk)


def _work(cells: Cells, carry: Carry, rounds: jax.Array, chunk: jax.Array, settings: Settings) -> tuple[Carry, Log]:
    devices = settings.mesh.size
    queue = (cells.jobs - lax.axis_index("device") + devices - 1) // devices  # jobs are dealt out in turn
    # Constants made inside a shard_map must still vary with its inputs.
    log = _blank_log(cells, carry, settings)

    def unfinished(loop: tuple[jax.Array, Carry, Log]) -> jax.Array:
        done_rounds, carry, log = loop
        return (carry.finished < queue) & (log.rows + settings.lanes <= settings.capacity) & (done_rounds < rounds)

    def one_round(loop: tuple[jax.Array, Carry, Log]) -> tuple[jax.Array, Carry, Log]:
        done_rounds, carry, log = loop
        carry = _refill(cells, carry, queue, settings)
        carry, log = _run_chunk(cells, carry, log, chunk, settings)
        carry, log = _record(cells, carry, log, settings)
        return done_rounds + 1, carry, log

    _, carry, log = lax.while_loop(unfinished, one_round, (jnp.int32(0), carry, log))
    return carry, log


def _blank_log(cells: Cells, carry: Carry, settings: Settings) -> Log:
    row, recommended = jax.eval_shape(lambda c: _row(cells, c, c.job, c.job, c.busy, settings), carry)
    return Log(
        rows=jnp.int32(0),
        pulled=jnp.float32(0),
        words=jnp.zeros((len(jax.tree.leaves(row)), settings.capacity), jnp.uint32),
        recommended=jnp.zeros((settings.capacity, recommended.shape[0]), bool),
    )


def _load(cells: Cells, job: jax.Array, settings: Settings) -> tuple[Any, Problem, jax.Array, jax.Array, Any]:
    """Algorithm, problem, key, cell and first state of jobs given by their number in the whole list, `(R,)`."""
    cell = smaller(job // cells.seeds, cells.identity.shape[1] - 1)
    algorithm, problem = jax.tree.map(lambda leaf: leaf[..., cell], (cells.algorithm, cells.problem))
    key = run_key(cells.root, job % cells.seeds)
    if settings.independent:
        key = cell_key(key, *cells.identity[:, cell])
    problem = problem.realised(key)
    return algorithm, problem, key, cell, algorithm.init(problem, key)


def _never_looked(cells: Cells, algorithm: Any, problem: Problem, shape: tuple[int, ...]) -> Looked | None:
    drawn = problem.costs is not None and problem.costs.drawn_as_sums and algorithm.cost_budget is None
    return Looked.never(problem.arms, shape) if drawn and cells.checkpoints.shape[0] > 1 else None


def _refill(cells: Cells, carry: Carry, queue: jax.Array, settings: Settings) -> Carry:
    """Give every idle lane the next job of the queue; a few lanes at a time where few end together."""
    width = settings.lanes if settings.together else max(1, settings.lanes // 16)

    def wanting(carry: Carry) -> jax.Array:
        return (carry.following < queue) & ~jnp.all(carry.busy)

    def load(carry: Carry) -> Carry:
        if settings.together:
            lane, idle = jnp.arange(width), ~carry.busy
            number = carry.following + jnp.cumsum(idle, dtype=jnp.int32) - 1
        else:
            # The first idle lanes, as `jnp.nonzero`, with one running sum in place of two.
            rank = jnp.where(carry.busy, width, jnp.cumsum(~carry.busy, dtype=jnp.int32) - 1)
            lane = jnp.full(width, settings.lanes).at[rank].set(jnp.arange(settings.lanes), mode="drop")
            idle = lane < settings.lanes
            number = carry.following + jnp.arange(width, dtype=jnp.int32)
        fresh = idle & (number < queue)
        job = jnp.where(fresh, number, 0) * settings.mesh.size + lax.axis_index("device")
        algorithm, problem, key, cell, state = _load(cells, smaller(job, cells.jobs - 1), settings)
        zero = jnp.zeros(width, jnp.int32)
        new = carry._replace(
            state=state, algorithm=algorithm, problem=problem, key=key, cell=cell, steps=zero, job=number,
            busy=fresh, checkpoint=zero, looked=_never_looked(cells, algorithm, problem, (width,)),
        )  # fmt: skip

        def place(old: jax.Array, new: jax.Array) -> jax.Array:
            if old.ndim == 0:
                return old
            if settings.together:
                return jnp.where(fresh, new, old)
            return old.at[..., jnp.where(fresh, lane, settings.lanes)].set(new, mode="drop")

        placed: Carry = jax.tree.map(place, carry, new)
        return placed._replace(following=carry.following + jnp.sum(fresh.astype(jnp.int32)))

    return lax.while_loop(wanting, load, carry)


def _run_chunk(cells: Cells, carry: Carry, log: Log, chunk: jax.Array, settings: Settings) -> tuple[Carry, Log]:
    """`chunk` steps of every lane; a lane stands still once it is done or at its next checkpoint."""
    point = _next_checkpoint(cells, carry) if cells.checkpoints.shape[0] else None
    stop = cells.max_pulls
    if point is not None and jnp.issubdtype(point.dtype, jnp.integer):  # pulls, not costs
        stop = smaller(stop, point)
    before = carry.state.made()
    words = jax.random.key_data(carry.key).T  # runs last, as vectors want it

    def one_step(_: jax.Array | int, lanes: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        state, steps = lanes
        live = carry.busy & (state.time < cells.max_pulls) & ~carry.algorithm.done(state)
        live = live & ~_true(carry.algorithm.exhausted(state)) & ~_true(carry.algorithm.stalled(state))
        if point is not None:
            live = live & ~state.reached(point)
        key = jax.random.wrap_key_data(words.T, impl="threefry2x32")
        state = carry.algorithm.advance(carry.problem, key, state, live, stop)
        return state, steps + live.astype(jnp.int32)

    def one_block(_: jax.Array | int, lanes: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        return lax.fori_loop(0, settings.block, one_step, lanes)

    state, steps = lax.fori_loop(0, chunk // settings.block, one_block, (carry.state, carry.steps))
    pulled = jnp.sum(state.made() - before)
    return carry._replace(state=state, steps=steps), log._replace(pulled=log.pulled + pulled)


def _true(answer: jax.Array | bool) -> jax.Array:
    # An array in any case: Python's ~False is -1, and with it a mask of lanes would be whole numbers.
    return jnp.asarray(answer)


def _next_checkpoint(cells: Cells, carry: Carry) -> jax.Array:
    """Where a lane must stand still to be looked at, int32 or float32 (R,)."""
    following = smaller(carry.checkpoint, cells.checkpoints.shape[0] - 1)
    return cells.checkpoints[following, carry.cell]


def _record(cells: Cells, carry: Carry, log: Log, settings: Settings) -> tuple[Carry, Log]:
    """Log the lanes that are done, at a checkpoint or at `max_pulls`; free those whose run is over."""
    time = carry.state.time
    done = carry.algorithm.done(carry.state)
    capped = ~done & ((time >= cells.max_pulls) | _true(carry.algorithm.exhausted(carry.state)))
    stalled = ~done & ~capped & _true(carry.algorithm.stalled(carry.state))
    status = jnp.where(capped, CAPPED, jnp.where(stalled, STALLED, ENDED))
    over = done | capped | stalled
    points = cells.checkpoints.shape[0]
    if points:
        written = carry.busy & (over | carry.state.reached(_next_checkpoint(cells, carry)))
        # The last checkpoint ends a run: nothing after it is asked for.
        over = over | (written & (carry.checkpoint + 1 >= points))
    else:
        written = carry.busy & over
    ended = carry.busy & over

    def write(log: Log) -> tuple[Log, Looked | None]:
        row = jnp.where(written, log.rows + jnp.cumsum(written) - 1, settings.capacity)
        job = carry.job * settings.mesh.size + lax.axis_index("device")
        found, recommended = _row(cells, carry, job, status, ended, settings)
        looked = carry.looked
        if looked is not None:
            assert found.account.paid is not None
            looked = looked.again(carry.state.pulls, time, found.account.paid, written)
        log = log._replace(
            rows=log.rows + jnp.sum(written.astype(jnp.int32)),
            words=log.words.at[:, row].set(_packed(found), mode="drop"),
            recommended=log.recommended.at[row].set(recommended.T, mode="drop"),
        )
        return log, looked

    log, looked = lax.cond(jnp.any(written), write, lambda log: (log, carry.looked), log)
    carry = carry._replace(
        looked=looked,
        busy=carry.busy & ~ended,
        checkpoint=carry.checkpoint + written.astype(jnp.int32),
        finished=carry.finished + jnp.sum(ended.astype(jnp.int32)),
    )
    return carry, log
