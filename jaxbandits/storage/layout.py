"""The layout of runs: the cells of a grid, the seeds, and the variables of each run."""

import functools
import importlib.metadata
import math
from collections.abc import Container, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from jaxbandits.status import NOT_RUN

__all__ = ["FinishedRuns", "Layout", "Variable", "add_text", "coordinates_of", "dataset_of", "numbers_of_values"]


class FinishedRuns(NamedTuple):
    """Completed runs, N of them, with Q points of a curve, or one."""

    cell: np.ndarray  # int64 (N,): the cell's number in the grid
    seed: np.ndarray  # int64 (N,)
    values: dict[str, np.ndarray]  # (N, Q) or (N, Q, bandits, K)

    def chosen(self, which: Any) -> "FinishedRuns":
        """Return some of the runs."""
        return FinishedRuns(self.cell[which], self.seed[which], {name: v[which] for name, v in self.values.items()})


class Variable(NamedTuple):
    """A variable measured in every run."""

    dtype: Any
    per_arm: bool
    empty: Any  # the value where there is none
    attrs: dict[str, Any]  # a text, or texts by the names of algorithms or problems

    @property
    def about(self) -> dict[str, str]:
        """Return the attributes as a Dataset has them."""
        return {key: _spoken(value) for key, value in self.attrs.items()}


def add_text(attrs: dict[str, Any], key: str, name: str, text: str) -> None:
    """Add a text to the texts by name that an attribute has; a text alone where there is no name."""
    if not name:
        attrs[key] = text
        return
    by_name = attrs.setdefault(key, {})
    texts = by_name.get(name, text).split(" or ")
    by_name[name] = " or ".join(texts if text in texts else [*texts, text])


def _spoken(value: str | dict[str, str]) -> str:
    """Return one text: texts by name are told with their names where they differ."""
    if isinstance(value, str):
        return value
    texts = list(dict.fromkeys(value.values()))
    if len(texts) == 1:
        return texts[0]
    names = [", ".join(name for name, own in value.items() if own == text) for text in texts]
    return "; ".join(f"{text} ({of})" for text, of in zip(texts, names, strict=True))


class Layout(NamedTuple):
    """The shape of a sweep's results."""

    dimensions: dict[str, Any]  # of the cells, name to coordinate, in order
    cells: tuple[str, ...]  # a hash of each cell's description, in the order of the product; "" of one without runs
    first_seed: int
    seeds: int
    checkpoints: np.ndarray  # (Q,); empty without a curve
    bandits: int
    arms: int  # per bandit
    variables: dict[str, Variable]  # all possible ones

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the grid of cells."""
        return tuple(len(values) for values in self.dimensions.values())

    @property
    def points(self) -> int:
        """Return the number of points of a curve, 1 without one."""
        return max(1, len(self.checkpoints))

    @property
    def runs(self) -> int:
        """Return the number of runs of the whole sweep, without those that are shown in several cells."""
        return len(self.distinct_cells) * self.seeds

    @property
    def distinct_cells(self) -> tuple[str, ...]:
        """Return the hashes of the cells that have runs, each once."""
        return tuple(cell for cell in dict.fromkeys(self.cells) if cell)

    @property
    def left_out(self) -> np.ndarray:
        """Return the numbers of the cells without runs: the algorithm does not fit the problem."""
        return np.asarray([number for number, cell in enumerate(self.cells) if not cell], np.int64)

    def of_arms(self, name: str) -> tuple[int, ...]:
        """Return the lengths of the axes that a variable has for arms."""
        return (self.bandits, self.arms) if self.variables[name].per_arm else ()

    def shape_of(self, name: str, seeds: int) -> tuple[int, ...]:
        """Return the shape of an array of a variable for all cells and some seeds."""
        return (len(self.cells), seeds, self.points, *self.of_arms(name))

    def dtype_of(self, name: str) -> np.dtype[Any]:
        """Return the type of a variable in results; with fractions where there are cells without runs, for NaN."""
        dtype = np.dtype(self.variables[name].dtype)
        return dtype if name == "status" or not self.left_out.size else np.promote_types(dtype, np.float32)

    def blank(self, name: str, seeds: int, array: np.ndarray | None = None) -> np.ndarray:
        """Return an array of a variable for all cells and some seeds, without values.

        Cells without runs are NaN, and their status is `NOT_RUN`: nobody takes them for zeros.

        Args:
            name: the variable.
            seeds: how many.
            array: zeros of `shape_of` and `dtype_of` to be filled; None for a new array in memory.
        """
        array = np.zeros(self.shape_of(name, seeds), self.dtype_of(name)) if array is None else array
        if (empty := self.variables[name].empty) != 0:
            array[:] = empty
        if self.left_out.size:
            array[self.left_out] = NOT_RUN if name == "status" else np.nan
        return array

    @property
    def bytes_of_a_run(self) -> int:
        """Return the bytes of a run in a Dataset, with the copy that it is made from."""
        return 96 * self.points + self.points * self.bandits * self.arms * (4 if self.left_out.size else 1)


def numbers_of_values(values: Iterable[Hashable]) -> dict[Any, int]:
    """Return where each value of a dimension is, by the value; a list is searched for ever longer as it grows."""
    found: dict[Any, int] = {}
    for number, value in enumerate(values):
        found.setdefault(value, number)
    return found


def coordinates_of(layout: Layout, found: Container[str]) -> dict[str, Any]:
    """Return the coordinates of results with these variables."""
    coordinates: dict[str, Any] = dict(layout.dimensions)
    if len(layout.checkpoints):
        coordinates["checkpoint"] = layout.checkpoints
    if "regret" in found:  # the budget is one of cost
        for name in {"budget", "checkpoint"} & coordinates.keys():
            coordinates[name] = xr.Variable(name, coordinates[name], {"long_name": "budget (cost)"})
    return coordinates


def dataset_of(layout: Layout, found: dict[str, np.ndarray], first_seed: int) -> xr.Dataset:
    """Return arrays `(cells, seeds, points, …)` of consecutive seeds as a labelled Dataset."""
    seeds = next(iter(found.values())).shape[1]
    coordinates = coordinates_of(layout, found) | {"seed": np.arange(first_seed, first_seed + seeds)}
    variables = {name: _variable(layout, name, found[name]) for name in layout.variables if name in found}
    return xr.Dataset(variables, coordinates, {"jaxbandits_version": _version()})


@functools.cache
def _version() -> str:
    """Return the version of the package, which is read from a file."""
    return importlib.metadata.version("jaxbandits")


def _variable(layout: Layout, name: str, values: np.ndarray) -> xr.Variable:
    per_arm = layout.variables[name].per_arm
    last = ["checkpoint"] if len(layout.checkpoints) else []
    arms = ["bandit", "arm"][-1 if layout.bandits == 1 else 0 :] if per_arm else []
    shape = [*layout.shape, values.shape[1], *[layout.points] * len(last), *values.shape[-len(arms) :][: len(arms)]]
    assert math.prod(shape) == values.size
    about = layout.variables[name].about
    if name == "status" and layout.left_out.size:
        about["long_name"] += f", {NOT_RUN} not run, since the algorithm does not fit the problem"
    return xr.Variable([*layout.dimensions, "seed", *last, *arms], values.reshape(shape), about)
