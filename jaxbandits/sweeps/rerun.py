"""Repeats the runs that a Dataset shows, by its specification; if that is impossible, an error says why."""

from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.compilers.jax_settings import own_settings
from jaxbandits.engine.binding import bind, with_values
from jaxbandits.errors import UsageError
from jaxbandits.storage.layout import numbers_of_values
from jaxbandits.sweeps.entries import Entries
from jaxbandits.sweeps.grid import Cell, expand
from jaxbandits.sweeps.platform_options import FlightOptions, flight_options
from jaxbandits.sweeps.rebuild import check_same_metrics, rebuilt
from jaxbandits.sweeps.results import coordinate
from jaxbandits.sweeps.run import sweep
from jaxbandits.sweeps.spec import specification
from jaxbandits.users_code.records import CODE

__all__ = ["cells_of", "repeat"]

#: Dimensions of a Dataset that are not axes of its grid: all runs have them.
_OF_RUNS = {"seed", "arm", "bandit", "checkpoint"}


@own_settings()
def repeat(ds: xr.Dataset, *, algorithm: Any = None, problem: Any = None, **options: Any) -> xr.Dataset:
    """Repeat the runs that a Dataset shows, by its `spec` attribute, bit for bit on the same kind of device.

    Of a selection of cells or seeds only those are run (with any seeds between them). A user's own code must be
    unchanged: methods, metrics, and what they call or name. For a Dataset made before code was recorded this cannot be
    checked, and a warning says so.

    Args:
        ds: a result of `sweep`, a selection from one, or one read back from disk.
        algorithm: the algorithm of the Dataset, where the specification cannot hold it: one of the user's own. Of a
            list, those that it cannot hold, by name.
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
    algorithms, problems = rebuilt("algorithm", algorithm, tables), rebuilt("problem", problem, tables)
    check_same_metrics(tables.get("run", {}), options.get("metrics"))
    before = {name: value for name, value in tables.get("run", {}).items() if name != CODE}
    flights = flight_options(before.get("batch"), before.get("delay"))
    places = _all_places(ds, algorithms, problems, flights)
    run, chosen = {**before, **flights.chosen(places)._asdict(), **options}, {}
    if "seeds" not in options:
        chosen["seed"] = _seeds(ds, int(before.get("first_seed", 0)), int(before.get("seeds", 0)))
        run["first_seed"] = int(chosen["seed"].min())
        run["seeds"] = int(chosen["seed"].max()) + 1 - run["first_seed"]
    if "checkpoint" in ds.coords and "checkpoints" not in options:
        _places(ds, "checkpoint", before.get("checkpoints", []))
        chosen["checkpoint"] = ds["checkpoint"].to_numpy()
    again = sweep(_chosen(algorithms, places), _chosen(problems, places), **run).sel(chosen)
    return _like(again.isel({name: 0 for name in again.dims if name in places and name not in ds.dims}), ds, places)


def _like(again: xr.Dataset, ds: xr.Dataset, places: dict[str, list[int]]) -> xr.Dataset:
    """Return runs with the axes of a Dataset that repeat them: those that its algorithms and problems lack."""
    order = [name for name in places if name in ds.dims]
    if lacking := [name for name in places if name not in again.coords]:
        again = again.assign_coords({name: ds[name].variable for name in lacking if name not in ds.dims})
        wider = {name: np.atleast_1d(ds[name].to_numpy()) for name in lacking if name in ds.dims}
        again = again.expand_dims(wider).transpose(*order, ...)
    return again


def cells_of(ds: xr.Dataset, *, algorithm: Any = None, problem: Any = None) -> tuple[list[Cell | None], list[str]]:
    """Return the cells that a Dataset shows, in the order of its dimensions, and the names of these.

    None stands for a cell that is not run, since its algorithm does not fit its problem. Nothing is run.

    Raises:
        UsageError: as for `repeat`.
    """
    if "spec" not in ds.attrs:
        raise UsageError("the Dataset has no spec attribute that says what its cells are")
    tables = specification(ds.attrs["spec"])
    algorithms, problems = rebuilt("algorithm", algorithm, tables), rebuilt("problem", problem, tables)
    run = tables.get("run", {})
    flights = flight_options(run.get("batch"), run.get("delay"))
    places = _all_places(ds, algorithms, problems, flights)
    grid = expand(_chosen(algorithms, places), _chosen(problems, places), flights.chosen(places))
    return [_bound(cell, may_be_left_out="not_run" in ds.attrs) for cell in grid.cells], list(grid.dimensions)


def _bound(cell: Cell, *, may_be_left_out: bool) -> Cell | None:
    try:
        algorithm, problem = bind(cell.algorithm, cell.problem)
    except UsageError:
        if may_be_left_out:
            return None
        raise
    return cell._replace(algorithm=algorithm, problem=problem)


def _all_places(ds: xr.Dataset, algorithms: Entries, problems: Entries, flights: FlightOptions) -> dict[str, list[int]]:
    """Return the indices of a Dataset's coordinates among the values of the axes.

    Raises:
        UsageError: dimensions or values that the axes do not have.
    """
    places = {
        name: _places(ds, name, np.asarray(coordinate(values)).tolist())
        for name, values in expand(algorithms, problems, flights).dimensions.items()
    }
    for name in set(ds.dims) - places.keys() - _OF_RUNS:
        raise UsageError(f"the Dataset has a dimension {name!r} that its specification has not: repeat its parts")
    return places


def _places(ds: xr.Dataset, name: str, known: list[Any]) -> list[int]:
    """Return the indices of a Dataset's coordinate among the values of an axis.

    Raises:
        UsageError: no such coordinate, values that the axis does not have, or a value more than once.
    """
    if name not in ds.coords:
        raise UsageError(f"the Dataset no longer says which {name} it is of: repeat the one it was made from")
    shown, numbers, seen = np.atleast_1d(ds[name].to_numpy()).tolist(), numbers_of_values(known), set[Any]()
    for value in shown:
        if value not in numbers:
            raise UsageError(f"{name}={value} is not in the specification of the Dataset: repeat its parts")
        if value in seen:
            raise UsageError(f"the Dataset has {name}={value} more than once: repeat its parts")
        seen.add(value)
    return [numbers[value] for value in shown]


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


def _chosen(entries: Entries, places: dict[str, list[int]]) -> Entries:
    """Return the algorithms or problems of a selection, with the values of their axes at these indices."""
    names = [entries.names[place] for place in places[entries.kind]] if entries.listed else entries.names
    found = {}
    for name in names:
        axes = {field: axis.at(places[axis.name or field]) for field, axis in entries.axes(name).items()}
        thing = entries.things[name]
        found[name] = with_values(thing, axes) if entries.kind == "algorithm" else thing.chosen(axes)
    return entries.replaced(found)
