"""Steps of R runs, some of which have ended: the state of an ended run does not change.

A step changes one or two entries of an array. A choice between the new and the old array would read and write all of
it; here the choice is made for the written entry only.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.compilers.xla_cpu import barrier
from jaxbandits.transform.equations import results_of
from jaxbandits.transform.indexing import put, take
from jaxbandits.transform.operation import Known, Value, first_run, twice
from jaxbandits.transform.padding import Padded, of_two

__all__ = ["map_step"]


def map_step(
    step: Callable[..., object], known: Sequence[Known] | None = None, padded: Padded | None = None
) -> Callable[..., Any]:
    """Map a step of one run over R runs.

    Args:
        step: from pytrees of arrays, the last of which is the state, to the new state, of the same structure, shapes
            and types.
        known: as for `results_of`.
        padded: likewise.

    Returns:
        A function of `live`, bool `(R,)`, and of the same pytrees with the runs last, to the states: after the step
        where `live` holds, before it elsewhere. Costly branches are computed for the former only.

    Example:
        >>> import jax.numpy as jnp
        >>> step = map_step(lambda arm, pulls: pulls.at[arm].add(1))
        >>> step(jnp.asarray([True, False]), jnp.asarray([1, 0]), jnp.zeros((2, 2), int)).tolist()
        [[0, 0], [1, 0]]
    """

    def mapped(live: jax.Array, *arguments: object) -> Any:
        if live.shape[0] == 1:
            return first_run(map_step(step, *of_two(known, padded))(*twice((live, *arguments))))
        after, tree = results_of(step, arguments, known, padded, live)
        before = jax.tree.leaves(arguments[-1])
        return jax.tree.unflatten(tree, [_chosen(live, new, old) for new, old in zip(after, before, strict=True)])

    return mapped


def _chosen(live: jax.Array, new: Value, old: jax.Array) -> jax.Array:
    """Return the new leaf where `live` holds and the old one elsewhere."""
    if new.unless is old:  # chosen already, where it was computed
        return new.array
    array, writes = old, []
    written = new.written
    while written is not None:
        writes.append(written)
        written = written.before
    if not writes or writes[-1].base is not old:
        return jnp.where(live, new.array, old)
    for _, axis, place, value, _ in reversed(writes):
        array = put(array, axis, place, barrier(jnp.where(live, value, take(array, axis, place))))
    return array
