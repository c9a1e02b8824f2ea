"""Frozen dataclasses as pytrees whose structures distinguish their classes.

`jax.tree_util.register_dataclass` does not suffice. In JAX 0.10.2 the structures of two dataclasses with the same
number of fields compare equal even if their classes differ (only their hashes do). Now and then a cache of compiled
programs then returns one class's program for another. Where a user's object is part of a program's input, `classes` is
part of its key.
"""

import dataclasses
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax.tree_util import PyTreeDef

__all__ = ["classes", "is_key", "is_traced", "pytree", "register_fields"]

C = TypeVar("C")


def pytree(cls: type[C]) -> type[C]:
    """Register a frozen dataclass as a JAX pytree whose fields are leaves or subtrees; a class decorator.

    Fields with the metadata `static`, `dataclasses.field(metadata={"static": True})`, are part of the program instead:
    names, switches, numbers that decide a shape; their values must be hashable. A class method `when_complete` is
    called once, for steps that need the fields of the class.

    Use it for the state that your own algorithm keeps, or for a part of it. The algorithm itself becomes a pytree by
    `jb.algorithm`.

    Example:
        >>> import dataclasses
        >>> @jb.pytree
        ... @dataclasses.dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...
        >>> jax.tree.leaves(Point(x=2.0))
        [2.0]
    """
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    static = [field.name for field in fields if field.metadata.get("static")]
    register_fields(cls, [field.name for field in fields if field.name not in static], static)
    if (complete := getattr(cls, "when_complete", None)) is not None:
        complete()
    return cls


def register_fields(cls: type[C], data: Iterable[str], static: Iterable[str]) -> type[C]:
    """Register a dataclass.

    Args:
        cls: the class.
        data: names of the fields that are leaves or subtrees.
        static: names of the fields that belong to the structure; hashable values.
    """
    names, fixed = tuple(data), tuple(static)
    keys = [jax.tree_util.GetAttrKey(name) for name in names]

    def flatten(tree: object) -> tuple[list[object], tuple[Hashable, ...]]:
        return [getattr(tree, name) for name in names], tuple(getattr(tree, name) for name in fixed)

    def flatten_with_keys(tree: object) -> tuple[list[tuple[jax.tree_util.GetAttrKey, object]], tuple[Hashable, ...]]:
        children, constant = flatten(tree)
        return list(zip(keys, children, strict=True)), constant

    def unflatten(constant: tuple[Hashable, ...], children: Iterable[object]) -> C:
        # Not by `__init__`: the children may be anything, and were checked when the tree was made.
        tree = object.__new__(cls)
        for name, value in (*zip(names, children, strict=True), *zip(fixed, constant, strict=True)):
            object.__setattr__(tree, name, value)
        return tree

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls


def is_traced(tree: object) -> bool:
    """Return whether a leaf is being traced by jit, vmap or grad, and has no value."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(tree))


def is_key(array: jax.Array | jax.ShapeDtypeStruct | jax.core.ShapedArray) -> bool:
    """Return whether an array, or what has the type of one, is of typed keys."""
    return bool(jnp.issubdtype(array.dtype, jax.dtypes.prng_key))


def classes(tree: object) -> tuple[type, ...]:
    """Return the classes of all nodes of a tree, each before its children; a part of the key of a compiled program."""

    def nodes(structure: PyTreeDef) -> Iterator[type]:
        if data := structure.node_data():
            yield data[0]
            for child in structure.children():
                yield from nodes(child)

    return tuple(nodes(jax.tree.structure(tree)))
