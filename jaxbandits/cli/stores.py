"""Datasets on disk: written whole or not at all, and never over one that is there."""

import contextlib
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.report.tables import summary
from jaxbandits.status import stopped_early

__all__ = [
    "check_folder",
    "check_keep",
    "check_there",
    "check_writable",
    "read_store",
    "reduced",
    "replacing",
    "specification_of",
    "write_store",
]

#: What a sweep keeps of its runs.
KEEP = ("runs", "summary", "moments")
_ENDINGS = (".nc", ".zarr")
#: HDF5 keeps attributes of up to 64 KiB; the specification of a problem with thousands of arms is longer.
_LONGEST_ATTRIBUTE = 60_000


def check_writable(path: Path, endings: tuple[str, ...] = _ENDINGS) -> None:
    """Find out before long work starts whether a file can be made there.

    Raises:
        UsageError: an ending that means no format, or a folder that is missing or cannot be written.
    """
    if path.suffix not in endings:
        raise UsageError(f"--out must end in {' or '.join(endings)}, got {str(path)!r}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(f"cannot write to {path.parent}: {error.strerror}") from None


def check_folder(path: Path) -> None:
    """Find out whether files can be made in a folder that may not exist yet; it is not made here.

    Raises:
        UsageError: if they cannot.
    """
    there = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise UsageError(f"cannot write to {there}: {error.strerror}") from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name next to `path` to write to; it becomes `path` when the block ends well, and vanishes when it does not."""
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


def write_store(dataset: xr.Dataset, path: Path) -> None:
    """Write a Dataset as NetCDF (`.nc`) or Zarr (`.zarr`)."""
    with replacing(path) as temporary:
        if path.suffix == ".zarr":
            # Format 2: in format 3, consolidated metadata and strings are still without a specification.
            dataset.to_zarr(temporary, zarr_format=2, consolidated=True)
            return
        long = {name for name, value in dataset.attrs.items() if len(str(value)) > _LONGEST_ATTRIBUTE}
        short = dataset.drop_attrs(deep=False).assign_attrs(
            {name: value for name, value in dataset.attrs.items() if name not in long}
        )
        short = short.assign({f"attribute_{name}": ((), dataset.attrs[name]) for name in long})
        short.to_netcdf(temporary, engine="h5netcdf")


def check_there(path: Path) -> None:
    """Whether there is anything to read.

    Raises:
        UsageError: if not.
    """
    if not path.exists():
        raise UsageError(f"there is no store {path}")


def read_store(path: Path) -> xr.Dataset:
    """Read what `write_store` wrote.

    Raises:
        UsageError: nothing there, or something else.
    """
    check_there(path)
    try:
        dataset = xr.load_dataset(path, engine="zarr" if path.is_dir() else "h5netcdf")
    except Exception:  # what a damaged file raises depends on where it is damaged
        raise UsageError(f"{path} is not a store of results") from None
    for name in [str(name) for name in dataset if str(name).startswith("attribute_")]:
        dataset = dataset.assign_attrs({name.removeprefix("attribute_"): dataset[name].item()}).drop_vars(name)
    if "spec" not in dataset.attrs:
        raise UsageError(f"{path} is not a store of results")
    return dataset


def reduced(dataset: xr.Dataset, keep: str) -> xr.Dataset:
    """The runs, their summary, or count, mean and variance over the runs of every cell."""
    if keep == "runs":
        return dataset
    if keep == "summary":
        return summary(dataset)
    numbers = dataset.astype(float)
    return xr.merge(
        [
            numbers.mean("seed").rename({name: f"{name}_mean" for name in numbers}),
            numbers.var("seed", ddof=1).rename({name: f"{name}_variance" for name in numbers}),
            {"runs": ((), dataset.sizes["seed"]), "stopped_early": stopped_early(dataset["status"]).sum("seed")},
        ]
    ).assign_attrs(dataset.attrs)


def check_keep(keep: Any) -> None:
    """Whether it is one of the words that `reduced` knows.

    Raises:
        UsageError: if not.
    """
    if keep not in KEEP:
        raise unknown_name("value of keep", str(keep), KEEP)


def specification_of(dataset: xr.Dataset) -> dict[str, Any]:
    """The specification that a store was written with."""
    specification: dict[str, Any] = json.loads(dataset.attrs["spec"])
    specification["run"]["keep"] = dataset.attrs.get("keep", "runs")
    return specification
