"""Whether trees of arrays are the same, to the last bit."""

from typing import Any

import chex
import jax
import numpy as np


def assert_same_bits(one: Any, other: Any) -> None:
    """Structures, shapes, types and bytes: -0 is not 0, and a NaN is itself alone."""
    chex.assert_trees_all_equal_shapes_and_dtypes(one, other)
    chex.assert_trees_all_equal(*(jax.tree.map(bytes_of, tree) for tree in (one, other)))


def bytes_of(leaf: Any) -> np.ndarray:
    return np.frombuffer(np.asarray(leaf).tobytes(), np.uint8)
