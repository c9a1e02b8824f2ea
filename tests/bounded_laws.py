"""Twelve families of laws on [0, 1], two-point laws at the border among them: draws by NumPy, and exact means."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Law(NamedTuple):
    """A law of rewards.

    Attributes:
        draw: from a generator and a shape to rewards, float32.
        mean: the exact mean.
    """

    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
    mean: float


def points(values: list[float], weights: list[float]) -> Law:
    """A law on a few points."""
    values = np.asarray(values, np.float32)
    steps = np.cumsum(weights)[:-1]
    return Law(
        lambda rng, shape: values[np.searchsorted(steps, rng.random(shape, np.float32), side="right")],
        float(np.dot(values.astype(float), weights)),
    )


def beta(a: float, b: float) -> Law:
    """A beta law."""
    return Law(lambda rng, shape: rng.beta(a, b, shape).astype(np.float32), a / (a + b))


def with_jumps(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Small rewards, and now and then the largest."""
    small = rng.random(shape, np.float32) / 10
    return np.where(rng.random(shape, np.float32) < 0.05, np.float32(1), small)


LAWS = {
    "coin": points([0, 1], [0.5, 0.5]),
    "clicks": points([0, 1], [0.97, 0.03]),
    "rare": points([0, 1], [0.998, 0.002]),
    "rare misses": points([0, 1], [0.002, 0.998]),
    "near the lower border": points([0, 0.01], [0.5, 0.5]),
    "near the upper border": points([0.99, 1], [0.9, 0.1]),
    "constant": points([0.3, 0.3], [0.5, 0.5]),
    "three points": points([0, 0.5, 1], [0.05, 0.9, 0.05]),
    "uniform": Law(lambda rng, shape: rng.random(shape, np.float32), 0.5),
    "u-shaped": beta(0.1, 0.2),
    "scores": beta(50, 50),
    "jumps": Law(with_jumps, 0.95 * 0.05 + 0.05),
}
