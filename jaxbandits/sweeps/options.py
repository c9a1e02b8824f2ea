"""The options of a sweep, looked at before anything runs."""

import itertools
from collections.abc import Sequence

import numpy as np

from jaxbandits.arrays.numerics import MAX_COUNT
from jaxbandits.checks import POSITIVE, number, whole
from jaxbandits.engine.admission import Admitted
from jaxbandits.errors import UsageError, about

__all__ = ["checkpoint_values"]


def checkpoint_values(algorithm: Admitted, checkpoints: Sequence[float] | None, max_pulls: int) -> np.ndarray:
    """Where runs are looked at on the way, `(Q,)`: int32, numbers of pulls, or float32, costs; none where None.

    Raises:
        UsageError: points that do not increase, or none, or beyond `max_pulls`, or an algorithm that cannot be looked
            at before it ends.
    """
    if checkpoints is None:
        return np.zeros(0, np.int32)
    with about("run", "checkpoints"):
        traits = algorithm.traits
        if not traits.anytime:
            raise UsageError(f"{algorithm.name} {algorithm.why_not_anytime()}")
        spends = traits.spends is not None
        points = [
            number("a checkpoint", point, POSITIVE) if spends else whole("a checkpoint", point, 1, MAX_COUNT)
            for point in checkpoints
        ]
        if not points or any(a >= b for a, b in itertools.pairwise(points)):
            raise UsageError(f"checkpoints must be increasing, and at least one, got {list(checkpoints)}")
        if spends:
            return np.asarray(points, np.float32)
        if points[-1] > max_pulls:
            raise UsageError(f"checkpoints must not exceed max_pulls={max_pulls}, got {points[-1]}")
        return np.asarray(points, np.int32)
