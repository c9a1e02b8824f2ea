"""The arrays of a store, which xarray opens: made from the blocks once all runs are complete."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from jaxbandits.errors import UsageError
from jaxbandits.storage import seed_ranges
from jaxbandits.storage.accumulator_datasets import moments_dataset, summary_dataset
from jaxbandits.storage.accumulators import Stream
from jaxbandits.storage.arrays_on_disk import read_arrays, write_arrays
from jaxbandits.storage.block_files import block_names, read_block, write_whole
from jaxbandits.storage.blocks import Block, entered
from jaxbandits.storage.layout import Layout, dataset_of
from jaxbandits.storage.locks import hold_lock
from jaxbandits.storage.store_files import (
    Description,
    blocks_folder,
    done_by_cell,
    done_of_block,
    read_description,
)

__all__ = [
    "blocks_of",
    "check_counted_once",
    "count_of_runs",
    "is_current",
    "is_made",
    "keep_view",
    "make_view",
    "places_of",
    "read_store",
]

#: Largest arrays that are made in memory, in bytes; larger ones are made in a file beside the store.
_IN_MEMORY = 2**28


def places_of(layout: Layout) -> dict[str, list[int]]:
    """Return the numbers of each cell in a layout, by its hash."""
    found: dict[str, list[int]] = {}
    for number, cell in enumerate(layout.cells):
        found.setdefault(cell, []).append(number)
    return found


def count_of_runs(layout: Layout, done: dict[str, list[seed_ranges.Stretch]]) -> int:
    """Return the number of a layout's runs that exist."""
    wanted = (layout.first_seed, layout.first_seed + layout.seeds)
    missing = [seed_ranges.missing(wanted, done.get(cell, [])) for cell in layout.distinct_cells]
    return layout.runs - sum(stop - start for gaps in missing for start, stop in gaps)


def blocks_of(folder: Path) -> Iterator[Block]:
    """Yield the blocks of a folder after checking every byte.

    Raises:
        UsageError: a damaged block, or two blocks of sums with the same runs.
    """
    seen: dict[str, list[seed_ranges.Stretch]] = {}
    for name in block_names(folder):
        block = Block(*read_block(folder / name))
        for cell, seeds in done_of_block(block.arrays).items():
            seen.setdefault(cell, []).extend(seeds)
            if block.about["keep"] != "runs" and (twice := seed_ranges.overlap(seen[cell])):
                raise UsageError(
                    f"block {folder / name} has the seeds {twice[0]} to {twice[1] - 1} of a cell that another block "
                    "has, and would be counted twice: delete one of them, and --resume makes what is missing"
                )
        yield block


def check_counted_once(folder: Path) -> None:
    """Check the blocks of a folder; arguments and errors as for `blocks_of`."""
    for _ in blocks_of(folder):
        pass


def make_view(path: Path, description: Description) -> None:
    """Make the arrays of a store with all its runs.

    Raises:
        UsageError: a block that is damaged.
        OSError: they cannot be written; the blocks are unchanged.
    """
    folder = blocks_folder(path)
    with hold_lock(folder / "view.lock"):
        if is_current(path):
            return
        (folder / "view.json").unlink(missing_ok=True)
        for old in path.parent.glob(f".{path.stem}-*{path.suffix}"):  # left by a killed process
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        with tempfile.TemporaryDirectory(prefix=".arrays-", dir=folder) as room:
            dataset = _dataset(folder, description, Path(room))
            if path.suffix == ".zarr":
                made = Path(room) / "view.zarr"
                write_arrays(dataset, made)
                _move_in(made, path)
            else:
                write_arrays(dataset, path)
        made_of = _made_of(folder, block_names(folder))
        hashes = {name: _hash(path / name) for name in _files(path)} if path.is_dir() else {path.name: _hash(path)}
        write_whole(folder / "view.json", json.dumps({"made_of": made_of, "files": hashes}).encode())


def is_made(path: Path) -> bool:
    """Return whether the arrays were made from the present blocks."""
    folder = blocks_folder(path)
    view, now = _view(folder), _made_of(folder, block_names(folder))
    return now in (view.get("made_of"), view.get("made_of_next"))


def keep_view(path: Path, names: list[str]) -> None:
    """Note that the arrays, if they are made from the present blocks, are also those of other ones.

    Args:
        path: the store.
        names: the blocks that will have the same runs.
    """
    folder = blocks_folder(path)
    if is_made(path):
        now, following = (_made_of(folder, blocks) for blocks in (block_names(folder), names))
        view = {"made_of": now, "made_of_next": following, "files": _view(folder)["files"]}
        write_whole(folder / "view.json", json.dumps(view).encode())


def is_current(path: Path) -> bool:
    """Return whether the arrays were made from the present blocks, and have not changed since."""
    return is_made(path) and not _damaged(path, _view(blocks_folder(path))["files"])


def _view(folder: Path) -> dict[str, Any]:
    """Return the hashes of the blocks and of the arrays' files; empty where no arrays were made."""
    try:
        view = json.loads((folder / "view.json").read_bytes())
        made_of = {name: str(view[name]) for name in ("made_of", "made_of_next") if name in view}
        return {**made_of, "files": dict(view["files"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"files": {}}


def read_store(path: Path) -> xr.Dataset:
    """Return the results of a store, in memory.

    Raises:
        UsageError: no store, something else, a store without all of its runs, or one that is damaged.
    """
    if not path.exists() and not blocks_folder(path).exists():
        raise UsageError(f"there is no store {path}")
    if (description := read_description(path)) is None:
        return read_arrays(path)
    folder = blocks_folder(path)
    if not is_made(path):
        there, wanted = count_of_runs(description.layout, done_by_cell(folder)), description.layout.runs
        raise UsageError(f"{path} has {there:,} of {wanted:,} runs: sweep … --resume makes the others")
    if damaged := _damaged(path, _view(folder)["files"]):
        raise UsageError(f"{path} is damaged, its file {damaged} has changed: sweep … --resume makes it again")
    return read_arrays(path)


def _dataset(folder: Path, description: Description, room: Path) -> xr.Dataset:
    layout, places = description.layout, places_of(description.layout)
    attrs = {
        **description.attrs,
        "spec": json.dumps(description.spec),
        "keep": description.keep,
        "made_with": "; ".join(description.made_with),
    }
    if description.keep == "runs":
        found: dict[str, np.ndarray] = {}
        for block in blocks_of(folder):
            entered(block, places, layout, found, lambda name: _blank(layout, name, room))
        dataset = dataset_of(layout, found, layout.first_seed)
        return dataset.assign_attrs(attrs)
    distinct = layout._replace(cells=layout.distinct_cells)  # the statistics of a cell are kept once
    stream, numbers = Stream(distinct, counting=description.keep == "summary"), places_of(distinct)
    for block in blocks_of(folder):
        cells = np.asarray([numbers[cell.decode()][0] for cell in block.arrays["cells"].tolist()])
        stream.add_arrays(block.arrays, cells, (block.about["bandits"], block.about["arms"]))
    if description.keep == "summary":
        return summary_dataset(stream, layout, attrs)
    return moments_dataset(stream, layout).assign_attrs(attrs)


def _blank(layout: Layout, name: str, room: Path) -> np.ndarray:
    """Return an array for all runs: in memory or, where that would take much, in a file."""
    shape, dtype = layout.shape_of(name, layout.seeds), layout.dtype_of(name)
    if np.prod(shape, dtype=np.int64) * dtype.itemsize <= _IN_MEMORY:
        return layout.blank(name, layout.seeds)
    array: Any = np.memmap(room / name, dtype, "w+", shape=shape)
    return np.asarray(layout.blank(name, layout.seeds, array))


def _move_in(made: Path, path: Path) -> None:
    """Replace the existing arrays by new ones; metadata comes last, since without it nothing is opened."""
    names = [".zmetadata", ".zattrs", ".zgroup"]
    for name in names:
        (path / name).unlink(missing_ok=True)
    for old in path.iterdir():
        if old.is_dir() and old.name != "blocks":
            shutil.rmtree(old)
    for new in made.iterdir():
        if new.name not in names:
            os.replace(new, path / new.name)
    for name in reversed(names):
        os.replace(made / name, path / name)


def _made_of(folder: Path, names: list[str]) -> str:
    """Return a hash of blocks by name and of the description."""
    return hashlib.sha256("\n".join(names).encode() + (folder / "sweep.json").read_bytes()).hexdigest()


def _files(path: Path) -> list[str]:
    """Return the files of a store's arrays."""
    found = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    return sorted(file.as_posix() for file in found if file.parts[0] != "blocks")


def _damaged(path: Path, files: dict[str, str]) -> str:
    """Return the first file that has changed; empty if none has."""
    for name, expected in files.items():
        file = path / name if path.is_dir() else path
        if not file.is_file() or _hash(file) != expected:
            return name
    return ""


def _hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
