"""The options of a sweep, looked at before anything runs."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.engine.admission import Admitted
from jaxbandits.errors import UsageError

__all__ = ["checkpoint_values", "cost", "seed_number", "whole"]


def whole(name: str, value: Any, least: int) -> int:
    """A whole number from `least` to 2^31 - 1.

    Raises:
        UsageError: anything else.
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    if not number or value != int(value) or value < least:
        raise UsageError(f"{name} must be a whole number, at least {least}, got {value!r}")
    if value > MAX_COUNT:
        raise UsageError(f"{name} must stay below 2^31, the range of the counts, got {value:g}")
    return int(value)


def seed_number(value: Any) -> int:
    """The root key's seed, from 0 to 2^64 - 1.

    Raises:
        UsageError: anything else.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 0 <= value < 2**64:
        raise UsageError(f"root_seed must be a whole number from 0 to 2^64 - 1, got {value!r}")
    return int(value)


def checkpoint_values(algorithm: Admitted, checkpoints: Sequence[float] | None, max_pulls: int) -> np.ndarray:
    """Where runs are looked at on the way, `(Q,)`: int32, numbers of pulls, or float32, costs; none where None.

    Raises:
        UsageError: points that do not increase, or none, or beyond `max_pulls`, or an algorithm that cannot be looked
            at before it ends.
    """
    if checkpoints is None:
        return np.zeros(0, np.int32)
    traits = algorithm.traits
    if not traits.anytime:
        raise UsageError(f"{algorithm.name} {algorithm.why_not_anytime()}")
    spends = traits.spends is not None
    points = [cost("a checkpoint", p) if spends else whole("a checkpoint", p, 1) for p in checkpoints]
    if not points or any(a >= b for a, b in itertools.pairwise(points)):
        raise UsageError(f"checkpoints must be increasing, and at least one, got {list(checkpoints)}")
    if spends:
        return np.asarray(points, np.float32)
    if points[-1] > max_pulls:
        raise UsageError(f"checkpoints must not exceed max_pulls={max_pulls}, got {points[-1]}")
    return np.asarray(points, np.int32)


def cost(name: str, value: Any) -> float:
    """A positive number.

    Raises:
        UsageError: anything else.
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    if not number or value <= 0:
        raise UsageError(f"{name} must be a positive number, got {value!r}")
    return float(value)
