"""Hyperparameters that have a value of each arm, such as the prior of each."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.registry import REGISTRY
from jaxbandits.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["by_arm", "check_arm_values", "filled", "moved"]

T = TypeVar("T", bound="DataclassInstance")


def by_arm(rule: "DataclassInstance", axes: int = 0) -> list[bool]:
    """Return for each leaf of a rule whether it has a value of each arm.

    Args:
        rule: leaves with `axes` axes of runs; leaves with values of arms have one more axis, before these.
        axes: the number of axes of runs.
    """
    declared = {field.name for field in dataclasses.fields(rule) if field.metadata.get("per_arm")}
    leaves = jax.tree_util.tree_leaves_with_path(rule)
    return [path[0].name in declared and np.ndim(leaf) > axes for path, leaf in leaves]


def moved(rule: T, move: Callable[[Any], Any], axes: int = 0) -> T:
    """Apply `move` to a rule's values of arms; arguments as for `by_arm`."""
    leaves, tree = jax.tree.flatten(rule)
    found: T = jax.tree.unflatten(
        tree, [move(leaf) if is_one else leaf for leaf, is_one in zip(leaves, by_arm(rule, axes), strict=True)]
    )
    return found


def filled(rule: T, width: int) -> T:
    """Pad a rule's values of arms to `width` entries; leaves as for one run.

    One number is repeated. The last entry of a shorter array is repeated, for the padding.
    """
    changes: dict[str, object] = {}
    for field in dataclasses.fields(rule):
        value = getattr(rule, field.name)
        if field.metadata.get("per_arm") and value is not None:
            here: Any = np if isinstance(value, int | float | np.generic | np.ndarray) else jnp
            values = here.atleast_1d(value)
            changes[field.name] = here.concatenate([values, here.repeat(values[-1:], width - values.shape[0], axis=0)])
    return dataclasses.replace(rule, **changes) if changes else rule


def check_arm_values(rule: "DataclassInstance", count: int) -> None:
    """Check that values of arms have an entry or a row for each arm, and that no undeclared array could be such.

    Args:
        rule: leaves as for one run.
        count: number of arms K, of all bandits.

    Raises:
        UsageError: another number of entries, or an undeclared array of length K.
    """
    fields = {field.name: field.metadata for field in dataclasses.fields(rule)}
    for path, leaf in jax.tree_util.tree_leaves_with_path(rule):
        name, shape = f"{type(rule).__name__}: {path[0].name}", np.shape(leaf)
        declared = fields[path[0].name].get("per_arm")
        # Rows, such as features, are in fields without a range. Others would be lined up with other arms or with runs.
        of_numbers = REGISTRY.name_of(type(rule)) is not None and fields[path[0].name].get("rule")
        if declared and shape and (shape[0] != count or (of_numbers and len(shape) > 1)):
            raise UsageError(f"{name} must be one number or have one for each of {count} arms, got shape {shape}")
        if declared is None and count in shape:
            raise UsageError(
                f"{name} has shape {shape}, and there are {count} arms, which each run sees in its own order: "
                f"declare {path[0].name} = jb.parameter(per_arm=True) if it has a value of each arm, per_arm=False if "
                "not"
            )
