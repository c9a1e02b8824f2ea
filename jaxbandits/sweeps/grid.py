"""Grids: the axes of an algorithm and a problem, and the cells of their product."""

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxbandits.algorithms.parameters import is_parameter, values_of
from jaxbandits.algorithms.protocol import Rule
from jaxbandits.arrays.probabilities import computed_with
from jaxbandits.engine.binding import with_values
from jaxbandits.engine.flights import Flight
from jaxbandits.errors import UsageError, about
from jaxbandits.io.serialize import array_hash
from jaxbandits.problems.base import Problem
from jaxbandits.sweeps.entries import Entries, entries_of
from jaxbandits.sweeps.platform_options import NOTHING_IN_FLIGHT, FlightOptions

__all__ = ["NONE", "RESERVED", "Cell", "Grid", "cell_hashes", "expand", "hash_cells"]


#: In place of the number of a cell: it is not run, since its algorithm does not fit its problem.
NONE = -1
#: The largest number of cells of a grid: one takes some kilobytes.
_MOST_CELLS = 2**20
#: Dimensions that all results have besides the axes.
RESERVED = frozenset({"seed", "arm", "bandit", "checkpoint"})


class Cell(NamedTuple):
    """One cell of a grid."""

    position: tuple[int, ...]
    algorithm: Rule
    problem: Problem
    flight: Flight | None = None  # pulls in flight


class Grid(NamedTuple):
    """Dimensions in order, name to values, and how to build the cells."""

    dimensions: dict[str, tuple[Any, ...]]  # as results show the values
    cells: list[Cell]
    first: np.ndarray  # int64 (C,): the first cell with the same runs, which an axis that it lacks repeats; or `NONE`

    @property
    def distinct(self) -> list[int]:
        """Return the numbers of the cells that are run: each of those that repeat runs once."""
        return np.unique(self.first[self.first != NONE]).tolist()

    @property
    def distinct_cells(self) -> list[Cell]:
        """Return the cells that are run."""
        return [self.cells[place] for place in self.distinct]


def expand(algorithm: Any, problem: Any, flights: FlightOptions = NOTHING_IN_FLIGHT) -> Grid:
    """Return the grid that algorithms, problems, their axes and those of pulls in flight span.

    Raises:
        UsageError: two different axes with one name, or pulls in flight that cannot be simulated.
    """
    both = entries_of("algorithm", algorithm), entries_of("problem", problem)
    lists: list[str] = [one.kind for one in both if one.listed]
    dimensions: dict[str, tuple[Any, ...]] = {entries.kind: entries.names for entries in both if entries.listed}
    for entries in both:
        for entry, place in entries.places.items():
            for field, axis in entries.axes(entry).items():
                with about(*place, field):
                    _add_axis(dimensions, axis.name or field, axis.shown, lists)
    for field, axis in flights.axes.items():
        with about("run", field):
            _add_axis(dimensions, axis.name or field, axis.shown, lists)
    if (count := math.prod(map(len, dimensions.values()))) > _MOST_CELLS:
        raise UsageError(
            f"the grid has {count:,} cells, and one sweep takes {_MOST_CELLS:,} at most: split it into parts"
        )
    cells: list[Cell] = []
    first: list[int] = []
    numbers: dict[Any, int] = {}
    sides = _Side(both[0]), _Side(both[1])
    for position in itertools.product(*(range(len(values)) for values in dimensions.values())):
        at = dict(zip(dimensions, position, strict=True))
        (algorithm_key, own), (problem_key, one) = (side.at(at) for side in sides)
        values = {field: axis.values[at[axis.name or field]] for field, axis in flights.axes.items()}
        first.append(numbers.setdefault((algorithm_key, problem_key, *values.values()), len(cells)))
        cells.append(Cell(position, own, one, flights.at(values)))
    return Grid(dimensions, cells, np.asarray(first, np.int64))


def _add_axis(dimensions: dict[str, tuple[Any, ...]], name: str, shown: tuple[Any, ...], lists: list[str]) -> None:
    if name in lists:
        raise UsageError(f"an axis cannot be called {name!r}: it is the dimension of a list, use axis(…, name=…)")
    if dimensions.setdefault(name, shown) != shown:
        raise UsageError(f"two different axes are called {name!r}: give one of them another name, axis(…, name=…)")


class _Side:
    """The algorithms or the problems of a grid at its positions, each made once."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._axes = {name: entries.axes(name) for name in entries.names}
        self._found: dict[Any, Any] = {}

    def at(self, at: dict[str, int]) -> tuple[Any, Any]:
        """Return a key, and the algorithm or problem with the values of its axes at a position, given by dimension."""
        entries = self._entries
        name = entries.names[at[entries.kind] if entries.listed else 0]
        axes = self._axes[name]
        where = {field: at[axis.name or field] for field, axis in axes.items()}
        key = (name, *where.values())
        if key not in self._found:
            values = {field: axes[field].values[place] for field, place in where.items()}
            with about(*entries.places[name]):
                thing = entries.things[name]
                self._found[key] = with_values(thing, values) if entries.kind == "algorithm" else thing.at(values)
        return key, self._found[key]


def hash_cells(cells: Sequence[Cell]) -> np.ndarray:
    """Return a hash of each cell by class and values: the same in any grid, and at any position of it.

    Values count as equal if runs compute with equal numbers. Names of problems do not count, nor does a parameter at
    its default, so that one added later changes no hash.

    Args:
        cells: cells with the values that the user gave, without derived ones.

    Returns:
        uint32 `(2, C)`.
    """
    problems: dict[int, Any] = {}  # cells share problems, whose tables may be large
    words = []
    for cell in cells:
        if id(cell.problem) not in problems:
            problems[id(cell.problem)] = _content_of_problem(cell.problem)
        content = [_content_of_algorithm(cell.algorithm), problems[id(cell.problem)]]
        if cell.flight is not None:
            content.append([cell.flight.law, _content(cell.flight)])
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
        words.append(np.frombuffer(digest[:8], ">u4").astype(np.uint32))
    return np.stack(words, axis=-1)


def cell_hashes(identity: np.ndarray) -> tuple[str, ...]:
    """Return the hashes of `hash_cells` as texts of 16 hexadecimal digits."""
    return tuple(f"{high:08x}{low:08x}" for high, low in identity.T.tolist())


def _content_of_problem(problem: Problem) -> list[Any]:
    leaves = jax.tree_util.tree_leaves_with_path(problem)
    numbers = {jax.tree_util.keystr(path): _number_hash(leaf) for path, leaf in leaves}
    costs = None if problem.costs is None else problem.costs.random
    choices = {name: _content(getattr(problem, name)) for name in problem.choices}
    return [type(problem).__qualname__, problem.bandits, costs, choices, numbers]


def _content_of_algorithm(algorithm: Rule) -> list[Any]:
    found, given = {}, values_of(algorithm)
    for field in dataclasses.fields(algorithm):
        rule = field.metadata["rule"] if is_parameter(field) else ""
        value, default = (_content(_computed(x, rule)) for x in (given[field.name], field.default))
        if value != default:
            found[field.name] = value
    return [type(algorithm).__qualname__, found]


def _computed(value: Any, rule: str) -> Any:
    """Return a parameter of a built-in algorithm as runs compute with it."""
    if not rule or not isinstance(value, int | float | np.number):
        return value
    if rule == "count":
        return int(value)
    single = np.float32(value)
    if rule == "error probability" and single != (double := computed_with(value)):
        return repr(float(double))
    return single


def _content(value: Any) -> Any:
    """Return the content of a value: numbers by value, functions and classes by name, others as they print."""
    leaves = jax.tree.leaves(value)
    if leaves and all(isinstance(leaf, bool | int | float) or hasattr(leaf, "dtype") for leaf in leaves):
        return [_number_hash(leaf) for leaf in leaves]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text  # addresses change from process to process


def _number_hash(value: Any) -> str:
    """Return a hash of numbers with fractions as float32: 1 and 1.0 are equal, and so are 0.2 and its float32."""
    array = np.asarray(value)
    return array_hash([array.astype(np.float32) if np.issubdtype(array.dtype, np.floating) else array])
