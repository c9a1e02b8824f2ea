"""Steps of R runs, of which some may be taken back: where a run has ended its state is left as it is.

A step changes one entry of an array or two. To choose between the new and the old array would be to read and write all
of it; here the choice is made for the entry that was written.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxbandits.arrays import arms
from jaxbandits.arrays.compiler_forms import kept
from jaxbandits.transform.equations import Known, results_of
from jaxbandits.transform.indexing import put, take
from jaxbandits.transform.operation import Value
from jaxbandits.transform.padding import Padded

__all__ = ["Steps", "map_step"]


@dataclasses.dataclass(frozen=True)
class Steps:
    """A step of each of R runs.

    Attributes:
        beside: what the step returned beside the state, the runs last.
    """

    beside: Any
    _before: Sequence[Any]
    _after: Sequence[Value]
    _tree: Any
    _live: jax.Array | None

    def where(self, live: jax.Array) -> Any:
        """Return the states: after the step where `live` holds, bool `(R,)`, before it elsewhere."""
        leaves = [
            new.array if new.unless is old and live is self._live else _chosen(live, new, old)
            for new, old in zip(self._after, self._before, strict=True)
        ]
        return jax.tree.unflatten(self._tree, leaves)

    def gained(self, counts: Callable[[Any], jax.Array]) -> tuple[jax.Array, jax.Array]:
        """Return by how much counts of arms have grown together, and whether one has fallen.

        Args:
            counts: from a state to whole numbers `(K, R)`.

        Returns:
            int32 `(R,)` and bool `(R,)`; the first may be anything where the second holds.
        """
        after = counts(jax.tree.unflatten(self._tree, [value.array for value in self._after]))
        before = counts(jax.tree.unflatten(self._tree, self._before))
        for value, old in zip(self._after, self._before, strict=True):
            if value.array is after and old is before and value.written is not None and value.written.base is old:
                written = value.written
                more = (written.value - take(old, written.axis, written.place)).astype(jnp.int32)
                return more, more < 0
        more = (after - before).astype(jnp.int32)
        total = arms.total(more)
        return total, arms.any_arm(more < 0) | (total < 0)


def map_step(
    step: Callable[..., tuple[Any, Any]],
    known: Sequence[Known] | None = None,
    padded: Padded | None = None,
    live: jax.Array | None = None,
) -> Callable[..., Steps]:
    """Map a step of one run over R runs.

    Args:
        step: from pytrees of arrays, the last of which is the state, to the new state, of the same structure, shapes
            and types, and a pytree of what else it tells.
        known: as for `results_of`.
        padded: likewise.
        live: bool `(R,)`, the runs that make the step: what is costly is not computed for the others. None for all.

    Returns:
        The same from pytrees with the runs last to the steps, which may be taken back.

    Example:
        >>> import jax.numpy as jnp
        >>> steps = map_step(lambda arm, pulls: (pulls.at[arm].add(1), ()))(jnp.asarray([1, 0]), jnp.zeros((2, 2), int))
        >>> steps.where(jnp.asarray([True, False])).tolist()
        [[0, 0], [1, 0]]
    """

    def mapped(*arguments: Any) -> Steps:
        values, tree = results_of(step, arguments, known, padded, live)
        before, structure = jax.tree.flatten(arguments[-1])
        after, beside = values[: len(before)], [value.array for value in values[len(before) :]]
        return Steps(jax.tree.unflatten(tree, [*before, *beside])[1], before, after, structure, live)

    return mapped


def _chosen(live: jax.Array, new: Value, old: Any) -> Any:
    """Return the new leaf where `live` holds and the old one elsewhere."""
    written = new.written
    if written is None or written.base is not old:
        return jnp.where(live, new.array, old)
    value = kept(jnp.where(live, written.value, take(old, written.axis, written.place)))
    return put(old, written.axis, written.place, value)
