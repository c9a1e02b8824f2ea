"""Statistics of runs that are not stored themselves: counts, exact sums, and how often each value occurred.

Everything is whole numbers that add up: neither the order of the runs nor their division into blocks changes a bit.
"""

from typing import Any, NamedTuple

import numpy as np

from jaxbandits.report.summaries import LIMITED
from jaxbandits.status import STALLED, stopped_early
from jaxbandits.storage.layout import FinishedRuns, Layout
from jaxbandits.storage.superaccumulator import ExactSums, halves

__all__ = ["Moments", "Stream", "rounded_values"]

#: The suffix of counts of truncated runs.
STOPPED = " of stopped runs"
#: Bits of a float32 that are dropped when values are counted: 14 of its 24 significant bits are kept.
_DROPPED = 10


class Moments(NamedTuple):
    """Moments of a variable over runs; every array has the shape `(cells, points, …)`, flat."""

    number: np.ndarray  # int64: how many numbers, without NaN
    infinite: np.ndarray  # int64 (2, …): how often minus and plus infinity occurred; no sum includes them
    total: ExactSums
    squares: ExactSums

    @classmethod
    def nothing(cls, count: int) -> "Moments":
        """Return the moments of no run."""
        return cls(
            np.zeros(count, np.int64), np.zeros((2, count), np.int64), ExactSums(count), ExactSums(count)
        )  # fmt: skip

    def add(self, place: np.ndarray, values: np.ndarray) -> None:
        """Add values `(N,)` at their places."""
        exact = values.dtype.itemsize <= 4  # double precision holds their squares exactly
        values = np.asarray(values, np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            for row, sign in zip(self.infinite, (-np.inf, np.inf), strict=True):
                row += np.bincount(place[values == sign], minlength=row.size)
            self.number[:] += np.bincount(place[~np.isnan(values)], minlength=self.number.size)
            place, values = place[finite], values[finite]
        else:
            self.number[:] += np.bincount(place, minlength=self.number.size)
        if self.total.add_whole(place, values):
            if self.squares.add_whole(place, values * values):
                return
        else:
            self.total.add(place, values)
        if exact:
            self.squares.add(place, values * values)
            return
        high, low = halves(values)
        self.squares.add(place, high * high)
        if low.any():
            self.squares.add(place, 2 * high * low)
            self.squares.add(place, low * low)

    def add_moments(self, other: "Moments", place: np.ndarray) -> None:
        """Add moments at other places, each once."""
        self.number[place] += other.number
        self.infinite[:, place] += other.infinite
        self.total.add_sums(other.total, place)
        self.squares.add_sums(other.squares, place)

    def mean_and_variance(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance (with n - 1), correctly rounded, float64.

        They are NaN where there is no number, the variance also for one number.
        """
        mean, variance = np.full(self.number.size, np.nan), np.full(self.number.size, np.nan)
        totals, squares = self.total.totals(), self.squares.totals()
        for i in np.flatnonzero(self.number):
            n = int(self.number[i])
            minus, plus = self.infinite[:, i]
            if minus or plus:
                mean[i] = np.nan if minus and plus else np.inf if plus else -np.inf
                continue
            mean[i] = float(totals[i] / n)
            if n > 1:
                variance[i] = float((n * squares[i] - totals[i] ** 2) / (n * (n - 1)))
        return mean, variance


class Stream:
    """Statistics of the runs of some cells, by variable."""

    def __init__(self, layout: Layout, *, counting: bool) -> None:
        """Start without a run; `counting` counts how often each value occurred, for quantiles."""
        self._layout, self._counting = layout, counting
        self.moments: dict[str, Moments] = {}
        #: Flat place, value (see `rounded_values`) and how often it occurred, each `(N,)`.
        self.values: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def _moments(self, name: str) -> Moments:
        if name not in self.moments:
            arms = self._layout.of_arms(name) if name in self._layout.variables else ()
            places = len(self._layout.cells) * self._layout.points * int(np.prod(arms, dtype=np.int64))
            self.moments[name] = Moments.nothing(places)
        return self.moments[name]

    def add(self, runs: FinishedRuns) -> None:
        """Add runs."""
        flags = {}
        if "status" in runs.values:
            status = runs.values["status"]
            flags = {"stopped early": stopped_early(status), "stalled": status == STALLED}
        for name, values in (runs.values | flags).items():
            width = int(np.prod(values.shape[1:], dtype=np.int64))
            place = (runs.cell[:, None] * width + np.arange(width)).ravel()
            self._moments(name).add(place, values.reshape(-1))
            if self._counting and name in self._layout.variables and not self._layout.variables[name].per_arm:
                flat, stopped = np.asarray(values, np.float64).ravel(), flags.get("stopped early")
                if name == LIMITED and stopped is not None and stopped.any():
                    self._count(f"{name}{STOPPED}", place[stopped.ravel()], flat[stopped.ravel()])
                    place, flat = place[~stopped.ravel()], flat[~stopped.ravel()]
                self._count(name, place, flat)

    def _count(self, name: str, place: np.ndarray, values: np.ndarray) -> None:
        known = ~np.isnan(values)
        self._add_counts(name, place[known], _keys(values[known]), np.ones(np.count_nonzero(known), np.int64))

    def _add_counts(self, name: str, place: np.ndarray, keys: np.ndarray, often: np.ndarray) -> None:
        if name in self.values:
            there = self.values[name]
            place, keys, often = (np.concatenate(pair) for pair in zip(there, (place, keys, often), strict=True))
        self.values[name] = _summed(place, keys, often)

    def counts(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return places, values (see `rounded_values`) and how often they occurred, in order of place, then value.

        A truncated run would have had more pulls than any run that ended: it counts as the largest of its
        place.
        """
        place, keys, often = self.values[name]
        if f"{name}{STOPPED}" not in self.values:
            return place, keys, often
        their_place, their_keys, their_often = self.values[f"{name}{STOPPED}"]
        most = np.zeros(max(place.max(initial=0), their_place.max(initial=0)) + 1, np.int64)
        for each, value in ((place, keys), (their_place, their_keys)):
            np.maximum.at(most, each, value)
        lifted = (their_place, most[their_place], their_often)
        return _summed(*(np.concatenate(pair) for pair in zip((place, keys, often), lifted, strict=True)))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the statistics as arrays by name, without cells that have no runs; for `add_arrays`."""
        found: dict[str, np.ndarray] = {}
        for name, moments in self.moments.items():
            places = np.flatnonzero(moments.number)
            found[f"place.{name}"], found[f"count.{name}"] = places, moments.number[places]
            if moments.infinite.any():
                found[f"infinite.{name}"] = moments.infinite[:, places]
            for which, sums in (("total", moments.total), ("square", moments.squares)):
                for power, part in sums.parts.items():
                    found[f"{which}.{power}.{name}"] = part[places]
        for name, (place, keys, often) in self.values.items():
            found |= {f"at.{name}": place, f"value.{name}": keys, f"often.{name}": often}
        return found

    def add_arrays(self, arrays: dict[str, np.ndarray], cells: np.ndarray, arms: tuple[int, int]) -> None:
        """Add the statistics of another stream.

        Args:
            arrays: the arrays of the other stream.
            cells: int64 `(c,)`: this layout's number of each cell of the other's.
            arms: the other's bandits and arms of each; this layout may have more.
        """
        for key in arrays:
            kind, _, name = key.partition(".")
            if kind == "place":
                self._add_part(name, arrays, cells, arms)
            elif kind == "at":
                place = self._moved(arrays[key], cells, (), ())
                self._add_counts(name, place, arrays[f"value.{name}"], arrays[f"often.{name}"])

    def _add_part(self, name: str, arrays: dict[str, np.ndarray], cells: np.ndarray, arms: tuple[int, int]) -> None:
        own = self._layout.of_arms(name) if name in self._layout.variables else ()
        place = self._moved(arrays[f"place.{name}"], cells, arms if own else (), own)
        size = place.size
        sums: dict[str, dict[int, np.ndarray]] = {"total": {}, "square": {}}
        for key, part in arrays.items():
            kind, _, rest = key.partition(".")
            if kind in sums and (power := rest.partition("."))[2] == name:
                sums[kind][int(power[0])] = part
        infinite: Any = arrays.get(f"infinite.{name}", np.zeros((2, size), np.int64))
        other = Moments(
            arrays[f"count.{name}"], infinite, ExactSums(size, sums["total"]), ExactSums(size, sums["square"])
        )
        self._moments(name).add_moments(other, place)
        if own not in ((), arms) and self._layout.variables[name].empty == 0:
            self._count_zeros(name, arrays, cells, arms)

    def _count_zeros(self, name: str, arrays: dict[str, np.ndarray], cells: np.ndarray, arms: tuple[int, int]) -> None:
        """Count the zeros of the other's runs at arms that only this layout has, as `add` does for such runs."""
        own = self._layout.of_arms(name)
        lacking = np.ones(own, bool)
        lacking[: arms[0], : arms[1]] = False
        runs = self._moved(arrays["place.stopped early"], cells, (), ())  # a mark that every run has
        places = runs[:, None] * lacking.size + np.flatnonzero(lacking)
        self._moments(name).number[places] += arrays["count.stopped early"][:, None]

    def _moved(
        self, place: np.ndarray, cells: np.ndarray, theirs: tuple[int, ...], ours: tuple[int, ...]
    ) -> np.ndarray:
        """Return this layout's flat places for those of the other."""
        cell, *rest = np.unravel_index(place, (len(cells), self._layout.points, *theirs))
        shape = (len(self._layout.cells), self._layout.points, *ours)
        return np.asarray(np.ravel_multi_index((cells[cell], *rest), shape))


def _summed(place: np.ndarray, keys: np.ndarray, often: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    both, inverse = np.unique((place << 32) | keys, return_inverse=True)
    summed = np.zeros(len(both), np.int64)
    np.add.at(summed, inverse, often)
    return both >> 32, both & 0xFFFFFFFF, summed


def _keys(values: np.ndarray) -> np.ndarray:
    """Map numbers to whole numbers in [0, 2^32) in the same order, rounded to 14 significant bits, `(N,)`."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.int64)
    # To the nearest, ties to even; a carry correctly increases the exponent.
    kept = ((bits + (1 << (_DROPPED - 1)) - 1 + ((bits >> _DROPPED) & 1)) >> _DROPPED) << _DROPPED
    return np.where(bits >> 31, 0xFFFFFFFF - kept, kept + 0x80000000)


def rounded_values(keys: np.ndarray) -> np.ndarray:
    """Return the numbers that were counted, float64, rounded to 14 significant bits."""
    bits = np.where(keys >= 0x80000000, keys - 0x80000000, 0xFFFFFFFF - keys)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)
