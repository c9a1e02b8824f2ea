"""Counts from a file, a data frame, columns or arrays: a row for each arm; every fault gets one clear line."""

import dataclasses
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.checks import FINITE, NOT_NEGATIVE, whole_rule
from jaxbandits.counts.named_columns import selected, table_of
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.io.csv_files import Table, meant_as_number

__all__ = ["MOST_PULLS", "REWARDS", "Columns", "CountTable", "read_counts"]

#: The kinds of rewards.
REWARDS = ("coins", "bounded", "normal")
#: Pulls of all arms at most, so that a run has room for as many more.
MOST_PULLS = 10**9
_MOST_ARMS = 10_000
#: Names of columns that are unambiguous, in lower case.
_NAMES = {
    "arm": ("arm", "name", "variant", "headline", "option", "candidate", "caption"),
    "pulls": ("pulls", "n", "impressions", "trials", "views", "visitors", "readers"),
    "successes": ("successes", "clicks", "conversions", "wins"),
    "mean": ("mean", "average", "avg"),
    "variance": ("variance", "var"),
    "sd": ("sd", "std", "standard_deviation"),
    "squares": ("sum_of_squares", "squares"),
}
_SPREADS = ("variance", "sd", "squares")
#: Squared deviations below this share of the sum of squares are rounding, of it and of the mean in double precision.
_LOST = 1e-13


class Columns(NamedTuple):
    """The names of columns that the user told; None for those to be found by their usual names."""

    arm: str | None = None
    pulls: str | None = None
    successes: str | None = None
    mean: str | None = None
    variance: str | None = None
    sd: str | None = None
    squares: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class CountTable:
    """The counts of K arms.

    Attributes:
        arms: their names.
        pulls: int64 `(K,)`.
        total: float64 `(K,)`, sums of the rewards; whole numbers of coins.
        squares: float64 `(K,)`, sums of the squared deviations from the mean.
        rewards: `coins` (0 and 1), `bounded` or `normal`.
        taken: which column was taken for what, in words.
    """

    arms: list[str]
    pulls: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    rewards: str
    taken: str

    @property
    def means(self) -> np.ndarray:
        """Return the mean reward of each arm, float64 `(K,)`; NaN without pulls."""
        return np.where(self.pulls > 0, self.total / np.maximum(self.pulls, 1), np.nan)

    @property
    def leader(self) -> int:
        """Return the arm with the largest mean; of several the one with the most pulls, then the least spread."""
        means = np.where(self.pulls > 0, self.means, -np.inf)
        return int(np.lexsort((np.arange(len(means), 0, -1), -self.squares, self.pulls, means))[-1])


def read_counts(counts: Any, columns: Columns, rewards: str | None, reward_range: float, where: str) -> CountTable:
    """Return the counts of arms; arguments and errors as of `plan`."""
    if rewards is not None and rewards not in REWARDS:
        raise unknown_name("kind of rewards", str(rewards), REWARDS)
    table = selected(table_of(counts), where)
    places = _places(table, columns)
    kind = _kind(table, places, rewards)
    if len(table.rows) < 2:
        raise UsageError(f"{table.source}: two arms or more are needed, a row for each, got {len(table.rows)}")
    if len(table.rows) > _MOST_ARMS:
        raise UsageError(f"{table.source}: there may be {_MOST_ARMS:,} arms, a row for each, got {len(table.rows):,}")
    names = _arm_names(table, places)
    pulls = [int(table.number(line, row, places["pulls"], whole_rule(0, MOST_PULLS))) for line, row in table.rows]
    if sum(pulls) > MOST_PULLS:
        raise UsageError(f"{table.source}: pulls add up to {sum(pulls):,}: at most {MOST_PULLS:,} are taken")
    read = _coins if kind == "coins" else _moments
    pairs = [
        read(table, line, row, places, number, reward_range if kind == "bounded" else np.inf)
        for (line, row), number in zip(table.rows, pulls, strict=True)
    ]
    total, squares = np.asarray(pairs, np.float64).T
    ignored = ("mean", *_SPREADS) if kind == "coins" else ("successes",)
    used = {role: place for role, place in places.items() if role not in ignored}
    return CountTable(names, np.asarray(pulls, np.int64), total, squares, kind, _taken(table, used))


def _places(table: Table, columns: Columns) -> dict[str, int]:
    """Return the column of each role, told or by its name."""
    known = [name.lower() for name in table.header]
    found: dict[str, int] = {}
    for role, told in columns._asdict().items():
        if told is not None:
            if told not in table.header:
                raise unknown_name(f"{table.source}: column", told, table.header)
            if table.header.count(told) > 1:
                raise UsageError(f"{table.source}: there are {table.header.count(told)} columns {told!r}")
            found[role] = table.header.index(told)
            continue
        places = [i for i, name in enumerate(known) if name in _NAMES[role] and table.header[i] not in columns]
        if len(places) > 1:
            names = " and ".join(repr(table.header[i]) for i in places)
            raise UsageError(f"{table.source}: columns {names} may both be {role}: say {role}= one of them")
        if places:
            found[role] = places[0]
    if "arm" not in found:
        texts = [i for i in range(len(known)) if all(row[i] and not meant_as_number(row[i]) for _, row in table.rows)]
        free = [i for i in texts if i not in found.values()]
        if len(free) == 1 and table.rows:
            found["arm"] = free[0]
    return found


def _kind(table: Table, places: dict[str, int], rewards: str | None) -> str:
    """Return the kind of the rewards that the columns hold."""
    source, header = table.source, ", ".join(table.header[:12])
    if not header:
        raise UsageError(f"{source}: a table with columns is needed, such as arm, pulls and successes, got none")
    if "pulls" not in places:
        raise UsageError(f"{source}: a column of pulls is needed, say pulls= one of {header}")
    spreads = [role for role in _SPREADS if role in places]
    if rewards in (None, "coins") and "successes" in places:
        return "coins"
    if rewards == "coins" or "mean" not in places:
        raise UsageError(f"{source}: a column of successes is needed, or of means: say successes= or mean= of {header}")
    if len(spreads) != 1:
        words = "one of variance, sd and squares is needed beside the means"
        raise UsageError(f"{source}: {words}, got {' and '.join(spreads) or 'none'}; of rewards 0 and 1 give successes")
    if rewards is None:
        raise UsageError(f"{source}: say rewards=bounded for rewards in [0, reward_range], or rewards=normal")
    return rewards


def _arm_names(table: Table, places: dict[str, int]) -> list[str]:
    if "arm" not in places:
        return [f"arm {i + 1}" for i in range(len(table.rows))]
    seen: dict[str, int] = {}
    for line, row in table.rows:
        name = table.cell(line, row, places["arm"])
        if name in seen:
            table.refuse(line, places["arm"], f"the arm {name!r} has a row already, {table.numbered} {seen[name]}")
        seen[name] = line
    return list(seen)


def _coins(
    table: Table, line: int, row: list[str], places: dict[str, int], pulls: int, most: float
) -> tuple[float, float]:
    del most
    place = places["successes"]
    successes = table.number(line, row, place, whole_rule(0))
    if successes > pulls:
        table.refuse(line, place, f"{int(successes)} successes in {pulls} pulls")
    return successes, successes * (1 - successes / max(pulls, 1))


def _moments(
    table: Table, line: int, row: list[str], places: dict[str, int], pulls: int, most: float
) -> tuple[float, float]:
    """Return the sum of the rewards, and of their squared deviations; cells of arms without pulls may be empty."""
    role = next(role for role in _SPREADS if role in places)
    if pulls == 0:
        return 0.0, 0.0
    mean = table.number(line, row, places["mean"], FINITE)
    if most < np.inf and not 0 <= mean <= most:
        table.refuse(line, places["mean"], f"rewards lie in [0, {most:g}], and so must their mean, got {mean:g}")
    if pulls == 1 and not row[places[role]]:
        return mean, 0.0
    spread = table.number(line, row, places[role], NOT_NEGATIVE)
    if role == "squares":
        squares = float(Fraction(spread) - pulls * Fraction(mean) ** 2)
        if squares < -1e-6 * spread:
            why = f"{pulls} rewards of mean {mean:g} have a larger sum of squares, got {spread:g}"
            table.refuse(line, places[role], why)
        if pulls == 1:
            squares = 0.0
        elif squares and squares < _LOST * spread:
            why = f"{pulls} rewards of mean {mean:g} vary by less than the digits of {spread:g} hold"
            table.refuse(line, places[role], f"{why}: give variance or sd")
    else:
        squares = (spread if role == "variance" else spread**2) * (pulls - 1)
    if most < np.inf and squares > pulls * mean * (most - mean) * (1 + 1e-6):
        table.refuse(line, places[role], f"rewards in [0, {most:g}] of mean {mean:g} vary less, got {spread:g}")
    return pulls * mean, squares


def _taken(table: Table, places: dict[str, int]) -> str:
    """Return which column was taken for what."""
    words = ", ".join(f"{role} from {table.header[place]!r}" for role, place in places.items())
    others = [repr(name) for i, name in enumerate(table.header) if i not in places.values()]
    unused = f"; not used: {', '.join(others[:8])}{', …' if len(others) > 8 else ''}" if others else ""
    return f"{words}{unused}" if "arm" in places else f"{words}; arms are numbered{unused}"
