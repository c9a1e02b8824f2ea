"""Checks the types that a user's methods return while they are traced, with errors of one line."""

from typing import TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import KeyPath
from jax.typing import ArrayLike, DTypeLike

from jaxbandits.arrays.pytrees import classes
from jaxbandits.errors import UsageError

__all__ = ["check_result", "check_same_state", "is_array", "type_of", "types"]


def check_same_state(what: str, first: object, begun: dict[str, str], after: object, stepped: dict[str, str]) -> None:
    """Check that a state has the structure and the types of the first one.

    Raises:
        UsageError: it has others.
    """
    if (jax.tree.structure(first), classes(first)) != (jax.tree.structure(after), classes(after)):
        one, other = _built(first, begun), _built(after, stepped)
        raise UsageError(f"{what} must return a state built as that of init, {one}, got {other}")
    for path, was in begun.items():
        if stepped[path] != was:
            raise UsageError(f"{what}: {_leaf(path)} must stay {was} as in init, got {stepped[path]}")


def check_result(what: str, found: object, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
    """Check that a traced value has a dtype and a shape.

    Raises:
        UsageError: it has others.
    """
    got = type_of(found) if is_array(found) else type(found).__name__
    if got != (wanted := type_of(jax.ShapeDtypeStruct(shape, dtype))):
        raise UsageError(f"{what} must be {wanted}{', a mask of arms' if shape and dtype is bool else ''}, got {got}")


def types(what: str, state: object) -> dict[str, str]:
    """Return the type of every leaf of a state, by its path.

    Raises:
        UsageError: a leaf is not an array, or has keys of another generator than the runs.
    """
    leaves = jax.tree_util.tree_leaves_with_path(state)
    for path, leaf in leaves:
        if not is_array(leaf):
            raise UsageError(
                f"{what}: {_leaf(_place(path))} must be an array or a pytree (a NamedTuple, a dataclass with "
                f"@jb.pytree), got {type(leaf).__name__}"
            )
        if (kind := type_of(leaf)).startswith("key<") and not kind.startswith("key<fry>"):
            raise UsageError(f"{what}: {_leaf(_place(path))} must have keys of the threefry2x32 generator, got {kind}")
    return {_place(path): type_of(leaf) for path, leaf in leaves}


def _place(path: KeyPath[object]) -> str:
    return jax.tree_util.keystr(path).lstrip(".")


def _leaf(place: str) -> str:
    return f"the state's `{place}`" if place else "the state"


def _built(state: object, leaves: dict[str, str]) -> str:
    """Return how a state is built, in words, from the types of its leaves by their places."""
    if not leaves:
        return "None" if state is None else f"an empty {type(state).__name__}"
    return leaves[""] if "" in leaves else f"{type(state).__name__} of {', '.join(leaves)}"


def type_of(leaf: ArrayLike | jax.ShapeDtypeStruct) -> str:
    """Return the type and the shape of an array, in words."""
    dtype = leaf.dtype if hasattr(leaf, "dtype") else jnp.result_type(leaf)
    return f"{dtype} {tuple(np.shape(leaf))}"


def is_array(leaf: object) -> TypeGuard[ArrayLike | jax.ShapeDtypeStruct]:
    """Return whether JAX accepts a leaf: a number, or an array of numbers or of keys."""
    if isinstance(leaf, jax.Array | jax.ShapeDtypeStruct):
        return True
    return isinstance(leaf, bool | int | float | np.number | np.bool_) or (
        isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biuf"
    )
