"""Forms for one platform's compiler: they change speed only, and no other module depends on them.

XLA:CPU copies cheap operations into each of their uses, computes both sides of a choice, and processes whole arrays
where a block would stay in the nearer caches. On other platforms each form is the plain one (`platform_lowering.py`).
`python experiments/benchmarks/compiler_forms.py` measures each against the plain form. Figures in the docstrings: two
cores of a shared AVX-512 machine, processor time.
"""

import math
from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxbandits.arrays.numerics import fast_min
from jaxbandits.arrays.platform_lowering import lowering

__all__ = ["LEAVE_BARRIERS", "barrier", "barrier_pair", "blockwise", "materialize", "where_if_any", "where_sparse"]

#: A pytree of arrays.
Tree = TypeVar("Tree")

#: XLA passes to disable (`xla_disable_hlo_passes`) where `barrier` is to work. One removes barriers. The other makes
#: one kernel of a loop over less than a KB, such as that of a single lane, by code that does not support barriers.
LEAVE_BARRIERS = "cse_barrier_expander,small-while-loop-hoisting"


def materialize(function: Callable[..., Tree], *operands: object) -> Tree:
    """Return `function(*operands)`, computed once, however often its results are used.

    XLA:CPU copies cheap operations, such as a block cipher, into each of their uses and computes them that often. Here
    operands and results are stored in memory, at any cost.

    Args:
        function: from arrays to arrays.
        *operands: pytrees of arrays.
    """
    return barrier(function(*barrier(operands)))


def barrier(values: Tree) -> Tree:
    """Return a pytree of arrays, computed once and stored in memory, however often it is used.

    It is a barrier to XLA:CPU's fusion in the programs of the engine, which disable the pass that removes barriers
    before fusion (`LEAVE_BARRIERS`); elsewhere it does nothing. A `lax.cond` has the same effect for some 5% of
    UGapEc's step.
    """
    return lax.optimization_barrier(values) if lowering().chunked else values


def barrier_pair(first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return two arrays of one shape and of 32 bits an element, computed in one loop and stored in memory.

    A fusion of XLA:CPU has one result, so that a common operand of two, such as a block cipher, is computed twice.
    Here the result is one array of complex numbers, whose parts are only moved. It is for draws, not for what has
    derivatives: bits have none.
    """
    if not lowering().chunked:
        return first, second
    both = barrier(lax.complex(*(lax.bitcast_convert_type(x, jnp.float32) for x in (first, second))))
    one, other = (lax.bitcast_convert_type(part(both), x.dtype) for part, x in ((lax.real, first), (lax.imag, second)))
    return one, other


def blockwise(function: Callable[..., jax.Array], *operands: jax.Array, elements: int = 8192) -> jax.Array:
    """Return `function(*operands)`, on CPU computed for a block of rows at a time.

    The function's intermediate arrays then stay in the nearer caches, and its branches and loops over a whole batch
    follow the needs of a block.

    Args:
        function: elementwise, from arrays to one array.
        *operands: arrays whose shapes broadcast; one with a single row is shared by all.
        elements: number of elements of a block.
    """
    shape = jnp.broadcast_shapes(*(operand.shape for operand in operands))
    rows = max(1, elements // max(1, math.prod(shape[1:])))
    if not shape or shape[0] <= rows or not lowering().chunked:
        return function(*operands)

    def block(i: jax.Array | int, done: jax.Array) -> jax.Array:
        first = fast_min(i * rows, shape[0] - rows)  # the last block may repeat some rows
        some = (x if x.shape[0] == 1 else lax.dynamic_slice_in_dim(x, first, rows) for x in operands)
        return lax.dynamic_update_slice_in_dim(done, function(*some), first, 0)

    result = jax.eval_shape(function, *operands)
    return lax.fori_loop(0, -(-shape[0] // rows), block, jnp.zeros(result.shape, result.dtype))


def where_if_any(condition: jax.Array, function: Callable[[Tree], Tree], state: Tree) -> Tree:
    """Return `function(state)` for the runs where the condition holds, `state` elsewhere.

    On CPU nothing is computed when no run needs it: for rare but costly events.

    Args:
        condition: bool `(…)`.
        function: from a pytree of arrays `(…)` or with axes before, to the same.
        state: such a pytree.
    """

    def changed(state: Tree) -> Tree:
        return jax.tree.map(lambda new, old: jnp.where(condition, new, old), function(state), state)

    if not lowering().chunked:
        return changed(state)
    return lax.cond(jnp.any(condition), changed, lambda state: state, state)


def where_sparse(
    condition: jax.Array, function: Callable[..., Tree], state: Tree, *fixed: object, width: int = 16
) -> Tree:
    """Return `where_if_any` computed for a few runs at a time: for functions so costly that only those runs should pay.

    Args:
        condition: bool `(…)`.
        function: from `state` and `fixed`, both of a few runs, to the new state of these.
        state: pytree of arrays `(…)` or with axes before.
        *fixed: pytrees that the function reads; leaves with the same number of runs, or shared by all.
        width: number of runs that are taken at a time.
    """
    if condition.ndim != 1 or condition.shape[0] <= width:

        def changed(state: Tree) -> Tree:
            new = function(state, *fixed)
            return jax.tree.map(lambda new, old: jnp.where(condition, new, old), new, state)

        return lax.cond(jnp.any(condition), changed, lambda state: state, state)
    runs = condition.shape[0]

    def take_some(carry: tuple[jax.Array, Tree]) -> tuple[jax.Array, Tree]:
        waiting, state = carry
        (run,) = jnp.nonzero(waiting, size=width, fill_value=runs)
        # Where fewer runs wait, the first of them is computed again and dropped.
        source = jnp.where(run < runs, run, run[0])
        some = jax.tree.map(lambda x: x[..., source] if x.ndim and x.shape[-1] == runs else x, (state, fixed))
        new = function(some[0], *some[1])
        state = jax.tree.map(lambda x, value: x.at[..., run].set(value, mode="drop"), state, new)
        return waiting.at[run].set(False, mode="drop"), state

    return lax.while_loop(lambda carry: jnp.any(carry[0]), take_some, (condition, state))[1]
