"""Which cells of a study repeat the runs of another: those along an axis that their algorithm and problem lack.

The specification that a Dataset carries says which axes an algorithm or a problem has. Without one, nothing repeats.
"""

import itertools
import json
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.io.spec_axes import KINDS, axes_of, axes_that_apply, labels_of

__all__ = ["count_distinct", "has_axis", "repeats", "specification_of", "without_repeated_axes"]


def specification_of(ds: xr.Dataset | xr.DataArray, attrs: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the specification of a Dataset's runs as plain data; None where it has none, or lost its labels.

    Args:
        ds: a Dataset of runs, a summary, or one of their variables.
        attrs: the Dataset's attributes, where they are not those of `ds`.
    """
    try:
        spec = json.loads((ds.attrs if attrs is None else attrs)["spec"])
        listed = {kind: labels_of(spec, kind) for kind in KINDS if isinstance(spec[kind], list)}
        axes_of(spec)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    for kind, labels in listed.items():
        if kind not in ds.coords or not set(np.ravel(ds[kind].values).tolist()) <= set(labels):
            return None
        if ds[kind].dims not in ((), (kind,)):  # cells were stacked along another dimension
            return None
    return dict(spec)


def has_axis(ds: xr.Dataset | xr.DataArray, name: str, attrs: dict[str, Any] | None = None) -> xr.DataArray:
    """Return whether an axis belongs to a cell's algorithm or problem; elsewhere runs repeat along it.

    Args:
        ds: a Dataset of runs, a summary, or one of their variables.
        name: a dimension of the grid.
        attrs: as for `specification_of`.

    Returns:
        bool, over those of the dimensions `algorithm` and `problem` that the Dataset has. True where nothing is known.
    """
    over = [kind for kind in KINDS if kind in ds.dims]
    shape = tuple(ds.sizes[kind] for kind in over)
    found = xr.DataArray(np.ones(shape, bool), {kind: ds[kind] for kind in over if kind in ds.coords}, over)
    spec = specification_of(ds, attrs)
    if spec is None or name in over:
        return found
    own = axes_that_apply([spec])
    labels = [np.ravel(ds[kind].values).tolist() if kind in ds.coords else [None] for kind in KINDS]
    owned = [name in own(dict(zip((*KINDS, name), (*pair, None), strict=True))) for pair in itertools.product(*labels)]
    found.values = np.reshape(owned, shape)
    return found


def repeats(ds: xr.Dataset | xr.DataArray, dims: list[str], attrs: dict[str, Any] | None = None) -> xr.DataArray:
    """Return which cells repeat the runs of an earlier one.

    Args:
        ds: a Dataset of runs, a summary, or one of their variables.
        dims: the dimensions of the grid; without that of the rules, a cell repeats another if it does for all rules.
        attrs: as for `specification_of`.

    Returns:
        bool, over `dims`.
    """
    found = xr.DataArray(np.zeros([ds.sizes[name] for name in dims], bool), dims=dims)
    for name in dims:
        if name not in KINDS:
            later = xr.DataArray(np.arange(ds.sizes[name]) > 0, dims=name)
            own = has_axis(ds, name, attrs).drop_vars(KINDS, errors="ignore")
            found = found | (later & ~own.any([kind for kind in own.dims if kind not in dims]))
    return found.transpose(*dims)


def count_distinct(counts: xr.DataArray, attrs: dict[str, Any]) -> int:
    """Return the sum of a number of each cell over those that repeat no other; `attrs` are the Dataset's."""
    once = ~repeats(counts, [str(name) for name in counts.dims], attrs).values
    return int(counts.values[once].sum())


def without_repeated_axes(ds: xr.Dataset, dims: list[str], kept: tuple[str | None, ...] = ()) -> xr.Dataset:
    """Return runs or a summary without the axes along which all cells repeat their runs; those `kept` stay."""
    unowned = [name for name in dims if name not in (*KINDS, *kept) and not has_axis(ds, name).any()]
    return ds.isel(dict.fromkeys(unowned, 0), drop=True) if unowned else ds
