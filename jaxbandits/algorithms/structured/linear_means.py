"""Means that are linear in features of the arms: mean_a = x_a' theta."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxbandits.algorithms.parameters import Numeric
from jaxbandits.checks import numbers
from jaxbandits.errors import UsageError, warn
from jaxbandits.problems.base import Problem

__all__ = [
    "basis_of", "check_given", "check_length", "check_means", "checked_features", "features_of", "information",
    "inverse", "on_own_axes",
]  # fmt: skip

#: Up to which share of the largest mean others may be off: means are float32.
_ROUNDING = 1e-5
#: Up to which condition number of the sum of x x', with columns of length 1, features are kept as they are.
_CONDITION = 100


def checked_features(name: str, features: object) -> np.ndarray:
    """Return features as float64, `(K, d)`.

    Args:
        name: the name of the rule.
        features: a table with a row for each arm.

    Raises:
        UsageError: no such table, a number that is not finite, or no number but 0.
    """
    found = numbers(f"{name}: features", features)  # type: ignore[arg-type]
    if found.ndim != 2 or not found.size or not np.isfinite(found).all():
        raise UsageError(f"{name}: features must be finite, with a row for each arm, got shape {found.shape}")
    if not found.any():
        raise UsageError(f"{name}: features must not all be 0: all means would be 0")
    return found


def check_given(features: object) -> None:
    """Check that there are features.

    Raises:
        UsageError: there are none.
    """
    if features is None:
        raise UsageError("needs features of the arms")


def check_means(name: str, features: np.ndarray, problem: Problem, norm: Numeric = np.inf) -> None:
    """Warn of means that are not linear in the features, or whose theta is longer than allowed.

    Of the thetas that give the means, the shortest is taken. Nothing is said of values that JAX traces.

    Args:
        name: the name of the rule.
        features: `(K, d)`.
        problem: the problem.
        norm: the greatest length of theta.
    """
    if any(isinstance(value, jax.core.Tracer) for value in (problem.mean, norm)):
        return
    means = np.asarray(problem.mean, np.float64)
    off = np.abs(features @ np.linalg.lstsq(features, means)[0] - means).max()
    if off > _ROUNDING * np.abs(means).max():
        warn(f"{name}: the means are not linear in the features, which miss one by {off:.3g}: nothing is proved")
    else:
        check_length(name, features, means, norm)


def check_length(name: str, features: np.ndarray, means: np.ndarray, norm: Numeric) -> None:
    """Warn of means `(K,)` whose theta, the shortest that fits them best, is longer than `norm`."""
    length, most = np.linalg.norm(np.linalg.lstsq(features, means)[0]), float(np.min(np.asarray(norm)))
    if length > most * (1 + _ROUNDING):
        warn(f"{name}: norm={most:g} must be at least the length of theta, {length:.6g}: nothing is proved")


def features_of(features: Numeric, count: int) -> jax.Array:
    """Return features, `(K, d)`; without any, those that give each of `count` arms a parameter of its own."""
    found: jax.Array = jnp.eye(count) if features is None else features
    return found


def basis_of(features: np.ndarray) -> np.ndarray:
    """Return features, `(K, r)`, that span the same means and whose columns are orthonormal.

    Rows that are equal in float32 stay equal.
    """
    if np.allclose(features.T @ features, np.eye(features.shape[1]), rtol=0, atol=1e-14):
        return features
    left, sizes, _ = np.linalg.svd(features, full_matrices=False)
    _, first, same = np.unique(np.float32(features), axis=0, return_index=True, return_inverse=True)
    return left[first[same.ravel()]][:, sizes > 1e-10 * sizes[0]]


def on_own_axes(features: np.ndarray) -> np.ndarray:
    """Return features turned to their principal axes, `(K, min(K, d))`, where their columns are far from orthogonal.

    A turn changes neither x' y nor the length of theta. But float32 cannot invert the sum of x x' of columns that
    nearly depend on each other, such as 300.1, 301.2, … and 1000.3, 1001.1, …
    """
    lengths = np.linalg.norm(features, axis=0)
    scaled = features / np.where(lengths > 0, lengths, 1)
    if np.linalg.cond(scaled.T @ scaled + np.diag(lengths == 0)) <= _CONDITION:
        return features
    left, sizes, _ = np.linalg.svd(features, full_matrices=False)
    return left * sizes


def information(features: jax.Array, weights: jax.Array) -> jax.Array:
    """Return V, the sum of the weights times x x', float32 `(d, d)`."""
    return features.T @ (weights[:, None] * features)


def inverse(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the inverse of a positive definite matrix, `(d, d)`, and the logarithm of its determinant.

    It is Gauss-Jordan elimination in a loop: so a run has the same bits alone and among others.
    """
    number = jnp.arange(len(matrix))

    def sweep(k: jax.Array | int, found: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """Exchange the k-th variable."""
        matrix, logarithm = found
        here = number == k
        pivot = matrix[k, k]
        column = jnp.where(here, 0.0, matrix[:, k])
        row = jnp.where(here, 1.0, matrix[k]) / pivot
        rest = jnp.where(here[:, None] | here, 0.0, matrix) - column[:, None] * row
        return jnp.where(here[:, None], row, rest), logarithm + jnp.log(pivot)

    return jax.lax.fori_loop(0, len(matrix), sweep, (matrix, jnp.float32(0.0)))
