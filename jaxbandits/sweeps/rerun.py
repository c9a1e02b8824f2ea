"""Repeats the runs that a Dataset shows, by its specification; if that is impossible, an error says why."""

import dataclasses
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.algorithms.parameters import axes_of
from jaxbandits.axes import Axis
from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.binding import accept, bind, with_values
from jaxbandits.engine.metric import functions_of, users_metrics
from jaxbandits.errors import UsageError
from jaxbandits.io.diff import difference, warn_of_doubts
from jaxbandits.problems.base import Problem
from jaxbandits.problems.constructors import ProblemFamily
from jaxbandits.problems.to_spec import MARK, describe_problem
from jaxbandits.sweeps.grid import Cell, expand
from jaxbandits.sweeps.results import coordinate
from jaxbandits.sweeps.run import sweep
from jaxbandits.sweeps.spec import build_algorithm, build_problem, describe_algorithm, specification
from jaxbandits.users_code.records import CODE, change, recorded

__all__ = ["cells_of", "repeat"]

#: Dimensions of a Dataset that are not axes of its grid: all runs have them.
_OF_RUNS = {"seed", "arm", "bandit", "checkpoint"}


@own_settings()
def repeat(
    ds: xr.Dataset, *, algorithm: Any = None, problem: Problem | ProblemFamily | None = None, **options: Any
) -> xr.Dataset:
    """Repeat the runs that a Dataset shows, by its `spec` attribute, bit for bit on the same kind of device.

    Of a selection of cells or seeds only those are run (with any seeds between them). A user's own code must be
    unchanged: methods, metrics, and what they call or name. For a Dataset made before code was recorded this cannot be
    checked, and a warning says so.

    Args:
        ds: a result of `sweep`, a selection from one, or one read back from disk.
        algorithm: the algorithm of the Dataset, where the specification cannot hold it: one of the user's own.
        problem: the problem of the Dataset, where the specification cannot hold it: large data, or files that moved.
        options: options to change, as in `sweep`, such as more seeds.

    Raises:
        UsageError: no spec, one that cannot be built again, or another algorithm or problem than the Dataset's. Its
            dimensions, values of axes and seeds must be those of its specification.

    Example:
        >>> ds = jb.simulate(jb.Uniform(budget=20), jb.bernoulli([0.9, 0.4]), seeds=10)
        >>> bool((jb.repeat(ds).pulls == ds.pulls).all())
        True
    """
    if "spec" not in ds.attrs:
        raise UsageError("the Dataset has no spec attribute to repeat it from")
    tables = specification(ds.attrs["spec"])
    algorithm = _given_or_built("algorithm", algorithm, tables)
    problem = _given_or_built("problem", problem, tables)
    _check_metrics(tables.get("run", {}), options.get("metrics"))
    before = {name: value for name, value in tables.get("run", {}).items() if name != CODE}
    places = _all_places(ds, algorithm, problem)
    run, chosen = {**before, **options}, {}
    if "seeds" not in options:
        chosen["seed"] = _seeds(ds, int(before.get("first_seed", 0)), int(before.get("seeds", 0)))
        run["first_seed"] = int(chosen["seed"].min())
        run["seeds"] = int(chosen["seed"].max()) + 1 - run["first_seed"]
    if "checkpoint" in ds.coords and "checkpoints" not in options:
        _places(ds, "checkpoint", before.get("checkpoints", []))
        chosen["checkpoint"] = ds["checkpoint"].to_numpy()
    again = sweep(_chosen_cells(algorithm, places), problem.chosen(_chosen(problem.axes, places)), **run).sel(chosen)
    return again.isel({name: 0 for name in places if name not in ds.dims})


def cells_of(
    ds: xr.Dataset, *, algorithm: Any = None, problem: Problem | ProblemFamily | None = None
) -> tuple[list[Cell], list[str]]:
    """Return the cells that a Dataset shows, in the order of its dimensions, and the names of these.

    Nothing is run.

    Args:
        ds: as for `repeat`.
        algorithm: as for `repeat`.
        problem: as for `repeat`.

    Raises:
        UsageError: as for `repeat`.
    """
    if "spec" not in ds.attrs:
        raise UsageError("the Dataset has no spec attribute that says what its cells are")
    tables = specification(ds.attrs["spec"])
    algorithm = _given_or_built("algorithm", algorithm, tables)
    problem = _given_or_built("problem", problem, tables)
    places = _all_places(ds, algorithm, problem)
    grid = expand(accept(_chosen_cells(algorithm, places)), problem.chosen(_chosen(problem.axes, places)))
    suited = [(cell, *bind(cell.algorithm, cell.problem)) for cell in grid.cells]
    return [cell._replace(algorithm=own, problem=explored) for cell, own, explored in suited], list(grid.dimensions)


def _all_places(ds: xr.Dataset, algorithm: Any, problem: Problem | ProblemFamily) -> dict[str, list[int]]:
    """Return the indices of a Dataset's coordinates among the values of the axes.

    Raises:
        UsageError: dimensions or values that the axes do not have.
    """
    places = {
        name: _places(ds, name, np.asarray(coordinate(values)).tolist())
        for name, values in expand(accept(algorithm), problem).dimensions.items()
    }
    for name in set(ds.dims) - places.keys() - _OF_RUNS:
        raise UsageError(f"the Dataset has a dimension {name!r} that its specification has not: repeat its parts")
    return places


def _given_or_built(part: str, given: Any, tables: dict[str, Any]) -> Any:
    """Return the Dataset's algorithm or problem.

    Raises:
        UsageError: the given one differs, or none is given and the specification does not hold it.
    """
    table = tables[part]
    if given is None:
        bare = {name: value for name, value in table.items() if name != CODE}
        try:
            made: Any = (build_algorithm if part == "algorithm" else build_problem)(bare)
        except UsageError as error:
            if MARK in table or "sha256" in table:
                raise UsageError(f"{error}: give it again, jb.repeat(ds, {part}=…)") from None
            raise
        if part == "problem" and "sha256" not in table and "sha256" in describe_problem(made):
            raise UsageError(
                f"the specification names the data of {made.name} and not what they held: jb.repeat(ds, problem=…) "
                "takes them as they are now"
            )
        if different := change(table.get(CODE, {}), recorded([made]).get(CODE, {})):
            raise UsageError(f"this is not the {part} of the Dataset: {different}")
        return made
    if part == "problem" and not isinstance(given, Problem | ProblemFamily):
        raise UsageError(f"a problem is needed, such as jb.bernoulli([0.7, 0.5]), got {type(given).__name__}")
    found = describe_problem(given) if part == "problem" else describe_algorithm(accept(given))
    if different := difference(table, found, part):
        raise UsageError(f"this is not the {part} of the Dataset: {different}")
    warn_of_doubts(table, found, "the Dataset")
    return given


def _check_metrics(run: dict[str, Any], given: Any) -> None:
    """Check that the metrics of a Dataset are among the given ones.

    Raises:
        UsageError: they are not, or their functions have changed.
    """
    if not (names := run.get("metrics")):
        return
    if not set(names) <= set(given or {}):
        raise UsageError(f"the Dataset has metrics of your own: give them again, repeat(ds, metrics=…) with {names}")
    functions = functions_of(users_metrics({name: given[name] for name in names}, {}))
    there = {name: value for name, value in run.items() if name in ("metrics", CODE)}
    here = {"metrics": names, **recorded(functions=functions)}
    if different := difference(there, here, "run"):
        raise UsageError(f"these are not the metrics of the Dataset: {different}")
    warn_of_doubts(there, here, "the Dataset")


def _places(ds: xr.Dataset, name: str, known: list[Any]) -> list[int]:
    """Return the indices of a Dataset's coordinate among the values of an axis.

    Raises:
        UsageError: no such coordinate, values that the axis does not have, or a value more than once.
    """
    if name not in ds.coords:
        raise UsageError(f"the Dataset no longer says which {name} it is of: repeat the one it was made from")
    shown = np.atleast_1d(ds[name].to_numpy()).tolist()
    for value in shown:
        if value not in known:
            raise UsageError(f"{name}={value} is not in the specification of the Dataset: repeat its parts")
        if shown.count(value) > 1:
            raise UsageError(f"the Dataset has {name}={value} more than once: repeat its parts")
    return [known.index(value) for value in shown]


def _seeds(ds: xr.Dataset, first: int, count: int) -> np.ndarray:
    """Return the seeds of a Dataset of runs, or of a summary of all `count` runs of every cell.

    Raises:
        UsageError: no seeds, seeds that the specification does not have, or a seed more than once.
    """
    if "seed" in ds.coords:
        seeds = np.atleast_1d(ds["seed"].to_numpy())
        if not seeds.size:
            raise UsageError("the Dataset has no runs to repeat")
        values, times = np.unique(seeds, return_counts=True)
        if values[0] < first or values[-1] >= first + count or (values != values.astype(np.int64)).any():
            raise UsageError(
                f"the Dataset has the seeds {values[0]} to {values[-1]} and its specification {first} to "
                f"{first + count - 1}: repeat its parts"
            )
        if (times > 1).any():
            raise UsageError(f"the Dataset has seed={values[times > 1][0]} more than once: repeat its parts")
        return ds["seed"].to_numpy()
    if "runs" in ds and (ds["runs"] == count).all():
        return np.arange(first, first + count)
    raise UsageError("the Dataset does not say which seeds it is of: repeat(ds, seeds=…) sets their number")


def _chosen_cells(algorithm: Any, places: dict[str, list[int]]) -> Any:
    """Return an algorithm with the values of its axes at these indices."""
    known = accept(algorithm)
    return with_values(known, _chosen(axes_of(known), places))


def _chosen(axes: dict[str, Axis], places: dict[str, list[int]]) -> dict[str, Axis]:
    return {
        field: dataclasses.replace(axis, values=tuple(axis.values[place] for place in places[axis.name or field]))
        for field, axis in axes.items()
    }
