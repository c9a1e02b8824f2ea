"""A Dataset without dimensions, such as the summary of one cell, that still becomes a table of one row."""

from collections.abc import Hashable, Sequence
from typing import Any

import xarray as xr

__all__ = ["Dataset", "with_one_row"]


class Dataset(xr.Dataset):
    """Xarray's Dataset, whose `to_dataframe` refuses one without dimensions; here it returns one row."""

    __slots__ = ()

    def to_dataframe(self, dim_order: Sequence[Hashable] | None = None) -> Any:
        """Return a pandas DataFrame, of one row where there is no dimension; `dim_order` is as xarray has it."""
        return xr.Dataset.to_dataframe(self if self.sizes else self.expand_dims("cell"), dim_order)


def with_one_row(ds: xr.Dataset) -> xr.Dataset:
    """Return a Dataset that `to_dataframe` makes a table of, whether it has dimensions or not."""
    return ds if ds.sizes else Dataset(ds.data_vars, ds.coords, ds.attrs)
