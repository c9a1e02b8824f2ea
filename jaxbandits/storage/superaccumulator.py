"""Exact sums of numbers in double precision: they do not depend on the order, and partial sums add up.

A number is split into whole multiples of powers of 2^20. Each power has a sum of whole numbers.
"""

from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["ExactSums", "halves"]

_BITS = 20
_SPLIT = 2.0**27 + 1.0


class ExactSums:
    """C sums; a part is an int64 array `(C,)` of whole numbers times 2^(20 power)."""

    def __init__(self, count: int, parts: dict[int, np.ndarray] | None = None) -> None:
        """Start with empty sums, or from parts."""
        self.count = count
        self.parts: dict[int, np.ndarray] = parts or {}

    def add(self, place: np.ndarray, values: np.ndarray) -> None:
        """Add finite numbers, float64 `(N,)`, to the sums at their places, int64 `(N,)`; fewer than 2^33."""
        rest = np.array(values, np.float64)
        while rest.size and (largest := float(np.abs(rest).max())) > 0:
            power = int(np.floor((np.frexp(largest)[1] - 1) / _BITS))
            whole = np.trunc(np.ldexp(rest, -_BITS * power))  # below 2^20: their sums below 2^53 are exact
            rest -= np.ldexp(whole, _BITS * power)
            part = np.bincount(place, whole, self.count).astype(np.int64)
            self.parts[power] = self.parts[power] + part if power in self.parts else part

    def add_whole(self, place: np.ndarray, values: np.ndarray) -> bool:
        """Add whole numbers, as `add` does, if double precision holds their sums; else add nothing and return False."""
        if not values.size:
            return True
        largest = max(float(values.max()), -float(values.min()))
        if largest * values.size >= 2.0**53 or (values != np.trunc(values)).any():
            return False
        sums = np.bincount(place, values, self.count)
        there = np.flatnonzero(sums)
        self.add(there, sums[there])
        return True

    def add_sums(self, other: "ExactSums", place: np.ndarray) -> None:
        """Add sums `(c,)` to the sums at their places, int64 `(c,)`, each once."""
        for power, part in other.parts.items():
            self.parts.setdefault(power, np.zeros(self.count, np.int64))
            self.parts[power][place] += part

    def totals(self) -> np.ndarray:
        """Return the sums as Fractions, objects `(C,)`."""
        total: Any = np.zeros(self.count, object)
        for power, part in self.parts.items():
            scale = Fraction(2) ** (_BITS * power)
            total = total + part.astype(object) * scale
        return np.asarray([Fraction(one) for one in total], object)


def halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split numbers below 2^996 into two of 26 bits each, whose products are exact (Veltkamp 1968)."""
    scaled = _SPLIT * values
    high = scaled - (scaled - values)
    return high, values - high
