"""The files of a store, and its description: its specification, and the seeds of each cell in its blocks.

    NAME.zarr/         arrays that xarray opens, made from the blocks once all runs are complete
    NAME.zarr/blocks/  sweep.json, the description; a file per block; view.json, the hashes of the arrays' files;
                       writer-1-of-2.lock and .json, of a process that is writing; .marker in place of .lock where
                       the file system has no locks

The blocks of NAME.nc are in NAME.nc.blocks, beside it. The blocks hold the runs; all else follows from them.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxbandits.checks import shown
from jaxbandits.errors import UsageError, unknown_name
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.block_files import block_names, read_done, write_whole
from jaxbandits.storage.layout import Layout, Variable
from jaxbandits.storage.seed_ranges import Stretch

__all__ = [
    "KEEP",
    "Description",
    "as_coordinate",
    "blocks_folder",
    "check_arrays",
    "check_keep",
    "done_by_cell",
    "path_of",
    "read_description",
]

#: What a sweep keeps of its runs.
KEEP = ("runs", "summary", "moments")
_FORMAT = 2
#: How often the blocks are listed again if one is gone.
_TRIES = 9
#: Longest name of a file in bytes.
_LONGEST_NAME = 255
#: Largest size of a description in bytes: some million cells.
_LONGEST = 2**28


def path_of(store: Any) -> Path:
    """Return the path of a store, with `~` as the user's folder.

    Raises:
        UsageError: not a path of this machine, or a link to nothing.
    """
    if not isinstance(store, str | Path):
        raise UsageError(f"a store must be the path of a file or a folder, got {shown(store)}")
    if re.match("[A-Za-z][A-Za-z0-9+.-]+:/", str(store)):  # `Path` makes one slash of two
        raise UsageError(f"a store must be on this machine, and {str(store)!r} is an address: copy it when it is whole")
    path = Path(store).expanduser()
    if path.is_symlink() and not path.exists():
        raise UsageError(f"{path} is a link to {os.readlink(path)}, which does not exist")
    return path


def check_arrays(path: Path, names: Iterable[str]) -> None:
    """Check that a store can have arrays of these names: each is a folder of NAME.zarr, or an entry of NAME.nc.

    Raises:
        UsageError: a name with a slash or a dot at its start, one that the store has already, or a very long one.
    """
    for name in names:
        taken = path.suffix == ".zarr" and name in ("blocks", "zarr.json")
        if taken or name.startswith(".") or set(name) & {"/", "\0"} or len(name.encode()) > _LONGEST_NAME:
            raise UsageError(f"{path} can have no array called {shown(name)}: give the axis or metric another name")


def check_keep(keep: Any) -> str:
    """Return the checked value of `keep`.

    Raises:
        UsageError: an unknown value.
    """
    if keep not in KEEP:
        raise unknown_name("value of keep", str(keep), KEEP)
    return str(keep)


class Description(NamedTuple):
    """The description of a store."""

    spec: dict[str, Any]
    keep: str  # one of `KEEP`
    layout: Layout
    attrs: dict[str, Any]  # attributes of the Dataset
    made_with: tuple[str, ...]  # versions of the package and of JAX, and the platform, of every process that wrote

    @property
    def spec_with_keep(self) -> dict[str, Any]:
        """Return the specification as a file has it, with what is kept in its [run] table."""
        return {**self.spec, "run": {**self.spec["run"], "keep": self.keep}}

    def content(self) -> bytes:
        """Return the content of the description's file."""
        layout = self.layout._asdict()
        layout["dimensions"] = {name: np.asarray(values).tolist() for name, values in layout["dimensions"].items()}
        layout["checkpoints"] = [str(layout["checkpoints"].dtype), layout["checkpoints"].tolist()]
        layout["variables"] = {
            name: variable._asdict() | {"dtype": np.dtype(variable.dtype).name, "empty": float(variable.empty)}
            for name, variable in self.layout.variables.items()
        }
        data = {**self._asdict(), "layout": layout, "format": _FORMAT}
        return json.dumps(data).encode()

    def write(self, folder: Path) -> None:
        """Write the description.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(folder / "sweep.json", self.content())


def blocks_folder(path: Path) -> Path:
    """Return the folder of a store's blocks."""
    # Not `with_name`: it fails for a path without a name, such as ".".
    return path / "blocks" if path.suffix == ".zarr" else path.parent / f"{path.name}.blocks"


def read_description(path: Path) -> Description | None:
    """Return the description of a store, or None where there are no blocks.

    Raises:
        UsageError: no store; or a description that is damaged, or of another version.
    """
    if not path.exists() and not blocks_folder(path).exists():
        raise UsageError(f"there is no store {path}")
    file = blocks_folder(path) / "sweep.json"
    if not file.exists():
        return None
    try:
        if file.stat().st_size > _LONGEST:
            raise ValueError("too long")
        data = json.loads(file.read_bytes())
        if data.pop("format") != _FORMAT:
            raise UsageError(f"{path} was written by another version of jaxbandits")
        layout = data.pop("layout")
        dtype, points = layout["checkpoints"]
        layout["checkpoints"] = np.asarray(points, np.dtype(dtype))
        layout["dimensions"] = {name: as_coordinate(values) for name, values in layout["dimensions"].items()}
        layout["cells"] = tuple(layout["cells"])
        layout["variables"] = {name: _variable(**entries) for name, entries in layout["variables"].items()}
        found = Description(**{**data, "made_with": tuple(data["made_with"])}, layout=Layout(**layout))
        if found.keep not in KEEP or len(found.layout.cells) != np.prod(found.layout.shape, dtype=np.int64):
            raise ValueError("cells")
    except UsageError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"the description of the store, {file}, is damaged ({type(error).__name__})") from None
    return found


def as_coordinate(values: list[Any]) -> Any:
    """Return the values of a dimension as a layout has them."""
    return values if any(isinstance(value, str) for value in values) else np.asarray(values)


def _variable(dtype: str, per_arm: bool, empty: float, attrs: dict[str, str]) -> Variable:
    kind = np.dtype(dtype)
    if kind.kind not in "biuf":
        raise ValueError(dtype)
    return Variable(kind.type, per_arm, empty, attrs)


def done_by_cell(folder: Path) -> dict[str, list[Stretch]]:
    """Return the seeds of each cell that the blocks of a folder have; the rest of a block is not checked.

    Raises:
        UsageError: a block that cannot be read.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):  # another process has just replaced it by one with the same runs
            return _done_by_cell(folder)
    return _done_by_cell(folder)


def _done_by_cell(folder: Path) -> dict[str, list[Stretch]]:
    rows = [read_done(folder / name) for name in block_names(folder)]
    return seed_ranges.by_cell(np.concatenate([np.zeros((0, 3), np.uint64), *rows]))
