"""Refusals of arguments for which no formula of this module has a meaning.

Only concrete values are looked at: an argument that `jit`, `vmap` or `grad` has made a tracer passes through.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxbandits.errors import UsageError

__all__ = [
    "as_float",
    "check_accuracy",
    "check_at_least_one",
    "check_budget",
    "check_confidence",
    "check_fraction",
    "check_means",
    "check_moment_order",
    "check_probability",
    "check_size",
    "check_spread",
    "check_variances",
]


def as_float(x: ArrayLike) -> jax.Array:
    """The value in JAX's default floating type: float32, or float64 under `jax.enable_x64`."""
    return jnp.asarray(x, jnp.result_type(float))


def check_means(means: ArrayLike) -> None:
    """Means must be finite numbers."""
    _require(means, np.isfinite, "means must be finite")


def check_accuracy(epsilon: ArrayLike) -> None:
    """Accuracies are finite and not negative."""
    _require(epsilon, lambda x: (x >= 0) & np.isfinite(x), "epsilon must be finite and at least 0")


def check_confidence(delta: ArrayLike) -> None:
    """A confidence level is a probability of error strictly between 0 and 1."""
    _require(delta, lambda x: (x > 0) & (x < 1), "delta must lie in (0, 1)")


def check_fraction(x: ArrayLike, name: str) -> None:
    """Shares and relative accuracies lie strictly between 0 and 1."""
    _require(x, lambda x: (x > 0) & (x < 1), f"{name} must lie in (0, 1)")


def check_at_least_one(x: ArrayLike, name: str) -> None:
    """Numbers of arms, of batches and of draws, and ratios of variances: finite and at least 1."""
    _require(x, lambda x: (x >= 1) & np.isfinite(x), f"{name} must be finite and at least 1")


def check_probability(probability: ArrayLike, name: str) -> None:
    """Bernoulli means are probabilities."""
    _require(probability, lambda x: (x >= 0) & (x <= 1), f"{name} must lie in [0, 1]")


def check_variances(variances: ArrayLike) -> None:
    """Variances are finite and not negative."""
    _require(variances, lambda x: (x >= 0) & np.isfinite(x), "variances must be finite and at least 0")


def check_spread(spread: ArrayLike, name: str) -> None:
    """Ranges and standard deviations are positive."""
    _require(spread, lambda x: (x > 0) & np.isfinite(x), f"{name} must be positive")


def check_moment_order(p: ArrayLike, most: float = float("inf")) -> None:
    """The order of a moment is finite, above 1 and at most `most`."""
    demand = "p must be above 1" if most == float("inf") else f"p must lie in (1, {most:g}]"
    _require(p, lambda x: (x > 1) & (x <= most) & np.isfinite(x), demand)


def check_budget(n: ArrayLike) -> None:
    """A budget is at least one pull."""
    _require(n, lambda x: x >= 1, "the budget n must be at least 1")


def check_size(m: ArrayLike, arms: int, mask: ArrayLike | None = None, name: str = "m") -> None:
    """The number of arms to return is a whole number between 1 and K - 1."""
    if mask is not None and not isinstance(mask, jax.core.Tracer):
        arms = int(np.min(np.sum(np.asarray(mask), axis=0)))
    demand = f"{name} must be a whole number in [1, {arms - 1}]"
    _require(m, lambda x: (x >= 1) & (x < arms) & (x == np.floor(x)), demand)


def _require(value: ArrayLike, holds: Callable[[np.ndarray], np.ndarray], demand: str) -> None:
    if isinstance(value, jax.core.Tracer):
        return
    entries = np.asarray(value)
    refused = entries[~holds(entries)]
    if refused.size:
        raise UsageError(f"{demand}, got {refused.flat[0]}")
