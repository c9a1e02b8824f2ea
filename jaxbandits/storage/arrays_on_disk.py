"""Datasets as files that xarray opens.

A file is written whole or not at all, and reading one runs no code from it.
"""

import contextlib
import json
import math
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.memory import check_fits_in_memory

__all__ = ["ENDINGS", "open_arrays", "read_arrays", "recover", "remove", "replacing", "write_arrays"]

ENDINGS = (".nc", ".zarr")
#: HDF5 limits attributes to 64 KiB; the specification of a problem with thousands of arms is longer.
_LONGEST_ATTRIBUTE = 60_000
#: Codecs of zarr that cannot run code: its registry has one for pickles.
_CODECS = frozenset(
    {
        "blosc",
        "bytes",
        "crc32c",
        "fletcher32",
        "gzip",
        "lz4",
        "sharding_indexed",
        "shuffle",
        "transpose",
        "zlib",
        "zstd",
    }
    | {"vlen-bytes", "vlen-utf8"}
)
#: Bytes of a chunk, uncompressed.
_CHUNK = 2**23
#: How often the removal of a folder is tried, and the seconds between two tries.
_TRIES, _WAIT = 40, 0.05


def left_of_killed(path: Path) -> list[Path]:
    """Return what killed processes left of `replacing`, and nothing that the user has named alike."""
    name = re.compile(rf"\.{re.escape(path.stem)}-[0-9a-f]{{32}}({re.escape(path.suffix)}|\.old)")
    return [file for file in path.parent.iterdir() if name.fullmatch(file.name)]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name next to `path`; it becomes `path` if the block ends well, else it is removed."""
    temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}{path.suffix}")
    old = temporary.with_suffix(".old")
    try:
        yield temporary
        if path.is_dir():  # a rename does not replace a directory
            os.replace(path, old)
        os.replace(temporary, path)
    finally:
        for leftover in (temporary, old):
            remove(leftover)


def recover(path: Path) -> None:
    """Put back what a killed `replacing` had renamed, its new folder or the old one, and remove the rest."""
    for old in left_of_killed(path):
        if old.suffix == ".old" and not path.exists():
            new = old.with_suffix(path.suffix)  # whole, since the old one was renamed after it was written
            os.replace(new if new.exists() else old, path)
    for leftover in left_of_killed(path):
        remove(leftover)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it exists.

    After an interruption Zarr's threads write into a folder for some more milliseconds.
    """
    for _ in range(_TRIES):
        if not path.is_dir():
            path.unlink(missing_ok=True)
            return
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            time.sleep(_WAIT)
    if path.exists():
        shutil.rmtree(path)  # its error says why


def write_arrays(dataset: xr.Dataset, path: Path) -> None:
    """Write a Dataset as NetCDF (`.nc`) or Zarr (`.zarr`), every chunk with a checksum.

    Existing arrays are replaced.

    Raises:
        UsageError: NetCDF on a file system without locks.
        OSError: it cannot be written.
    """
    with replacing(path) as temporary, _locks_asked_for(path):
        _write(dataset, temporary)


@contextlib.contextmanager
def _locks_asked_for(path: Path) -> Iterator[None]:
    """Raise a UsageError with the remedy where HDF5 needs a lock and the file system has none."""
    try:
        yield
    except OSError as error:
        if "unable to lock file" not in str(error):
            raise
        raise UsageError(
            f"HDF5 cannot lock {path}, whose file system has no locks: set HDF5_USE_FILE_LOCKING=FALSE, or use a store "
            "NAME.zarr; what has been committed is kept"
        ) from None


def _write(dataset: xr.Dataset, path: Path) -> None:
    if path.suffix == ".zarr":
        from numcodecs import Zstd  # type: ignore[import-untyped,unused-ignore]  # takes a while to import, as does all that writes

        codec = Zstd(level=1, checksum=True)
        encoding: dict[Any, Any] = {
            name: {"compressors": (codec,), "chunks": _chunks(variable.shape, variable.dtype.itemsize)}
            for name, variable in dataset.variables.items()
            if variable.dtype.kind in "biuf" and variable.size
        }
        # Format 2: format 3 does not yet specify consolidated metadata and strings.
        dataset.to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)
        return
    long = {name for name, value in dataset.attrs.items() if len(str(value)) > _LONGEST_ATTRIBUTE}
    short = dataset.drop_attrs(deep=False).assign_attrs(
        {name: value for name, value in dataset.attrs.items() if name not in long}
    )
    short = short.assign({f"attribute_{name}": ((), dataset.attrs[name]) for name in long})
    numbers = {
        n: {"fletcher32": True} for n, v in short.variables.items() if v.dtype.kind in "biuf" and v.ndim and v.size
    }
    short.to_netcdf(path, engine="h5netcdf", encoding=numbers)


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the shape of a chunk: few cells of the grid, and many runs of each."""
    chunks = list(shape)
    for axis in range(len(chunks)):
        rest = math.prod(chunks[axis + 1 :]) * itemsize
        chunks[axis] = min(chunks[axis], max(1, _CHUNK // max(rest, 1)))
        if math.prod(chunks) * itemsize <= _CHUNK:
            break
    return tuple(chunks)


def read_arrays(path: Path) -> xr.Dataset:
    """Read the arrays that `write_arrays` wrote into memory.

    Raises:
        UsageError: not such arrays, damaged ones, or more than memory holds.
    """
    dataset = open_arrays(path)
    check_fits_in_memory(f"the arrays of {path}", dataset.nbytes, "open them with xarray, which reads what is used")
    try:
        return dataset.load()
    except UsageError:
        raise
    except Exception as error:  # the type depends on where the file is damaged
        raise UsageError(f"{path} is damaged, or not a store of results ({type(error).__name__})") from None
    finally:
        dataset.close()


def open_arrays(path: Path) -> xr.Dataset:
    """Open the arrays that `write_arrays` wrote; numbers are read when they are used.

    Raises:
        UsageError: not such arrays; or later, if those of a `.zarr` were moved, deleted or replaced before.
    """
    try:
        if path.is_dir():
            if not any((path / name).exists() for name in (".zgroup", ".zmetadata", "zarr.json")):
                raise UsageError(f"{path} is not a store of results")  # before searching a large folder for codecs
            _refuse_code(path)
            from jaxbandits.storage.opened_store import OpenedStore  # takes a while to import

            dataset = xr.open_zarr(OpenedStore(path), chunks=None)
        else:
            with _locks_asked_for(path):
                dataset = xr.open_dataset(path, engine="h5netcdf")
        for name in [str(name) for name in dataset if str(name).startswith("attribute_")]:
            dataset = dataset.assign_attrs({name.removeprefix("attribute_"): dataset[name].item()}).drop_vars(name)
    except UsageError:
        raise
    except Exception:  # the type depends on where the file is damaged
        raise UsageError(f"{path} is not a store of results") from None
    if "spec" not in dataset.attrs:
        raise UsageError(f"{path} is not a store of results")
    return dataset


def _refuse_code(path: Path) -> None:
    """Refuse arrays whose decoding could run code."""
    for file in (*path.rglob(".zarray"), *path.rglob(".zmetadata"), *path.rglob("zarr.json")):
        for codec in _codecs(json.loads(file.read_text(encoding="utf-8"))):
            if codec not in _CODECS:
                raise UsageError(f"{path} has arrays with the codec {codec!r}, which is not read")


def _codecs(data: Any) -> Iterator[str]:
    """Yield the names of all codecs in a file of metadata."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key == "compressor" and isinstance(value, dict):
                yield str(value.get("id"))
            elif key in ("filters", "codecs") and isinstance(value, list):
                for entry in value:
                    yield str(entry.get("id", entry.get("name")) if isinstance(entry, dict) else entry)
                yield from _codecs([entry.get("configuration") for entry in value if isinstance(entry, dict)])
            else:
                yield from _codecs(value)
    elif isinstance(data, list):
        for value in data:
            yield from _codecs(value)
