"""Jobs: an idle lane loads the next one from its device's window of the queue."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core
from jax.sharding import NamedSharding, PartitionSpec

from jaxbandits.arrays.platform_lowering import lowering, tracing_for
from jaxbandits.arrays.pytrees import is_key
from jaxbandits.costs.accounts import CheckpointCosts
from jaxbandits.engine.aot_cache import kept_types
from jaxbandits.engine.lane_state import Carry, Cells, Settings, Window
from jaxbandits.engine.mapped_algorithm import MappedAlgorithm
from jaxbandits.engine.memory_limits import check_memory
from jaxbandits.engine.rule_states import RunState
from jaxbandits.problems.base import Problem
from jaxbandits.random.streams import cell_key, run_key
from jaxbandits.transform.shared_traces import once, traced

__all__ = ["empty_carry", "refill"]

#: Lanes of a vector. Loops over fewer numbers are written out by the compiler, one number after another: programs took
#: 9% longer to compile.
_VECTOR = 16

_Loaded = tuple[MappedAlgorithm, Problem, jax.Array, RunState]


def empty_carry(cells: Cells, settings: Settings) -> Carry:
    """Return lanes without jobs, with the device axis first on every leaf.

    Raises:
        UsageError: the lanes do not fit into a device's memory.
    """
    types = kept_types(cells, settings) or _types(cells, settings)
    check_memory(types, cells.problem.arms, settings)

    def blank(leaf: jax.ShapeDtypeStruct) -> jax.Array | np.ndarray:
        if is_key(leaf):
            words: Any = np.zeros((*leaf.shape, 2), np.uint32)
            return jax.random.wrap_key_data(words, impl="threefry2x32")
        return np.zeros(leaf.shape, leaf.dtype)

    # Placed as the loop will return it: another placement would compile again.
    carry: Carry = jax.device_put(jax.tree.map(blank, types), NamedSharding(settings.mesh, PartitionSpec("device")))
    return carry


def _types(cells: Cells, settings: Settings) -> Carry:
    """Return the shapes and dtypes of all devices' lanes."""
    with tracing_for(settings.platform):
        width, _ = _refill_width(settings)
        few = _loaded.eval_shape(cells, jax.ShapeDtypeStruct((width,), jnp.int32), settings=settings)

    def of_all(leaf: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
        shape = (*leaf.shape[:-1], settings.lanes) if leaf.ndim else ()
        return jax.ShapeDtypeStruct((settings.mesh.size, *shape), leaf.dtype)

    types: Carry = jax.tree.map(of_all, few)
    return types


@functools.partial(jax.jit, static_argnames=("settings",))  # traced once for all runs of these types
def _loaded(cells: Cells, number: jax.Array, *, settings: Settings) -> Carry:
    with settings.code.traced():
        algorithm, problem, key, state = _load(cells, number, number, settings)
        return Carry(
            state=state, algorithm=algorithm, problem=problem, key=key, busy=number > 0, cell=number, seed=number,
            checkpoint=number, steps=number, looked=_never_looked(cells, algorithm, problem, number.shape),
            following=jnp.int32(0),
        )  # fmt: skip


def _refill_width(settings: Settings) -> tuple[int, bool]:
    """Return how many lanes are refilled at a time, and whether these are all lanes in their order."""
    together = settings.together or not lowering().chunked
    return settings.lanes if together else min(settings.lanes, _VECTOR * -(-settings.lanes // _VECTOR**2)), together


def refill(cells: Cells, window: Window, carry: Carry, settings: Settings) -> Carry:
    """Load the next job of the window into every idle lane; on CPU a few at a time where few end together."""
    width, together = _refill_width(settings)

    def wanting(carry: Carry) -> jax.Array:
        return (carry.following < window.jobs) & ~jnp.all(carry.busy)

    def load(carry: Carry) -> Carry:
        if together:
            lane, idle = jnp.arange(width), ~carry.busy
            number = carry.following + jnp.cumsum(idle, dtype=jnp.int32) - 1
        else:
            # The first idle lanes, as `jnp.nonzero`, with one running sum in place of two.
            rank = jnp.where(carry.busy, width, jnp.cumsum(~carry.busy, dtype=jnp.int32) - 1)
            lane = jnp.full(width, settings.lanes).at[rank].set(jnp.arange(settings.lanes), mode="drop")
            idle = lane < settings.lanes
            number = carry.following + jnp.arange(width, dtype=jnp.int32)
        fresh = idle & (number < window.jobs)
        cell, seed = window.numbers[:, jnp.where(fresh, number, 0)]
        algorithm, problem, key, state = _load(cells, cell, seed, settings)
        zero = jnp.zeros(width, jnp.int32)
        new = carry._replace(
            state=state, algorithm=algorithm, problem=problem, key=key, cell=cell, seed=seed, steps=zero,
            busy=fresh, checkpoint=zero, looked=_never_looked(cells, algorithm, problem, (width,)),
        )  # fmt: skip

        def place(old: jax.Array, new: jax.Array) -> jax.Array:
            if old.ndim == 0:
                return old
            if together:
                return jnp.where(fresh, new, old)
            return old.at[..., jnp.where(fresh, lane, settings.lanes)].set(new, mode="drop")

        placed: Carry = jax.tree.map(place, carry, new)
        return placed._replace(following=carry.following + jnp.sum(fresh.astype(jnp.int32)))

    return lax.while_loop(wanting, load, carry)


def _load(cells: Cells, cell: jax.Array, seed: jax.Array, settings: Settings) -> _Loaded:
    """Return the algorithm, problem, key and first state of jobs, `(R,)`; traced once for their types and the loop."""
    leaves, tree = jax.tree.flatten((cells, cell, seed))
    types = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]

    def load(*leaves: jax.Array) -> _Loaded:
        cells, cell, seed = jax.tree.unflatten(tree, leaves)
        algorithm, problem = jax.tree.map(lambda leaf: leaf[..., cell], (cells.algorithm, cells.problem))
        key = run_key(cells.root, seed)
        if settings.independent:
            key = cell_key(key, *cells.identity[:, cell])
        problem = problem.realised(key)
        return algorithm, problem, key, algorithm.init(problem, key)

    same = (_load, tree, tuple((leaf.shape, leaf.dtype) for leaf in types), settings, lowering())
    closed, shapes = once(same, lambda: traced(load, *types))
    loaded: _Loaded = jax.tree.unflatten(jax.tree.structure(shapes), core.jaxpr_as_fun(closed)(*leaves))
    return loaded


def _never_looked(
    cells: Cells, algorithm: MappedAlgorithm, problem: Problem, shape: tuple[int, ...]
) -> CheckpointCosts | None:
    drawn = problem.costs is not None and problem.costs.drawn_as_sums and algorithm.cost_budget is None
    return CheckpointCosts.never(problem.arms, shape) if drawn and cells.checkpoints.shape[0] > 1 else None
