"""Grids: which fields of an algorithm and a problem vary, and the cells that their product makes."""

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxbandits.axes import Axis, ProblemFamily
from jaxbandits.errors import UsageError
from jaxbandits.problems.base import Problem
from jaxbandits.problems.costs import with_costs

__all__ = ["Cell", "Grid", "expand"]


class Cell(NamedTuple):
    """One cell of a grid."""

    position: tuple[int, ...]
    algorithm: Any
    problem: Problem


class Grid(NamedTuple):
    """Dimensions in order, name to values, and how to build the cells."""

    dimensions: dict[str, tuple[Any, ...]]
    cells: list[Cell]


def expand(algorithm: Any, problem: Problem | ProblemFamily) -> Grid:
    """The grid that an algorithm and a problem span.

    Raises:
        UsageError: two different axes with one name.
    """
    algorithm_axes = {f.name: getattr(algorithm, f.name) for f in _fields(algorithm)}
    algorithm_axes = {name: value for name, value in algorithm_axes.items() if isinstance(value, Axis)}
    problem_axes = {}
    if isinstance(problem, ProblemFamily):
        problem_axes = {name: value for name, value in problem.arguments.items() if isinstance(value, Axis)}
    dimensions: dict[str, tuple[Any, ...]] = {}
    for field, values in itertools.chain(algorithm_axes.items(), problem_axes.items()):
        name = values.name or field
        if dimensions.setdefault(name, values.values) != values.values:
            raise UsageError(f"two different axes are called {name!r}: give one of them another name, axis(…, name=…)")
    for reserved in {"seed", "arm", "bandit", "checkpoint"} & dimensions.keys():
        raise UsageError(f"an axis cannot be called {reserved!r}, the results have a dimension of that name")
    cells = list(_cells(algorithm, problem, algorithm_axes, problem_axes, dimensions))
    return Grid(dimensions, cells)


def _cells(
    algorithm: Any,
    problem: Problem | ProblemFamily,
    algorithm_axes: dict[str, Axis],
    problem_axes: dict[str, Axis],
    dimensions: dict[str, tuple[Any, ...]],
) -> Iterator[Cell]:
    problems: dict[tuple[int, ...], Problem] = {}
    for position in itertools.product(*(range(len(values)) for values in dimensions.values())):
        at = dict(zip(dimensions, position, strict=True))
        changes = {field: values.values[at[values.name or field]] for field, values in algorithm_axes.items()}
        own = dataclasses.replace(algorithm, **changes) if changes else algorithm
        if isinstance(problem, ProblemFamily):
            where = {field: at[values.name or field] for field, values in problem_axes.items()}
            key = tuple(where.values())
            if key not in problems:
                given = {field: problem_axes[field].values[i] for field, i in where.items()}
                made = problem.make(**{**problem.arguments, **given})
                problems[key] = (
                    made if problem.costs is None else with_costs(made, problem.costs[0], random=problem.costs[1])
                )
            yield Cell(position, own, problems[key])
        else:
            yield Cell(position, own, problem)


def _fields(algorithm: Any) -> tuple[Any, ...]:
    known = dataclasses.is_dataclass(algorithm) and not isinstance(algorithm, type)
    return dataclasses.fields(algorithm) if known else ()
