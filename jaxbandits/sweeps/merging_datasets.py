"""Merges Datasets of compatible specifications."""

import functools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.io.spec_axes import KINDS, axes_of, same_files, with_paths_of
from jaxbandits.memory import check_fits_in_memory
from jaxbandits.report.run_statistics import is_rate
from jaxbandits.report.summaries import PER_ARM
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.layout import numbers_of_values
from jaxbandits.storage.merged_specs import refuse_another, united_attrs, united_seeds, united_spec, united_values
from jaxbandits.sweeps.platform_options import flight_options
from jaxbandits.sweeps.spec import specification
from jaxbandits.xla_flags import refuse_other_flags

__all__ = ["merged"]


def merged(datasets: Sequence[xr.Dataset]) -> xr.Dataset:
    """Return one Dataset with the contents of several; see `jaxbandits.merge`.

    Raises:
        UsageError: no results, different specifications, runs that no part has, or runs that differ.
    """
    specs = [_spec(dataset) for dataset in datasets]
    for other, dataset in zip(specs[1:], datasets[1:], strict=True):
        refuse_another(specs[0], other, "the first Dataset")
        refuse_other_flags(datasets[0].attrs, dataset.attrs, "the first Dataset")
    datasets = [_with_paths_of(specs[0], spec, dataset) for spec, dataset in zip(specs, datasets, strict=True)]
    specs = [with_paths_of(specs[0], spec) for spec in specs]
    lists = [kind for kind in KINDS if isinstance(specs[0][kind], list)]
    names = list(dict.fromkeys([*lists, *(name for spec in specs for name in axes_of(spec))]))
    datasets = [
        _with_axes_of_others(dataset, spec, datasets, names) for dataset, spec in zip(datasets, specs, strict=True)
    ]
    run = specs[0]["run"]  # equal in all: all runs have the axes of pulls in flight
    flights = flight_options(run.get("batch"), run.get("delay"))
    names = list(dict.fromkeys([*names, *(axis.name or name for name, axis in flights.axes.items())]))
    of_runs = "seed" in datasets[0].coords
    parts = [_with_all_axes(dataset, names, of_runs) for dataset in datasets]
    if of_runs:
        for part, spec in zip(parts, specs, strict=True):
            _check_seeds(part["seed"].to_numpy(), spec)
    if lists:
        parts = _with_all_variables(parts)
    _check_alike(parts)
    values = {
        name: functools.reduce(united_values, (part[name].to_numpy().tolist() for part in parts)) for name in names
    }
    if of_runs:
        seeds = [stretch for part in parts for stretch in seed_ranges.of_seeds(np.sort(part["seed"].to_numpy()))]
        start, stop = united_seeds(seeds, "the Datasets")
        places: dict[str, list[Any]] = {**values, "seed": list(range(start, stop))}
    else:
        start, stop = _same_seeds(specs)
        places = dict(values)
    found = _filled(parts, places)
    found.attrs.update(parts[0].attrs)
    found.attrs["spec"] = json.dumps(united_spec(specs, values, (start, stop)))
    found.attrs |= united_attrs([part.attrs for part in parts])
    for name in ("seconds", "compile_seconds"):
        if all(name in part.attrs for part in parts):
            found.attrs[name] = round(sum(part.attrs[name] for part in parts), 4)
    alone = [name for name in names if all(name not in dataset.dims for dataset in datasets) and found.sizes[name] == 1]
    return found.isel(dict.fromkeys(alone, 0))


def _spec(dataset: Any) -> dict[str, Any]:
    if not isinstance(dataset, xr.Dataset) or "spec" not in dataset.attrs:
        raise UsageError("merge takes Datasets of jb.sweep or jb.simulate, which carry their specification, or stores")
    if not {"pulls", "runs"} & set(dataset.data_vars):
        raise UsageError("a Dataset to merge must have a variable 'pulls', or 'runs' of a summary; one has neither")
    return dict(specification(dataset.attrs["spec"]))


def _with_paths_of(first: dict[str, Any], spec: dict[str, Any], dataset: xr.Dataset) -> xr.Dataset:
    """Return the Dataset with the paths of the first where files along an axis have equal content."""
    for name, paths in same_files(first, spec).items():
        if name in dataset.coords:
            shown = dataset[name]
            renamed = [paths.get(value, value) for value in np.atleast_1d(shown).tolist()]
            dataset = dataset.assign_coords({name: (shown.dims, renamed, shown.attrs) if shown.dims else renamed[0]})
    return dataset


def _with_axes_of_others(
    dataset: xr.Dataset, spec: dict[str, Any], datasets: Sequence[xr.Dataset], names: Sequence[str]
) -> xr.Dataset:
    """Return the Dataset with the axes that only algorithms and problems of others have: its runs are repeated."""
    own = axes_of(spec)
    for name in names:
        if name in KINDS or name in own or name in dataset.coords:
            continue
        there = [np.atleast_1d(other[name]).tolist() for other in datasets if name in other.coords]
        shown = {key: v for key, v in dataset.data_vars.items() if "seed" in v.dims or "seed" not in dataset.dims}
        wider = xr.Dataset(shown).expand_dims({name: functools.reduce(united_values, there)})
        dataset = dataset.assign_coords({name: wider[name]}).assign(wider)
    return dataset


def _with_all_variables(parts: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Return Datasets of a study with the variables that others have: NaN, or 0 and false of what is counted."""
    every = {str(name): (variable, part) for part in parts for name, variable in part.data_vars.items()}
    found = []
    for part in parts:
        missing = {}
        for name, (variable, other) in every.items():
            if name not in part and variable.dims == other["pulls" if "pulls" in other else "runs"].dims:
                like = part["pulls" if "pulls" in part else "runs"]
                value = np.nan if variable.dtype.kind == "f" else 0
                missing[name] = xr.full_like(like, value, variable.dtype).assign_attrs(variable.attrs)
        found.append(part.assign(missing))
    return found


def _same_seeds(specs: Sequence[dict[str, Any]]) -> seed_ranges.Stretch:
    """Return the seeds that all summaries share."""
    found = {(spec["run"].get("first_seed", 0), spec["run"]["seeds"]) for spec in specs}
    if len(found) > 1:
        raise UsageError("summaries of different seeds cannot be merged: merge the runs, or the stores, jb.merge([…])")
    start, count = found.pop()
    return start, start + count


def _with_all_axes(dataset: xr.Dataset, names: Sequence[str], of_runs: bool) -> xr.Dataset:
    """Return the Dataset with a dimension for each axis, and for seeds, also where it shows one value."""
    if ("seed" in dataset.coords) != of_runs:
        raise UsageError("runs and summaries of runs cannot be merged")
    known = {*names, "seed", "checkpoint", *PER_ARM}
    for name in dataset["pulls" if "pulls" in dataset else "runs"].dims:
        if name not in known:
            raise UsageError(f"a Dataset has a dimension {name!r} that its specification has not: merge its parts")
    for name in [*names, *["seed"] * of_runs]:
        if name not in dataset.coords:
            raise UsageError(f"a Dataset no longer says which {name} it is of: merge the ones it was made from")
        if name not in dataset.dims:
            dataset = dataset.expand_dims(name)
        if len(set(shown := dataset[name].to_numpy().tolist())) < len(shown):
            raise UsageError(f"a Dataset has one {name} more than once")
    return dataset


def _check_seeds(seeds: np.ndarray, spec: dict[str, Any]) -> None:
    """Refuse seeds that the specification has not: they are those of other runs, or of missing ones."""
    start, count = spec["run"].get("first_seed", 0), spec["run"]["seeds"]
    if seeds.size and (seeds.dtype.kind not in "iu" or seeds.min() < start or seeds.max() >= start + count):
        raise UsageError(
            f"a Dataset has the seeds {seeds.min()} to {seeds.max()} and its specification {start} to "
            f"{start + count - 1}: merge its parts"
        )


def _check_alike(parts: Sequence[xr.Dataset]) -> None:
    first = parts[0]
    for other in parts[1:]:
        if different := sorted({str(name) for name in set(first.data_vars) ^ set(other.data_vars)}):
            raise UsageError(f"{different[0]} is in one Dataset and not in another")
        for name in PER_ARM:
            if (name in first.dims) != (name in other.dims):
                raise UsageError("Datasets of one bandit and of several cannot be merged: merge stores")
        if "checkpoint" in first.coords and not np.array_equal(first["checkpoint"], other["checkpoint"]):
            raise UsageError("the Datasets are of different checkpoints")


def _filled(parts: Sequence[xr.Dataset], places: dict[str, list[Any]]) -> xr.Dataset:
    """Return all values in arrays with a place for each."""
    first = parts[0]
    shape = tuple(len(known) for known in places.values())
    nbytes = sum(part.nbytes for part in parts)
    check_fits_in_memory("the merged results", 2 * nbytes, "merge stores, jb.merge([…], store=…)")
    numbers = {name: numbers_of_values(known) for name, known in places.items()}
    where = [
        {
            name: np.asarray([number[value] for value in part[name].to_numpy().tolist()], int)
            for name, number in numbers.items()
        }
        for part in parts
    ]
    arms = {str(name): max(part.sizes[name] for part in parts) for name in PER_ARM & set(first.dims)}
    there = np.zeros(shape, bool)
    for at in where:
        there[np.ix_(*at.values())] = True
    if not there.all():
        gap = np.argwhere(~there)[0]
        cell = ", ".join(f"{name} = {known[i]}" for (name, known), i in zip(places.items(), gap, strict=True))
        raise UsageError(f"the Datasets leave a gap at {cell}")
    found = {str(name): _united(str(name), parts, where, shape, arms) for name in first.data_vars}
    coordinates: dict[str, Any] = {name: xr.Variable(name, known, first[name].attrs) for name, known in places.items()}
    if "checkpoint" in first.coords:
        coordinates["checkpoint"] = first["checkpoint"]
    return xr.Dataset(found, coordinates)


def _united(
    name: str, parts: Sequence[xr.Dataset], where: Sequence[dict[str, np.ndarray]], places: Sequence[int],
    arms: dict[str, int],
) -> xr.Variable:  # fmt: skip
    """Return a variable with the values of all parts; it may lack axes and seeds, as a bound of theory does.

    Args:
        name: of the variable.
        parts: the Datasets.
        where: the places of each one's values along each dimension.
        places: the number of places along each dimension.
        arms: the number of entries along dimensions of arms.
    """
    first, every = parts[0][name], [part[name] for part in parts]
    # Where one value of an axis was selected, all variables have got the axis back.
    own = {dim: size for dim, size in zip(where[0], places, strict=True) if any(dim in one.dims for one in every)}
    rest, shape = [str(dim) for dim in first.dims if dim not in own], tuple(own.values())
    alike = {dim: first.sizes[dim] for dim in rest if dim not in arms}
    if any({dim: size for dim, size in one.sizes.items() if dim not in {**own, **arms}} != alike for one in every):
        raise UsageError(f"{name} has other dimensions in one Dataset than in another")
    sizes = [arms.get(dim, first.sizes[dim]) for dim in rest]
    kinds = [part[name].dtype for part in parts]
    # As in a sweep, a fraction of an arm that a smaller problem lacks is not known; counts and truth values are 0,
    # also where they became float64 and float32 since a cell has no runs.
    fractions = all(kind == np.float32 for kind in kinds) and not is_rate(first)
    empty = np.nan if fractions else 0
    whole = np.full((*shape, *sizes), empty, np.result_type(*kinds))
    there = np.zeros(shape, bool)
    for part, places_of in zip(parts, where, strict=True):
        lacking = {dim: size for dim, size in part.sizes.items() if dim in own and dim not in part[name].dims}
        values = part[name].variable.set_dims({**lacking, **part[name].sizes}).transpose(*own, *rest).to_numpy()
        at: Any = np.ix_(*(places_of[dim] for dim in own)) if own else ...
        inner: Any = (..., *(slice(size) for size in values.shape[len(shape) :]))
        again = there[at]
        old = whole[at][inner]
        if not np.array_equal(old[again], values[again], equal_nan=whole.dtype.kind == "f"):
            raise UsageError(f"the Datasets have different runs of the same cell and seed, in their {name}")
        block = whole[at]
        block[inner] = values
        if whole.dtype.kind == "f":  # a cell without runs has NaN for arms that it lacks, too
            block[np.isnan(values).all(tuple(range(len(shape), values.ndim)))] = np.nan
        whole[at], there[at] = block, True
    # What is of single algorithms or problems is left out where it differs.
    attrs = {key: v for key, v in first.attrs.items() if all(part[name].attrs.get(key) == v for part in parts)}
    return xr.Variable([*own, *rest], whole, attrs)
